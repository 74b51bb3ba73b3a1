/* solve.c - the door: presolve, a first solution, the bound, then searchers beside it. */
#include "solver/intra_op/solve.h"

#include <stdio.h>

#include "solver/intra_op/breakout.h"
#include "solver/intra_op/forward_checking.h"
#include "solver/intra_op/parallel_search.h"

/* Sweeps over all nodes for the first solution, and bound and reduction's work before anything else
 * is done; the same briefly. */
#define CLV_SOLVE_FIRST_SWEEPS 40
#define CLV_SOLVE_FIRST_WORK   100000000
#define CLV_SOLVE_BRIEF_SWEEPS 10
#define CLV_SOLVE_BRIEF_FIRST  30000000
/* Work of forward checking where it may not end: a tenth of a second; the same briefly. */
#define CLV_SOLVE_SMALL_WORK       50000000
#define CLV_SOLVE_BRIEF_SMALL_WORK 5000000
#define CLV_SOLVE_SMALL_NAME       "forward checking"
/* Rounds of the bound in a stage of bound and reduction, at most. */
#define CLV_SOLVE_STAGE_ROUNDS 1200

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

static void say_none_fits(clv_solve_state *s)
{
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

/* A small problem: first among the solutions below never, then, where there are none, among all.
 * *ret_end: it is solved; without a solution there is none. */
static clv_status solve_small(clv_solve_state *s, bool *ret_end, clv_error *err)
{
    CLV_TRY(check_forward(s, ret_end, err));
    if (*ret_end && !s->start && clv_presolve_finite(s->presolved)) {
        clv_presolved *rows;
        CLV_TRY(clv_presolve_rows(s->p, s->arena, &rows, s->r->solve.why, err));
        s->presolved = rows ? rows : s->presolved;
        if (rows)
            CLV_TRY(check_forward(s, ret_end, err));
    }
    if (*ret_end && !s->start && !s->r->solve.why[0])
        say_none_fits(s);
    return CLV_OK;
}

static clv_status solve_all(clv_solve_state *s, clv_error *err)
{
    bool none = false, done = false;
    CLV_TRY(clv_presolve(s->p, s->arena, &s->presolved, s->r->solve.why, err));
    bool infeasible = !s->presolved;
    if (!infeasible)
        CLV_TRY(solve_small(s, &done, err));
    infeasible = infeasible || (done && !s->start);
    if (!infeasible && !done)
        CLV_TRY(solve_reduced(s, &none, err));
    if (!infeasible && !done && !clv_solve_is_finite(s) && clv_presolve_finite(s->presolved) &&
        !clv_limits_over(&s->incumbent.limits)) {
        /* Perhaps only solutions that cost never are within the limit: the best of those. */
        clv_presolved *rows;
        free_all(s);
        s->n_rounds = s->n_stale = 0;
        CLV_TRY(clv_presolve_rows(s->p, s->arena, &rows, s->r->solve.why, err));
        infeasible = !rows;
        s->presolved = rows ? rows : s->presolved;
        if (!infeasible)
            CLV_TRY(solve_reduced(s, &none, err));
    }
    if (none && !s->r->solve.found && !clv_presolve_finite(s->presolved)) {
        infeasible = true;
        say_none_fits(s);
    }
    if (infeasible)
        s->r->solve.bound = CLV_OBJVAL_INFINITE;
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
