#include "solver/common/ilp/ilp_glpk.h"

#if defined(CLEAVE_GLPK)

#include <float.h>
#include <glpk.h>
#include <limits.h>
#include <math.h>

#include "solver/common/ilp/glpk_fence.h"

/* Pivots between two looks at the limits: less than a tenth of a second for the largest programs
 * that are solved here. */
#define SLICE_PIVOTS 100

#define MS_IN_S      1000.0

/* One fenced call. All pointers are GLPK's or the arena's: GLPK may leave by a jump. */
typedef struct {
    const clv_ilp *ilp;
    const clv_ilp_limits *limits;
    clv_arena *arena;
    clv_ilp_result *ret;
    double *multiplier;
    bool relax;
    glp_prob *lp;
    int *index; /* scratch of a row, from 1 */
    double *value;
    bool started; /* the start was given to GLPK */
    bool ended;   /* by a limit or stop */
} job;

/* -- the program in GLPK's form: its numbers begin at 1 -- */

static int bounds_kind(double lo, double hi)
{
    if (lo == hi)
        return GLP_FX;
    if (isinf(lo))
        return isinf(hi) ? GLP_FR : GLP_UP;
    return isinf(hi) ? GLP_LO : GLP_DB;
}

/* Sum of costs below the cut-off, as one more row: so the simplex knows it too. */
static void load_cut_off(job *j)
{
    int32_t n = 0;
    for (int32_t c = 0; c < j->ilp->n_columns; c++) {
        if (j->ilp->columns[c].cost == 0)
            continue;
        j->index[++n] = c + 1;
        j->value[n] = j->ilp->columns[c].cost;
    }
    int row = glp_add_rows(j->lp, 1);
    glp_set_mat_row(j->lp, row, n, j->index, j->value);
    glp_set_row_bnds(j->lp, row, GLP_UP, 0, j->limits->cut_off);
}

static void load_program(job *j)
{
    const clv_ilp *ilp = j->ilp;
    const clv_ilp_term *terms;
    j->lp = glp_create_prob();
    glp_set_obj_dir(j->lp, GLP_MIN);
    glp_add_cols(j->lp, ilp->n_columns);
    for (int32_t c = 0; c < ilp->n_columns; c++) {
        const clv_ilp_column *column = &ilp->columns[c];
        if (column->whole && !j->relax)
            glp_set_col_kind(j->lp, c + 1, GLP_IV);
        glp_set_col_bnds(j->lp, c + 1, bounds_kind(column->lo, column->hi), column->lo, column->hi);
        glp_set_obj_coef(j->lp, c + 1, column->cost);
    }
    if (ilp->n_rows > 0)
        glp_add_rows(j->lp, ilp->n_rows);
    for (int32_t r = 0; r < ilp->n_rows; r++) {
        int32_t n = clv_ilp_terms_of(ilp, r, &terms);
        double lo = ilp->rows[r].lo, hi = ilp->rows[r].hi;
        for (int32_t t = 0; t < n; t++) {
            j->index[t + 1] = terms[t].column + 1;
            j->value[t + 1] = terms[t].value;
        }
        glp_set_mat_row(j->lp, r + 1, n, j->index, j->value);
        glp_set_row_bnds(j->lp, r + 1, bounds_kind(lo, hi), lo, hi);
    }
    if (j->limits->cut_off > 0 && !j->relax)
        load_cut_off(j);
}

/* -- limits -- */

static int64_t pivots_left(const job *j)
{
    return j->limits->pivots > 0 ? j->limits->pivots - glp_get_it_cnt(j->lp) : INT_MAX;
}

static bool asked_to_stop(const job *j)
{
    return j->limits->stop && j->limits->stop(j->limits->stop_ctx);
}

static int time_limit_ms(const job *j)
{
    double ms = ceil(j->limits->seconds * MS_IN_S);
    return j->limits->seconds > 0 && ms < INT_MAX ? (int)ms : INT_MAX;
}

/* The first relaxation, in slices, so that it can be left. True when it is optimal. */
static bool run_simplex(job *j)
{
    glp_smcp parm;
    glp_init_smcp(&parm);
    parm.msg_lev = GLP_MSG_OFF;
    parm.tm_lim = time_limit_ms(j);
    for (;;) {
        int64_t left = pivots_left(j);
        if (left <= 0 || asked_to_stop(j))
            break;
        parm.it_lim = left < SLICE_PIVOTS ? (int)left : SLICE_PIVOTS;
        int rc = glp_simplex(j->lp, &parm);
        if (rc == GLP_EITLIM)
            continue;
        if (rc == GLP_ETMLIM)
            break;
        int status = glp_get_status(j->lp);
        j->ret->end = rc != 0                ? CLV_ILP_FAILED
                      : status == GLP_OPT    ? CLV_ILP_OPTIMAL
                      : status == GLP_NOFEAS ? CLV_ILP_INFEASIBLE
                                             : CLV_ILP_FAILED;
        return j->ret->end == CLV_ILP_OPTIMAL;
    }
    j->ended = true;
    j->ret->end = CLV_ILP_LIMIT;
    return false;
}

