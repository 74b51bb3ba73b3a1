/* Candidates and subgraphs. */
#include <stdio.h>

#include "made.h"
#include "support/effort.h"

static clv_arena *arena;
static made *m;
static clv_subgraphs *s;

static void setup(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new(arena);
    s = NULL;
}
static void teardown(void) { clv_arena_free(arena); }
TestSuite(subgraph, .init = setup, .fini = teardown);

static void f32(const char *name, const char *dims) { made_input(m, name, CLV_DT_FLOAT, dims); }
static void weight(const char *name, const char *dims) { made_weight(m, name, CLV_DT_FLOAT, dims); }

static void split(bool merged)
{
    made_build(m);
    clv_status status = clv_subgraphs_build(m->costs, merged, arena, &s, &m->err);
    cr_assert_eq(status, CLV_OK, "%s", m->err.message);
}

/* The subgraph's operators, by what they write; "-" if it has no candidate. */
static const char *show(int32_t u)
{
    const clv_graph *g = m->model->main;
    const clv_subgraph *at = &s->at[u];
    const char *text =
        at->candidate.i < 0
            ? "-:"
            : clv_arena_printf(arena, "%.*s:", CLV_STR_ARG(g->ops[at->candidate.i].label));
    for (int32_t k = 0; k < at->n; k++)
        text = clv_arena_printf(arena, "%s %.*s", text,
                                CLV_STR_ARG(g->ops[s->order[at->first + k].i].label));
    return text;
}

static void expect_unit(int32_t u, const char *want)
{
    cr_assert_lt(u, s->n);
    cr_expect_str_eq(show(u), want, "unit %d is '%s'", u, show(u));
}

/*   Op0  Op4      Op5  Op6      Op3  Op8
 *     \  /          \  /          \  /
 *     Op1            Op2          Op7
 */
/* covers: B.009 B.010 B.015 */
Test(subgraph, the_worked_example)
{
    f32("x", "2");
    made_op(m, "Neg", "x", "Op0");
    made_op(m, "Abs", "x", "Op4");
    made_op(m, "Add", "Op0,Op4", "Op1");
    made_op(m, "Neg", "Op1", "Op5");
    made_op(m, "Abs", "Op1", "Op6");
    made_op(m, "Add", "Op5,Op6", "Op2");
    made_op(m, "Neg", "Op2", "Op3");
    made_op(m, "Abs", "Op2", "Op8");
    made_op(m, "Add", "Op3,Op8", "Op7");
    split(false);
    cr_assert_eq(s->n, 3);
    cr_assert_eq(s->n_candidates, 3);
    expect_unit(0, "Op1: Op0 Op4 Op1");
    expect_unit(1, "Op2: Op5 Op6 Op2");
    expect_unit(2, "Op7: Op3 Op8 Op7");
    for (int32_t c = 0; c < 3; c++)
        cr_expect_eq(s->candidates[c].i, s->at[c].candidate.i);
    cr_expect_lt(s->candidates[0].i, s->candidates[1].i);
    cr_expect_lt(s->candidates[1].i, s->candidates[2].i);
}

/* covers: B.008 B.038 */
Test(subgraph, a_candidate_has_two_inputs_that_are_not_constant)
{
    f32("a", "4");
    f32("b", "4");
    weight("w", "4");
    made_op(m, "Constant", "", "c");
    made_attr(m, "value_float", CLV_ATTR_FLOAT, 1)->f = 1;
    made_input(m, "s", CLV_DT_STRING, "4");
    made_op(m, "Constant", "", "text"); /* its value is none that is known to us */
    made_attr_str(m, "value_string", "t");
    made_op(m, "Shape", "a", "folded");
    made_op(m, "StringConcat", "s,text", "text_only");
    made_op(m, "Add", "a,w", "weight_only");
    made_op(m, "Add", "a,c", "constant_only");
    made_op(m, "Mul", "a,a", "one_input_twice");
    made_op(m, "Reshape", "a,folded", "known_shape");
    made_op(m, "Add", "a,b", "model_inputs");
    made_op(m, "Add", "weight_only,known_shape", "results");
    split(false);
    cr_assert_eq(s->n_candidates, 2);
    cr_expect_eq(s->candidates[0].i, made_writer(m, "model_inputs").i);
    cr_expect_eq(s->candidates[1].i, made_writer(m, "results").i);
}

