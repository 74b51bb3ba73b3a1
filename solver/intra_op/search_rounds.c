/* search_rounds.c - see search_rounds.h. */
#include "solver/intra_op/search_rounds.h"

#include "base/parallel_for.h"
#include "solver/intra_op/parallel_search.h"

/* Without a deadline the answer must not depend on the threads, so all searchers run; but one in
 * the first rounds, so that there is a good answer soon on few threads too. */
#define CLV_SOLVE_FIRST_ROUNDS 24
/* An entry that bound and reduction look at takes as long as so many of a searcher's tables. */
#define CLV_SOLVE_BOUND_ENTRY 2
/* The searchers go over to what bound and reduction leave when it is so much of what they work
 * on. */
#define CLV_SOLVE_ADOPT 0.75
/* The share of the time to a deadline for answers without never, where none is found. */
#define CLV_SOLVE_FINITE_SHARE 0.7
/* Without a deadline: rounds without a better answer before the search is done. */
#define CLV_SOLVE_STALE 64
/* Briefly: work of all together. */
#define CLV_SOLVE_BRIEF_WORK 150000000

static bool ask(void *ctx) { return clv_limits_over(ctx); }

static void run_items(void *ctx, int32_t thread)
{
    clv_solve_state *s = ctx;
    clv_parallel_search *f = s->search;
    for (int32_t i; (i = atomic_fetch_add(&s->next, 1)) <= s->n_active;) {
        if (i == 0)
            s->status[0] = clv_bound_and_reduce_step(s->bound_and_reduce, s->share, ask,
                                                     thread ? &s->elsewhere : &s->incumbent.limits,
                                                     &s->error[0]);
        else
            s->status[i] = clv_lns_run_round(&f->searcher[i - 1], f->workspace[thread], &f->shared,
                                             f->work, &s->error[i]);
    }
}

/* What bound and reduction have found. */
static clv_status collect_bound(clv_solve_state *s, bool *better, clv_error *err)
{
    clv_int128 cost;
    const int32_t *answer = clv_bound_and_reduce_poll_answer(s->bound_and_reduce, &cost);
    *better = answer && (!s->r->solve.found || cost + s->base < clv_solve_best_cost(s));
    if (*better) {
        CLV_TRY(clv_solve_offer(s, answer, "messages and prices", err));
        if (s->search)
            CLV_TRY(clv_parallel_search_import_best(s, err));
    }
    clv_solve_raise_bound(s, clv_bound_and_reduce_value(s->bound_and_reduce) + s->base,
                          "messages and prices");
    return CLV_OK;
}

/* Answers of the searchers in their order. */
static clv_status collect_searchers(clv_solve_state *s, bool *better, clv_error *err)
{
    clv_parallel_search *f = s->search;
    const char *by = NULL;
    for (int32_t i = 0; i < s->n_active; i++) {
        if (!clv_search_state_is_better(&f->searcher[i].best, &f->shared))
            continue;
        clv_search_state_copy(&f->shared, &f->searcher[i].best);
        by = f->searcher[i].found_by;
        *better = true;
    }
    if (*better && f->shared.over <= 0)
        CLV_TRY(clv_parallel_search_offer(s, f->shared.choice, by ? by : "regions", err));
    return CLV_OK;
}

static clv_status collect(clv_solve_state *s, clv_error *err)
{
    clv_int128 bound_before = clv_solve_best_bound(s),
               cost_before = s->r->solve.found ? clv_solve_best_cost(s) : -1;
    bool better = false, bettered_by_bound = false;
    for (int32_t i = 0; i <= s->n_active; i++)
        if (s->status[i] != CLV_OK)
            return clv_fail(err, s->status[i], "%s", s->error[i].message);
    CLV_TRY(collect_bound(s, &bettered_by_bound, err));
    CLV_TRY(collect_searchers(s, &better, err));
    bool raised = clv_solve_best_bound(s) > bound_before;
    s->n_stale = better || bettered_by_bound ? 0 : s->n_stale + 1;
    if (better || bettered_by_bound || raised)
        clv_parallel_search_share_bounds(s);
    if (raised || (s->r->solve.found && clv_solve_best_cost(s) != cost_before))
        clv_solve_report(s, s->r->solve.found ? s->r->solve.found_by : "messages");
    return CLV_OK;
}

