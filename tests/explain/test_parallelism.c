/* test_parallelism.c - plans are named for what they do. Each test writes a small model as
 * lines, says which axis splits what, and reads the words.
 */
#include "explain/parallelism.h"
#include "graph/infer.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "support/line_model.h"

enum { DP = 0, TP = 1 };

static clv_arena *arena;
static const clv_mesh mesh = {
    .n_axes = 2, .size = { 2, 4, 1 }, .name = { "dp", "tp" }, .n_devices = 8
};
static clv_model *model;
static clv_plan_layouts view;
static clv_layout *need, *made, *kept;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(parallelism, .init = set_up, .fini = tear_down);

/* -- models as lines (support/line_model.h) -- */

static void init_layouts(void)
{
    const clv_graph *g = model->main;
    need = CLV_NEW_ARRAY(arena, clv_layout, 8 * LINE_MODEL_ITEMS);
    made = CLV_NEW_ARRAY(arena, clv_layout, 8 * LINE_MODEL_ITEMS);
    kept = CLV_NEW_ARRAY(arena, clv_layout, 8 * LINE_MODEL_ITEMS);
    for (int32_t i = 0; i < 8 * LINE_MODEL_ITEMS; i++)
        need[i] = made[i] = kept[i] = CLV_LAYOUT_COPIES;
    view = (clv_plan_layouts){
        .graph = g, .mesh = mesh, .n_stages = 1, .need = need, .made = made, .kept = kept
    };
}

/* Types are those of the lines and of inference. */
static void make(const char *const *lines)
{
    clv_inference *inference;
    clv_error err;

    model = line_model(arena, lines);
    cr_assert_eq(clv_infer(model, NULL, 0, arena, &inference, &err), CLV_OK, "%s", err.message);
    init_layouts();
    view.types = inference->main;
}

/* -- layouts -- */

static const clv_op_info *op_named(const char *name)
{
    for (int32_t i = 0; i < model->main->n_ops; i++)
        if (clv_str_is(model->main->ops[i].label, name))
            return &model->main->ops[i];
    cr_assert_fail("no operator %s", name);
    return NULL;
}

static int32_t tensor_named(const char *name)
{
    for (int32_t i = 0; i < model->main->n_tensors; i++)
        if (clv_str_is(model->main->tensors[i].name, name))
            return i;
    cr_assert_fail("no tensor %s", name);
    return -1;
}

static void set(clv_layout *layout, int32_t axis, int32_t dim, int32_t outer)
{
    layout->dim[axis] = (int8_t)dim;
    layout->outer[axis] = outer;
    if (dim == CLV_AXIS_PARTIAL)
        layout->reduce[axis] = CLV_REDUCE_SUM;
}

/* Input k of the operator that writes `op` is split by the axis on dim. */
static void reads(const char *op, int32_t k, int32_t axis, int32_t dim)
{
    set(&need[op_named(op)->first_in + k], axis, dim, 1);
}

static void writes(const char *op, int32_t axis, int32_t dim)
{
    set(&made[op_named(op)->first_out], axis, dim, 1);
}

/* -- words -- */

static const clv_plan_finding *found;
static int32_t n_found;

static void find(void)
{
    clv_error err;
    cr_assert_eq(clv_find_parallelism(&view, arena, &found, &n_found, &err), CLV_OK, "%s",
                 err.message);
}

/* "data parallel over dp: 2; pipeline over : 3" */
static void finds(const char *expected)
{
    const char *text = "";
    find();
    for (int32_t i = 0; i < n_found; i++)
        text = clv_arena_printf(arena, "%s%s%s over %s: %d", text, i ? "; " : "", found[i].name,
                                found[i].axes, (int)found[i].n);
    cr_expect_str_eq(text, expected);
}

/* A block of two matmuls, [batch, sequence, hidden]. */
static const char *const mlp[] = { "in x 8 32 64",    "w g 64",        "w up 64 256",
                                   "w down 256 64",   "MatMul x up h", "Relu h r",
                                   "MatMul r down y", "out y",         NULL };

Test(parallelism, copies_have_none)
{
    make(mlp);
    finds("");
}

Test(parallelism, pipeline_is_more_than_one_stage)
{
    make(mlp);
    view.n_stages = 3;
    finds("pipeline over : 3");
    cr_expect_str_eq(found[0].of, "stages");
}