/* covers: B.039 */
Test(subgraph, without_candidates_every_operator_is_one)
{
    f32("x", "2");
    made_op(m, "Neg", "x", "a");
    made_op(m, "Abs", "a", "b");
    made_op(m, "Neg", "b", "c");
    split(false);
    cr_assert_eq(s->n, 3);
    expect_unit(0, "a: a");
    expect_unit(1, "b: b");
    expect_unit(2, "c: c");
}

/* covers: B.041 */
/* Of few operators each is one, but for what is constant; of more than are asked for, none. */
Test(subgraph, each_operator_is_a_unit_where_they_are_few)
{
    f32("x", "4,8");
    weight("w", "8,8");
    made_op(m, "MatMul", "x,w", "a");
    made_op(m, "Relu", "a", "b");
    made_op(m, "Shape", "b", "shape");
    made_op(m, "Reshape", "b,shape", "c");
    made_build(m);
    cr_assert_eq(clv_subgraphs_of_ops(m->costs, 2, arena, &s, &m->err), CLV_OK);
    cr_assert_null(s);
    cr_assert_eq(clv_subgraphs_of_ops(m->costs, 3, arena, &s, &m->err), CLV_OK);
    cr_assert_not_null(s);
    cr_assert_eq(s->n, 3);
    expect_unit(0, "a: a");
    expect_unit(1, "b: b");
    expect_unit(2, "c: shape c");
}

Test(subgraph, what_no_candidate_takes_comes_last)
{
    f32("x", "2");
    made_op(m, "Neg", "x", "a");
    made_op(m, "Add", "a,x", "joined");
    made_op(m, "Neg", "joined", "tail");
    made_op(m, "Abs", "a", "side");
    split(false);
    cr_assert_eq(s->n, 2);
    expect_unit(0, "joined: a joined");
    cr_expect_eq(s->at[1].candidate.i, -1);
    cr_expect_eq(s->at[1].n, 2);
}

Test(subgraph, an_empty_graph_has_none)
{
    f32("x", "2");
    split(true);
    cr_expect_eq(s->n, 0);
    cr_expect_eq(s->n_candidates, 0);
}

/* w is read twice in one subgraph and lies there once. What Reshape, Slice, Tile and Expand read,
 * be it a shape or what is cut and spread, is no weight. */
/* covers: B.011 B.012 B.037 */
Test(subgraph, bytes_are_of_initialisers_and_flops_of_operators)
{
    f32("x", "4,4");
    weight("w", "4,4");
    weight("v", "4,4");
    weight("tiled", "1,4");
    weight("spread", "1,4");
    weight("cut", "8,4");
    made_ints(m, "shape", "4,4");
    made_ints(m, "repeats", "4,1");
    made_ints(m, "start", "2");
    made_ints(m, "end", "6");
    made_op(m, "MatMul", "x,w", "a");
    made_op(m, "MatMul", "a,w", "b");
    made_op(m, "Reshape", "b,shape", "c");
    made_op(m, "Tile", "tiled,repeats", "t");
    made_op(m, "Expand", "spread,shape", "wide");
    made_op(m, "Slice", "cut,start,end", "part");
    made_op(m, "Sum", "c,t,wide,part", "first");
    made_op(m, "MatMul", "first,w", "d");
    made_op(m, "Gemm", "d,v,v", "e");
    made_op(m, "Add", "e,first", "second");
    split(false);
    cr_assert_eq(s->n, 2);
    cr_expect_eq(s->at[0].bytes_cost, 64);
    cr_expect_eq(s->at[0].flops_cost, 128 + 128 + 3 * 16);
    cr_expect_eq(s->at[1].bytes_cost, 64 + 64);
    cr_expect_eq(s->at[1].flops_cost, 128 + (128 + 16) + 16);
}

/* -- merging -- */

/* A ladder of steps: a product by a weight of its own where heavy, a negation elsewhere, then an
 * addition, which is the candidate "j<step>". */
static void ladder(int32_t steps, bool (*heavy)(int32_t))
{
    m = made_new_of(arena, 2 * steps + 2);
    f32("x", "8,8");
    const char *last = "x";
    for (int32_t i = 0; i < steps; i++) {
        const char *a = clv_arena_printf(arena, "a%d", i), *j = clv_arena_printf(arena, "j%d", i);
        const char *w = clv_arena_printf(arena, "w%d", i);
        if (heavy(i)) {
            weight(w, "8,8");
            made_op(m, "MatMul", clv_arena_printf(arena, "%s,%s", last, w), a);
        } else {
            made_op(m, "Neg", last, a);
        }
        made_op(m, "Add", clv_arena_printf(arena, "%s,%s", last, a), j);
        last = j;
    }
}

