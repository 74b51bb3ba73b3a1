/* test_kernel_costs.c - costs of operators as parts of kernels add up to the kernels', and measured
 * times are those of the tables. */
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "cluster/cluster_json.h"
#include "cluster/kernel_times.h"
#include "cost/collective.h"
#include "cost/kernel_costs.h"
#include "cost/op_time.h"
#include "graph/infer.h"
#include "graph/ops.h"
#include "kernels/form.h"
#include "kernels/runtime_json.h"
#include "support/line_model.h"

#include <criterion/criterion.h>

typedef struct {
    clv_arena *arena;
    const clv_model *model;
    clv_types *types;
    clv_costs *alone, *costs; /* of operators by themselves, and as parts of kernels */
} made;

static clv_status runtime_of(clv_arena *arena, const char *name, clv_runtime **ret)
{
    const char *text,
        *path = clv_arena_printf(arena, TEST_SOURCE_DIR "/configs/runtimes/%s.json", name);
    size_t n;
    CLV_TRY(clv_read_file(path, 1 << 20, arena, &text, &n, NULL));
    return clv_runtime_parse(text, n, path, arena, ret, NULL);
}

static made on_runtime(const char *name, const char *const *lines, clv_dtype kv)
{
    made m = { .arena = clv_arena_new(NULL, 0) };
    clv_inference *found;
    clv_runtime *runtime;
    clv_kernels *kernels;
    m.model = line_model(m.arena, lines);
    cr_assert_eq(runtime_of(m.arena, name, &runtime), CLV_OK);
    cr_assert_eq(clv_infer(m.model, NULL, 0, m.arena, &found, NULL), CLV_OK);
    cr_assert_eq(clv_kernels_form(found->main, runtime, m.arena, &kernels, NULL), CLV_OK);
    cr_assert_eq(clv_types_stored(found->main, kernels, kv, m.arena, &m.types, NULL), CLV_OK);
    cr_assert_eq(clv_costs_build(m.model, found->main, m.arena, &m.alone, NULL), CLV_OK);
    cr_assert_eq(clv_costs_build(m.model, m.types, m.arena, &m.costs, NULL), CLV_OK);
    cr_assert_eq(clv_kernel_costs_apply(kernels, m.costs, m.arena, NULL), CLV_OK);
    return m;
}

static made of_lines(const char *const *lines, clv_dtype kv)
{
    return on_runtime("engine", lines, kv);
}

static clv_op_cost *cost_of(const made *m, const clv_costs *costs, const char *label)
{
    for (int32_t i = 0; i < m->model->main->n_ops; i++)
        if (clv_str_is(m->model->main->ops[i].label, label))
            return &costs->of[i];
    cr_assert_fail("no operator %s", label);
    return NULL;
}

static const clv_device_kind *h100(clv_arena *arena)
{
    clv_cluster *c;
    const char *configs = TEST_SOURCE_DIR "/configs";
    cr_assert_eq(clv_cluster_load("dgx-h100", configs, arena, &c, NULL), CLV_OK);
    cr_assert_eq(clv_cluster_load_times(c, configs, arena, NULL), CLV_OK);
    return &c->kinds[0];
}

Test(kernel_costs, what_stays_inside_is_neither_moved_nor_started)
{
    const char *const lines[] = { "in x 8 64", "w a 64 128", "w b 128", "MatMul x a m",
                                  "Add m b c", "Relu c r",   "out r",   NULL };
    made m = of_lines(lines, CLV_DT_UNDEFINED);
    const clv_op_cost *product = cost_of(&m, m.costs, "m"), *add = cost_of(&m, m.costs, "c"),
                      *relu = cost_of(&m, m.costs, "r");
    cr_expect_eq(product->read_bytes, 4 * (8 * 64 + 64 * 128));
    cr_expect_eq(product->write_bytes, 0);
    cr_expect_eq(add->read_bytes, 4 * 128, "the bias");
    cr_expect_eq(add->write_bytes, 0);
    cr_expect(relu->read_bytes == 0 && relu->write_bytes == 4 * 8 * 128 && relu->result);
    cr_expect(product->starts == 1 && add->starts == 0 && relu->starts == 0);
    cr_expect_eq(m.costs->total.flops, m.alone->total.flops);
    clv_arena_free(m.arena);
}

