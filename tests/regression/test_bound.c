/* test_bound.c - what the search adds up never promises less than the built-in compiler can hold:
 * the estimate is a lower bound of its verdict, and a close one, on real models. */
#include "cluster/cluster_json.h"
#include "compile/builtin.h"
#include "cost/problem_build.h"
#include "graph/infer_bound.h"
#include "problem/estimate.h"
#include "problem/quotient.h"
#include "proto/onnx_read.h"

#include <criterion/criterion.h>

static const clv_binding bindings[] = {
    { { "batch_size", 10 }, 2 },
    { { "sequence_length", 15 }, 1 },
    { { "past_sequence_length", 20 }, 3 },
    { { "total_sequence_length", 21 }, 4 },
};

/* Those of the bindings whose symbols the model has. */
static int32_t bind(const clv_model *model, clv_binding *ret)
{
    int32_t n = 0;
    for (int32_t s = 0; s < model->n_symbols; s++)
        for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++)
            if (clv_str_eq(model->symbols[s], bindings[i].symbol))
                ret[n++] = bindings[i];
    return n;
}

typedef struct {
    clv_arena *arena;
    clv_onnx_file *file;
    clv_partition_problem *p;
    clv_compiler *compiler;
} opened;

static void open_model(const char *name, int32_t devices, opened *ret)
{
    clv_error err = { 0 };
    clv_arena *arena = ret->arena = clv_arena_new(NULL, 0);
    clv_model *model;
    clv_inference *found;
    clv_costs *costs;
    clv_subgraphs *units;
    clv_cluster *all, *cluster;
    clv_binding given[sizeof bindings / sizeof *bindings];
    const char *path = clv_arena_printf(arena, "%s/tests/data/models/%s", TEST_SOURCE_DIR, name);
    cr_assert_eq(clv_onnx_open(path, NULL, &ret->file, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_onnx_read(ret->file, arena, &model, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_infer_bound(model, given, bind(model, given), arena, &found, &err), CLV_OK,
                 "%s", err.message);
    cr_assert_eq(clv_costs_build(model, found->main, arena, &costs, &err), CLV_OK);
    cr_assert_eq(clv_subgraphs_build(costs, true, arena, &units, &err), CLV_OK);
    cr_assert_eq(clv_cluster_load("dgx-h100", TEST_SOURCE_DIR "/configs", arena, &all, &err),
                 CLV_OK, "%s", err.message);
    cr_assert_eq(clv_cluster_subset(all, devices, 0, arena, &cluster, &err), CLV_OK);
    cr_assert_eq(clv_problem_build(costs, units, cluster, arena, &ret->p, &err), CLV_OK);
    clv_workload *work = CLV_NEW(arena, clv_workload);
    *work = (clv_workload){ model, found->main, costs, units, cluster };
    cr_assert_eq(clv_builtin_open(work, 1, NULL, &ret->compiler, &err), CLV_OK, "%s", err.message);
}

static void close_model(opened *o)
{
    clv_compiler_close(o->compiler);
    clv_onnx_close(o->file);
    clv_arena_free(o->arena);
}

/* How much of the verdict's latency the bound explains. */
static double compare(opened *o, const int32_t *device_of, const char *name)
{
    clv_estimate e;
    clv_verdict v;
    clv_assignment a = { device_of, 0, NULL };
    cr_assert_eq(clv_partition_estimate(o->p, device_of, o->arena, &e, NULL), CLV_OK);
    cr_assert_eq(o->compiler->compile(o->compiler, &(clv_compile_worker){ 0, o->arena, NULL }, &a,
                                      &v, NULL, NULL),
                 CLV_OK);
    cr_assert_eq(v.outcome, CLV_FITS);
    cr_assert_leq(e.period_ns, v.period_ns, "%s: a run each %ld ns, bound %ld", name,
                  (long)v.period_ns, (long)e.period_ns);
    cr_assert_leq(e.latency_bound_ns, v.latency_ns, "%s: %ld ns, bound %ld", name,
                  (long)v.latency_ns, (long)e.latency_bound_ns);
    return (double)e.latency_bound_ns / (double)v.latency_ns;
}

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* Runs of units that end anywhere; with stray, some units besides go to any device that keeps the
 * plan legal. */
static void make_plan(const opened *o, uint64_t *seed, bool stray, int32_t *device_of)
{
    const clv_partition_problem *p = o->p;
    int32_t d = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t left = p->n_units - u;
        if (d + 1 < p->n_devices && draw(seed) % (uint64_t)left < (uint64_t)(p->n_devices - d))
            d++;
        device_of[u] = d;
    }
    for (int32_t i = 0; stray && i < 20; i++) {
        int32_t u = (int32_t)(draw(seed) % (uint64_t)p->n_units), was = device_of[u];
        device_of[u] = (int32_t)(draw(seed) % (uint64_t)p->n_devices);
        if (!clv_partition_is_acyclic(p, device_of, o->arena))
            device_of[u] = was;
    }
}

Test(bound, is_below_every_verdict_on_real_models_and_near_it)
{
    static const char *const names[] = { "bert.dyn.onnx", "gnmt.static.onnx",
                                         "llama_gqa_decode.dyn.onnx", "resnet.static.onnx",
                                         "vit_l_16.b16.onnx" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int32_t devices = 1; devices <= 8; devices *= 2) {
            opened o;
            open_model(names[i], devices, &o);
            int32_t *device_of = CLV_NEW_ARRAY(o.arena, int32_t, o.p->n_units);
            uint64_t seed = i;
            double worst = 1;
            for (int32_t k = 0; k < 100; k++) {
                make_plan(&o, &seed, k % 2 != 0, device_of);
                double part = compare(&o, device_of, names[i]);
                worst = part < worst ? part : worst;
            }
            cr_expect_gt(worst, 0.95, "%s on %d: bound is %g of the verdict", names[i], devices,
                         worst);
            close_model(&o);
        }
    }
}
