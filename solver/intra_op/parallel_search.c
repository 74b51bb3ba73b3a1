/* parallel_search.c - see parallel_search.h. */
#include "solver/intra_op/parallel_search.h"

#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "solver/intra_op/exact_elimination.h"

/* Work of one searcher in a round, in table entries: so many sweeps of messages, within these. */
#define CLV_SOLVE_SWEEPS     32
#define CLV_SOLVE_WORK_LEAST 1000000
#define CLV_SOLVE_WORK_MOST  40000000
/* The first searcher needs no subgradient when the bound is so much of the cost. */
#define CLV_SOLVE_NEAR 0.9

/* The first searcher begins with the best solution where prices are known, without a subgradient
 * phase. */
static void start_first_from_best(clv_solve_state *s)
{
    clv_parallel_search *f = s->search;
    int32_t n_rows;
    /* The bound must have come so far that what it says is of use. */
    if (!clv_solve_is_finite(s) || f->shared.over > 0 ||
        f->n_stages != clv_bound_and_reduce_n_stages(s->bound_and_reduce) ||
        f->pairwise->n != f->pairwise->n_given ||
        (double)clv_solve_best_bound(s) <= CLV_SOLVE_NEAR * (double)clv_solve_best_cost(s))
        return;
    const double *price = clv_bound_and_reduce_prices(s->bound_and_reduce, &n_rows);
    const int64_t *least = clv_bound_and_reduce_min_marginals(s->bound_and_reduce);
    for (int32_t c = 0; c < f->p->first_choice[f->p->n_nodes]; c++)
        f->likely[c] = (double)least[c];
    clv_lns_start_from(&f->searcher[0], &f->shared, n_rows == f->pairwise->n_rows ? price : NULL,
                       f->likely);
}

clv_status clv_parallel_search_offer(clv_solve_state *s, const int32_t *choice, const char *method,
                                     clv_error *err)
{
    clv_bound_and_reduce_lift(s->bound_and_reduce, s->search->n_stages, choice, s->lifted);
    return clv_solve_offer(s, s->lifted, method, err);
}

void clv_parallel_search_free(clv_solve_state *s)
{
    if (!s->search)
        return;
    for (int32_t i = 0; i <= CLV_SOLVE_SEARCHERS; i++)
        clv_workspace_free(s->search->workspace[i]);
    clv_arena_free(s->search->arena);
    s->search = NULL;
}

clv_status clv_parallel_search_import_best(clv_solve_state *s, clv_error *err)
{
    clv_parallel_search *f = s->search;
    int32_t *to = f->searcher[0].imported;
    bool whole = true;
    if (!s->r->solve.found || f->pairwise->n != f->pairwise->n_given)
        return CLV_OK;
    if (f->n_stages == 0)
        memcpy(to, s->kept, (size_t)f->p->n_nodes * sizeof *to);
    else
        CLV_TRY(clv_bound_and_reduce_project(s->bound_and_reduce, f->n_stages, s->kept, to, &whole,
                                             err));
    clv_search_state_set(&f->other, to);
    if (clv_search_state_is_better(&f->other, &f->shared))
        clv_search_state_copy(&f->shared, &f->other);
    for (int32_t i = 0; i < CLV_SOLVE_SEARCHERS; i++) {
        if (i)
            memcpy(f->searcher[i].imported, to, (size_t)f->p->n_nodes * sizeof *to);
        f->searcher[i].has_imported = true;
    }
    return CLV_OK;
}

