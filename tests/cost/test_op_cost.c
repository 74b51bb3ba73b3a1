/* Traffic, sums, bodies and time. */
#include "made.h"

#include "cost/op_time.h"
#include "graph/ops.h"

static clv_arena *arena;
static made *m;

static void setup(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new(arena);
}
static void teardown(void) { clv_arena_free(arena); }
TestSuite(op_cost, .init = setup, .fini = teardown);

static void f32(const char *name, const char *dims) { made_input(m, name, CLV_DT_FLOAT, dims); }

static void expect_traffic(const char *tensor, int64_t read, int64_t write)
{
    const clv_op_cost *c = made_cost(m, tensor);
    cr_expect_eq(c->read_bytes, read, "%s reads %lld", tensor, (long long)c->read_bytes);
    cr_expect_eq(c->write_bytes, write, "%s writes %lld", tensor, (long long)c->write_bytes);
}

Test(op_cost, an_operator_reads_its_inputs_and_writes_its_outputs)
{
    f32("a", "2,3");
    made_input(m, "b", CLV_DT_FLOAT16, "4");
    made_op(m, "Add", "a,a", "y");
    made_op(m, "Neg", "b", "z");
    made_build(m);
    expect_traffic("y", 2 * 24, 24);
    expect_traffic("z", 8, 8);
    cr_expect_eq(made_cost(m, "z")->math, CLV_DT_FLOAT16);
}

Test(op_cost, each_kind_of_traffic)
{
    f32("x", "100,4");
    f32("u", "2,4");
    made_input(m, "i", CLV_DT_INT64, "2");
    made_input(m, "at", CLV_DT_INT64, "2,1");
    made_op(m, "Gather", "x,i", "gathered");
    made_op(m, "ScatterND", "x,at,u", "scattered");
    made_op(m, "Flatten", "x", "view");
    made_op(m, "EyeLike", "x", "eye");
    made_build(m);
    expect_traffic("gathered", 32 + 16, 32); /* 2 rows of 4, and the indices */
    expect_traffic("scattered", 1600 + 16 + 32, 1600);
    expect_traffic("view", 0, 0);
    expect_traffic("eye", 0, 1600);
}

Test(op_cost, an_unknown_operator_moves_its_data_and_is_listed)
{
    f32("x", "3");
    made_op(m, "com.example:Mystery", "x", "y");
    made_op(m, "Neg", "x", "z");
    made_build(m);
    cr_assert_eq(m->costs->n_unknown, 1);
    cr_expect_eq(m->costs->unknown[0].i, 0);
    expect_traffic("y", 12, 0);
    cr_expect_eq(m->costs->n_unsized, 1, "its result is open");
}

Test(op_cost, what_is_known_before_the_run_costs_nothing)
{
    f32("x", "6,4");
    made_ints(m, "two", "2");
    made_op(m, "Shape", "x", "s");
    made_op(m, "Mul", "s,two", "y");
    made_build(m);
    expect_traffic("y", 0, 0);
    cr_expect_eq(made_cost(m, "y")->flops, 0);
}

/* w is read by both products: once in each, once in all. Integers are no parameters. */
Test(op_cost, initialisers_count_once_an_operator_and_once_in_all)
{
    f32("x", "2,4");
    made_weight(m, "w", CLV_DT_FLOAT, "4,4");
    made_weight(m, "h", CLV_DT_FLOAT16, "3");
    made_weight(m, "packed", CLV_DT_UINT8, "5");
    made_op(m, "MatMul", "x,w", "a");
    made_op(m, "Gemm", "a,w,w", "b");
    made_build(m);
    cr_expect_eq(made_cost(m, "a")->weight_bytes, 64);
    cr_expect_eq(made_cost(m, "b")->weight_bytes, 64);
    cr_expect_eq(m->costs->total.weight_bytes, 64 + 6 + 5);
    cr_expect_eq(m->costs->parameters, 16 + 3);
}