static bool every_second(int32_t i) { return i % 2 == 1; }
static bool always(int32_t i) { return i >= 0; }

/* covers: B.013 B.014 B.040 */
Test(subgraph, small_candidates_flow_to_a_later_one)
{
    ladder(100, every_second);
    split(true);
    cr_expect_eq(s->n_candidates, 100);
    cr_assert_eq(s->n, 50);
    expect_unit(0, "j1: a0 j0 a1 j1");
    expect_unit(49, "j99: a98 j98 a99 j99");
}

/* Each has just the average. */
/* covers: B.040 */
Test(subgraph, equal_steps_all_stay)
{
    ladder(126, always);
    split(true);
    cr_expect_eq(s->n, 126);
}

/* A rung of a ladder for 8 x 8 matrices: a product with a weight of its own (256 bytes, 1024 FLOPs)
 * and an addition (64 FLOPs), which is the candidate "j<i>". Between them weights to add (256
 * bytes, 64 FLOPs each), negations (64 FLOPs), and products with the same weight again (1024
 * FLOPs). */
static void rung(int32_t i, int32_t weights, int32_t negations, int32_t products)
{
    const char *last = i > 0 ? clv_arena_printf(arena, "j%d", i - 1) : "x";
    const char *w = clv_arena_printf(arena, "w%d", i), *at = last;
    int32_t n = 1 + weights + negations + products;
    weight(w, "8,8");
    for (int32_t k = 0; k < n; k++) {
        const char *next = clv_arena_printf(arena, "a%d_%d", i, k), *other = w;
        if (k > 0 && k <= weights)
            weight(other = clv_arena_printf(arena, "v%d_%d", i, k), "8,8");
        if (k > weights && k <= weights + negations)
            made_op(m, "Neg", at, next);
        else
            made_op(m, k > 0 && k <= weights ? "Add" : "MatMul",
                    clv_arena_printf(arena, "%s,%s", at, other), next);
        at = next;
    }
    made_op(m, "Add", clv_arena_printf(arena, "%s,%s", at, last),
            clv_arena_printf(arena, "j%d", i));
}

static void begin_rungs(int32_t room)
{
    m = made_new_of(arena, room);
    f32("x", "8,8");
}

/* Bytes 256 and 768 in turn, 512 on average; FLOPs are equal. */
/* covers: B.013 B.040 */
Test(subgraph, too_few_bytes_for_the_average_are_released)
{
    begin_rungs(400);
    for (int32_t i = 0; i < 80; i++)
        rung(i, i % 2 ? 2 : 0, i % 2 ? 0 : 2, 0);
    split(true);
    cr_assert_eq(s->n, 40, "not %d", s->n);
    expect_unit(0, "j1: a0_0 a0_1 a0_2 j0 a1_0 a1_1 a1_2 j1");
}

/* FLOPs 1088 and 3136 in turn, 2112 on average; bytes are equal. */
/* covers: B.013 B.040 */
Test(subgraph, too_few_flops_for_the_average_are_released)
{
    begin_rungs(400);
    for (int32_t i = 0; i < 80; i++)
        rung(i, 0, 0, i % 2 ? 2 : 0);
    split(true);
    cr_assert_eq(s->n, 40, "not %d", s->n);
    expect_unit(0, "j1: a0_0 j0 a1_0 a1_1 a1_2 j1");
}

/* Bytes 256 256 256 1792, 640 on average: the third has 768 with what the first two released. */
/* covers: B.040 */
Test(subgraph, what_is_released_counts_where_it_flows_to)
{
    begin_rungs(1400);
    for (int32_t i = 0; i < 160; i++)
        rung(i, i % 4 == 3 ? 6 : 0, i % 4 == 3 ? 0 : 6, 0);
    split(true);
    cr_assert_eq(s->n, 80, "not %d", s->n);
    cr_expect_eq(s->at[0].candidate.i, made_writer(m, "j2").i);
    cr_expect_eq(s->at[1].candidate.i, made_writer(m, "j3").i);
}

/* Embedding tables and one join: the join takes all, 4 of 4 tables, and could never be shared out.
 */