static clv_status allocate(clv_solve_state *s, clv_parallel_search *f, clv_error *err)
{
    int32_t n_choices = f->p->first_choice[f->p->n_nodes];
    CLV_TRY(clv_pairwise_make(f->p, f->arena, &f->pairwise, err));
    CLV_TRY(clv_workspace_new(f->pairwise, f->arena, &f->workspace[0], err));
    f->workspace[0]->subproblem->halt = &s->incumbent.limits;
    f->alive = CLV_NEW_ARRAY(f->arena, bool, n_choices);
    f->likely = CLV_NEW_ARRAY(f->arena, double, f->pairwise->first_choice[f->pairwise->n]);
    if (!f->alive || !f->likely)
        return clv_fail_nomem(err, "a search");
    memset(f->alive, 1, (size_t)n_choices);
    CLV_TRY(clv_search_state_new(f->pairwise, f->arena, &f->shared, err));
    CLV_TRY(clv_search_state_new(f->pairwise, f->arena, &f->other, err));
    f->shared.over = INFINITY;
    int64_t sweep = 0;
    for (int32_t i = 0; i < CLV_SOLVE_SEARCHERS; i++) {
        CLV_TRY(clv_lns_new(f->pairwise, i, s->o->solve.seed, f->arena, &f->searcher[i], err));
        f->searcher[i].alive = f->alive;
        sweep = f->searcher[i].subgradient.trws.work;
    }
    for (int32_t i = 1; i < s->jobs && i <= CLV_SOLVE_SEARCHERS; i++) {
        CLV_TRY(clv_workspace_new(f->pairwise, f->arena, &f->workspace[i], err));
        f->workspace[i]->subproblem->halt = &s->elsewhere;
    }
    f->work = CLV_SOLVE_SWEEPS * sweep;
    f->work = f->work < CLV_SOLVE_WORK_LEAST ? CLV_SOLVE_WORK_LEAST : f->work;
    f->work = f->work > CLV_SOLVE_WORK_MOST ? CLV_SOLVE_WORK_MOST : f->work;
    f->work = s->o->brief ? f->work / 2 : f->work;
    return CLV_OK;
}

/* Searchers on what bound and reduction have left now. */
static clv_status new_search(clv_solve_state *s, clv_error *err)
{
    clv_parallel_search_free(s);
    clv_arena *arena = clv_arena_new(clv_arena_alloc(s->arena), 0);
    clv_parallel_search *f = arena ? CLV_NEW(arena, clv_parallel_search) : NULL;
    if (!f) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a search");
    }
    *f = (clv_parallel_search){ .arena = arena,
                                .p = clv_bound_and_reduce_problem(s->bound_and_reduce),
                                .n_stages = clv_bound_and_reduce_n_stages(s->bound_and_reduce),
                                .base = clv_bound_and_reduce_base(s->bound_and_reduce) };
    s->search = f;
    return allocate(s, f, err);
}

/* The problem as one subproblem, where its tables are small. *none: proven that nothing is within
 * the limit. */
static clv_status solve_whole(clv_solve_state *s, bool *none, clv_error *err)
{
    clv_parallel_search *f = s->search;
    double bound;
    CLV_TRY(clv_exact_elimination(f->workspace[0], &f->other, s->o->brief, none, &bound, err));
    bool any = f->pairwise->n == 0 || f->other.choice[0] >= 0;
    *none = *none && f->n_stages == 0;
    if (any && f->other.over <= 0) {
        CLV_TRY(clv_parallel_search_offer(s, f->other.choice, "elimination", err));
        if (clv_search_state_is_better(&f->other, &f->shared))
            clv_search_state_copy(&f->shared, &f->other);
    }
    /* Of what is left, and of all better solutions. */
    clv_int128 proven = bound >= 0 ? (clv_int128)bound + f->base + s->base : 0;
    if (f->n_stages > 0 && s->r->solve.found && proven > clv_solve_best_cost(s))
        proven = clv_solve_best_cost(s);
    clv_solve_raise_bound(s, proven, "elimination");
    if (s->r->solve.found)
        clv_solve_report(s, s->r->solve.found_by);
    return CLV_OK;
}