Test(kernel_costs, attention_reads_keys_once_and_never_stores_scores)
{
    const char *const lines[] = { "in q 2 4 8 16",  "in k 2 4 16 32",
                                  "in v 2 4 32 16", "MatMul q k s",
                                  "Softmax s p",    "MatMul p v y",
                                  "out y",          NULL };
    made m = of_lines(lines, CLV_DT_UNDEFINED);
    const clv_op_cost *scores = cost_of(&m, m.costs, "s"), *values = cost_of(&m, m.costs, "y");
    cr_expect_eq(scores->read_bytes, 4 * (2 * 4 * 8 * 16 + 2 * 2 * 4 * 32 * 16));
    cr_expect_eq(scores->write_bytes, 4 * 2 * 4 * 8 * 16);
    cr_expect_eq(scores->matmul_flops, 2 * 2 * (2 * 4 * 8 * 32 * 16));
    cr_expect(values->flops == 0 && values->read_bytes == 0 && values->write_bytes == 0);
    cr_expect_eq(scores->shape.kind, CLV_SHAPE_ATTENTION);
    cr_expect(scores->shape.heads == 4 && scores->shape.queries == 8 && scores->shape.keys == 32 &&
              scores->shape.width == 16 && scores->shape.batch == 2);
    clv_arena_free(m.arena);
}

Test(kernel_costs, a_product_takes_what_was_measured)
{
    const char *const lines[] = { "in x 64 4096", "w a 4096 8192", "MatMul x a y", "out y", NULL };
    made m = of_lines(lines, CLV_DT_UNDEFINED);
    const clv_device_kind *kind = h100(m.arena);
    clv_op_cost *cost = cost_of(&m, m.costs, "y");
    double ns;
    cost->math = cost->shape.weights = CLV_DT_BFLOAT16;
    cr_assert(clv_kernel_times_ns(kind->times, &cost->shape, cost->math, NULL, &ns));
    cr_expect_eq(clv_op_time_ns(cost, kind, INT64_MAX), (int64_t)ceil(ns));
    cr_expect(cost->shape.m == 64 && cost->shape.n == 8192 && cost->shape.k == 4096);
    cost->share = cost->starts = 0.5; /* of one twice as wide */
    cost->shape.n = 8192;
    clv_kernel_shape wide = cost->shape;
    wide.n *= 2;
    cr_assert(clv_kernel_times_ns(kind->times, &wide, cost->math, NULL, &ns));
    cr_expect_eq(clv_op_time_ns(cost, kind, INT64_MAX), (int64_t)ceil(ns / 2));
    cost->captured = false; /* the host starts it: the roofline */
    cr_expect_neq(clv_op_time_ns(cost, kind, INT64_MAX), (int64_t)ceil(ns / 2));
    clv_arena_free(m.arena);
}

/* Measured products of 8 bits bring their activations to 8 bits first: the smallest one takes four
 * times as long as one of 16. */
Test(kernel_costs, activations_that_come_quantised_are_not_quantised_again)
{
    const char *const lines[] = { "in x 4 8192", "w a 8192 8192", "MatMul x a y", "out y", NULL };
    made m = of_lines(lines, CLV_DT_UNDEFINED);
    const clv_device_kind *kind = h100(m.arena);
    clv_op_cost *cost = cost_of(&m, m.costs, "y");
    cr_expect(cost->quantised, "an engine does so");
    cost->math = cost->shape.weights = CLV_DT_FLOAT8E4M3FN;
    double saved =
        clv_quantising_ns(kind->times, CLV_DT_FLOAT8E4M3FN, CLV_DT_FLOAT8E4M3FN, 4 * 8192);
    cr_expect(saved > 5000 && saved < 12000, "%g", saved);
    double longer =
        clv_quantising_ns(kind->times, CLV_DT_FLOAT8E4M3FN, CLV_DT_FLOAT8E4M3FN, 4096 * 4096);
    cr_expect(longer > 30e3 && longer < 60e3, "of 4096 rows 53 us, and it is %g", longer);
    int64_t fused = clv_op_time_ns(cost, kind, INT64_MAX);
    cost->quantised = false;
    cr_expect_float_eq((double)(clv_op_time_ns(cost, kind, INT64_MAX) - fused), saved, 1);
    cost->math = cost->shape.weights = CLV_DT_BFLOAT16;
    int64_t wide = clv_op_time_ns(cost, kind, INT64_MAX);
    cost->quantised = true;
    cr_expect_eq(clv_op_time_ns(cost, kind, INT64_MAX), wide);
    cost->shape.m = 1, cost->shape.n = cost->shape.k = 32; /* still a kernel to start */
    cost->math = cost->shape.weights = CLV_DT_FLOAT8E4M3FN;
    double start = 0;
    cr_assert(clv_start_ns(kind->times, &start));
    cr_expect_geq((double)clv_op_time_ns(cost, kind, INT64_MAX), start);
    clv_arena_free(m.arena);
}

