/* What a part of a problem costs between two nodes, against all choices of what lies there. */
#include "problem/intra_op_between.h"

#include <criterion/criterion.h>

#include "problem/intra_op_draft.h"
#include "support/effort.h"

#define N_MAX     7
#define PER       3 /* choices of a node at most */
#define EDGES_MAX 24
#define ENOUGH    INT64_C(1000000)

static clv_error err;

static int32_t below(uint64_t *state, int32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int32_t)((*state >> 33) % (uint64_t)n);
}

typedef struct {
    const clv_intra_op_problem *p;
    int32_t choices[N_MAX], node[N_MAX], edge[EDGES_MAX];
    int32_t n, n_nodes, n_edges, begin, end;
} drawn;

static void add_edge(clv_intra_op_draft *d, drawn *r, uint64_t *seed, int32_t a, int32_t b)
{
    int32_t ends[2] = { below(seed, 2) ? a : b, 0 }, matrix;
    int64_t at[PER * PER];
    ends[1] = a + b - ends[0];
    for (int32_t k = 0; k < PER * PER; k++)
        at[k] = below(seed, 20) ? below(seed, 100) : CLV_INTRA_OP_NEVER;
    cr_assert_eq(
        clv_intra_op_draft_matrix(d, (int64_t)r->choices[a] * r->choices[b], at, &matrix, &err),
        CLV_OK);
    cr_assert_eq(clv_intra_op_draft_edge(d, 2, ends, matrix, &err), CLV_OK);
    r->edge[r->n_edges] = r->n_edges;
    r->n_edges++;
}

/* A tree, with so many edges more along those that there are, and so many anywhere. Nodes 0 and 1
 * are the ends, of which there may be none. */
static drawn draw(clv_arena *arena, uint64_t *seed, int32_t along, int32_t anywhere)
{
    drawn r = { .n = 2 + below(seed, N_MAX - 1),
                .begin = below(seed, 4) ? 0 : CLV_INTRA_OP_NO_END,
                .end = below(seed, 4) ? 1 : CLV_INTRA_OP_NO_END };
    int32_t parent[N_MAX] = { 0 };
    clv_intra_op_draft *d;
    int64_t at[PER];
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    for (int32_t v = 0; v < r.n; v++) {
        r.choices[v] = 1 + below(seed, PER);
        for (int32_t c = 0; c < r.choices[v]; c++)
            at[c] = below(seed, 100);
        cr_assert_eq(clv_intra_op_draft_node(d, r.choices[v], at, &err), CLV_OK);
        if (v != r.begin && v != r.end)
            r.node[r.n_nodes++] = v;
    }
    for (int32_t v = 1; v < r.n; v++) {
        parent[v] = below(seed, v);
        add_edge(d, &r, seed, v, parent[v]);
    }
    for (int32_t i = 0; i < along + anywhere; i++) {
        int32_t v = 1 + below(seed, r.n - 1);
        add_edge(d, &r, seed, v, i < along ? parent[v] : below(seed, v));
    }
    cr_assert_eq(clv_intra_op_draft_freeze(d, "small", CLV_INTRA_OP_UNLIMITED, &r.p, &err), CLV_OK);
    return r;
}

static int64_t *between(const drawn *r, clv_arena *arena, int64_t work)
{
    const clv_intra_op_part part = { .node = r->node,
                                     .n_nodes = r->n_nodes,
                                     .edge = r->edge,
                                     .n_edges = r->n_edges,
                                     .begin = r->begin,
                                     .end = r->end };
    int32_t number[N_MAX];
    clv_intra_op_whole of = { r->p, number, work };
    int64_t *ret;
    cr_assert_eq(clv_intra_op_between(&of, &part, arena, &ret, &err), CLV_OK);
    return ret;
}

static int32_t n_end(const drawn *r, int32_t end)
{
    return end == CLV_INTRA_OP_NO_END ? 1 : r->choices[end];
}