Test(subgraph, a_unit_that_holds_everything_gives_up_its_heavy_operators)
{
    static const char *const name[] = { "e0", "e1", "e2", "e3", "tiny" };
    for (int32_t i = 0; i < 5; i++) {
        const char *ids = clv_arena_printf(arena, "ids%d", i);
        const char *table = clv_arena_printf(arena, "table%d", i);
        made_input(m, ids, CLV_DT_INT64, "2");
        weight(table, i < 4 ? "1000,8" : "2,8");
        made_op(m, "Gather", clv_arena_printf(arena, "%s,%s", table, ids), name[i]);
    }
    made_op(m, "Concat", "e0,e1,e2,e3,tiny", "joined");
    made_attr_int(m, "axis", 0);
    split(false);
    cr_assert_eq(s->n, 1);
    split(true);
    cr_assert_eq(s->n, 5);
    expect_unit(0, "e0: e0");
    expect_unit(3, "e3: e3");
    expect_unit(4, "joined: tiny joined");
    cr_expect_eq(s->n_candidates, 1, "the list of candidates is as before");
}

/* 50 units are 25 for each of two devices, and 12 for each of four: then products become units. */
Test(subgraph, many_devices_have_finer_units)
{
    ladder(100, every_second);
    split(true);
    clv_subgraphs *few = s;
    cr_assert_eq(clv_subgraphs_refine(m->costs, few, 2, arena, &s, &m->err), CLV_OK);
    cr_expect_eq(s, few, "they are fine enough");
    cr_assert_eq(clv_subgraphs_refine(m->costs, few, 4, arena, &s, &m->err), CLV_OK);
    cr_assert_eq(s->n, 100);
    expect_unit(0, "a1: a0 j0 a1");
    expect_unit(1, "j1: j1");
    expect_unit(99, "j99: j99");
    cr_expect_eq(s->n_candidates, few->n_candidates);
    cr_expect_eq(s->all_bytes, few->all_bytes);
    few = s;
    cr_assert_eq(clv_subgraphs_refine(m->costs, few, 64, arena, &s, &m->err), CLV_OK);
    cr_expect_eq(s->n, 200, "each operator is one");
}

/* covers: B.040 */
Test(subgraph, below_either_threshold_is_enough_to_be_released)
{
    /* 40 joins that compute but hold no weights, 40 that do both: the first have FLOPs above the
     * average and 0 bytes */
    m = made_new_of(arena, 200);
    f32("x", "8,8");
    const char *last = "x";
    for (int32_t i = 0; i < 80; i++) {
        const char *a = clv_arena_printf(arena, "a%d", i), *j = clv_arena_printf(arena, "j%d", i);
        const char *w = clv_arena_printf(arena, "w%d", i);
        if (i % 2)
            weight(w, "8,8");
        made_op(m, "MatMul", clv_arena_printf(arena, "%s,%s", last, i % 2 ? w : last), a);
        made_op(m, "Add", clv_arena_printf(arena, "%s,%s", a, last), j);
        last = j;
    }
    split(true);
    cr_expect_eq(s->n, 40);
    expect_unit(0, "j1: a0 j0 a1 j1");
}

/* -- properties, on random graphs -- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return *state >> 33;
}

/* Several components: operator i reads from its own component only. Some operators lie behind all
 * candidates. */
static void random_model(uint64_t seed)
{
    uint64_t r = seed;
    int32_t n = 1 + (int32_t)(next_random(&r) % 120), parts = 1 + (int32_t)(next_random(&r) % 3);
    m = made_new_of(arena, n + 4);
    f32("x", "4,4");
    const char **name = CLV_NEW_ARRAY(arena, const char *, n);
    for (int32_t i = 0; i < n; i++) {
        const char *in[2] = { "x", "x" };
        for (int32_t k = 0; k < 2; k++) {
            int32_t back = (int32_t)(next_random(&r) % 12) * parts;
            if (back > 0 && back <= i)
                in[k] = name[i - back];
        }
        name[i] = clv_arena_printf(arena, "t%d", i);
        bool weighs = next_random(&r) % 3 == 0;
        const char *w = clv_arena_printf(arena, "w%d", i);
        if (weighs && m->draft.n_weights < n)
            weight(w, "4,4");
        if (weighs)
            made_op(m, "MatMul", clv_arena_printf(arena, "%s,%s", in[0], w), name[i]);
        else if (next_random(&r) % 2)
            made_op(m, "Add", clv_arena_printf(arena, "%s,%s", in[0], in[1]), name[i]);
        else
            made_op(m, "Neg", in[0], name[i]);
    }
}