Test(kernel_costs, units_do_not_part_what_goes_together)
{
    const char *const lines[] = { "in x 8 64",    "in z 8 64",
                                  "w s 64",       "w a 64 64",
                                  "Add x z sum",  "LayerNormalization sum s n",
                                  "MatMul n a m", "Add sum m y",
                                  "out y",        NULL };
    made m = of_lines(lines, CLV_DT_UNDEFINED);
    const clv_op *with;
    cr_assert_eq(clv_kernel_followers(m.types, m.costs->kernels, m.arena, &with, NULL), CLV_OK);
    cr_expect_eq(with[0].i, 0, "others read the sum");
    cr_expect_eq(with[1].i, 1);
    cr_expect_eq(with[2].i, 3, "the product goes with what is added to it");
    clv_arena_free(m.arena);
}

Test(kernel_costs, collectives_take_what_was_measured)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_cluster *c;
    clv_mesh_form form;
    const clv_mesh *mesh;
    const clv_comms *comms, *plain;
    clv_comm_options measured = { 0 };
    const char *configs = TEST_SOURCE_DIR "/configs";
    cr_assert_eq(clv_cluster_load("dgx-h100", configs, arena, &c, NULL), CLV_OK);
    cr_assert_eq(clv_cluster_load_times(c, configs, arena, NULL), CLV_OK);
    cr_assert_eq(clv_measured_groups_make(c, arena, &measured.measured, NULL), CLV_OK);
    cr_assert_eq(clv_mesh_form_parse("8", arena, &form, NULL), CLV_OK);
    cr_assert_eq(clv_mesh_make(&form, c, CLV_MESH_ALL_DEVICES, arena, &mesh, NULL), CLV_OK);
    cr_assert_eq(clv_comms_make(c, mesh, &measured, arena, &comms, NULL), CLV_OK);
    cr_assert_eq(clv_comms_make(c, mesh, NULL, arena, &plain, NULL), CLV_OK);
    for (int64_t bytes = 1024; bytes <= 1 << 29; bytes *= 2) {
        clv_timed_collective what = { CLV_TIMED_ALL_REDUCE, 8, bytes };
        double ns, got = (double)clv_curve_ns(&comms->curve[1][CLV_ALL_REDUCE], bytes);
        cr_assert(clv_collective_ns(c->kinds[0].times, &what, &ns));
        cr_expect_float_eq(got, ns, 0.01 * ns, "%lld bytes: %.0f ns, measured %.0f",
                           (long long)bytes, got, ns);
        cr_expect_neq(clv_curve_ns(&plain->curve[1][CLV_ALL_REDUCE], bytes), (int64_t)got);
    }
    clv_arena_free(arena);
}

/* -- kernels that are as fast as one operator -- */

Test(kernel_costs, an_activation_reads_once_and_writes_once)
{
    const char *const lines[] = { "in x 8 64", "Sigmoid x s", "Mul x s y", "out y", NULL };
    made m = on_runtime("onnxruntime", lines, CLV_DT_UNDEFINED);
    const clv_op_cost *all = cost_of(&m, m.costs, "s"), *rest = cost_of(&m, m.costs, "y");
    int32_t line = clv_op_def_find(clv_str_of("com.microsoft"), clv_str_of("QuickGelu"));
    cr_expect_eq(all->speed, 1 + line);
    cr_expect_eq(all->read_bytes, 8 * 64 * 4, "x is read by both");
    cr_expect_eq(all->write_bytes, 8 * 64 * 4);
    cr_expect_eq(all->flops, (int64_t)(clv_op_def_at(line)->k * 8 * 64));
    cr_expect(all->starts == 1 && rest->starts == 0);
    cr_expect(rest->flops == 0 && rest->read_bytes == 0 && rest->write_bytes == 0);
    clv_arena_free(m.arena);
}

