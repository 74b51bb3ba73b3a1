/* test_intra_op_problem.c - drafts of strategy problems, and the judge against sums over every
 * moment. */
#include "problem/intra_op_problem.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "problem/intra_op_draft.h"
#include "support/failing_alloc.h"

static clv_error err;

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static int32_t below(uint64_t *seed, int32_t n)
{
    return (int32_t)(next_random(seed) % (uint64_t)n);
}

/* -- what the tests make, in arrays of their own -- */

enum { NODES = 6, EDGES = 10, ENDS = 3, CHOICES = 4, TIMES = 12, SPANS = 3, ENTRIES = 64 };

typedef struct {
    int32_t n_nodes, n_edges;
    int32_t n_choices[NODES], n_spans[NODES], n_ends[EDGES], end[EDGES][ENDS];
    int64_t cost[NODES][CHOICES], lo[NODES][SPANS], hi[NODES][SPANS], usage[NODES][SPANS][CHOICES],
        entry[EDGES][ENTRIES], limit;
} small;

/* Now and then as large as a cost can be, so that sums need more than 64 bits. */
static int64_t any_amount(uint64_t *seed)
{
    int32_t kind = below(seed, 8);
    return kind == 0 ? INT64_MAX : kind == 1 ? CLV_INTRA_OP_NEVER : below(seed, 5);
}

static void make_node(small *s, int32_t v, uint64_t *seed)
{
    int64_t time = below(seed, 4) - 2;
    s->n_choices[v] = 1 + below(seed, CHOICES);
    for (int32_t i = 0; i < CHOICES; i++)
        s->cost[v][i] = any_amount(seed);
    s->n_spans[v] = below(seed, SPANS + 1);
    for (int32_t i = 0; i < s->n_spans[v]; i++) {
        s->lo[v][i] = time + below(seed, 2); /* touching the one before now and then */
        s->hi[v][i] = time = s->lo[v][i] + below(seed, 4);
        for (int32_t k = 0; k < CHOICES; k++)
            s->usage[v][i][k] = any_amount(seed);
    }
}

static void make_edge(small *s, int32_t e, uint64_t *seed)
{
    int32_t wanted = 1 + below(seed, ENDS);
    s->n_ends[e] = 0;
    for (int32_t i = 0; i < wanted; i++) {
        int32_t v = below(seed, s->n_nodes);
        bool there = false;
        for (int32_t k = 0; k < s->n_ends[e]; k++)
            there |= s->end[e][k] == v;
        if (!there)
            s->end[e][s->n_ends[e]++] = v;
    }
    for (int32_t i = 0; i < ENTRIES; i++)
        s->entry[e][i] = e % 3 == 0 ? i % 2 : any_amount(seed); /* some are equal */
}

static void make_small(small *s, uint64_t *seed)
{
    memset(s, 0, sizeof *s);
    s->n_nodes = 1 + below(seed, NODES);
    s->n_edges = below(seed, EDGES + 1);
    int32_t kind = below(seed, 4);
    s->limit = kind == 0 ? CLV_INTRA_OP_UNLIMITED : kind == 1 ? any_amount(seed) : below(seed, 30);
    for (int32_t v = 0; v < s->n_nodes; v++)
        make_node(s, v, seed);
    for (int32_t e = 0; e < s->n_edges; e++)
        make_edge(s, e, seed);
}

static int64_t n_entries(const small *s, int32_t e)
{
    int64_t n = 1;
    for (int32_t i = 0; i < s->n_ends[e]; i++)
        n *= s->n_choices[s->end[e][i]];
    return n;
}

static clv_status draft_small(const small *s, clv_arena *arena, const clv_intra_op_problem **ret,
                              clv_error *e)
{
    clv_intra_op_draft *d;
    CLV_TRY(clv_intra_op_draft_new(arena, &d, e));
    for (int32_t i = 0; i < s->n_edges / 2; i++) { /* edges may come before their nodes */
        int32_t matrix;
        CLV_TRY(clv_intra_op_draft_matrix(d, n_entries(s, i), s->entry[i], &matrix, e));
        CLV_TRY(clv_intra_op_draft_edge(d, s->n_ends[i], s->end[i], matrix, e));
    }
    for (int32_t v = 0; v < s->n_nodes; v++) {
        CLV_TRY(clv_intra_op_draft_node(d, s->n_choices[v], s->cost[v], e));
        for (int32_t i = s->n_spans[v]; i-- > 0;) /* in any order */
            CLV_TRY(clv_intra_op_draft_span(d, s->lo[v][i], s->hi[v][i], s->usage[v][i], e));
    }
    for (int32_t i = s->n_edges / 2; i < s->n_edges; i++) {
        int32_t matrix;
        CLV_TRY(clv_intra_op_draft_matrix(d, n_entries(s, i), s->entry[i], &matrix, e));
        CLV_TRY(clv_intra_op_draft_edge(d, s->n_ends[i], s->end[i], matrix, e));
    }
    return clv_intra_op_draft_freeze(d, "small", s->limit, ret, e);
}