Test(op_cost, constants_stand_beside_the_initialisers)
{
    clv_const *c = CLV_NEW(arena, clv_const);
    *c = (clv_const){ .dtype = CLV_DT_FLOAT, .rank = 1, .elems = 7, .bytes = 28 };
    int32_t rank;
    c->dims = made_dims(arena, "7", &rank);
    made_op(m, "Constant", "", "c");
    made_attr(m, "value", CLV_ATTR_TENSOR, 1)->tensor = c;
    made_op(m, "Constant", "", "d");
    made_attr_ints(m, "value_ints", "1,2,3");
    made_build(m);
    cr_expect_eq(m->costs->constant_bytes, 28 + 24);
    cr_expect_eq(m->costs->parameters, 0);
    expect_traffic("c", 0, 0);
}

static void constant(const char *name, const char *dims)
{
    clv_const *c = CLV_NEW(arena, clv_const);
    int64_t elems = 1;
    *c = (clv_const){ .dtype = CLV_DT_FLOAT };
    c->dims = made_dims(arena, dims, &c->rank);
    for (int32_t d = 0; d < c->rank; d++)
        elems *= c->dims[d];
    c->elems = elems;
    c->bytes = 4 * elems;
    made_op(m, "Constant", "", name);
    made_attr(m, "value", CLV_ATTR_TENSOR, 1)->tensor = c;
}

Test(op_cost, weights_in_constant_nodes_are_parameters_where_they_are_used_as_such)
{
    f32("x", "2,4");
    made_input(m, "ids", CLV_DT_INT64, "2");
    constant("w", "4,4");
    constant("bias", "4");
    constant("turned", "3,4");
    constant("table", "5,4");
    constant("scale", "4");
    constant("mask", "2,4");
    constant("half", "");
    made_op(m, "MatMul", "x,w", "a");
    made_op(m, "Add", "a,bias", "b");
    made_op(m, "Transpose", "turned", "t");
    made_op(m, "MatMul", "b,t", "c");
    made_op(m, "Gather", "table,ids", "d");
    made_op(m, "LayerNormalization", "d,scale", "e");
    made_op(m, "Add", "e,mask", "f");
    made_op(m, "Mul", "f,half", "g");
    made_build(m);
    cr_expect_eq(m->costs->parameters, 16 + 4 + 12 + 20 + 4);
}

/* x / sqrt(v) * scale + shift, and x * (1 / sqrt(v)) * scale, whichever operand comes first. */
Test(op_cost, scales_of_a_norm_that_is_written_in_parts_are_parameters)
{
    f32("x", "2,4");
    f32("v", "2,1");
    constant("scale", "4");
    constant("shift", "4");
    constant("root_scale", "4");
    constant("gain", "4");
    constant("offset", "4");
    made_op(m, "Sqrt", "v", "root");
    made_op(m, "Div", "x,root", "n");
    made_op(m, "Mul", "scale,n", "s");
    made_op(m, "Add", "shift,s", "y");
    made_op(m, "Reciprocal", "root", "inverse");
    made_op(m, "Mul", "y,inverse", "r");
    made_op(m, "Mul", "r,root_scale", "z");
    made_op(m, "Div", "gain,root", "g"); /* divided itself, scaled before, added to what is none */
    made_op(m, "Add", "z,g", "a");
    made_op(m, "Mul", "a,a", "b");
    made_op(m, "Add", "b,offset", "c");
    made_build(m);
    cr_expect_eq(m->costs->parameters, 3 * 4);
}

Test(op_cost, a_model_of_nothing_costs_nothing)
{
    f32("x", "3");
    made_build(m);
    cr_expect_eq(m->costs->total.flops, 0);
    cr_expect_eq(m->costs->total.read_bytes, 0);
}

/* -- bodies -- */

/* A branch with an initialiser of its own: x of [4,4] by w, so many times in a row. */
static made *branch(const char *out, int products)
{
    static const char *const name[] = { "p0", "p1", "p2" };
    made *b = made_new(arena);
    const char *from = "x";
    made_weight(b, "w", CLV_DT_FLOAT, "4,4");
    for (int i = 0; i < products; i++) {
        const char *to = i == products - 1 ? out : name[i];
        made_op(b, "MatMul", clv_arena_printf(arena, "%s,w", from), to);
        from = to;
    }
    made_output(b, out);
    return b;
}