clv_status clv_parallel_search_start(clv_solve_state *s, bool *none, clv_error *err)
{
    CLV_TRY(new_search(s, err));
    CLV_TRY(solve_whole(s, none, err));
    if (*none || clv_incumbent_is_enough(&s->incumbent))
        return CLV_OK;
    CLV_TRY(clv_parallel_search_import_best(s, err));
    start_first_from_best(s);
    return CLV_OK;
}

void clv_parallel_search_share_bounds(clv_solve_state *s)
{
    clv_parallel_search *f = s->search;
    if (f->n_stages != clv_bound_and_reduce_n_stages(s->bound_and_reduce))
        return;
    const int64_t *least = clv_bound_and_reduce_min_marginals(s->bound_and_reduce);
    int64_t most = CLV_INTRA_OP_NEVER;
    if (s->r->solve.found && clv_solve_best_cost(s) - s->base - f->base < most)
        most = (int64_t)(clv_solve_best_cost(s) - s->base - f->base);
    for (int32_t c = 0; c < f->p->first_choice[f->p->n_nodes]; c++) {
        f->likely[c] = (double)least[c];
        if (s->r->solve.found && least[c] > most)
            f->alive[c] = false;
    }
    for (int32_t i = 0; i < CLV_SOLVE_SEARCHERS; i++)
        f->searcher[i].likely = f->likely;
}

/* ---- rounds ---- */

/* Without a deadline the solution must not depend on the threads, so all searchers run; but one in
 * the first rounds, so that there is a good solution soon on few threads too. */
#define CLV_SOLVE_FIRST_ROUNDS 24
/* An entry that bound and reduction look at takes as long as so many of a searcher's tables. */
#define CLV_SOLVE_BOUND_ENTRY 2
/* The searchers go over to what bound and reduction leave when it is so much of what they work
 * on. */
#define CLV_SOLVE_ADOPT 0.75
/* The share of the time to a deadline for solutions without never, where none is found. */
#define CLV_SOLVE_FINITE_SHARE 0.7
/* Without a deadline: rounds without a better solution before the search is done. */
#define CLV_SOLVE_STALE 64
/* Briefly: work of all together. */
#define CLV_SOLVE_BRIEF_WORK INT64_C(150000000)

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
    const int32_t *solution = clv_bound_and_reduce_poll_solution(s->bound_and_reduce, &cost);
    *better = solution && (!s->r->solve.found || cost + s->base < clv_solve_best_cost(s));
    if (*better) {
        CLV_TRY(clv_solve_offer(s, solution, "messages and prices", err));
        if (s->search)
            CLV_TRY(clv_parallel_search_import_best(s, err));
    }
    clv_solve_raise_bound(s, clv_bound_and_reduce_value(s->bound_and_reduce) + s->base,
                          "messages and prices");
    return CLV_OK;
}

static clv_status collect(clv_solve_state *s, clv_error *err)
{
    clv_int128 bound_before = clv_solve_best_bound(s),
               cost_before = s->r->solve.found ? clv_solve_best_cost(s) : -1;
    clv_parallel_search *f = s->search;
    bool better = false, bettered_by_bound = false;
    for (int32_t i = 0; i <= s->n_active; i++)
        if (s->status[i] != CLV_OK)
            return clv_fail(err, s->status[i], "%s", s->error[i].message);
    CLV_TRY(collect_bound(s, &bettered_by_bound, err));
    const char *by = NULL;
    for (int32_t i = 0; i < s->n_active; i++) { /* in their order */
        if (!clv_search_state_is_better(&f->searcher[i].best, &f->shared))
            continue;
        clv_search_state_copy(&f->shared, &f->searcher[i].best);
        by = f->searcher[i].found_by;
        better = true;
    }
    if (better && f->shared.over <= 0)
        CLV_TRY(clv_parallel_search_offer(s, f->shared.choice, by ? by : "regions", err));
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
        if (s->o->brief &&
            s->searched / CLV_SOLVE_BRIEF_WORK >= (s->o->times > 0 ? s->o->times : 1))
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