static void check_order(uint64_t seed)
{
    const clv_graph *g = m->model->main;
    int32_t *position = CLV_NEW_ARRAY(arena, int32_t, g->n_ops), at = 0;
    for (int32_t u = 0; u < s->n; u++) {
        cr_assert_eq(s->at[u].first, at);
        cr_assert_gt(s->at[u].n, 0, "seed %llu: unit %d is empty", (unsigned long long)seed, u);
        for (int32_t k = 0; k < s->at[u].n; k++, at++) {
            cr_assert_eq(s->of[s->order[at].i], u);
            cr_assert(k == 0 || s->order[at].i > s->order[at - 1].i);
            position[s->order[at].i] = at + 1;
        }
    }
    cr_assert_eq(at, g->n_ops);
    for (int32_t i = 0; i < g->n_ops; i++)
        for (int32_t k = 0; k < g->ops[i].n_in; k++) {
            clv_op writer = clv_tensor_at(g, clv_op_input(g, &g->ops[i], k))->producer;
            cr_assert(writer.i < 0 || position[writer.i] < position[i],
                      "seed %llu: operator %d runs before %d", (unsigned long long)seed, i,
                      writer.i);
            cr_assert(writer.i < 0 || s->of[writer.i] <= s->of[i]);
        }
}

/* Every operator of a subgraph with a candidate is reached from the candidate against the arrows,
 * and what it reaches belongs to it or an earlier one. */
static void check_walks(uint64_t seed)
{
    const clv_graph *g = m->model->main;
    bool *reached = CLV_NEW_ARRAY(arena, bool, g->n_ops);
    for (int32_t u = 0; u < s->n; u++) {
        if (s->at[u].candidate.i < 0) {
            cr_assert_eq(u, s->n - 1);
            continue;
        }
        memset(reached, 0, (size_t)g->n_ops);
        reached[s->at[u].candidate.i] = true;
        for (int32_t i = g->n_ops - 1; i >= 0; i--)
            for (int32_t k = 0; reached[i] && k < g->ops[i].n_in; k++) {
                clv_op writer = clv_tensor_at(g, clv_op_input(g, &g->ops[i], k))->producer;
                if (writer.i >= 0)
                    reached[writer.i] = true;
            }
        for (int32_t i = 0; i < g->n_ops; i++)
            cr_assert((s->of[i] == u) == (reached[i] && s->of[i] >= u),
                      "seed %llu: operator %d, unit %d", (unsigned long long)seed, i, u);
    }
}

/* covers: B.010 B.014 */
Test(subgraph, any_graph_is_cut_in_topological_order)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        random_model(seed);
        split(seed % 2);
        check_order(seed);
        check_walks(seed);
        clv_arena_rewind(arena, mark);
    }
}

/* Units cut by marks are as whole as before: in order, none empty, and nothing of a unit has
 * another mark; without marks they are what they were. */
Test(subgraph, marks_cut_units)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        clv_mark at = clv_arena_mark(arena);
        uint64_t r = seed;
        random_model(seed);
        split(seed % 2);
        const clv_subgraphs *plain = s;
        const clv_graph *g = m->model->main;
        int32_t *mark = CLV_NEW_ARRAY(arena, int32_t, g->n_ops), kinds = (int32_t)(seed % 4);
        for (int32_t i = 0; i < g->n_ops && kinds > 0; i++)
            mark[i] = (int32_t)(next_random(&r) % (uint64_t)(kinds + 1));
        cr_assert_eq(clv_subgraphs_split(m->costs, plain, mark, arena, &s, &m->err), CLV_OK);
        check_order(seed);
        for (int32_t u = 0; u < s->n; u++)
            for (int32_t k = 1; k < s->at[u].n; k++)
                cr_assert_eq(mark[s->order[s->at[u].first + k].i], mark[s->order[s->at[u].first].i],
                             "seed %d, unit %d", (int)seed, u);
        if (kinds == 0) {
            cr_assert_eq(s->n, plain->n);
            for (int32_t i = 0; i < g->n_ops; i++)
                cr_assert_eq(s->of[i], plain->of[i]);
        }
        clv_arena_rewind(arena, at);
    }
}

