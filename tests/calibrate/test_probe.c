/* test_probe.c - the models that are measured, and the description that comes of them. */
#include "calibrate/probe_model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/calibration_json.h"
#include "cluster/cluster_json.h"
#include "cost/op_cost.h"
#include "cost/op_time.h"
#include "graph/ops.h"
#include "support/run.h"

static clv_arena *arena;
static char *folder;
static void open_all(void)
{
    arena = clv_arena_new(NULL, 0);
    folder = folder_new();
}
static void close_all(void)
{
    clv_arena_free(arena);
    folder_free(folder);
}
TestSuite(probe, .init = open_all, .fini = close_all);

static const char *path(void) { return clv_arena_printf(arena, "%s/probe.onnx", folder); }

static clv_probe_work work_of(const clv_probe *p)
{
    clv_probe_work work;
    clv_error err = { 0 };

    cr_assert_eq(clv_probe_write(p, path(), arena, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_probe_work_of(path(), arena, &work, &err), CLV_OK, "%s", err.message);
    return work;
}

static const clv_probe *probes(int32_t *n)
{
    const clv_probe *all;
    clv_error err = { 0 };

    cr_assert_eq(clv_probes_list(arena, &all, n, &err), CLV_OK);
    return all;
}

/* Every operator is one that the cost model knows, and has work to be measured by. */
Test(probe, each_has_work)
{
    int32_t n;
    const clv_probe *all = probes(&n);

    char name[CLV_SPEED_NAME_SIZE];

    cr_assert_gt(n, 100);
    for (int32_t i = 1; i < n; i++) {
        clv_probe_work w = work_of(&all[i]);
        cr_expect(w.speed >= 0 && w.bytes > 0, "probe %d, %s: speed %d, %g bytes", (int)i,
                  all[i].op->type, (int)w.speed, w.bytes);
        cr_expect(
            strncmp(clv_speed_name(w.speed, name), all[i].op->type, strlen(all[i].op->type)) == 0,
            "probe %d, %s, counts as %s", (int)i, all[i].op->type, name);
    }
}

/* 2 x 128 x 512 x 512 FLOPs; x, w and y are 4 bytes an element. */
Test(probe, a_product_counts_as_on_paper)
{
    int32_t n;
    const clv_probe *all = probes(&n);

    for (int32_t i = 0; i < n; i++)
        if (strcmp(all[i].op->type, "MatMul") == 0) {
            clv_probe_work w = work_of(&all[i]);
            cr_expect_eq(w.matrix, 67108864.0);
            cr_expect_eq(w.bytes, 4.0 * (128 * 512 + 512 * 512 + 128 * 512));
            return;
        }
    cr_assert_fail("no product is measured");
}

Test(probe, the_same_bytes_again)
{
    int32_t n;
    const clv_probe *all = probes(&n);
    size_t n_first, n_second;

    (void)work_of(&all[n - 1]);
    char *first = file_text(folder, "probe.onnx", &n_first);
    (void)work_of(&all[n - 1]);
    char *second = file_text(folder, "probe.onnx", &n_second);
    cr_expect(n_first == n_second && memcmp(first, second, n_first) == 0);
    free(first);
    free(second);
}

Test(probe, a_folder_that_is_not_there)
{
    int32_t n;
    clv_error err = { 0 };
    const clv_probe *all = probes(&n);

    cr_expect_eq(clv_probe_write(&all[1], "/nowhere/at/all.onnx", arena, &err), CLV_EIO);
    cr_expect(strstr(err.message, "/nowhere/at"), "%s", err.message);
}

/* -- the description -- */

static int32_t line_of(const char *name)
{
    return clv_op_def_find((clv_str){ 0 }, clv_str_of(name));
}

static clv_calibration made_up(void)
{
    static clv_fit_op ops[2];

    ops[0] = (clv_fit_op){ .speed = line_of("Relu"), .launch_s = 1e-6, .vector_per_s = 2e9 };
    ops[1] = (clv_fit_op){
        .speed = line_of("MatMul"), .launch_s = 3e-6, .matrix_per_s = 70e9, .bytes_per_s = 10e9
    };
    return (clv_calibration){ .runtime = "9.9",
                              .fit = { .ops = ops,
                                       .n_ops = 2,
                                       .launch_s = 2e-6,
                                       .matrix_per_s = 80e9,
                                       .vector_per_s = 5e9,
                                       .bytes_per_s = 50e9,
                                       .matrix_share = 0.875,
                                       .vector_share = 0.4,
                                       .bytes_share = 0.2 },
                              .latency_s = 15e-6,
                              .bytes_per_s = 2.5e9,
                              .memory_bytes = INT64_C(8) << 30,
                              .devices = 2 };
}

static void expect_ns(const clv_device_kind *kind, const clv_op_cost *cost, double wanted)
{
    double ns = (double)clv_op_time_ns(cost, kind, 1);

    cr_expect(fabs(ns / wanted - 1) < 0.001, "%g ns, expected %g", ns, wanted);
}

/* What the planner reads gives the times that were fitted. */
Test(probe, the_description_gives_the_fitted_times)
{
    clv_calibration c = made_up();
    clv_cluster *cluster;
    const char *text;
    size_t n;
    clv_error err = { 0 };

    cr_assert_eq(clv_calibration_json(&c, arena, &text, &n, &err), CLV_OK);
    cr_assert_eq(clv_cluster_parse(&(clv_cluster_source){ text, n, "calibrated.json", NULL, NULL },
                                   arena, &cluster, &err),
                 CLV_OK, "%s", err.message);
    cr_assert_eq(cluster->n_devices, 2);
    const clv_device_kind *kind = clv_device_kind_of(cluster, 0);
    cr_expect_eq(kind->host.peak_bytes_per_s, kind->memory_bytes_per_s, "it is its own host");
    clv_op_cost relu = { .share = 1,
                         .starts = 1,
                         .flops = 1000000,
                         .read_bytes = 4000000,
                         .write_bytes = 4000000,
                         .math = CLV_DT_FLOAT,
                         .speed = line_of("Relu") + 1 };
    expect_ns(kind, &relu, 1e3 + 500e3);
    clv_op_cost product = { .share = 1,
                            .starts = 1,
                            .flops = 70000000,
                            .matmul_flops = 70000000,
                            .read_bytes = 1000,
                            .math = CLV_DT_FLOAT,
                            .speed = line_of("MatMul") + 1 };
    expect_ns(kind, &product, 3e3 + 1000e3);
    product.read_bytes = 20000000;
    expect_ns(kind, &product, 3e3 + 2000e3);
    clv_op_cost other = { .share = 1,
                          .starts = 1,
                          .flops = 1000000,
                          .read_bytes = 1000,
                          .math = CLV_DT_FLOAT,
                          .speed = line_of("Erf") + 1 };
    expect_ns(kind, &other, 2e3 + 500e3); /* 0.4 of 5 GFLOP/s */
    cr_expect_eq(clv_transfer_ns(cluster, 0, 1, 2500), 15000 + 1000);
    cr_expect_eq(kind->memory_bytes, INT64_C(4) << 30);
    cr_expect_str_eq(kind->runtime, "onnxruntime");
}

Test(probe, the_description_says_where_its_numbers_are_from)
{
    clv_calibration c = made_up();
    const char *text;
    size_t n;
    clv_error err = { 0 };

    cr_assert_eq(clv_calibration_json(&c, arena, &text, &n, &err), CLV_OK);
    cr_expect(strstr(text, "measured by cleave calibrate on ONNX Runtime 9.9"));
    c.devices = 1; /* a cluster of one has no levels to speak of, and is valid all the same */
    clv_cluster *cluster;
    cr_assert_eq(clv_calibration_json(&c, arena, &text, &n, &err), CLV_OK);
    cr_expect_eq(clv_cluster_parse(&(clv_cluster_source){ text, n, "one.json", NULL, NULL }, arena,
                                   &cluster, &err),
                 CLV_OK, "%s", err.message);
}