/* covers: C.001 */
Test(parallelism, data_parallel_splits_the_batch_and_no_weights)
{
    make(mlp);
    reads("h", 0, DP, 0);
    writes("h", DP, 0);
    finds("data parallel over dp: 1");
    reads("y", 0, DP, 0);
    writes("y", DP, 0);
    finds("data parallel over dp: 2");
    cr_expect_str_eq(found[0].of, "matmuls");
}

Test(parallelism, the_batch_of_a_few_matmuls_is_no_data_parallelism)
{
    make((const char *const[]){ "in x 8 64", "w a 64 64", "w b 64 64", "w c 64 64", "MatMul x a p",
                                "MatMul p b q", "MatMul q c y", "out y", NULL });
    reads("p", 0, DP, 0);
    finds("");
}

Test(parallelism, column_then_row_is_megatrons)
{
    make(mlp);
    reads("h", 1, TP, 1);
    writes("h", TP, 2);
    finds("Megatron column over tp: 1");
    reads("y", 0, TP, 2);
    reads("y", 1, TP, 0);
    writes("y", TP, CLV_AXIS_PARTIAL);
    finds("Megatron column over tp: 1; Megatron row over tp: 1");
    reads("h", 0, DP, 0);
    reads("y", 0, DP, 0);
    finds("data parallel over dp: 2; Megatron column over tp: 1; Megatron row over tp: 1");
}

/* The sequence is dimension 1, the inner part of a flat dimension 0, or a flat dimension 0 where
 * the batch is 1. */
Test(parallelism, the_sequence_of_matmuls_is_context_parallel)
{
    make(mlp);
    reads("h", 0, DP, 1);
    reads("y", 0, DP, 1);
    finds("context parallel over dp: 2");
    make((const char *const[]){ "in x 256 64", "w a 64 64", "MatMul x a y", "out y", NULL });
    reads("y", 0, DP, 0);
    finds("data parallel over dp: 1");
    need[op_named("y")->first_in].outer[DP] = 8;
    finds("context parallel over dp: 1");
    make((const char *const[]){ "in x 1 256", "w e 256 64", "w s 2", "w a 64 64", "MatMul x e f",
                                "MatMul f a y", "out y", NULL });
    reads("f", 0, DP, 0);
    reads("y", 0, DP, 0);
    finds("context parallel over dp: 2");
}

Test(parallelism, norms_split_on_the_sequence_between_megatrons_matmuls)
{
    make((const char *const[]){ "in x 8 32 64", "w g 64", "w b 64", "w up 64 256",
                                "LayerNormalization x g b n", "MatMul n up y", "out y", NULL });
    reads("n", 0, TP, 1);
    writes("n", TP, 1);
    finds("");
    reads("y", 1, TP, 1);
    writes("y", TP, 2);
    finds("Megatron column over tp: 1; sequence parallel over tp: 1");
    cr_expect_str_eq(found[1].of, "norms");
}

Test(parallelism, heads_of_an_attention)
{
    make((const char *const[]){ "in q 8 16 32 64", "in k 8 16 64 32", "in v 8 16 32 64",
                                "MatMul q k s", "Softmax s p", "MatMul p v y", "out y", NULL });
    reads("s", 0, TP, 1);
    reads("y", 0, TP, 1);
    finds("head parallel attention over tp: 2");
    reads("s", 0, TP, 0);
    reads("y", 0, TP, 2);
    finds("");
    make(
        (const char *const[]){ "in q 128 32 64", "in k 128 64 32", "MatMul q k y", "out y", NULL });
    reads("y", 0, TP, 0);
    finds("");
    need[op_named("y")->first_in].outer[TP] = 8;
    finds("head parallel attention over tp: 1");
}

/* A convolution by computed weights, one group for each image: its channels are no heads. */
Test(parallelism, groups_of_a_convolution_are_no_heads)
{
    make((const char *const[]){ "in x 1 24 8 8", "in k 24 24 3 3", "Conv x k y", "out y", NULL });
    reads("y", 0, TP, 1);
    reads("y", 1, TP, 1);
    finds("");
}

/* Experts in one weight each, all computed, and weighed by a gate of 8. */
static const char *const mixture[] = { "in x 1 32 64",    "w gate 64 8",
                                       "w e 8 64 256",    "w f 8 256 64",
                                       "MatMul x gate g", "Softmax g s",
                                       "Transpose s t",   "MatMul x e h",
                                       "Relu h r",        "MatMul r f o",
                                       "Mul o t m",       "ReduceSum m y",
                                       "out y",           NULL };

