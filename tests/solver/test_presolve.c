/* Presolve against every answer of small problems. */
#include "solver/strategies/presolve.h"

#include <criterion/criterion.h>

#include "small_strategies.h"

typedef struct {
    small_strategies s;
    clv_arena *arena;
    clv_presolved *made;
    bool infeasible;
    char why[200];
    uint64_t seed;
} trial;

static void begin(trial *t, uint64_t seed, small_kind kind)
{
    clv_error err;

    small_strategies_make(&t->s, seed, kind);
    t->seed = seed;
    t->arena = clv_arena_new(NULL, 0);
    cr_assert_eq(clv_presolve(&t->s.p, t->arena, &t->made, &t->infeasible, t->why, &err), CLV_OK,
                 "seed %llu: %s", (unsigned long long)seed, err.message);
}

/* Every legal answer of the reduced problem lifts to one that costs as much; the best of them is
 * returned, -1: none is legal. */
static clv_wide lift_all(const trial *t, int32_t *ret_nevers)
{
    const clv_strategies *q = clv_presolve_problem(t->made);
    int32_t choice[SMALL_NODES + 1] = { 0 }, whole[SMALL_NODES], nevers, more;
    clv_wide best = -1;

    do {
        clv_wide cost = small_cost(q, choice, &nevers) + clv_presolve_base(t->made);

        if (!small_fits(q, choice) || (nevers && clv_presolve_finite(t->made)))
            continue;
        clv_presolve_lift(t->made, choice, whole);
        for (int32_t v = 0; v < t->s.p.n_nodes; v++)
            cr_assert(whole[v] >= 0 && whole[v] < small_n(&t->s, v));
        cr_assert(small_fits(&t->s.p, whole), "seed %llu", (unsigned long long)t->seed);
        cr_assert(cost == small_cost(&t->s.p, whole, &more) && more == nevers, "seed %llu",
                  (unsigned long long)t->seed);
        if (best < 0 || cost < best) {
            best = cost;
            *ret_nevers = nevers;
        }
    } while (small_next(q, choice));
    return best;
}

/* How many nodes went. */
static int32_t check(uint64_t seed, small_kind kind)
{
    trial t;
    int32_t nevers = 0, left_nevers = 0, gone = 0;
    clv_wide best, left;

    begin(&t, seed, kind);
    best = small_best(&t.s.p, &nevers);
    if (t.infeasible) {
        cr_assert(best < 0, "seed %llu: %s", (unsigned long long)seed, t.why);
    } else {
        left = lift_all(&t, &left_nevers);
        if (clv_presolve_finite(t.made) && (best < 0 || nevers))
            cr_assert(left < 0, "seed %llu", (unsigned long long)seed);
        else
            cr_assert(left == best && left_nevers == nevers, "seed %llu: %lld, not %lld",
                      (unsigned long long)seed, (long long)left, (long long)best);
        gone = t.s.p.n_nodes - clv_presolve_problem(t.made)->n_nodes;
    }
    clv_arena_free(t.arena);
    return gone;
}

Test(presolve, keeps_the_best_answer)
{
    int64_t gone = 0;

    for (uint64_t seed = 0; seed < 8000; seed++)
        gone += check(seed, (small_kind){ .tree = seed % 16 == 1,
                                          .memory = seed % 3 > 0,
                                          .odd = seed % 5 == 0,
                                          .never = seed % 2 == 0 });
    cr_assert_gt(gone, 8000); /* it does something */
}

Test(presolve, rows_alone_keep_the_best_answer_too)
{
    for (uint64_t seed = 0; seed < 1000; seed++) {
        trial t = { .seed = seed };
        int32_t nevers = 0, left_nevers = 0;
        clv_error err;
        clv_wide best;

        small_strategies_make(&t.s, seed, (small_kind){ .memory = true, .never = true });
        t.arena = clv_arena_new(NULL, 0);
        cr_assert_eq(clv_presolve_rows(&t.s.p, t.arena, &t.made, &t.infeasible, t.why, &err),
                     CLV_OK);
        best = small_best(&t.s.p, &nevers);
        cr_assert(t.infeasible || !clv_presolve_finite(t.made));
        cr_assert(t.infeasible ? best < 0 : lift_all(&t, &left_nevers) == best, "seed %llu",
                  (unsigned long long)seed);
        clv_arena_free(t.arena);
    }
}

/* Choices that are not to be used go with whatever follows from that. */
Test(presolve, leaves_out_what_it_is_told_to)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        trial t = { .seed = seed };
        int32_t choice[SMALL_NODES] = { 0 }, nevers = 0, left = 0;
        bool alive[SMALL_NODES * SMALL_CHOICES];
        uint64_t rng = seed;
        clv_wide best = -1;
        clv_error err;

        small_strategies_make(&t.s, seed, (small_kind){ .memory = seed % 2, .odd = seed % 5 == 0 });
        for (int32_t c = 0; c < t.s.first_choice[t.s.p.n_nodes]; c++)
            alive[c] = clv_random_below(&rng, 3) > 0;
        do {
            bool open = small_fits(&t.s.p, choice);
            clv_wide cost = small_cost(&t.s.p, choice, &nevers);

            for (int32_t v = 0; v < t.s.p.n_nodes; v++)
                open = open && alive[t.s.first_choice[v] + choice[v]];
            best = open && (best < 0 || cost < best) ? cost : best;
        } while (small_next(&t.s.p, choice));
        t.arena = clv_arena_new(NULL, 0);
        cr_assert_eq(
            clv_presolve_alive(&t.s.p, alive, t.arena, &t.made, &t.infeasible, t.why, &err),
            CLV_OK);
        cr_assert(t.infeasible ? best < 0 : lift_all(&t, &left) == best, "seed %llu",
                  (unsigned long long)seed);
        clv_arena_free(t.arena);
    }
}