Test(op_cost, a_choice_costs_its_dearer_branch_but_holds_both)
{
    f32("x", "4,4");
    made_input(m, "c", CLV_DT_BOOL, "");
    made_op(m, "If", "c", "y");
    made_attr_body(m, "then_branch", branch("t", 1));
    made_attr_body(m, "else_branch", branch("e", 3));
    made_build(m);
    cr_expect_eq(made_cost(m, "y")->flops, 3 * 128);
    cr_expect_eq(made_cost(m, "y")->matmul_flops, 3 * 128);
    expect_traffic("y", 3 * 128, 3 * 64);
    cr_expect_eq(made_cost(m, "y")->weight_bytes, 2 * 64);
    cr_expect_eq(m->costs->parameters, 2 * 16);
}

static void add_loop(const char *trips)
{
    made *body = made_new(arena);
    made_input(body, "i", CLV_DT_INT64, "");
    made_input(body, "go", CLV_DT_BOOL, "");
    made_input(body, "s", CLV_DT_FLOAT, "4");
    made_op(body, "Neg", "s", "s2");
    made_op(body, "Identity", "go", "go2");
    made_output(body, "go2");
    made_output(body, "s2");
    f32("x", "4");
    if (trips)
        made_ints(m, "n", trips);
    else
        made_input(m, "n", CLV_DT_INT64, "");
    made_op(m, "Loop", "n,,x", "y");
    made_attr_body(m, "body", body);
}

Test(op_cost, a_loop_costs_its_body_times_its_trips)
{
    add_loop("10");
    made_build(m);
    cr_expect_eq(made_cost(m, "y")->flops, 40);
    expect_traffic("y", 160, 160);
    cr_expect_eq(m->costs->n_unsized, 0);
}

Test(op_cost, a_loop_of_unknown_length_counts_once_and_is_listed)
{
    add_loop(NULL);
    made_build(m);
    cr_expect_eq(made_cost(m, "y")->flops, 4);
    cr_expect_eq(m->costs->n_unsized, 1);
}

Test(op_cost, a_loop_without_end_is_refused)
{
    add_loop("9223372036854775807");
    cr_expect_eq(made_try(m), CLV_EFORMAT);
    cr_expect(strstr(m->err.message, "'y' (Loop)"), "said: %s", m->err.message);
}

/* -- time -- */

/* 1000 matrix FLOPs, 100 vector FLOPs, 10 bytes a nanosecond; half of each can be reached. */
static clv_device_kind device(void)
{
    clv_device_kind d = { .name = "toy", .memory_bytes = 1100, .reserved_bytes = 100 };
    d.memory_bytes_per_s = 10e9;
    d.matrix_per_s[CLV_DT_FLOAT] = 1000e9;
    d.vector_per_s[CLV_DT_FLOAT] = 100e9;
    d.matrix_efficiency = d.vector_efficiency = d.memory_efficiency = 0.5;
    d.launch_ns = 7;
    d.workspace_proportion = 0.5;
    return d;
}

/* An operator that is a kernel by itself. */
#define COST(flops_, matmul, read, write, scratch, link, line)                                     \
    {                                                                                              \
        .flops = (flops_), .matmul_flops = (matmul), .read_bytes = (read), .write_bytes = (write), \
        .workspace_bytes = (scratch), .link_ns = (link), .math = CLV_DT_FLOAT, .speed = (line),    \
        .share = 1, .starts = 1                                                                    \
    }

Test(op_cost, time_is_the_longest_of_three_and_the_launch)
{
    clv_device_kind d = device();
    clv_op_cost matrix = COST(5000, 5000, 10, 10, 0, 0, 0);
    clv_op_cost vector = COST(5000, 0, 10, 10, 0, 0, 0);
    clv_op_cost memory = COST(50, 0, 60, 41, 0, 0, 0);
    cr_expect_eq(clv_op_time_ns(&matrix, &d, 0), 10 + 7);
    cr_expect_eq(clv_op_time_ns(&vector, &d, 0), 100 + 7);
    cr_expect_eq(clv_op_time_ns(&memory, &d, 0), 21 + 7, "101 bytes at 5 a ns, rounded up");
}

Test(op_cost, time_on_links_comes_on_top)
{
    clv_device_kind d = device();
    clv_op_cost sent = { .link_ns = 12 }, both = COST(5000, 5000, 10, 10, 0, 12, 0);
    cr_expect_eq(clv_op_time_ns(&sent, &d, 0), 12, "nothing is launched for it");
    cr_expect_eq(clv_op_time_ns(&both, &d, 0), 10 + 7 + 12);
}

