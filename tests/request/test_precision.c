/* test_precision.c - a model as if its weights were stored in another type. */
#include "request/precision.h"

#include "cost/made.h"

static clv_dtype stored(const clv_model *model, const char *weight)
{
    for (int32_t w = 0; w < model->main->n_weights; w++)
        if (clv_str_is(model->main->weights[w].name, weight))
            return model->main->weights[w].dtype;
    cr_assert_fail("no weight %s", weight);
    return CLV_DT_UNDEFINED;
}

Test(precision, weights_of_products_and_experts_are_narrowed)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    made *m = made_new(arena);
    const clv_model *narrow;
    made_input(m, "x", CLV_DT_FLOAT16, "6,8");
    made_weight(m, "router", CLV_DT_FLOAT16, "8,4");
    made_weight(m, "w1", CLV_DT_FLOAT16, "4,16,8");
    made_weight(m, "b1", CLV_DT_FLOAT16, "4,16");
    made_weight(m, "w2", CLV_DT_FLOAT16, "4,8,16");
    made_weight(m, "w3", CLV_DT_FLOAT16, "4,16,8");
    made_weight(m, "head", CLV_DT_FLOAT16, "8,32");
    made_op(m, "MatMul", "x,router", "scores");
    made_op(m, "com.microsoft:MoE", "x,scores,w1,b1,w2,,w3", "y");
    made_attr_int(m, "k", 2);
    made_op(m, "MatMul", "y,head", "logits");
    made_output(m, "logits");
    made_build(m);
    cr_assert_eq(clv_model_stored_as(m->model, CLV_DT_FLOAT8E4M3FN, arena, &narrow, &m->err),
                 CLV_OK);
    cr_expect_eq(stored(narrow, "router"), CLV_DT_FLOAT8E4M3FN);
    cr_expect_eq(stored(narrow, "w1"), CLV_DT_FLOAT8E4M3FN);
    cr_expect_eq(stored(narrow, "w2"), CLV_DT_FLOAT8E4M3FN);
    cr_expect_eq(stored(narrow, "w3"), CLV_DT_FLOAT8E4M3FN);
    cr_expect_eq(stored(narrow, "b1"), CLV_DT_FLOAT16, "a bias");
    cr_expect_eq(stored(narrow, "head"), CLV_DT_FLOAT16, "its result is the model's");
    cr_expect_eq(stored(m->model, "w1"), CLV_DT_FLOAT16, "the model stays as it is");
    clv_arena_free(arena);
}
