/* solve.c - the door: presolve, a first solution, the bound, then searchers beside it. */
#include "solver/intra_op/solve.h"

#include <stdio.h>
#include <string.h>

#include "solver/intra_op/breakout.h"
#include "solver/intra_op/forward_checking.h"
#include "solver/intra_op/parallel_search.h"
#include "solver/intra_op/shift_costs.h"

/* Sweeps over all nodes for the first solution, and bound and reduction's work before anything else
 * is done; the same briefly. */
#define CLV_SOLVE_FIRST_SWEEPS 40
#define CLV_SOLVE_FIRST_WORK   100000000
#define CLV_SOLVE_BRIEF_SWEEPS 10
#define CLV_SOLVE_BRIEF_FIRST  30000000
/* Work of forward checking where it may not end: a tenth of a second; the same briefly. */
#define CLV_SOLVE_SMALL_WORK       50000000
#define CLV_SOLVE_BRIEF_SMALL_WORK 300000
#define CLV_SOLVE_SMALL_NAME       "forward checking"
/* Rounds of the bound in a stage of bound and reduction, at most. */
#define CLV_SOLVE_STAGE_ROUNDS 1200
/* Briefly: a stage whose bound hardly rises ends after so many. */
#define CLV_SOLVE_BRIEF_IDLE 64

/* *ret_none: proven that no solution of the reduced problem is within the limit. */
static clv_status solve_reduced(clv_solve_state *s, bool *ret_none, clv_error *err)
{
    const clv_intra_op_problem *reduced = clv_presolve_problem(s->presolved);
    int64_t room = (int64_t)reduced->n_nodes + 1;
    s->base = clv_presolve_base(s->presolved);
    s->kept = CLV_NEW_ARRAY(s->arena, int32_t, room);
    s->lifted = CLV_NEW_ARRAY(s->arena, int32_t, room);
    if (!s->kept || !s->lifted)
        return clv_fail_nomem(err, "a search");
    const clv_bound_and_reduce_options options = { .rounds = CLV_SOLVE_STAGE_ROUNDS,
                                                   .idle_rounds =
                                                       s->o->brief ? CLV_SOLVE_BRIEF_IDLE : 0,
                                                   .reductions = CLV_BOUND_AND_REDUCE_STAGES,
                                                   .exact_rounds = INT64_MAX };
    CLV_TRY(clv_bound_and_reduce_new(reduced, &options, s->arena, &s->bound_and_reduce, err));
    if (s->r->solve.found && s->r->value.nevers == 0)
        clv_bound_and_reduce_set_known_cost(s->bound_and_reduce, clv_solve_best_cost(s) - s->base);
    if (s->start)
        CLV_TRY(clv_solve_offer(s, s->start, CLV_SOLVE_SMALL_NAME, err));
    s->start = NULL; /* it belongs to this reduced problem */
    int32_t sweeps = s->o->brief ? CLV_SOLVE_BRIEF_SWEEPS : CLV_SOLVE_FIRST_SWEEPS;
    CLV_TRY(clv_intra_op_breakout(reduced, sweeps, &s->incumbent.limits, s->arena, s->lifted, err));
    CLV_TRY(clv_solve_offer(s, s->lifted, "sweeps", err));
    if (s->r->solve.found)
        clv_solve_report(s, "sweeps");
    CLV_TRY(
        clv_solve_run_bound(s, s->o->brief ? CLV_SOLVE_BRIEF_FIRST : CLV_SOLVE_FIRST_WORK, err));
    if (clv_incumbent_is_enough(&s->incumbent) || clv_solve_none_left(s) ||
        clv_limits_over(&s->incumbent.limits))
        return CLV_OK;
    CLV_TRY(clv_parallel_search_start(s, ret_none, err));
    if (*ret_none)
        return CLV_OK;
    return clv_search_rounds(s, err);
}

static void free_all(clv_solve_state *s)
{
    clv_parallel_search_free(s);
    clv_bound_and_reduce_free(s->bound_and_reduce);
    s->bound_and_reduce = NULL;
}

