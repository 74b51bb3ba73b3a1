/* The bound from a forest of edges, against all solutions of small problems. */
#include "problem/intra_op_forest.h"

#include <criterion/criterion.h>

#include "problem/intra_op_draft.h"

#define N_MAX 5
#define PER   3 /* choices of a node at most */

static clv_error err;

static int32_t below(uint64_t *state, int32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int32_t)((*state >> 33) % (uint64_t)n);
}

/* A chain where edges is 0, a clique of up to twice as many edges at 2. Memory of half the nodes at
 * one moment, of some at another. */
static const clv_intra_op_problem *make(clv_arena *arena, uint64_t *seed, int32_t edges,
                                        int64_t limit)
{
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p = NULL;
    int32_t n = 2 + below(seed, N_MAX - 1), choices[N_MAX], matrix;
    int64_t at[PER * PER];
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    for (int32_t v = 0; v < n; v++) {
        choices[v] = 1 + below(seed, PER);
        for (int32_t c = 0; c < choices[v]; c++)
            at[c] = below(seed, 100);
        cr_assert_eq(clv_intra_op_draft_node(d, choices[v], at, &err), CLV_OK);
        for (int32_t c = 0; c < choices[v]; c++)
            at[c] = below(seed, 40);
        if (v % 2 == 0)
            cr_assert_eq(clv_intra_op_draft_span(d, v == 2 ? 1 : 0, 2, at, &err), CLV_OK);
    }
    for (int32_t i = 1; i < n + edges * n; i++) {
        int32_t v = i < n ? i : 1 + below(seed, n - 1), u = i < n ? i - 1 : below(seed, v);
        int32_t ends[2] = { u, v };
        if (below(seed, 2)) {
            ends[0] = v;
            ends[1] = u;
        }
        for (int32_t k = 0; k < PER * PER; k++)
            at[k] = below(seed, 100);
        cr_assert_eq(clv_intra_op_draft_matrix(d, choices[u] * choices[v], at, &matrix, &err),
                     CLV_OK);
        cr_assert_eq(clv_intra_op_draft_edge(d, 2, ends, matrix, &err), CLV_OK);
    }
    cr_assert_eq(clv_intra_op_draft_freeze(d, "small", limit, &p, &err), CLV_OK);
    return p;
}

/* The least cost of a legal solution; -1: there is none. */
static clv_int128 least_of(const clv_intra_op_problem *p, clv_arena *arena)
{
    int32_t solution[N_MAX] = { 0 }, v = 0;
    clv_int128 least = -1;
    while (v < p->n_nodes) { /* counts through all solutions */
        clv_intra_op_value value;
        cr_assert_eq(clv_intra_op_judge(p, solution, arena, &value, &err), CLV_OK);
        if (value.legal && (least < 0 || value.cost < least))
            least = value.cost;
        for (v = 0; v < p->n_nodes && ++solution[v] == clv_intra_op_n_choices(p, v); v++)
            solution[v] = 0;
    }
    return least;
}

static clv_int128 bound_of(const clv_intra_op_problem *p, clv_arena *arena)
{
    clv_int128 bound;
    cr_assert_eq(clv_intra_op_forest(p, arena, &bound, &err), CLV_OK);
    return bound;
}

Test(intra_op_forest, a_chain_without_memory_is_solved)
{
    uint64_t seed = 5;
    for (int i = 0; i < 1000; i++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        const clv_intra_op_problem *p = make(arena, &seed, 0, CLV_INTRA_OP_UNLIMITED);
        cr_assert_eq((int64_t)bound_of(p, arena), (int64_t)least_of(p, arena), "problem %d", i);
        clv_arena_free(arena);
    }
}

Test(intra_op_forest, no_solution_costs_less)
{
    uint64_t seed = 6;
    int n_near = 0, n_priced = 0;
    for (int i = 0; i < 3000; i++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        const clv_intra_op_problem *p = make(arena, &seed, i % 3, below(&seed, 60));
        clv_intra_op_problem free = *p;
        free.usage_limit = CLV_INTRA_OP_UNLIMITED;
        clv_int128 bound = bound_of(p, arena), least = least_of(p, arena);
        cr_assert_geq(bound, 0);
        cr_assert(least < 0 || bound <= least, "problem %d: %lld for %lld", i, (long long)bound,
                  (long long)least);
        n_near += least > 0 && bound * 10 >= least * 9;
        n_priced += bound > bound_of(&free, arena);
        clv_arena_free(arena);
    }
    cr_expect_gt(n_near, 300, "%d are near", n_near);
    cr_expect_gt(n_priced, 500, "memory raises %d", n_priced);
}

/* Costs that do not fit 64 bits together, and memory that 64 bits just hold. */
Test(intra_op_forest, large_numbers_are_summed)
{
    static const int64_t cost[2] = { CLV_INTRA_OP_NEVER, INT64_MAX }, most[2] = { INT64_MAX, 0 };
    static const int64_t entry[4] = { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p = NULL;
    int32_t matrix;
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(clv_intra_op_draft_node(d, 2, cost, &err), CLV_OK);
        cr_assert_eq(clv_intra_op_draft_span(d, 0, 1, most, &err), CLV_OK);
    }
    cr_assert_eq(clv_intra_op_draft_matrix(d, 4, entry, &matrix, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_edge(d, 2, (int32_t[]){ 0, 1 }, matrix, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_freeze(d, "large", INT64_MAX, &p, &err), CLV_OK);
    clv_int128 bound = bound_of(p, arena), least = least_of(p, arena);
    cr_expect(bound <= least && bound > INT64_MAX);
    clv_arena_free(arena);
}

Test(intra_op_forest, nothing_costs_nothing)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p = NULL;
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_freeze(d, "none", 0, &p, &err), CLV_OK);
    cr_expect_eq((int64_t)bound_of(p, arena), 0);
    clv_arena_free(arena);
}