Test(kernel_costs, a_product_with_its_bias_is_as_fast_as_gemm)
{
    const char *const lines[] = { "in x 8 64", "w a 64 32", "w b 32", "MatMul x a m",
                                  "Add m b y", "out y",     NULL };
    made m = on_runtime("onnxruntime", lines, CLV_DT_UNDEFINED);
    const clv_op_cost *product = cost_of(&m, m.costs, "m"), *bias = cost_of(&m, m.costs, "y");
    cr_expect_eq(product->speed, 1 + clv_op_def_find(clv_str_of(""), clv_str_of("Gemm")));
    cr_expect_eq(product->flops, 2 * 8 * 64 * 32);
    cr_expect_eq(product->write_bytes, 8 * 32 * 4, "the sum, not what is added up");
    cr_expect(bias->flops == 0 && bias->write_bytes == 0 && bias->read_bytes == 32 * 4);
    cr_expect_eq(product->starts + bias->starts, 1);
    clv_arena_free(m.arena);
}

/* -- by cause -- */

static int64_t sum_of(const clv_time_parts *parts)
{
    int64_t sum = 0;
    for (int c = 0; c < CLV_N_TIME_CAUSES; c++) {
        cr_assert_geq(parts->ns[c], 0);
        sum += parts->ns[c];
    }
    return sum;
}

/* All operators, whatever starts them: what they take is the sum of its parts, with what they wait
 * for links. measured: how many rest on measured times. */
static void expect_parts(const made *m, const clv_device_kind *kind, int measured)
{
    for (int32_t i = 0; i < m->model->main->n_ops; i++)
        for (int link = 0; link < 2; link++) {
            clv_op_cost cost = m->costs->of[i];
            cost.link_ns = link ? 777 : 0;
            cost.link_basis = CLV_MEASURED;
            for (int64_t workspace = 1; workspace <= 1 << 30; workspace *= 1024) {
                clv_time_parts parts = clv_op_time_parts(&cost, kind, workspace);
                cr_expect_eq(sum_of(&parts), clv_op_time_ns(&cost, kind, workspace));
                cr_expect_eq(parts.ns[CLV_TIME_COMMUNICATION], cost.link_ns);
                cr_expect_eq(parts.communication_basis, CLV_MEASURED);
                cr_expect(parts.ns[CLV_TIME_COMPUTE] == 0 || parts.ns[CLV_TIME_MEMORY] == 0,
                          "the longer one counts");
                measured -= link == 0 && workspace == 1 << 30 && parts.basis == CLV_MEASURED;
            }
        }
    cr_expect_eq(measured, 0);
}

static const char *const some_of_each[] = {
    "in x 64 4096", "w a 4096 8192", "w b 8192",        "MatMul x a m", "Add m b c",
    "Relu c r",     "Softmax r p",   "Identity p same", "out same",     NULL
};
static const char *const attention[] = { "in q 2 32 512 128",
                                         "in k 2 32 128 512",
                                         "in v 2 32 512 128",
                                         "MatMul q k s",
                                         "Softmax s p",
                                         "MatMul p v y",
                                         "out y",
                                         NULL };

static void in_bf16(made *m)
{
    for (int32_t i = 0; i < m->model->main->n_ops; i++)
        m->costs->of[i].math = m->costs->of[i].shape.weights = CLV_DT_BFLOAT16;
}

Test(kernel_costs, a_time_is_the_sum_of_its_parts)
{
    const char *const *models[] = { some_of_each, attention };
    for (int i = 0; i < 2; i++) {
        made m = of_lines(models[i], CLV_DT_UNDEFINED);
        clv_device_kind kind = *h100(m.arena), alone = kind;
        alone.times = NULL;
        expect_parts(&m, &kind, i == 0); /* in float32 products alone are measured */
        in_bf16(&m);
        expect_parts(&m, &kind, 1);
        expect_parts(&m, &alone, 0);
        alone.memory_bytes_per_s /= 1000; /* beside it, slower: that one counts */
        kind.beside = &alone;
        expect_parts(&m, &kind, 0);
        clv_arena_free(m.arena);
    }
}