Test(parallelism, experts_are_slices_that_a_router_chooses_among)
{
    make(mixture);
    reads("h", 1, TP, 0);
    writes("h", TP, 0);
    finds("expert parallel over tp: 1");
    reads("o", 0, TP, 0);
    reads("o", 1, TP, 0);
    writes("o", TP, 0);
    finds("expert parallel over tp: 2");
    make((const char *const[]){ "in x 32 64", "in r 32 8", "w a 8 64 256", "w ab 8 256",
                                "w b 8 256 64", "com.microsoft.MoE x r a ab b y", "out y", NULL });
    reads("y", 2, TP, 0);
    finds("expert parallel over tp: 1");
    reads("y", 2, TP, 2);
    finds("");
}

/* Rotary embeddings, one product for each sequence, and batches of weights in a model that has
 * experts, but of another number. */
Test(parallelism, constants_of_three_dimensions_are_no_experts)
{
    make((const char *const[]){ "in p 8 1 32", "w inv 8 64 1", "MatMul inv p a", "Cos a y", "out y",
                                NULL });
    reads("a", 0, TP, 0);
    writes("a", TP, 0);
    finds("");
    make((const char *const[]){ "in x 1 32 64", "w gate 64 6", "w e 8 64 256", "MatMul x gate g",
                                "Softmax g s", "ReduceSum s t", "MatMul x e h", "Mul h t m",
                                "out m", NULL });
    reads("h", 1, TP, 0);
    writes("h", TP, 0);
    finds("");
}

/* Attention weights from a layer of as many columns as there are tokens, then a slice for each
 * head: all heads read the same. Experts read what was sent to each. */
Test(parallelism, heads_behind_a_dense_attention_are_no_experts)
{
    make((const char *const[]){ "in x 1 4 64", "w scores 64 4", "w heads 4 64 16",
                                "MatMul x scores g", "Softmax g s", "MatMul s x y", "in z 2 1 4 64",
                                "Add y z u", "MatMul u heads h", "out h", NULL });
    reads("h", 0, TP, 1);
    reads("h", 1, TP, 0);
    writes("h", TP, 1);
    finds("");
    make((const char *const[]){ "in x 32 64", "in each 4 32 64", "w gate 64 4", "w e 4 64 16",
                                "MatMul x gate g", "Softmax g s", "ReduceSum s t", "Mul each t u",
                                "MatMul u e h", "out h", NULL });
    reads("h", 0, TP, 0);
    reads("h", 1, TP, 0);
    writes("h", TP, 0);
    finds("expert parallel over tp: 1");
}

/* The half of an MLP that is passed through a Sigmoid is no gate of experts. */
Test(parallelism, a_gated_mlp_has_no_experts)
{
    make((const char *const[]){ "in x 1 32 64", "w gate 64 8", "w e 8 64 8", "MatMul x gate g",
                                "Sigmoid g s", "MatMul x e h", "Mul h s m", "out m", NULL });
    reads("h", 1, TP, 0);
    writes("h", TP, 0);
    finds("");
}

/* Two experts of two matrices each; pick takes one of the gate's two numbers. */
static const char *const separate[] = { "in x 32 64",      "w gate 64 2",
                                        "w a1 64 96",      "w a2 96 64",
                                        "w b1 64 96",      "w b2 96 64",
                                        "w p0 2 1",        "w p1 2 1",
                                        "w back 64 64",    "MatMul x gate g",
                                        "Softmax g s",     "MatMul s p0 q0",
                                        "MatMul s p1 q1",  "MatMul x a1 h0",
                                        "Relu h0 r0",      "MatMul r0 a2 o0",
                                        "MatMul x b1 h1",  "Relu h1 r1",
                                        "MatMul r1 b2 o1", "Mul o0 q0 m0",
                                        "Mul o1 q1 m1",    "Add m0 m1 u",
                                        "Add u x v",       "MatMul v back y",
                                        "out y",           NULL };

Test(parallelism, experts_with_weights_of_their_own_are_dealt_out_over_stages)
{
    static int32_t stage[32];
    make(separate);
    view.stage_of_op = stage;
    view.n_stages = 2;
    finds("pipeline over : 2");
    static const char *const second[] = { "h1", "r1", "o1", "m1", "u", "v", "y" };
    for (size_t i = 0; i < sizeof second / sizeof *second; i++)
        stage[op_named(second[i]) - model->main->ops] = 1;
    finds("expert parallel over : 2; pipeline over : 2");
    cr_expect_str_eq(found[0].of, "operators");
    /* a cut behind them deals out none */
    memset(stage, 0, sizeof stage);
    stage[op_named("y") - model->main->ops] = 1;
    finds("pipeline over : 2");
}