/* Line 1 of the table reaches all of the vector units' peak and starts faster; it says nothing of
 * the rest. Line 0 says nothing at all. */
Test(op_cost, a_device_may_know_single_operators)
{
    static const clv_op_speed speeds[] = { { 0, 0, 0, -1 }, { 0, 1, 0, 3 }, { 0.25, 0, 1, -1 } };
    clv_device_kind d = device();
    clv_op_cost vector = COST(5000, 0, 10, 10, 0, 0, 2);
    clv_op_cost matrix = COST(5000, 5000, 10, 10, 0, 0, 2);
    clv_op_cost memory = COST(50, 0, 60, 41, 0, 0, 3);
    cr_expect_eq(clv_op_time_ns(&vector, &d, 0), 100 + 7, "no table");
    d.operators = speeds;
    cr_expect_eq(clv_op_time_ns(&vector, &d, 0), 50 + 3);
    cr_expect_eq(clv_op_time_ns(&matrix, &d, 0), 10 + 3, "products as on the device");
    cr_expect_eq(clv_op_time_ns(&memory, &d, 0), 11 + 7, "101 bytes at 10 a ns");
    matrix.speed = 3;
    cr_expect_eq(clv_op_time_ns(&matrix, &d, 0), 20 + 7);
    vector.speed = 1;
    cr_expect_eq(clv_op_time_ns(&vector, &d, 0), 100 + 7, "nothing is said of it");
    vector.speed = 0;
    cr_expect_eq(clv_op_time_ns(&vector, &d, 0), 100 + 7, "of no line");
}

Test(op_cost, views_take_no_time)
{
    clv_device_kind d = device();
    clv_op_cost view = { .math = CLV_DT_FLOAT };
    cr_expect_eq(clv_op_time_ns(&view, &d, 0), 0);
}

Test(op_cost, less_workspace_means_more_passes_over_the_inputs)
{
    clv_device_kind d = device();
    clv_op_cost c = COST(1, 1, 100, 50, 30, 0, 0);
    cr_expect_eq(clv_op_time_ns(&c, &d, 30), 30 + 7);
    cr_expect_eq(clv_op_time_ns(&c, &d, 29), 50 + 7, "two passes: 200 + 50 bytes");
    cr_expect_eq(clv_op_time_ns(&c, &d, 10), 70 + 7);
    cr_expect_eq(clv_op_time_ns(&c, &d, 1), 610 + 7);
    int64_t before = 0;
    for (int64_t given = 40; given >= 1; given--) {
        int64_t now = clv_op_time_ns(&c, &d, given);
        cr_assert_geq(now, before);
        before = now;
    }
}

Test(op_cost, an_operator_gets_a_share_of_what_is_usable)
{
    clv_device_kind d = device(); /* 1000 usable */
    cr_expect_eq(clv_op_workspace(400, &d, 0.5), 400);
    cr_expect_eq(clv_op_workspace(400, &d, 0.3), 300);
    cr_expect_eq(clv_op_workspace(400, &d, 0.0001), 1, "never nothing");
    cr_expect_eq(clv_op_workspace(800, &d, 0), 500, "the device's own proportion");
    cr_expect_eq(clv_op_workspace(0, &d, 0.5), 0);
}

Test(op_cost, the_dearest_operator_does_not_wrap_around)
{
    clv_device_kind d = device();
    clv_op_cost c = COST(INT64_MAX, 0, INT64_MAX, INT64_MAX, INT64_MAX, 0, 0);
    cr_expect_eq(clv_op_time_ns(&c, &d, 1), INT64_MAX / 4);
}

