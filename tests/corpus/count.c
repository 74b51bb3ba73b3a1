/* count.c - prints what the cost model counts in a model, for check_published.py.
 *
 *   count MODEL [--bind SYMBOL=VALUE]...
 *
 * One line of name=value fields; then a "symbol NAME" line for each symbol without a value.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cost/subgraph.h"
#include "graph/infer_bound.h"
#include "proto/onnx_read.h"

#define BINDINGS_MAX 64

static int read_bindings(int argc, char **argv, clv_binding *ret)
{
    int n = 0;
    for (int i = 2; i + 1 < argc && n < BINDINGS_MAX; i++) {
        const char *equals = strcmp(argv[i], "--bind") == 0 ? strrchr(argv[i + 1], '=') : NULL;
        if (!equals)
            continue;
        clv_str name = { argv[i + 1], (int32_t)(equals - argv[i + 1]) };
        ret[n++] = (clv_binding){ name, strtoll(equals + 1, NULL, 10) };
        i++;
    }
    return n;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static clv_status count(const clv_onnx_file *file, const clv_binding *given, int n,
                        clv_arena *arena, clv_error *err)
{
    clv_model *model;
    clv_inference *found;
    clv_costs *costs;
    clv_subgraphs *units;
    CLV_TRY(clv_onnx_read(file, arena, &model, err));
    CLV_TRY(clv_infer_bound(model, given, n, arena, &found, err));
    double start = now();
    CLV_TRY(clv_costs_build(model, found->main, arena, &costs, err));
    CLV_TRY(clv_subgraphs_build(costs, true, arena, &units, err));
    double ms = (now() - start) * 1e3;
    int64_t bytes = 0, flops = 0;
    /* some publications leave out products of two activations, as attention has */
    int64_t weighted = 0;
    for (int32_t i = 0; i < model->main->n_ops; i++)
        weighted += costs->of[i].weight_bytes > 0 ? costs->of[i].matmul_flops : 0;
    for (int32_t u = 0; u < units->n; u++) {
        bytes = units->at[u].bytes_cost > bytes ? units->at[u].bytes_cost : bytes;
        flops = units->at[u].flops_cost > flops ? units->at[u].flops_cost : flops;
    }
    printf("ops=%d params=%" PRId64 " matmul_flops=%" PRId64 " weighted_matmul_flops=%" PRId64
           " flops=%" PRId64 " weight_bytes=%" PRId64 " constant_bytes=%" PRId64
           " unknown=%d unsized=%d open=%d "
           "candidates=%d units=%d largest_bytes=%" PRId64 " largest_flops=%" PRId64 " ms=%.1f\n",
           model->main->n_ops, costs->parameters, costs->total.matmul_flops, weighted,
           costs->total.flops, costs->total.weight_bytes, costs->constant_bytes, costs->n_unknown,
           costs->n_unsized, found->n_open, units->n_candidates, units->n, bytes, flops, ms);
    for (int32_t s = 0; s < model->n_symbols; s++) {
        bool bound = false;
        for (int32_t b = 0; b < found->bound.n && !bound; b++)
            bound = clv_str_eq(found->bound.at[b].symbol, model->symbols[s]);
        if (!bound)
            printf("symbol %.*s\n", CLV_STR_ARG(model->symbols[s]));
    }
    for (int32_t i = 0; i < costs->n_unsized && i < 5; i++) {
        const clv_op_info *op = &model->main->ops[costs->unsized[i].i];
        printf("unsized %.*s (%.*s)\n", CLV_STR_ARG(op->label), CLV_STR_ARG(op->type));
    }
    return CLV_OK;
}

int main(int argc, char **argv)
{
    clv_binding bindings[BINDINGS_MAX];
    clv_error err = { .status = CLV_OK };
    clv_onnx_file *file = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status = CLV_EUSAGE;
    if (argc < 2 || !arena) {
        fprintf(stderr, "usage: count MODEL [--bind SYMBOL=VALUE]...\n");
    } else {
        status = clv_onnx_open(argv[1], NULL, &file, &err);
        if (status == CLV_OK)
            status = count(file, bindings, read_bindings(argc, argv, bindings), arena, &err);
        if (status != CLV_OK)
            fprintf(stderr, "%s: %s\n", argv[1], err.message);
    }
    clv_arena_free(arena);
    clv_onnx_close(file);
    return status == CLV_OK ? 0 : 1;
}