static const char *const language_model[] = { "in ids 8 32 int",
                                              "w table 1000 64",
                                              "w head 64 1000",
                                              "w mid 64 1000",
                                              "w back 1000 64",
                                              "Gather table ids e",
                                              "MatMul e mid m",
                                              "MatMul m back b",
                                              "MatMul b head y",
                                              "out y",
                                              NULL };

Test(parallelism, rows_of_the_table_and_columns_of_the_last_matmul)
{
    make(language_model);
    reads("e", 0, TP, 0);
    writes("e", TP, CLV_AXIS_PARTIAL);
    finds("vocabulary parallel embedding over tp: 1");
    reads("y", 1, TP, 1);
    writes("y", TP, 2);
    finds("vocabulary parallel embedding over tp: 1; vocabulary parallel output over tp: 1");
    /* as many columns, but not the last */
    reads("m", 1, TP, 1);
    writes("m", TP, 2);
    finds("Megatron column over tp: 1; vocabulary parallel embedding over tp: 1; vocabulary "
          "parallel output over tp: 1");
}

/* BERT: as many features as positions, with an activation function behind them; and again as many
 * as there are words. */
Test(parallelism, a_pooler_gives_no_words)
{
    make((const char *const[]){ "in ids 8 32 int", "in at 8 32 int", "w words 1000 64",
                                "w places 64 64", "w pool 64 64", "Gather words ids e",
                                "Gather places at p", "Add e p s", "MatMul s pool y", "out y",
                                NULL });
    reads("y", 1, TP, 1);
    writes("y", TP, 2);
    finds("Megatron column over tp: 1");
    make((const char *const[]){ "in ids 8 32 int", "w words 64 64", "w pool 64 64",
                                "Gather words ids e", "MatMul e pool p", "Tanh p y", "out y",
                                NULL });
    reads("p", 1, TP, 1);
    writes("p", TP, 2);
    finds("Megatron column over tp: 1");
    /* words that go out as probabilities, and words whose scores are capped */
    make((const char *const[]){ "in ids 8 32 int", "w words 64 64", "w head 64 64", "w cap 1",
                                "Gather words ids e", "MatMul e head h", "Div h cap d", "Tanh d t",
                                "Mul t cap s", "Softmax s y", "out y", NULL });
    reads("h", 1, TP, 1);
    writes("h", TP, 2);
    finds("vocabulary parallel output over tp: 1");
}

Test(parallelism, columns_of_a_table_are_not_its_vocabulary)
{
    make(language_model);
    reads("e", 0, TP, 1);
    finds("");
}

Test(parallelism, many_tables_are_sharded)
{
    make((const char *const[]){ "in i 8 int", "w a 100 16", "w b 200 16", "w c 300 16",
                                "w d 400 16", "Gather a i p", "Gather b i q", "Gather c i r",
                                "Gather d i s", "Add p q t", "Add r s u", "Add t u y", "out y",
                                NULL });
    reads("p", 0, TP, 0);
    reads("r", 0, TP, 1);
    finds("table sharding over tp: 2");
}

Test(parallelism, weights_gathered_before_use_are_like_zeros)
{
    make(mlp);
    set(&kept[tensor_named("up")], DP, 0, 1);
    finds("ZeRO-like over dp: 1");
    cr_expect_str_eq(found[0].of, "weights");
    reads("h", 1, DP, 0);
    reads("h", 0, DP, 2);
    writes("h", DP, CLV_AXIS_PARTIAL);
    finds("Megatron row over dp: 1");
}

/* What is made of weights alone is a weight too. */
Test(parallelism, a_weight_that_is_transposed_first_is_one)
{
    make((const char *const[]){ "in x 8 64", "w up 256 64", "Transpose up t", "MatMul x t y",
                                "out y", NULL });
    reads("y", 1, TP, 1);
    writes("y", TP, 1);
    finds("Megatron column over tp: 1");
}

Test(parallelism, images_are_split_by_batch_or_channels)
{
    make((const char *const[]){ "in x 8 3 32 32", "w k 64 3 3 3", "Conv x k y", "out y", NULL });
    reads("y", 0, DP, 0);
    reads("y", 1, TP, 0);
    writes("y", TP, 1);
    finds("data parallel over dp: 1; Megatron column over tp: 1");
}

Test(parallelism, axes_of_one_device_are_not_looked_at)
{
    make(mlp);
    view.mesh.size[0] = 1;
    reads("h", 0, DP, 0);
    finds("");
}
