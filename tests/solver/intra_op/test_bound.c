/* Bounds of strategy problems against every solution of small ones. */
#include "solver/intra_op/bound.h"

#include <criterion/criterion.h>

#include "solver/intra_op/bound_decode.h"
#include "solver/intra_op/bound_mix.h"
#include "solver/intra_op/small_strategies.h"

typedef struct {
    small_strategies s;
    clv_arena *arena;
    clv_intra_op_bound *b;
} trial;

static void begin(trial *t, uint64_t seed, small_kind kind)
{
    clv_error err;

    small_strategies_make(&t->s, seed, kind);
    t->arena = clv_arena_new(NULL, 0);
    cr_assert_eq(clv_intra_op_bound_new(&t->s.p, t->arena, &t->b, &err), CLV_OK);
}

/* The cheapest legal solution without nevers; CLV_INTRA_OP_NEVER: there is none. least: the same
 * for solutions with each choice. */
static clv_int128 best_of(const clv_intra_op_problem *p, clv_int128 *least)
{
    int32_t choice[SMALL_NODES] = { 0 }, nevers;
    clv_int128 best = CLV_INTRA_OP_NEVER;

    for (int32_t c = 0; c < p->first_choice[p->n_nodes]; c++)
        least[c] = CLV_INTRA_OP_NEVER;
    do {
        clv_int128 cost = small_cost(p, choice, &nevers);

        if (nevers || !small_fits(p, choice))
            continue;
        best = cost < best ? cost : best;
        for (int32_t v = 0; v < p->n_nodes; v++)
            if (cost < least[p->first_choice[v] + choice[v]])
                least[p->first_choice[v] + choice[v]] = cost;
    } while (small_next(p, choice));
    return best;
}

Test(strategy_bound, is_never_above_the_best_solution)
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        clv_int128 least[SMALL_NODES * SMALL_CHOICES], best;
        trial t;

        begin(&t, seed,
              (small_kind){ .memory = seed % 3 > 0, .odd = seed % 5 == 0, .never = seed % 2 == 0 });
        best = best_of(&t.s.p, least);
        clv_intra_op_bound_run(t.b, 60, best < CLV_INTRA_OP_NEVER ? best : -1, NULL, NULL);
        cr_assert(clv_intra_op_bound_value(t.b) <= best, "seed %llu: %lld, not %lld",
                  (unsigned long long)seed, (long long)clv_intra_op_bound_value(t.b),
                  (long long)best);
        for (int32_t c = 0; c < t.s.p.first_choice[t.s.p.n_nodes]; c++)
            cr_assert(clv_intra_op_bound_min_marginals(t.b)[c] <= least[c], "seed %llu, choice %d",
                      (unsigned long long)seed, (int)c);
        clv_arena_free(t.arena);
    }
}

Test(strategy_bound, meets_the_best_solution_of_trees)
{
    for (uint64_t seed = 0; seed < 1000; seed++) {
        clv_int128 least[SMALL_NODES * SMALL_CHOICES], best;
        trial t;

        begin(&t, seed, (small_kind){ .tree = true, .never = seed % 2 == 0 });
        best = best_of(&t.s.p, least);
        clv_intra_op_bound_run(t.b, 40, -1, NULL, NULL);
        cr_assert(clv_intra_op_bound_value(t.b) == best || best == CLV_INTRA_OP_NEVER,
                  "seed %llu: %lld, not %lld", (unsigned long long)seed,
                  (long long)clv_intra_op_bound_value(t.b), (long long)best);
        clv_arena_free(t.arena);
    }
}

/* At any prices solutions are within the limit, and cost what they say. */
Test(strategy_bound, solutions_are_legal_at_any_price)
{
    static const double price[] = { 0, 0.5, 1, 1.1, 8 };
    int32_t n = 0;

    for (uint64_t seed = 0; seed < 1000; seed++) {
        int32_t choice[SMALL_NODES], nevers;
        trial t;

        begin(&t, seed, (small_kind){ .memory = seed % 4 > 0, .never = seed % 3 == 0 });
        clv_intra_op_bound_run(t.b, 1 + (int32_t)(seed % 70), -1, NULL, NULL);
        for (int i = 0; i < 10; i++) {
            if (!clv_intra_op_bound_decode(t.b, i % 2, price[i / 2], choice))
                continue;
            n++;
            cr_assert(small_fits(&t.s.p, choice), "seed %llu", (unsigned long long)seed);
            cr_assert(small_cost(&t.s.p, choice, &nevers) >= clv_intra_op_bound_value(t.b));
            cr_assert_eq(nevers, 0);
        }
        clv_arena_free(t.arena);
    }
    cr_assert_gt(n, 5000);
}

/* The bound goes on from where it was, and is as honest, after prices are stirred. */
Test(strategy_bound, is_honest_when_stirred)
{
    for (uint64_t seed = 0; seed < 1000; seed++) {
        clv_int128 least[SMALL_NODES * SMALL_CHOICES], best, before;
        trial t;

        begin(&t, seed, (small_kind){ .memory = true, .never = seed % 2 == 0 });
        best = best_of(&t.s.p, least);
        for (int turn = 0; turn < 3; turn++) {
            before = clv_intra_op_bound_value(t.b);
            clv_intra_op_bound_run(t.b, 7 + 12 * turn, -1, NULL, NULL);
            clv_intra_op_bound_reset_steps(t.b);
            cr_assert(clv_intra_op_bound_value(t.b) >= before);
        }
        cr_assert(clv_intra_op_bound_value(t.b) <= best, "seed %llu", (unsigned long long)seed);
        clv_arena_free(t.arena);
    }
}

Test(strategy_bound, prices_memory)
{
    /* Two nodes that each want 4 of a limit of 4: one of them has to take its dear choice. */
    static const int32_t first[] = { 0, 2, 4 }, spans[] = { 0, 1, 2 }, no_edges[] = { 0 };
    static const int64_t cost[] = { 0, 10, 0, 6 }, lo[] = { 0, 0 }, hi[] = { 1, 1 },
                         at[] = { 0, 2 };
    static const int64_t usage[] = { 4, 0, 4, 0 }, no_entry[] = { 0 };
    const clv_intra_op_problem p = { .name = "two",
                                     .n_nodes = 2,
                                     .usage_limit = 4,
                                     .first_choice = first,
                                     .cost = cost,
                                     .first_span = spans,
                                     .span_lo = lo,
                                     .span_hi = hi,
                                     .span_usage = at,
                                     .usage = usage,
                                     .first_end = no_edges,
                                     .first_entry = no_entry };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_intra_op_bound *b;
    bool alive[] = { true, true, true, true };
    clv_error err;

    cr_assert_eq(clv_intra_op_bound_new(&p, arena, &b, &err), CLV_OK);
    clv_intra_op_bound_run(b, 400, 6, NULL, NULL);
    cr_assert(clv_intra_op_bound_value(b) >= 5 && clv_intra_op_bound_value(b) <= 6);
    /* 10 is dearer than 6; and when the second node holds 4, the first one has to pay that. */
    cr_assert_geq(clv_intra_op_bound_fix_choices(b, 7, alive), 1);
    cr_assert(!alive[1] && alive[0] && alive[3]);
    clv_arena_free(arena);
}