Test(op_cost, contractions_want_scratch)
{
    f32("image", "8,3,6,6");
    made_weight(m, "w3", CLV_DT_FLOAT, "5,3,3,3");
    made_weight(m, "w1", CLV_DT_FLOAT, "5,3,1,1");
    made_weight(m, "w1each", CLV_DT_FLOAT, "3,1,3,3");
    f32("a", "1000,20");
    made_weight(m, "b", CLV_DT_FLOAT, "20,30");
    f32("q", "1,2,50,8");
    made_op(m, "Conv", "image,w3", "conv");
    made_op(m, "Conv", "image,w1", "pointwise");
    made_op(m, "Conv", "image,w1each", "depthwise");
    made_attr_int(m, "group", 3);
    made_op(m, "MatMul", "a,b", "product");
    made_op(m, "Attention", "q,q,q", "attention");
    made_op(m, "Neg", "a", "other");
    made_build(m);
    cr_expect_eq(made_cost(m, "conv")->workspace_bytes, 3 * 9 * 4 * 4 * 4, "one image unfolded");
    cr_expect_eq(made_cost(m, "pointwise")->workspace_bytes, 0);
    cr_expect_eq(made_cost(m, "depthwise")->workspace_bytes, 9 * 4 * 4 * 4, "a group at a time");
    int32_t conv = clv_op_def_find((clv_str){ 0 }, clv_str_of("Conv"));
    cr_expect_eq(made_cost(m, "conv")->speed, 1 + clv_speed_of(conv, CLV_SPEED_PLAIN));
    cr_expect_eq(made_cost(m, "depthwise")->speed, 1 + clv_speed_of(conv, CLV_SPEED_DEPTHWISE));
    cr_expect_eq(made_cost(m, "product")->workspace_bytes, (256 + 30) * 20 * 4, "two panels");
    cr_expect_eq(made_cost(m, "attention")->workspace_bytes, 50 * 50 * 4, "scores of one head");
    cr_expect_eq(made_cost(m, "other")->workspace_bytes, 0);
}

/* The product that each place of its result is: images overlap, or a stride leaves some out. */
static void expect_conv(const char *name, int64_t places, int64_t channels, int64_t depth,
                        int64_t taps)
{
    const clv_kernel_shape *s = &made_cost(m, name)->shape;
    cr_assert_eq(s->kind, CLV_SHAPE_PRODUCT, "%s", name);
    cr_expect(s->batch == 1 && s->m == places && s->n == channels && s->k == depth &&
                  s->taps == taps,
              "%s: %d times %d x %d x %d, %d taps", name, (int)s->batch, (int)s->m, (int)s->n,
              (int)s->k, (int)s->taps);
}

Test(op_cost, a_convolution_has_the_sizes_of_its_unfolded_images)
{
    f32("image", "8,16,6,6");
    made_weight(m, "w3", CLV_DT_FLOAT, "5,16,3,3");
    made_weight(m, "w1", CLV_DT_FLOAT, "32,16,1,1");
    made_weight(m, "w4", CLV_DT_FLOAT, "12,4,3,3");
    made_weight(m, "w1each", CLV_DT_FLOAT, "16,1,3,3");
    made_weight(m, "back", CLV_DT_FLOAT, "16,5,2,2");
    made_op(m, "Conv", "image,w3", "conv");
    made_op(m, "Conv", "image,w1", "strided");
    made_attr_ints(m, "strides", "2,2");
    made_op(m, "Conv", "image,w4", "groups");
    made_attr_int(m, "group", 4);
    made_op(m, "Conv", "image,w1each", "depthwise");
    made_attr_int(m, "group", 16);
    made_op(m, "ConvTranspose", "image,back", "transposed");
    made_attr_ints(m, "strides", "2,2");
    made_build(m);
    expect_conv("conv", 8 * 4 * 4, 5, 9 * 16, 9);
    expect_conv("strided", 8 * 3 * 3, 32, 16, 1);
    expect_conv("groups", 8 * 4 * 4, 12, 9 * 4, 9);
    expect_conv("transposed", 8 * 6 * 6, 4 * 5, 16, 4); /* each place makes four */
    cr_expect_eq(made_cost(m, "depthwise")->shape.kind, CLV_SHAPE_NONE, "memory bounds it");
}

Test(op_cost, survives_running_out_of_memory_anywhere)
{
    f32("x", "2,4");
    made_weight(m, "w", CLV_DT_FLOAT, "4,4");
    made_op(m, "MatMul", "x,w", "y");
    made_build(m);
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 1; s != CLV_OK && limit < 1 << 20; limit += 64) {
        clv_arena *small = clv_arena_new(NULL, limit);
        clv_costs *costs = NULL;
        if (!small)
            continue;
        s = clv_costs_build(m->model, m->types, small, &costs, NULL);
        cr_assert(s == CLV_OK || (s == CLV_ENOMEM && !costs));
        clv_arena_free(small);
    }
    cr_expect_eq(s, CLV_OK);
}