/* -- the search -- */

/* GLPK's callback at every node: takes the start, notes nodes and bound, ends at a limit. */
static void watch_search(glp_tree *tree, void *info)
{
    job *j = info;
    int total = 0, why = glp_ios_reason(tree);
    glp_ios_tree_size(tree, NULL, NULL, &total);
    j->ret->nodes = total;
    if (why == GLP_IHEUR && j->limits->start && !j->started) {
        j->started = true;
        for (int32_t c = 0; c < j->ilp->n_columns; c++)
            j->value[c + 1] = j->limits->start[c];
        glp_ios_heur_sol(tree, j->value);
    }
    if (why == GLP_ISELECT && glp_ios_best_node(tree) != 0)
        j->ret->bound = glp_ios_node_bound(tree, glp_ios_best_node(tree));
    if ((j->limits->nodes > 0 && total > j->limits->nodes) || pivots_left(j) <= 0 ||
        asked_to_stop(j)) {
        j->ended = true;
        glp_ios_terminate(tree);
    }
}

static void run_search(job *j)
{
    glp_iocp parm;
    glp_init_iocp(&parm);
    parm.msg_lev = GLP_MSG_OFF;
    parm.cb_func = watch_search;
    parm.cb_info = j;
    parm.tm_lim = time_limit_ms(j);
    int rc = glp_intopt(j->lp, &parm);
    int status = glp_mip_status(j->lp);
    j->ended |= rc == GLP_ETMLIM || rc == GLP_ESTOP;
    if (rc != 0 && !j->ended)
        j->ret->end = CLV_ILP_FAILED;
    else if (status == GLP_OPT || status == GLP_FEAS)
        j->ret->end = status == GLP_OPT && !j->ended ? CLV_ILP_OPTIMAL : CLV_ILP_FEASIBLE;
    else
        j->ret->end = j->ended ? CLV_ILP_LIMIT : CLV_ILP_INFEASIBLE;
}

static void read_values(job *j)
{
    if (j->ret->end != CLV_ILP_OPTIMAL && j->ret->end != CLV_ILP_FEASIBLE)
        return;
    for (int32_t c = 0; c < j->ilp->n_columns; c++) {
        double x = j->relax ? glp_get_col_prim(j->lp, c + 1) : glp_mip_col_val(j->lp, c + 1);
        j->ret->values[c] = x;
        j->ret->objective += x * j->ilp->columns[c].cost;
    }
    if (j->ret->end == CLV_ILP_OPTIMAL)
        j->ret->bound = j->ret->objective;
}

static clv_status run_inside(void *arg, clv_error *err)
{
    job *j = arg;
    (void)err;
    load_program(j);
    bool optimal = run_simplex(j);
    if (optimal && !j->relax) {
        j->ret->bound = glp_get_obj_val(j->lp);
        run_search(j);
    }
    read_values(j);
    for (int32_t r = 0; j->relax && r < j->ilp->n_rows; r++)
        j->multiplier[r] =
            j->ret->end == CLV_ILP_OPTIMAL || j->ended ? glp_get_row_dual(j->lp, r + 1) : 0;
    j->ret->pivots = glp_get_it_cnt(j->lp);
    return CLV_OK;
}

static clv_status run_fenced(job *j, clv_error *err)
{
    size_t n = (size_t)j->ilp->n_columns + 2;
    j->index = CLV_NEW_ARRAY(j->arena, int, n);
    j->value = CLV_NEW_ARRAY(j->arena, double, n);
    j->ret->values = CLV_NEW_ARRAY(j->arena, double, n);
    j->multiplier = CLV_NEW_ARRAY(j->arena, double, j->ilp->n_rows + 1);
    if (!j->index || !j->value || !j->ret->values || !j->multiplier)
        return clv_fail_nomem(err, "an integer program");
    CLV_TRY(clv_glpk_run(run_inside, j, err));
    if (j->ret->end != CLV_ILP_OPTIMAL && j->ret->end != CLV_ILP_FEASIBLE)
        j->ret->values = NULL;
    return CLV_OK;
}

static clv_status solve(const clv_ilp *ilp, const clv_ilp_limits *limits, clv_arena *arena,
                        clv_ilp_result *ret, clv_error *err)
{
    job j = { .ilp = ilp, .limits = limits, .arena = arena, .ret = ret };
    return run_fenced(&j, err);
}

static clv_status relax(const clv_ilp *ilp, const clv_ilp_limits *limits, clv_arena *arena,
                        clv_ilp_result *ret, double **ret_multiplier, clv_error *err)
{
    job j = { .ilp = ilp, .limits = limits, .arena = arena, .ret = ret, .relax = true };
    CLV_TRY(run_fenced(&j, err));
    *ret_multiplier = j.multiplier;
    return CLV_OK;
}

const clv_ilp_backend clv_ilp_glpk = { "GLPK", solve, relax };

#else

const clv_ilp_backend clv_ilp_glpk = { 0 };

#endif