/* Searchers of the next round, and bound and reduction's work. With a deadline there are as many
 * as there are threads for. */
static void plan_round(clv_solve_state *s)
{
    int32_t n = s->jobs - (clv_bound_and_reduce_is_over(s->bound_and_reduce) ? 0 : 1);
    if (s->o->solve.deadline_ns == 0)
        n = s->n_rounds < CLV_SOLVE_FIRST_ROUNDS ? 1 : CLV_SOLVE_SEARCHERS;
    n = n > CLV_SOLVE_SEARCHERS ? CLV_SOLVE_SEARCHERS : n;
    s->n_active = n < 1 ? 1 : n;
    s->share = s->search->work / CLV_SOLVE_BOUND_ENTRY;
    if (s->o->brief) {
        s->n_active = 1;
        s->share = s->search->work;
    }
    s->searched += s->share + s->n_active * s->search->work;
    s->n_rounds++;
}

clv_status clv_search_rounds(clv_solve_state *s, clv_error *err)
{
    while (!clv_incumbent_is_enough(&s->incumbent) && !clv_limits_over(&s->incumbent.limits) &&
           !clv_solve_none_left(s)) {
        if (s->o->solve.deadline_ns == 0 && s->n_stale >= CLV_SOLVE_STALE)
            break;
        if (s->o->brief && s->searched >= CLV_SOLVE_BRIEF_WORK)
            break;
        if (s->o->solve.deadline_ns > 0 && !clv_solve_is_finite(s) &&
            clv_presolve_finite(s->presolved) &&
            clv_incumbent_seconds(&s->incumbent) >
                CLV_SOLVE_FINITE_SHARE *
                    clv_seconds_until(s->o->solve.deadline_ns, s->incumbent.start_ns))
            break;
        plan_round(s);
        atomic_store(&s->next, 0);
        clv_parallel_threads(s->jobs < s->n_active + 1 ? s->jobs : s->n_active + 1, run_items, s);
        CLV_TRY(collect(s, err));
        const clv_intra_op_problem *left = clv_bound_and_reduce_problem(s->bound_and_reduce);
        const clv_intra_op_problem *now = s->search->p;
        if (left != now && !clv_incumbent_is_enough(&s->incumbent) &&
            left->first_choice[left->n_nodes] <=
                CLV_SOLVE_ADOPT * now->first_choice[now->n_nodes]) {
            bool none;
            CLV_TRY(clv_parallel_search_start(s, &none, err));
        }
    }
    return CLV_OK;
}

clv_status clv_solve_run_bound(clv_solve_state *s, int64_t work, clv_error *err)
{
    enum { STEPS = 32 };
    int64_t until = clv_bound_and_reduce_work(s->bound_and_reduce) + work;
    while (clv_bound_and_reduce_work(s->bound_and_reduce) < until &&
           !clv_incumbent_is_enough(&s->incumbent) && !clv_limits_over(&s->incumbent.limits) &&
           !clv_bound_and_reduce_is_over(s->bound_and_reduce)) {
        clv_int128 bound = clv_solve_best_bound(s);
        bool better;
        CLV_TRY(clv_bound_and_reduce_step(s->bound_and_reduce,
                                          clv_solve_is_finite(s) ? work / STEPS : 1, ask,
                                          &s->incumbent.limits, err));
        CLV_TRY(collect_bound(s, &better, err));
        if (better || clv_solve_best_bound(s) > bound)
            clv_solve_report(s, s->r->solve.found ? s->r->solve.found_by : "messages");
    }
    return CLV_OK;
}
