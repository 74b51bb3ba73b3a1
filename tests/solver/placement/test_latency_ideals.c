/* The parts of the latency solver that prove, each by itself: no bound above the optimum, and the
 * search over ideals finds the optimum where it says so, without a solution to start from. */
#include <stdio.h>

#include "solver/placement/latency/chain_bounds.h"
#include "solver/placement/latency/latency_ideals.h"
#include "solver/placement/latency/latency_units.h"
#include "solver/placement/small_placements.h"
#include "support/effort.h"

/* A search that nobody offers a solution to, so that it is never near enough. */
typedef struct {
    clv_place_options options;
    clv_place_result result;
    clv_place_search s;
    double optimum;
    bool raised_too_high;
} listener;

static void hear_bound(void *ctx, const clv_solve_progress *p)
{
    listener *l = ctx;
    l->raised_too_high |= p->bound.real > l->optimum * (1 + 1e-9) + 1e-9;
}

static void open_listener(listener *l, const clv_place_problem *p, bool contiguous,
                          clv_arena *arena)
{
    clv_place_rules rules = { CLV_PLACE_LATENCY, contiguous, 0 };
    *l = (listener){ .options = { .solve = { .progress = hear_bound, .progress_ctx = l },
                                  .rules = rules },
                     .s = { .p = p, .options = &l->options, .result = &l->result },
                     .optimum = brute(p, &rules) };
    cr_assert_eq(clv_incumbent_open(&l->s.incumbent, &l->options.solve, p->n_nodes, arena,
                                    &l->result.solve, NULL),
                 CLV_OK);
}

/* -- */

/* Is the search exact here? One kind of each sort, the other one without a limit of memory. */
static bool is_exact(const small_placement *in, bool contiguous)
{
    bool backward = false;
    for (int32_t v = 0; v < in->p.n_nodes; v++)
        backward |= in->backward[v];
    return contiguous && !backward && in->p.n_kinds == 2 && in->kinds[0].pays &&
           !in->kinds[1].pays && in->kinds[1].capacity_bytes == CLV_PLACE_UNLIMITED;
}

typedef struct {
    int32_t exact, met, searched; /* searches that must be exact; that met the optimum; all */
} tally;

static void check_search(listener *run, clv_chain_division *chain, double limit, bool strict,
                         bool exact, uint64_t seed, clv_arena *arena, tally *t)
{
    clv_ideal_result r;
    const clv_latency_units *u = chain->units;
    int64_t ticks = clv_latency_ticks(u, limit);
    clv_ideal_limits limits = { ticks, strict, INT64_C(100000000) };
    cr_assert_eq(clv_latency_ideals(&run->s, chain, &limits, arena, &r, NULL), CLV_OK);
    double value = (double)r.value * u->tick, slack = 1e-9 * (1 + value);
    t->searched++;
    if (r.end == CLV_IDEAL_ENDED)
        return;
    cr_assert(fmin(value, limit) <= run->optimum + slack,
              "seed %d strict %d: nothing below %.17g, but there is %.17g", (int)seed, strict,
              value, run->optimum);
    t->met += r.end == CLV_IDEAL_FOUND && fabs(value - run->optimum) <= slack;
    if (!exact)
        return;
    t->exact++;
    /* what rides counts no device, so a little less than the optimum may be found */
    if (!isinf(run->optimum) && run->optimum + u->tick < limit)
        cr_assert_eq(r.end, CLV_IDEAL_FOUND, "seed %d: %.17g not found", (int)seed, run->optimum);
}

static void check(uint64_t seed, bool contiguous, tally *t)
{
    small_placement in = { 0 };
    make(&in, seed);
    listener run;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_latency_tables *tables;
    clv_chain_division *chain;
    open_listener(&run, &in.p, contiguous, arena);
    cr_assert_eq(clv_latency_tables_new(&in.p, contiguous, arena, &tables, NULL), CLV_OK);
    cr_assert_eq(clv_chain_bounds(&run.s, tables, arena, &chain, NULL), CLV_OK);
    cr_assert(!run.raised_too_high, "seed %d contiguous %d: bound %.17g, optimum %.17g", (int)seed,
              contiguous, clv_place_bound(&run.s), run.optimum);
    cr_assert_not_null(chain);
    bool exact = is_exact(&in, contiguous);
    for (int32_t strict = chain->units->whole; strict < 2; strict++) {
        check_search(&run, chain, INFINITY, strict, exact, seed, arena, t);
        if (!isinf(run.optimum))
            check_search(&run, chain, run.optimum * 1.01 + 1e-3, strict, exact, seed, arena, t);
    }
    clv_arena_free(arena);
}

static void check_many(uint64_t first, int32_t n, bool contiguous)
{
    tally t = { 0 };
    for (int32_t i = 0; i < n; i++)
        check(first + (uint64_t)i, contiguous, &t);
    printf("contiguous %d: %d searches, %d met the optimum, %d must find\n", contiguous, t.searched,
           t.met, t.exact);
    cr_expect_gt(t.met, t.searched / 3);
}

#define N_PROBLEMS ((int)test_effort(2000))

Test(latency_ideals, free_bounds_are_bounds) { check_many(1, N_PROBLEMS, false); }

Test(latency_ideals, contiguous_bounds_are_bounds_and_optima_are_found)
{
    check_many(100001, N_PROBLEMS, true);
}
