#include "solver/common/ilp/ilp_cbc.h"

#if defined(CLEAVE_CBC)

#include <Cbc_C_Interface.h>
#include <limits.h>
#include <math.h>

/* What a node takes in the programs of this folder, roughly. */
#define PIVOTS_IN_NODE 20

/* Of Cbc_status(): neither given up nor ended by a limit. */
#define FINISHED 0

/* CBC's matrix is by columns; all arrays are the arena's. */
typedef struct {
    const clv_ilp *ilp;
    clv_ilp_by_column by;
    double *column_lo, *column_hi, *cost, *row_lo, *row_hi;
} arrays;

static bool make_arrays(const clv_ilp *ilp, clv_arena *arena, arrays *a)
{
    size_t n = (size_t)ilp->n_columns, m = (size_t)ilp->n_rows;
    *a = (arrays){ .ilp = ilp,
                   .column_lo = CLV_NEW_ARRAY(arena, double, n),
                   .column_hi = CLV_NEW_ARRAY(arena, double, n),
                   .cost = CLV_NEW_ARRAY(arena, double, n),
                   .row_lo = CLV_NEW_ARRAY(arena, double, m),
                   .row_hi = CLV_NEW_ARRAY(arena, double, m) };
    if (!a->column_lo || !a->column_hi || !a->cost || !a->row_lo || !a->row_hi ||
        !clv_ilp_transpose(ilp, arena, &a->by))
        return false;
    for (size_t j = 0; j < n; j++) {
        a->column_lo[j] = ilp->columns[j].lo;
        a->column_hi[j] = ilp->columns[j].hi;
        a->cost[j] = ilp->columns[j].cost;
    }
    for (size_t i = 0; i < m; i++) {
        a->row_lo[i] = ilp->rows[i].lo;
        a->row_hi[i] = ilp->rows[i].hi;
    }
    return true;
}

static Cbc_Model *load_program(const arrays *a, const clv_ilp_limits *limits)
{
    Cbc_Model *model = Cbc_newModel();
    int64_t nodes = limits->nodes, by_pivots = limits->pivots / PIVOTS_IN_NODE + 1;
    if (!model)
        return NULL;
    Cbc_setLogLevel(model, 0);
    Cbc_loadProblem(model, a->ilp->n_columns, a->ilp->n_rows, a->by.first, a->by.row, a->by.value,
                    a->column_lo, a->column_hi, a->cost, a->row_lo, a->row_hi);
    Cbc_setObjSense(model, 1);
    for (int32_t j = 0; j < a->ilp->n_columns; j++)
        if (a->ilp->columns[j].whole)
            Cbc_setInteger(model, j);
    if (limits->pivots > 0 && (nodes == 0 || by_pivots < nodes))
        nodes = by_pivots;
    if (nodes > 0)
        Cbc_setMaximumNodes(model, nodes < INT_MAX ? (int)nodes : INT_MAX);
    if (limits->seconds > 0)
        Cbc_setMaximumSeconds(model, limits->seconds);
    if (limits->cut_off > 0)
        Cbc_setCutoff(model, limits->cut_off);
    return model;
}

static void read_result(Cbc_Model *model, const clv_ilp *ilp, const clv_ilp_limits *limits,
                        clv_ilp_result *ret)
{
    const double *best = Cbc_bestSolution(model);
    bool optimal = Cbc_isProvenOptimal(model);
    for (int32_t j = 0; best && j < ilp->n_columns; j++) {
        ret->values[j] = best[j];
        ret->objective += best[j] * ilp->columns[j].cost;
    }
    ret->nodes = Cbc_getNodeCount(model);
    ret->pivots = Cbc_getIterationCount(model);
    ret->bound = Cbc_getBestPossibleObjValue(model);
    if (Cbc_isAbandoned(model))
        ret->end = CLV_ILP_FAILED;
    else if (best && optimal)
        ret->end = CLV_ILP_OPTIMAL;
    else if (Cbc_isProvenInfeasible(model) || (Cbc_status(model) == FINISHED && !best))
        ret->end = CLV_ILP_INFEASIBLE;
    else
        ret->end = best ? CLV_ILP_FEASIBLE : CLV_ILP_LIMIT;
    if (ret->end == CLV_ILP_FEASIBLE && limits->cut_off > 0 && ret->objective >= limits->cut_off)
        ret->end = CLV_ILP_LIMIT; /* the start itself */
    if (ret->end == CLV_ILP_OPTIMAL)
        ret->bound = ret->objective;
}

static clv_status solve(const clv_ilp *ilp, const clv_ilp_limits *limits, clv_arena *arena,
                        clv_ilp_result *ret, clv_error *err)
{
    arrays a;
    int *index = CLV_NEW_ARRAY(arena, int, ilp->n_columns);
    ret->values = CLV_NEW_ARRAY(arena, double, ilp->n_columns);
    if (!index || !ret->values || !make_arrays(ilp, arena, &a))
        return clv_fail_nomem(err, "an integer program");
    ret->end = CLV_ILP_LIMIT;
    if (!limits->stop || !limits->stop(limits->stop_ctx)) {
        Cbc_Model *model = load_program(&a, limits);
        if (!model)
            return clv_fail(err, CLV_ESOLVER, "CBC gave up");
        for (int32_t j = 0; j < ilp->n_columns; j++)
            index[j] = j;
        if (limits->start)
            Cbc_setMIPStartI(model, ilp->n_columns, index, limits->start);
        Cbc_solve(model);
        read_result(model, ilp, limits, ret);
        Cbc_deleteModel(model);
    }
    if (ret->end != CLV_ILP_OPTIMAL && ret->end != CLV_ILP_FEASIBLE)
        ret->values = NULL;
    return CLV_OK;
}

const clv_ilp_backend clv_ilp_cbc = { "CBC", solve, NULL };

#else

const clv_ilp_backend clv_ilp_cbc = { 0 };

#endif