static void prove_infeasible(clv_solve_state *s)
{
    s->r->solve.bound = CLV_OBJVAL_INFINITE;
    snprintf(s->r->solve.why, sizeof s->r->solve.why,
             "no choices together keep within the limit of %lld at every moment",
             (long long)s->p->usage_limit);
}

/* The reduced problem to its end, where it is small. *ret_end: it was, with a solution or none. */
static clv_status check_forward(clv_solve_state *s, bool *ret_end, clv_error *err)
{
    const clv_intra_op_problem *p = clv_presolve_problem(s->presolved);
    clv_int128 base = clv_presolve_base(s->presolved);
    const clv_forward_checking_options options = {
        .ceiling = clv_presolve_finite(s->presolved) ? CLV_INTRA_OP_NEVER - base
                                                     : CLV_FORWARD_CHECKING_ANY,
        .most_work = s->o->brief ? CLV_SOLVE_BRIEF_SMALL_WORK : CLV_SOLVE_SMALL_WORK,
        .limits = &s->incumbent.limits
    };
    clv_forward_checking_result r;
    int32_t *choice = CLV_NEW_ARRAY(s->arena, int32_t, p->n_nodes);
    if (!choice)
        return clv_fail_nomem(err, "a small search");
    CLV_TRY(clv_forward_checking(p, &options, s->arena, choice, &r, err));
    s->start = r.found ? choice : NULL;
    *ret_end = r.complete;
    if (!r.found || !r.complete)
        return CLV_OK;
    clv_presolve_lift(s->presolved, choice, s->choice);
    CLV_TRY(clv_solve_offer_whole(s, CLV_SOLVE_SMALL_NAME, err));
    clv_incumbent_raise(&s->incumbent, clv_objval_whole(base + r.cost), CLV_SOLVE_SMALL_NAME);
    clv_solve_report(s, CLV_SOLVE_SMALL_NAME);
    return CLV_OK;
}

/* ---- no solution below never ---- */

/* A search of the shifted problem as the caller sees it. */
typedef struct {
    clv_solve_state *s;
    clv_int128 shift;
} shifted;

static void report_shifted(void *ctx, const clv_solve_progress *progress)
{
    const shifted *x = ctx;
    clv_solve_progress whole = *progress;
    if (!clv_objval_is_infinite(whole.value))
        whole.value.whole += x->shift;
    if (!clv_objval_is_infinite(whole.bound))
        whole.bound.whole += x->shift;
    x->s->o->solve.progress(x->s->o->solve.progress_ctx, &whole);
}

/* The problem with costs shifted down: its solutions and bounds are those of the whole. */
static clv_status solve_shifted(clv_solve_state *s, const clv_intra_op_problem *p, clv_int128 shift,
                                clv_error *err)
{
    shifted ctx = { s, shift };
    clv_intra_op_options o = *s->o;
    clv_intra_op_result r;
    o.known = 0;
    o.enough = o.enough > shift ? o.enough - shift : 0;
    o.rival_gap = 0; /* of the whole cost */
    if (o.solve.progress) {
        o.solve.progress = report_shifted;
        o.solve.progress_ctx = &ctx;
    }
    CLV_TRY(clv_intra_op_solve(p, &o, s->arena, &r, err));
    if (r.solve.found) {
        memcpy(s->choice, r.solve.solution, (size_t)p->n_nodes * sizeof *s->choice);
        CLV_TRY(clv_solve_offer_whole(s, r.solve.found_by, err));
    }
    clv_objval bound = r.solve.bound;
    bound.whole += clv_objval_is_infinite(bound) ? 0 : shift;
    clv_incumbent_raise(&s->incumbent, bound, r.solve.bound_by);
    memcpy(s->r->solve.why, r.solve.why, sizeof r.solve.why);
    (void)clv_limits_over(&s->incumbent.limits); /* why it ended */
    return CLV_OK;
}

/* A cost of never is in every solution, or the sum of others reaches it: the best of all.
 * *ret_end: solved, as far as it can be. */
