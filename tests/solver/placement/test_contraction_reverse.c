/* test_contraction_reverse.c - blocks the other way round, and what is proven from the back alone.
 */
#include "solver/placement/common/contraction_reverse.h"

#include <criterion/criterion.h>
#include <string.h>

#include "solver/placement/portfolio.h"
#include "solver/placement/small_placement.h"
#include "support/place_convert.h"
#include "support/place_oracle.h"

TestSuite(reverse, .timeout = 600);

/* Do the lists of a hold the same numbers as those of b, with block u of one for u of the other? */
static bool is_same(int32_t n, const int32_t *a_first, const int32_t *a, const int32_t *b_first,
                    const int32_t *b)
{
    return memcmp(a_first, b_first, ((size_t)n + 1) * sizeof *a_first) == 0 &&
           memcmp(a, b, (size_t)a_first[n] * sizeof *a) == 0;
}

static bool has(const int32_t *first, const int32_t *list, int32_t u, int32_t v)
{
    for (int32_t i = first[u]; i < first[u + 1]; i++)
        if (list[i] == v)
            return true;
    return false;
}

static void check_mirrored(const clv_contraction *b, const clv_contraction *r)
{
    int32_t last = b->n - 1;
    for (int32_t u = 0; u < b->n; u++) {
        cr_assert_eq(r->bytes[last - u], b->bytes[u]);
        for (int32_t k = 0; k < b->n_kinds; k++)
            cr_assert_eq(clv_block_time(r, k, last - u), clv_block_time(b, k, u));
        for (int32_t i = b->after_first[u]; i < b->after_first[u + 1]; i++) {
            cr_assert(has(r->after_first, r->after, last - b->after[i], last - u));
            cr_assert(has(r->before_first, r->before, last - u, last - b->after[i]));
        }
        for (int32_t i = b->at_first[u]; i < b->at_first[u + 1]; i++) {
            cr_assert(has(r->at_first, r->at, last - u, b->at[i]));
            cr_assert(has(r->net_first, r->pins, b->at[i], last - u));
        }
    }
    for (int32_t i = 0; i < b->n_nets; i++)
        for (int32_t j = r->net_first[i] + 1; j < r->net_first[i + 1]; j++)
            cr_assert_lt(r->pins[j - 1], r->pins[j]);
    for (int32_t v = 0; v < b->p->n_nodes; v++)
        cr_assert_eq(r->block_of[v], last - b->block_of[v]);
}

Test(reverse, everything_is_mirrored_and_twice_is_the_same)
{
    const small_size size = { 20, 16, 3, 1 };
    for (uint64_t seed = 0; seed < 500; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_problem *p = small_placement(seed, &size, arena);
        clv_place_rules rules = { CLV_PLACE_THROUGHPUT, true, 0 };
        clv_contraction *b, r, again;
        cr_assert_eq(clv_contraction_new(p, &rules, arena, &b, NULL), CLV_OK);
        cr_assert_eq(clv_contraction_reverse(b, arena, &r, NULL), CLV_OK);
        cr_assert_eq(clv_contraction_reverse(&r, arena, &again, NULL), CLV_OK);
        cr_assert_eq(r.after_first[b->n], b->after_first[b->n]);
        check_mirrored(b, &r);
        check_mirrored(&r, &again);
        cr_assert(is_same(b->n, b->after_first, b->after, again.after_first, again.after));
        cr_assert(is_same(b->n, b->before_first, b->before, again.before_first, again.before));
        cr_assert(is_same(b->n, b->at_first, b->at, again.at_first, again.at));
        cr_assert(is_same(b->n_nets, b->net_first, b->pins, again.net_first, again.pins));
        clv_arena_free(arena);
    }
}

/* A heavy node behind forty that may come in any order: more ideals than can be met. Each costs
 * less to run than to receive, so whoever has the heavy one has all. */
Test(reverse, what_decides_at_the_end_is_proven_from_the_back)
{
    enum { LOOSE = 40, HEAVY = 100 };
    oracle_problem of = { .n = LOOSE + 1, .m = LOOSE, .n_classes = LOOSE + 1, .n_kinds = 1 };
    double optimum = HEAVY;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_result r;
    clv_place_options options = { .late_enumeration = true,
                                  .rules = { CLV_PLACE_THROUGHPUT, true, 0 } };
    of.kind[0] = (oracle_kind){ 6, -1, true };
    for (int v = 0; v < of.n; v++)
        of.class_of[v] = v;
    for (int v = 0; v < LOOSE; v++) {
        of.time[0][v] = 1 + 0.25 * (v % 7);
        of.cost[v] = of.time[0][v] + 0.25 * (1 + v % 3);
        of.from[v] = v;
        of.to[v] = LOOSE;
        optimum += of.time[0][v];
    }
    of.time[0][LOOSE] = HEAVY;
    cr_assert_eq(clv_place_solve(placement_of(&of, arena), &options, arena, &r, NULL), CLV_OK);
    cr_assert_eq(r.solve.end, CLV_END_OPTIMAL);
    cr_assert_str_eq(r.solve.bound_by, "order ideals, reversed");
    cr_assert_float_eq(r.value.objective, optimum, 1e-9, "%.17g, not %.17g", r.value.objective,
                       optimum);
    clv_arena_free(arena);
}
