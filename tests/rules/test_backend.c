/* test_backend.c - what a backend runs: its meshes, and what it splits of operators. */
#include "cost/made_shards.h"
#include "rules/backend_filter.h"
#include "rules/backend_limits.h"

static clv_arena *arena;
static clv_error err;

static void setup(void)
{
    arena = clv_arena_new(NULL, 0);
    err = (clv_error){ 0 };
}
static void teardown(void) { clv_arena_free(arena); }
TestSuite(backend, .init = setup, .fini = teardown);

/* -- meshes -- */

static const clv_backend engine = { .name = "engine",
                                    .max_devices = 8,
                                    .axes_per_tensor = INT64_MAX,
                                    .mesh_axes = 1,
                                    .fused_axes = true,
                                    .node_links = (const char *[]){ "ethernet" },
                                    .n_node_links = 1,
                                    .heads = true,
                                    .megatron = true,
                                    .padded_vocabulary = true };

static bool runs(int64_t heads, int64_t kv_heads, int32_t n)
{
    const clv_head_counts counts = { heads, kv_heads };
    const clv_backend_limits limits = { &engine, { &counts, 1 }, 8 };
    char why[CLV_MESSAGE_SIZE] = "";
    bool yes = clv_backend_runs_mesh(&limits, 1, n, why);
    cr_expect_eq(yes, why[0] == '\0', "%s", why);
    cr_expect_eq(yes, clv_backend_runs_mesh(&limits, 1, n, NULL));
    return yes;
}

Test(backend, a_mesh_divides_heads_and_copies_those_of_keys)
{
    cr_expect(runs(64, 8, 8));
    cr_expect(runs(64, 8, 4));
    cr_expect(!runs(64, 8, 3));
    cr_expect(runs(64, 2, 8), "heads of keys are copied");
    cr_expect(runs(48, 6, 2));
    cr_expect(!runs(48, 6, 4), "4 are neither divisor nor multiple of 6");
    cr_expect(runs(7, 7, 1), "one device is no mesh");
    cr_expect(!runs(64, 8, 16), "a node has 8 devices");
}

Test(backend, a_mesh_has_as_many_axes_as_it_knows)
{
    const clv_backend_limits limits = { &engine, { NULL, 0 }, 8 };
    const clv_backend_limits none = { .node_devices = 8 };
    char why[CLV_MESSAGE_SIZE];
    cr_expect(!clv_backend_runs_mesh(&limits, 2, 8, why));
    cr_expect_str_eq(why, "profile 'engine' expects 1 axis at most instead of 2");
    cr_expect(clv_backend_runs_mesh(&none, 3, 12, why), "anyone runs all");
}

Test(backend, heads_are_those_of_operators_or_of_a_softmax)
{
    clv_attention_heads heads;
    made *m = made_new(arena);
    made_input(m, "q", CLV_DT_FLOAT, "2,12,4,64");
    made_input(m, "k", CLV_DT_FLOAT, "2,12,64,4");
    made_op(m, "MatMul", "q,k", "scores");
    made_op(m, "Softmax", "scores", "p");
    made_build(m);
    cr_assert_eq(clv_attention_heads_find(m->costs, arena, &heads, &err), CLV_OK);
    cr_assert_eq(heads.n, 1);
    cr_expect_eq(heads.at[0].heads, 12);
    cr_expect_eq(heads.at[0].kv_heads, 12);
    m = made_new(arena);
    made_input(m, "q", CLV_DT_FLOAT, "2,4,512");
    made_input(m, "k", CLV_DT_FLOAT, "2,4,128");
    made_input(m, "v", CLV_DT_FLOAT, "2,4,128");
    made_op(m, "Attention", "q,k,v", "y");
    made_attr_int(m, "q_num_heads", 8);
    made_attr_int(m, "kv_num_heads", 2);
    made_build(m);
    cr_assert_eq(clv_attention_heads_find(m->costs, arena, &heads, &err), CLV_OK);
    cr_assert_eq(heads.n, 1);
    cr_expect_eq(heads.at[0].heads, 8);
    cr_expect_eq(heads.at[0].kv_heads, 2);
}