/* -- the judge -- */

static clv_int128 sum_at(const small *s, const int32_t *choice, int64_t time)
{
    clv_int128 sum = 0;
    for (int32_t v = 0; v < s->n_nodes; v++)
        for (int32_t i = 0; i < s->n_spans[v]; i++)
            if (s->lo[v][i] <= time && time < s->hi[v][i])
                sum += s->usage[v][i][choice[v]];
    return sum;
}

static int64_t entry_of(const small *s, int32_t e, const int32_t *choice)
{
    int64_t at = 0;
    for (int32_t i = 0; i < s->n_ends[e]; i++)
        at = at * s->n_choices[s->end[e][i]] + choice[s->end[e][i]];
    return s->entry[e][at];
}

static clv_intra_op_value judge_by_sums(const small *s, const int32_t *choice)
{
    clv_intra_op_value value = { .legal = true };
    for (int32_t v = 0; v < s->n_nodes; v++) {
        value.cost += s->cost[v][choice[v]];
        value.nevers += s->cost[v][choice[v]] >= CLV_INTRA_OP_NEVER;
    }
    for (int32_t e = 0; e < s->n_edges; e++) {
        value.cost += entry_of(s, e, choice);
        value.nevers += entry_of(s, e, choice) >= CLV_INTRA_OP_NEVER;
    }
    for (int64_t t = -TIMES; t < 3 * TIMES; t++) {
        clv_int128 sum = sum_at(s, choice, t);
        if (sum <= value.peak)
            continue;
        value.peak = sum;
        value.peak_at = t;
    }
    value.legal = s->limit == CLV_INTRA_OP_UNLIMITED || value.peak <= s->limit;
    return value;
}

static void judges_agree(const small *s, uint64_t *seed)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = NULL;
    clv_intra_op_value value;
    cr_assert_eq(draft_small(s, arena, &p, &err), CLV_OK, "%s", err.message);
    for (int round = 0; round < 5; round++) {
        int32_t choice[NODES];
        for (int32_t v = 0; v < s->n_nodes; v++)
            choice[v] = below(seed, s->n_choices[v]);
        clv_intra_op_value want = judge_by_sums(s, choice);
        cr_assert_eq(clv_intra_op_judge(p, choice, arena, &value, &err), CLV_OK);
        cr_assert_eq(value.legal, want.legal);
        cr_assert(value.cost == want.cost);
        cr_assert_eq(value.nevers, want.nevers);
        cr_assert(value.peak == want.peak);
        cr_assert_eq(value.peak_at, want.peak_at);
        cr_assert_eq(value.legal, value.why[0] == '\0', "%s", value.why);
    }
    clv_arena_free(arena);
}

Test(intra_op_problem, the_judge_says_what_sums_over_all_moments_say)
{
    uint64_t seed = 42;
    small s;
    for (int i = 0; i < 3000; i++) {
        make_small(&s, &seed);
        judges_agree(&s, &seed);
    }
}

