/* strategies_rounds.c - the squeezer alone, then with searchers, in rounds of so much work. */
#include "base/parallel_for.h"
#include "solver/intra_op/strategies_work.h"

/* Without a deadline the answer must not depend on the threads, so all searchers run; but one in
 * the first rounds, so that there is a good answer soon on few threads too. */
#define CLV_SOLVE_FIRST_ROUNDS 24
/* An entry that the squeezer looks at takes as long as so many of a searcher's tables. */
#define CLV_SOLVE_SQUEEZER_ENTRY 2
/* The searchers go over to what the squeezer leaves when it is so much of what they work on. */
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
    clv_intra_op_state *s = ctx;
    clv_intra_op_field *f = s->field;
    for (int32_t i; (i = atomic_fetch_add(&s->next, 1)) <= s->n_active;) {
        if (i == 0)
            s->status[0] =
                clv_squeezer_step(s->squeezer, s->share, ask,
                                  thread ? &s->elsewhere : &s->incumbent.limits, &s->error[0]);
        else
            s->status[i] = clv_searcher_round(&f->searcher[i - 1], f->bench[thread], &f->shared,
                                              f->work, &s->error[i]);
    }
}

/* The squeezer's news. */
static clv_status collect_squeezer(clv_intra_op_state *s, bool *better, clv_error *err)
{
    clv_int128 cost;
    const int32_t *answer = clv_squeezer_news(s->squeezer, &cost);
    *better = answer && (!s->r->solve.found || cost + s->base < clv_intra_op_best_cost(s));
    if (*better) {
        CLV_TRY(clv_intra_op_offer(s, answer, "messages and prices", err));
        if (s->field)
            CLV_TRY(clv_intra_op_bring(s, err));
    }
    clv_intra_op_raise(s, clv_squeezer_bound(s->squeezer) + s->base, "messages and prices");
    return CLV_OK;
}

/* Answers of the searchers in their order. */
static clv_status collect_searchers(clv_intra_op_state *s, bool *better, clv_error *err)
{
    clv_intra_op_field *f = s->field;
    const char *by = NULL;
    for (int32_t i = 0; i < s->n_active; i++) {
        if (!clv_state_better(&f->searcher[i].best, &f->shared))
            continue;
        clv_state_copy(&f->shared, &f->searcher[i].best);
        by = f->searcher[i].found_by;
        *better = true;
    }
    if (*better && f->shared.over <= 0)
        CLV_TRY(clv_intra_op_offer_field(s, f->shared.choice, by ? by : "regions", err));
    return CLV_OK;
}

static clv_status collect(clv_intra_op_state *s, clv_error *err)
{
    clv_int128 bound_before = clv_intra_op_best_bound(s),
               cost_before = s->r->solve.found ? clv_intra_op_best_cost(s) : -1;
    bool better = false, squeezed = false;
    for (int32_t i = 0; i <= s->n_active; i++)
        if (s->status[i] != CLV_OK)
            return clv_fail(err, s->status[i], "%s", s->error[i].message);
    CLV_TRY(collect_squeezer(s, &squeezed, err));
    CLV_TRY(collect_searchers(s, &better, err));
    bool raised = clv_intra_op_best_bound(s) > bound_before;
    s->n_stale = better || squeezed ? 0 : s->n_stale + 1;
    if (better || squeezed || raised)
        clv_intra_op_share(s);
    if (raised || (s->r->solve.found && clv_intra_op_best_cost(s) != cost_before))
        clv_intra_op_report(s, s->r->solve.found ? s->r->solve.found_by : "messages");
    return CLV_OK;
}

/* Searchers of the next round, and the squeezer's work. With a deadline there are as many as there
 * are threads for. */
static void deal(clv_intra_op_state *s)
{
    int32_t n = s->jobs - (clv_squeezer_over(s->squeezer) ? 0 : 1);
    if (s->o->solve.deadline_ns == 0)
        n = s->n_rounds < CLV_SOLVE_FIRST_ROUNDS ? 1 : CLV_SOLVE_SEARCHERS;
    n = n > CLV_SOLVE_SEARCHERS ? CLV_SOLVE_SEARCHERS : n;
    s->n_active = n < 1 ? 1 : n;
    s->share = s->field->work / CLV_SOLVE_SQUEEZER_ENTRY;
    if (s->o->brief) {
        s->n_active = 1;
        s->share = s->field->work;
    }
    s->searched += s->share + s->n_active * s->field->work;
    s->n_rounds++;
}

static bool is_smaller(const clv_intra_op_state *s)
{
    const clv_intra_op_problem *now = clv_squeezer_problem(s->squeezer), *old = s->field->p;
    return now != old &&
           now->first_choice[now->n_nodes] <= CLV_SOLVE_ADOPT * old->first_choice[old->n_nodes];
}

clv_status clv_intra_op_search(clv_intra_op_state *s, clv_error *err)
{
    while (!clv_incumbent_is_enough(&s->incumbent) && !clv_limits_over(&s->incumbent.limits) &&
           !clv_intra_op_none_left(s)) {
        if (s->o->solve.deadline_ns == 0 && s->n_stale >= CLV_SOLVE_STALE)
            break;
        if (s->o->brief && s->searched >= CLV_SOLVE_BRIEF_WORK)
            break;
        if (s->o->solve.deadline_ns > 0 && !clv_intra_op_is_finite(s) &&
            clv_presolve_finite(s->presolved) &&
            clv_incumbent_seconds(&s->incumbent) >
                CLV_SOLVE_FINITE_SHARE *
                    clv_seconds_until(s->o->solve.deadline_ns, s->incumbent.start_ns))
            break;
        deal(s);
        atomic_store(&s->next, 0);
        clv_parallel_threads(s->jobs < s->n_active + 1 ? s->jobs : s->n_active + 1, run_items, s);
        CLV_TRY(collect(s, err));
        if (is_smaller(s) && !clv_incumbent_is_enough(&s->incumbent)) {
            bool none;
            CLV_TRY(clv_intra_op_enter_field(s, &none, err));
        }
    }
    return CLV_OK;
}

clv_status clv_intra_op_run_squeezer(clv_intra_op_state *s, int64_t work, clv_error *err)
{
    enum { STEPS = 32 };
    int64_t until = clv_squeezer_work(s->squeezer) + work;
    while (clv_squeezer_work(s->squeezer) < until && !clv_incumbent_is_enough(&s->incumbent) &&
           !clv_limits_over(&s->incumbent.limits) && !clv_squeezer_over(s->squeezer)) {
        clv_int128 bound = clv_intra_op_best_bound(s);
        bool better;
        CLV_TRY(clv_squeezer_step(s->squeezer, clv_intra_op_is_finite(s) ? work / STEPS : 1, ask,
                                  &s->incumbent.limits, err));
        CLV_TRY(collect_squeezer(s, &better, err));
        if (better || clv_intra_op_best_bound(s) > bound)
            clv_intra_op_report(s, s->r->solve.found ? s->r->solve.found_by : "messages");
    }
    return CLV_OK;
}