static clv_status solve_past_never(clv_solve_state *s, bool *ret_end, clv_error *err)
{
    clv_intra_op_problem p;
    clv_int128 shift;
    clv_presolved *rows;
    CLV_TRY(clv_shift_costs(s->p, s->arena, &p, &shift, err));
    *ret_end = shift > 0;
    if (*ret_end)
        return solve_shifted(s, &p, shift, err);
    CLV_TRY(clv_presolve_rows(s->p, s->arena, &rows, s->r->solve.why, err));
    s->presolved = rows ? rows : s->presolved;
    CLV_TRY(check_forward(s, ret_end, err));
    if (*ret_end && !s->start)
        prove_infeasible(s);
    return CLV_OK;
}

/* *ret_end: solved, as far as it can be. */
static clv_status solve_small(clv_solve_state *s, bool *ret_end, clv_error *err)
{
    bool finite = clv_presolve_finite(s->presolved);
    if (finite)
        CLV_TRY(check_forward(s, ret_end, err));
    return !finite || (*ret_end && !s->start) ? solve_past_never(s, ret_end, err) : CLV_OK;
}

static clv_status solve_all(clv_solve_state *s, clv_error *err)
{
    bool none = false, end = false;
    CLV_TRY(clv_presolve(s->p, s->arena, &s->presolved, s->r->solve.why, err));
    bool infeasible = !s->presolved;
    if (!infeasible && !s->o->no_forward_checking)
        CLV_TRY(solve_small(s, &end, err));
    if (end)
        return CLV_OK;
    if (!infeasible)
        CLV_TRY(solve_reduced(s, &none, err));
    if (!infeasible && !clv_solve_is_finite(s) && clv_presolve_finite(s->presolved) &&
        !clv_limits_over(&s->incumbent.limits)) {
        bool sums = s->r->solve.found && s->r->value.nevers == 0;
        clv_presolved *rows = NULL;
        free_all(s);
        s->n_rounds = s->n_stale = 0;
        if (sums) { /* costs that sum to never */
            CLV_TRY(solve_past_never(s, &end, err));
        } else { /* perhaps only solutions that cost never are within the limit: the best of those
                  */
            CLV_TRY(clv_presolve_rows(s->p, s->arena, &rows, s->r->solve.why, err));
            infeasible = !rows;
            s->presolved = rows ? rows : s->presolved;
        }
        if (!infeasible && !end)
            CLV_TRY(solve_reduced(s, &none, err));
    }
    if (infeasible)
        s->r->solve.bound = CLV_OBJVAL_INFINITE;
    else if (none && !s->r->solve.found && !clv_presolve_finite(s->presolved))
        prove_infeasible(s);
    return CLV_OK;
}

clv_status clv_intra_op_solve(const clv_intra_op_problem *p, const clv_intra_op_options *options,
                              clv_arena *arena, clv_intra_op_result *ret, clv_error *err)
{
    clv_intra_op_result r = { .value = { 0 } };
    clv_arena *own = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_solve_state *s = own ? CLV_NEW(own, clv_solve_state) : NULL;
    int32_t *choice = own ? CLV_NEW_ARRAY(own, int32_t, p->n_nodes) : NULL;
    clv_status status = s && choice ? CLV_OK : clv_fail_nomem(err, "a strategy problem");
    if (status == CLV_OK) {
        *s = (clv_solve_state){ .p = p, .o = options, .arena = own, .r = &r, .choice = choice };
        s->jobs = options->solve.jobs > 0 ? options->solve.jobs : 1;
        status =
            clv_incumbent_open(&s->incumbent, &options->solve, p->n_nodes, arena, &r.solve, err);
    }
    if (status == CLV_OK) {
        s->elsewhere = clv_incumbent_limits_elsewhere(&s->incumbent);
        if (options->enough > 0)
            s->incumbent.enough_bound = clv_objval_whole(options->enough);
        if (options->rival > 0)
            s->incumbent.rival = clv_objval_whole(options->rival);
        s->incumbent.rival_gap = options->rival_gap;
        r.solve.bound_by = "costs are not negative";
        clv_solve_raise_bound(s, options->known, "what was known before");
        status = solve_all(s, err);
        free_all(s);
    }
    if (status == CLV_OK) {
        clv_incumbent_close(&s->incumbent);
        *ret = r;
    }
    clv_arena_free(own);
    return status;
}