/* A problem of two nodes that hold memory from 3 to 9 and from 5 to 7, and an edge. */
static const clv_intra_op_problem *two_nodes(clv_arena *arena, int64_t limit)
{
    static const int64_t cost[] = { 1, 2, 3 }, usage[] = { 10, 20, 30 };
    static const int64_t entry[] = { 0, 100, 200, 300, 400, 500 };
    static const int32_t ends[] = { 1, 0 };
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p = NULL;
    int32_t matrix;
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_node(d, 3, cost, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_span(d, 3, 9, usage, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_node(d, 2, cost, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_span(d, 5, 7, usage, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_matrix(d, 6, entry, &matrix, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_edge(d, 2, ends, matrix, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_freeze(d, "two", limit, &p, &err), CLV_OK, "%s", err.message);
    return p;
}

Test(intra_op_problem, the_first_rule_broken_is_reported)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = two_nodes(arena, 49);
    clv_intra_op_value value;
    cr_assert_eq(clv_intra_op_judge(p, (int32_t[]){ 2, 1 }, arena, &value, &err), CLV_OK);
    cr_expect(!value.legal);
    cr_expect_str_eq(value.why,
                     "at time 5 the nodes hold 50, which is 1 more than the limit of 49");
    cr_expect(value.cost == 3 + 2 + 500 && value.peak == 50 && value.peak_at == 5);
    cr_assert_eq(clv_intra_op_judge(p, (int32_t[]){ 2, 0 }, arena, &value, &err), CLV_OK);
    cr_expect(value.legal && value.cost == 3 + 1 + 200 && value.peak == 40, "row-major over 1, 0");
    cr_assert_eq(clv_intra_op_judge(p, (int32_t[]){ 3, 0 }, arena, &value, &err), CLV_OK);
    cr_expect_str_eq(value.why, "node 0 takes choice 3, and it has 3");
    cr_assert_eq(clv_intra_op_judge(p, (int32_t[]){ 0, -1 }, arena, &value, &err), CLV_OK);
    cr_expect_str_eq(value.why, "node 1 takes choice -1, and it has 2");
    clv_arena_free(arena);
}

/* -- drafts -- */

Test(intra_op_problem, equal_matrices_of_one_shape_are_kept_once)
{
    enum { N = 500, PER = 7 };
    static const int64_t cost[6] = { 0 };
    static const int32_t choices[] = { 2, 3, 6, 1 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p = NULL;
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    for (int v = 0; v < 4; v++)
        cr_assert_eq(clv_intra_op_draft_node(d, choices[v], cost, &err), CLV_OK);
    for (int e = 0; e < N * PER; e++) { /* 2 x 3, 3 x 2, 6, 6 x 1, 1 x 6, 2 x 3, 2 x 1 x 3 */
        static const int32_t ends[PER][3] = { { 0, 1 }, { 1, 0 }, { 2 },      { 2, 3 },
                                              { 3, 2 }, { 0, 1 }, { 0, 3, 1 } };
        static const int32_t k[PER] = { 2, 2, 1, 2, 2, 2, 3 };
        int64_t entry[6] = { e % N, 1, 2, 3, 4, 5 };
        int32_t matrix;
        cr_assert_eq(clv_intra_op_draft_matrix(d, 6, entry, &matrix, &err), CLV_OK);
        cr_assert_eq(matrix, e % N);
        cr_assert_eq(clv_intra_op_draft_entries(d, matrix), 6);
        cr_assert_eq(clv_intra_op_draft_edge(d, k[e / N], ends[e / N], matrix, &err), CLV_OK);
    }
    cr_assert_eq(clv_intra_op_draft_freeze(d, NULL, 0, &p, &err), CLV_OK, "%s", err.message);
    cr_expect_str_eq(p->name, "");
    cr_expect_eq(p->n_matrices, N * 6, "two of the seven have one shape");
    cr_expect_eq(p->first_entry[p->n_matrices], N * 6 * 6);
    for (int e = 0; e < p->n_edges; e++) {
        const int64_t *entry = p->entry + p->first_entry[p->matrix_of[e]];
        cr_assert(entry[0] == e % N && entry[5] == 5);
        cr_assert(e < 5 * N || e >= 6 * N || p->matrix_of[e] == p->matrix_of[e - 5 * N]);
    }
    clv_arena_free(arena);
}

static clv_intra_op_draft *new_draft(clv_arena *arena)
{
    clv_intra_op_draft *d;
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_node(d, 2, (int64_t[]){ 0, 0 }, &err), CLV_OK);
    return d;
}

static void refused(clv_status status, const char *message)
{
    cr_expect_eq(status, CLV_EFORMAT);
    cr_expect_str_eq(err.message, message, "%s", err.message);
}

Test(intra_op_problem, a_draft_refuses_what_breaks_a_rule)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_intra_op_draft *d = new_draft(arena);
    int32_t matrix;
    refused(clv_intra_op_draft_node(d, 0, NULL, &err),
            "node 1 has no choices, expected at least one");
    refused(clv_intra_op_draft_node(d, 2, (int64_t[]){ 0, -1 }, &err),
            "node 1: choice 1 costs -1, expected 0 or more");
    refused(clv_intra_op_draft_span(d, 5, 4, (int64_t[]){ 0, 0 }, &err),
            "node 0 holds memory from 5 to 4, expected an end not before the start");
    refused(clv_intra_op_draft_span(d, 4, 5, (int64_t[]){ -7, 0 }, &err),
            "node 0: choice 0 uses -7, expected 0 or more");
    refused(clv_intra_op_draft_matrix(d, 2, (int64_t[]){ 0, -3 }, &matrix, &err),
            "entry 1 of a matrix is -3, expected 0 or more");
    refused(clv_intra_op_draft_matrix(d, 0, NULL, &matrix, &err),
            "a matrix has no entries, expected at least one");
    refused(clv_intra_op_draft_edge(d, 0, NULL, 0, &err),
            "edge 0 has no nodes, expected at least one");
    refused(clv_intra_op_draft_edge(d, 1, (int32_t[]){ 0 }, 0, &err),
            "edge 0 has matrix 0, expected one of 0");
    clv_arena_free(arena);
}

static void no_edge(int32_t k, const int32_t *ends, int64_t n, const char *message)
{
    static const int64_t entry[8] = { 0 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_intra_op_draft *d = new_draft(arena);
    const clv_intra_op_problem *p = NULL;
    int32_t matrix;
    cr_assert_eq(clv_intra_op_draft_node(d, 3, entry, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_matrix(d, n, entry, &matrix, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_edge(d, k, ends, matrix, &err), CLV_OK);
    refused(clv_intra_op_draft_freeze(d, "", 0, &p, &err), message);
    cr_expect_null(p);
    clv_arena_free(arena);
}

Test(intra_op_problem, freezing_refuses_edges_that_do_not_fit)
{
    no_edge(2, (int32_t[]){ 0, 2 }, 4, "edge 0 is of node 2, expected one of 2");
    no_edge(2, (int32_t[]){ -1, 0 }, 4, "edge 0 is of node -1, expected one of 2");
    no_edge(2, (int32_t[]){ 1, 1 }, 4, "edge 0 has node 1 twice, expected it once");
    no_edge(2, (int32_t[]){ 0, 1 }, 5, "edge 0 has a matrix of 5 entries, expected 2 x 3");
    no_edge(2, (int32_t[]){ 0, 1 }, 7, "edge 0 has a matrix of 7 entries, expected 2 x 3");
    no_edge(1, (int32_t[]){ 1 }, 6, "edge 0 has a matrix of 6 entries, expected 3");
}

Test(intra_op_problem, spans_of_a_node_may_touch_and_not_meet)
{
    static const int64_t usage[] = { 1, 1 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = NULL;
    clv_intra_op_draft *d = new_draft(arena);
    cr_assert_eq(clv_intra_op_draft_span(d, 5, 8, usage, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_span(d, 3, 3, usage, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_span(d, 2, 5, usage, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_freeze(d, "", 0, &p, &err), CLV_OK, "%s", err.message);
    cr_expect_eq(p->first_span[1], 2, "an empty one is none");
    d = new_draft(arena);
    cr_assert_eq(clv_intra_op_draft_span(d, 5, 8, usage, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_span(d, 2, 6, usage, &err), CLV_OK);
    refused(clv_intra_op_draft_freeze(d, "", 0, &p, &err),
            "node 0 holds memory twice at time 5, expected spans that do not meet");
    d = new_draft(arena);
    refused(clv_intra_op_draft_freeze(d, "", -2, &p, &err),
            "the memory limit is -2, expected 0 or more");
    clv_arena_free(arena);
}

Test(intra_op_problem, nothing_at_all_is_a_problem_too)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p = NULL;
    clv_intra_op_value value;
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_draft_freeze(d, "", 0, &p, &err), CLV_OK);
    cr_assert_eq(clv_intra_op_judge(p, NULL, arena, &value, &err), CLV_OK);
    cr_expect(value.legal && value.cost == 0 && value.peak == 0);
    clv_arena_free(arena);
}

Test(intra_op_problem, survives_running_out_of_memory)
{
    uint64_t seed = 7;
    small s;
    do
        make_small(&s, &seed);
    while (s.n_nodes < NODES || s.n_edges < EDGES);
    bool done = false;
    for (long calls = 1; !done; calls++) {
        failing f = { .fail_at = calls };
        clv_alloc alloc = failing_alloc(&f);
        clv_arena *arena = clv_arena_new(&alloc, 0);
        const clv_intra_op_problem *p = NULL;
        clv_intra_op_value value;
        int32_t choice[NODES] = { 0 };
        clv_status status = arena ? draft_small(&s, arena, &p, NULL) : CLV_ENOMEM;
        if (status == CLV_OK)
            status = clv_intra_op_judge(p, choice, arena, &value, NULL);
        done = status == CLV_OK;
        cr_assert(done || status == CLV_ENOMEM);
        clv_arena_free(arena);
        cr_assert_eq(f.live, 0);
        cr_assert(calls < 1000);
    }
}