/* One operator in the middle is cut out of its unit; a Constant node goes with its reader. */
Test(subgraph, one_marked_operator_becomes_a_unit)
{
    f32("x", "2");
    made_op(m, "Neg", "x", "a");
    made_op(m, "Neg", "a", "b");
    made_op(m, "Neg", "b", "c");
    made_op(m, "Neg", "c", "d");
    made_op(m, "Add", "x,d", "e");
    split(false);
    const clv_subgraphs *plain = s;
    int32_t mark[5] = { 0, 0, 1, 0, 0 };
    cr_assert_eq(plain->n, 1);
    cr_assert_eq(clv_subgraphs_split(m->costs, plain, mark, arena, &s, &m->err), CLV_OK);
    expect_unit(0, "b: a b");
    expect_unit(1, "c: c");
    expect_unit(2, "e: d e");
}

/* d goes with c, which writes for it, and b with c, which reads it: where c is, whatever else is a
 * unit. */
Test(subgraph, what_goes_with_an_operator_is_no_unit)
{
    static const clv_op goes_with[] = { { 0 }, { 2 }, { 2 }, { 2 }, { 4 } };
    clv_op all[5] = { { 0 }, { 1 }, { 2 }, { 3 }, { 4 } };
    int32_t mark[5] = { 1, 0, 0, 0, 1 };
    f32("x", "2");
    made_op(m, "Neg", "x", "a");
    made_op(m, "Neg", "a", "b");
    made_op(m, "Neg", "b", "c");
    made_op(m, "Neg", "c", "d");
    made_op(m, "Neg", "d", "e");
    made_build(m);
    m->costs->goes_with = goes_with;
    cr_assert_eq(clv_subgraphs_of_nodes(m->costs, all, 5, arena, &s, &m->err), CLV_OK);
    cr_assert_eq(s->n, 3);
    expect_unit(0, "a: a");
    expect_unit(1, "c: b c d");
    expect_unit(2, "e: e");
    cr_assert_eq(clv_subgraphs_of_nodes(m->costs, all + 2, 1, arena, &s, &m->err), CLV_OK);
    cr_assert_eq(s->n, 2);
    expect_unit(0, "c: a b c d");
    expect_unit(1, "-: e");
    cr_assert_eq(clv_subgraphs_split(m->costs, s, mark, arena, &s, &m->err), CLV_OK);
    cr_assert_eq(s->n, 3);
    expect_unit(0, "a: a");
    expect_unit(1, "c: b c d");
    expect_unit(2, "-: e");
}

/* Two ends that are marked differently, each with something behind it that nobody reads: the
 * operators are cut apart, not what goes with them. */
Test(subgraph, left_over_operators_are_cut_before_what_goes_with_them)
{
    static const clv_op goes_with[] = { { 0 }, { 0 }, { 2 }, { 2 } };
    clv_op none[1];
    int32_t mark[4] = { 1, 0, 2, 0 };
    f32("x", "2");
    made_op(m, "Neg", "x", "a");
    made_op(m, "Neg", "a", "b");
    made_op(m, "Neg", "x", "c");
    made_op(m, "Neg", "c", "d");
    made_build(m);
    m->costs->goes_with = goes_with;
    cr_assert_eq(clv_subgraphs_of_nodes(m->costs, none, 0, arena, &s, &m->err), CLV_OK);
    expect_unit(0, "-: a b c d");
    cr_assert_eq(clv_subgraphs_split(m->costs, s, mark, arena, &s, &m->err), CLV_OK);
    cr_assert_eq(s->n, 2);
    expect_unit(0, "a: a b");
    expect_unit(1, "c: c d");
}

Test(subgraph, a_million_operators_are_cut)
{
    int32_t n = TEST_IS_SANITIZED ? 50000 : 500000;
    ladder(n, every_second);
    made_build(m);
    clv_costs *costs = NULL;
    cr_assert_eq(clv_costs_build(m->model, m->types, arena, &costs, NULL), CLV_OK);
    cr_assert_eq(clv_subgraphs_build(costs, true, arena, &s, NULL), CLV_OK);
    cr_expect_eq(s->n, n / 2);
}

Test(subgraph, survives_running_out_of_memory_anywhere)
{
    ladder(40, every_second);
    made_build(m);
    clv_status status = CLV_ENOMEM;
    for (size_t limit = 1; status != CLV_OK && limit < 1 << 20; limit += 64) {
        clv_arena *small = clv_arena_new(NULL, limit);
        if (!small)
            continue;
        clv_subgraphs *got = NULL;
        status = clv_subgraphs_build(m->costs, true, small, &got, NULL);
        cr_assert(status == CLV_OK || (status == CLV_ENOMEM && !got));
        clv_arena_free(small);
    }
    cr_expect_eq(status, CLV_OK);
}