/* The least of all solutions, by choices of the ends. */
static void expect(const drawn *r, clv_arena *arena, bool exact)
{
    int64_t least[PER * PER], *ns = between(r, arena, ENOUGH);
    int32_t solution[N_MAX] = { 0 }, m = n_end(r, r->end), n = n_end(r, r->begin) * m, v = 0;
    for (int32_t i = 0; i < n; i++)
        least[i] = CLV_INTRA_OP_NEVER;
    while (v < r->n) { /* counts through all */
        clv_int128 cost = clv_intra_op_cost(r->p, solution);
        int32_t a = r->begin < 0 ? 0 : solution[r->begin], b = r->end < 0 ? 0 : solution[r->end];
        cost -= r->begin < 0 ? 0 : r->p->cost[r->p->first_choice[r->begin] + a];
        cost -= r->end < 0 ? 0 : r->p->cost[r->p->first_choice[r->end] + b];
        least[a * m + b] = cost < least[a * m + b] ? (int64_t)cost : least[a * m + b];
        for (v = 0; v < r->n && ++solution[v] == r->choices[v]; v++)
            solution[v] = 0;
    }
    cr_assert_not_null(ns);
    for (int32_t i = 0; i < n; i++) {
        cr_assert_leq(ns[i], least[i], "choices %d", i);
        cr_assert(!exact || ns[i] == least[i], "choices %d: %lld of %lld", i, (long long)ns[i],
                  (long long)least[i]);
    }
}

static void expect_of_many(int32_t anywhere, bool exact)
{
    uint64_t seed = 3;
    for (uint64_t i = 0; i < test_effort(2000); i++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        drawn r = draw(arena, &seed, below(&seed, 4), anywhere ? below(&seed, anywhere) : 0);
        expect(&r, arena, exact);
        clv_arena_free(arena);
    }
}

Test(intra_op_between, a_tree_with_parallel_edges_is_solved) { expect_of_many(0, true); }

/* A circle is series-parallel whatever its ends are. */
Test(intra_op_between, so_is_one_with_an_edge_more_anywhere) { expect_of_many(2, true); }

Test(intra_op_between, nothing_costs_less_in_any_graph) { expect_of_many(12, false); }

/* Cut off is what matters least: of a clique of four with one edge that costs, all of it counts. */
Test(intra_op_between, edges_that_cost_nothing_are_cut_off_first)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    drawn r = { .n = 5, .n_nodes = 5, .begin = CLV_INTRA_OP_NO_END, .end = CLV_INTRA_OP_NO_END };
    static const int64_t nothing[4], cost[2] = { 3, 5 }, apart[4] = { 10, 0, 0, 10 };
    clv_intra_op_draft *d;
    int32_t matrix[2];
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    for (int32_t v = 0; v < r.n; v++) {
        r.choices[v] = 2;
        r.node[v] = v;
        cr_assert_eq(clv_intra_op_draft_node(d, 2, cost, &err), CLV_OK);
    }
    cr_assert_eq(clv_intra_op_draft_matrix(d, 4, nothing, &matrix[0], &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_matrix(d, 4, apart, &matrix[1], &err), CLV_OK);
    for (int32_t v = 0; v < r.n; v++)
        for (int32_t u = 0; u < v; u++) {
            int32_t ends[2] = { u, v };
            cr_assert_eq(clv_intra_op_draft_edge(d, 2, ends, matrix[u == 1 && v == 3], &err),
                         CLV_OK);
            r.edge[r.n_edges] = r.n_edges;
            r.n_edges++;
        }
    cr_assert_eq(clv_intra_op_draft_freeze(d, "clique", CLV_INTRA_OP_UNLIMITED, &r.p, &err),
                 CLV_OK);
    cr_expect_eq(between(&r, arena, ENOUGH)[0], 5 * 3 + 2);
    clv_arena_free(arena);
}

Test(intra_op_between, it_ends_with_its_work)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    uint64_t seed = 1;
    drawn r = draw(arena, &seed, 0, 0);
    while (r.n_nodes < 3)
        r = draw(arena, &seed, 0, 0);
    cr_expect_null(between(&r, arena, 1));
    cr_expect_not_null(between(&r, arena, ENOUGH));
    clv_arena_free(arena);
}