Test(kernel_costs, parts_say_what_bounds_a_kernel_and_what_that_rests_on)
{
    made m = of_lines(some_of_each, CLV_DT_UNDEFINED);
    clv_device_kind kind = *h100(m.arena);
    double start, moves;
    cr_assert(clv_start_ns(kind.times, &start));
    in_bf16(&m);
    /* 64 rows: the weights are read, and that takes longest */
    clv_time_parts p = clv_op_time_parts(cost_of(&m, m.costs, "m"), &kind, INT64_MAX);
    cr_expect(p.basis == CLV_MEASURED && p.ns[CLV_TIME_COMPUTE] == 0);
    cr_expect_eq(p.ns[CLV_TIME_LAUNCH], (int64_t)start);
    cr_expect_gt(p.ns[CLV_TIME_MEMORY], 4096 * 8192 * 2 / 3350, "at 3.35 TB/s");
    /* what writes its result is not started, and rests on the efficiencies of the device */
    p = clv_op_time_parts(cost_of(&m, m.costs, "r"), &kind, INT64_MAX);
    cr_expect(p.ns[CLV_TIME_LAUNCH] == 0 && p.basis == kind.basis && kind.basis == CLV_ASSUMED);
    /* a kernel that moves: as the line through measured ones says, where that is longer */
    clv_op_cost softmax = *cost_of(&m, m.costs, "p");
    for (int fitted = 0; fitted < 2; fitted++) {
        softmax.flops = 0;
        softmax.read_bytes = softmax.write_bytes = fitted ? 16384 : 1 << 20;
        cr_assert(clv_memory_ns(kind.times, 2.0 * (double)softmax.read_bytes, &moves));
        p = clv_op_time_parts(&softmax, &kind, INT64_MAX);
        double roofline = 2.0 * (double)softmax.read_bytes / (3350 * 0.9) + start;
        cr_expect_eq(moves > roofline, fitted);
        cr_expect_eq(p.basis, fitted ? CLV_FITTED : CLV_ASSUMED);
        cr_expect_eq(sum_of(&p), (int64_t)ceil(fitted ? moves : roofline));
        cr_expect_eq(p.ns[CLV_TIME_LAUNCH], (int64_t)start);
    }
    /* without measured times: as the device says, started by the host */
    kind.times = NULL;
    kind.basis = CLV_FITTED;
    p = clv_op_time_parts(cost_of(&m, m.costs, "m"), &kind, INT64_MAX);
    cr_expect(p.basis == CLV_FITTED && p.ns[CLV_TIME_LAUNCH] == kind.launch_ns);
    /* a view takes no time, a collective but that on links */
    clv_op_cost sent = { .link_ns = 12, .link_basis = CLV_ASSUMED }, view = { .flops = 0 };
    p = clv_op_time_parts(&sent, &kind, INT64_MAX);
    cr_expect(p.ns[CLV_TIME_COMMUNICATION] == 12 && sum_of(&p) == 12 &&
              p.communication_basis == CLV_ASSUMED);
    p = clv_op_time_parts(&view, &kind, INT64_MAX);
    cr_expect_eq(sum_of(&p), 0);
    clv_arena_free(m.arena);
}

/* Many products of bfloat16 are bound by compute. */
Test(kernel_costs, a_large_product_computes)
{
    const char *const lines[] = { "in x 8192 4096", "w a 4096 8192", "MatMul x a y", "out y",
                                  NULL };
    made m = of_lines(lines, CLV_DT_UNDEFINED);
    in_bf16(&m);
    clv_time_parts p = clv_op_time_parts(cost_of(&m, m.costs, "y"), h100(m.arena), INT64_MAX);
    cr_expect(p.ns[CLV_TIME_COMPUTE] > 0 && p.ns[CLV_TIME_MEMORY] == 0);
    cr_expect_gt((double)p.ns[CLV_TIME_COMPUTE], 2.0 * 8192 * 4096 * 8192 / 989.4e3, "the peak");
    clv_arena_free(m.arena);
}
