/* test_error_growth.c - the bound of errors: by hand for a few operators behind each other. */
#include "verify/error_growth.h"

#include <math.h>

#include "cost/made.h"
#include "sharding/graph_factors.h"

static clv_arena *arena;
static made *m;

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new(arena);
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(error_growth, .init = set_up, .fini = tear_down);

static clv_error_growth found;

static void work_out(int32_t devices)
{
    clv_factors *factors;
    made_build(m);
    cr_assert_eq(clv_factors_all(m->model, m->types, arena, &factors, &m->err), CLV_OK);
    cr_assert_eq(clv_error_growth_of(m->types, factors, devices, arena, &found, &m->err), CLV_OK);
}

static int32_t tensor(const char *name)
{
    const clv_graph *g = m->model->main;
    for (int32_t t = 0; t < g->n_tensors; t++)
        if (clv_str_is(g->tensors[t].name, name))
            return t;
    cr_assert_fail("no tensor '%s'", name);
    return -1;
}

Test(error_growth, squares_add_up_along_the_longest_way)
{
    made_input(m, "x", CLV_DT_FLOAT, "4,100");
    made_weight(m, "w", CLV_DT_FLOAT, "100,50");
    made_op(m, "MatMul", "x,w", "h"); /* 1 + 4 devices + 100 terms */
    made_op(m, "Relu", "h", "r");     /* and 1 + 4 + 1 */
    made_op(m, "Add", "h,r", "y");    /* the longer way: again 1 + 4 + 1 */
    made_output(m, "y");
    work_out(4);
    cr_expect_eq(found.growth[tensor("x")], 0);
    cr_expect_float_eq(found.growth[tensor("h")] / (32 * 0x1p-24 * sqrt(105)), 1, 1e-12);
    cr_expect_float_eq(found.growth[tensor("r")] / (32 * 0x1p-24 * sqrt(111)), 1, 1e-12);
    cr_expect_float_eq(found.growth[tensor("y")] / (32 * 0x1p-24 * sqrt(117)), 1, 1e-12);
    cr_expect_eq(found.terms[tensor("y")], 102);
}

/* Of a text detector: Sigmoids of -16 come out as 0 or 1.8e-7, and are 1.1e-7. */
Test(error_growth, functions_that_saturate_have_an_error_of_their_own)
{
    made_input(m, "x", CLV_DT_FLOAT, "4,100");
    made_op(m, "Sigmoid", "x", "s");
    made_op(m, "Identity", "s", "i"); /* moved, not computed */
    made_op(m, "Relu", "x", "r");
    made_op(m, "Mul", "s,s", "y");
    made_output(m, "i");
    made_output(m, "r");
    made_output(m, "y");
    work_out(1);
    cr_expect_float_eq(found.absolute[tensor("s")] / (6 * 0x1p-24), 1, 1e-12);
    cr_expect_gt(found.absolute[tensor("s")], 1.8e-7);
    cr_expect_eq(found.absolute[tensor("i")], found.absolute[tensor("s")]);
    cr_expect_eq(found.absolute[tensor("r")], 0);
    cr_expect_eq(found.absolute[tensor("y")], 0, "of what comes behind the model itself shows it");
}

Test(error_growth, halves_round_coarsely_but_are_summed_finely)
{
    made_input(m, "x", CLV_DT_FLOAT16, "4,100");
    made_weight(m, "w", CLV_DT_FLOAT16, "100,50");
    made_op(m, "MatMul", "x,w", "h");
    made_output(m, "h");
    work_out(1);
    double square = 2 * 0x1p-22 + 100 * 0x1p-48;
    cr_expect_float_eq(found.growth[tensor("h")] / (32 * sqrt(square)), 1, 1e-12);
}

Test(error_growth, doubles_and_whole_numbers)
{
    made_input(m, "x", CLV_DT_DOUBLE, "4,100");
    made_input(m, "i", CLV_DT_INT64, "4");
    made_op(m, "Softmax", "x", "s"); /* needs its row whole: 100 terms */
    made_op(m, "Add", "i,i", "j");
    made_output(m, "s");
    made_output(m, "j");
    work_out(1);
    cr_expect_float_eq(found.growth[tensor("s")] / (32 * 0x1p-53 * sqrt(102)), 1, 1e-12);
    cr_expect_eq(found.growth[tensor("j")], 0);
}