/* -- operators -- */

/* Tokens are looked up, go through a norm and two products, and a third is the vocabulary. */
static made *block(void)
{
    made *m = made_new(arena);
    made_input(m, "ids", CLV_DT_INT64, "2,4");
    made_weight(m, "table", CLV_DT_FLOAT, "1001,64");
    made_weight(m, "scale", CLV_DT_FLOAT, "64");
    made_weight(m, "up", CLV_DT_FLOAT, "64,256");
    made_weight(m, "down", CLV_DT_FLOAT, "256,64");
    made_weight(m, "head", CLV_DT_FLOAT, "64,1001");
    made_op(m, "Gather", "table,ids", "x");
    made_op(m, "LayerNormalization", "x,scale", "norm");
    made_op(m, "MatMul", "norm,up", "a");
    made_op(m, "Relu", "a", "b");
    made_op(m, "MatMul", "b,down", "c");
    made_op(m, "Add", "x,c", "sum");
    made_op(m, "MatMul", "sum,head", "logits");
    made_build(m);
    return m;
}

/* Sizes of the factors that a mesh of n may split of an operator: "256 64"; "": none. */
static const char *split_of(made *m, const clv_backend *backend, int32_t n, int32_t op)
{
    made_servers servers;
    const clv_cluster *cluster = made_servers_set(&servers, n, n);
    const clv_mesh *mesh;
    const clv_mesh_form form = { .n_axes = 1, .size = { n } };
    clv_factors *factors;
    clv_choice_filter filter;
    const char *text = "";
    cr_assert_eq(clv_mesh_make(&form, cluster, CLV_MESH_ALL_DEVICES, arena, &mesh, &err), CLV_OK);
    cr_assert_eq(clv_factors_all(m->model, m->types, arena, &factors, &err), CLV_OK);
    const clv_split_model model = { m->types, factors, mesh };
    cr_assert_eq(clv_backend_filter_make(backend, &model, arena, &filter, &err), CLV_OK);
    const clv_op_choice none = { { -1, -1, -1 } };
    cr_expect(filter.allow(filter.ctx, (clv_op){ op }, &factors[op], &none));
    for (int16_t i = 0; i < factors[op].n_factors; i++) {
        const clv_op_choice one = { { i, -1, -1 } };
        const clv_factor *f = &factors[op].factors[i];
        if (f->kind != CLV_FACTOR_WHOLE && f->kind != CLV_FACTOR_SUMMANDS &&
            filter.allow(filter.ctx, (clv_op){ op }, &factors[op], &one))
            text = clv_arena_printf(arena, "%s%s%d", text, *text ? " " : "", (int)f->size);
    }
    return text;
}

Test(backend, layers_are_split_as_megatron_does)
{
    static const char *const want[] = { "1001", "", "256", "256", "256", "", "1001" };
    made *m = block();
    for (int32_t i = 0; i < 7; i++)
        cr_expect_str_eq(split_of(m, &engine, 2, i), want[i], "operator %d: '%s'", (int)i,
                         split_of(m, &engine, 2, i));
}

Test(backend, parts_are_even_but_of_the_vocabulary)
{
    made *m = block();
    cr_expect_str_eq(split_of(m, &engine, 3, 0), "1001");
    cr_expect_str_eq(split_of(m, &engine, 3, 2), "");
    cr_expect_str_eq(split_of(m, &engine, 3, 6), "1001");
    clv_backend strict = engine;
    strict.padded_vocabulary = false;
    cr_expect_str_eq(split_of(m, &strict, 3, 0), "");
}

Test(backend, operators_that_it_keeps_whole_are_so)
{
    made *m = block();
    const clv_backend whole = { .name = "whole",
                                .uneven = true,
                                .fused_axes = true,
                                .axes_per_tensor = 1,
                                .mesh_axes = 1,
                                .whole_operators = (const char *[]){ "MatMul" },
                                .n_whole_operators = 1 };
    cr_expect_str_eq(split_of(m, &whole, 2, 2), "");
    cr_expect_str_neq(split_of(m, &whole, 2, 3), "");
}
