/* pipeline.h - the stages in order: model -> types -> costs -> subgraphs -> problem -> search ->
 * plan.
 *
 * cleave.c puts the public API on top of it.
 */
#ifndef CLV_PIPELINE_PIPELINE_H
#define CLV_PIPELINE_PIPELINE_H

#include "compile/compiler.h"
#include "plan/plan.h"
#include "proto/onnx_file.h"
#include "solver/partition/search.h"

#define CLV_DEFAULT_JOBS 2 /* as PopRT's --num_processes */

/* What a plan is asked for. Strings and arrays stay the caller's. */
typedef struct {
    const clv_onnx_file *file;
    const clv_model *model;
    const char *model_name; /* file name without folder */
    const clv_binding *bindings;
    int32_t n_bindings;
    const clv_cluster *cluster; /* the whole one */
    int32_t devices;            /* exactly so many of it; 0: up to all */
    int64_t memory_bytes;       /* 0: as described */
    const char *sharding_nodes; /* manual mode (B.001): "node=device,..."; NULL: search */
    const char *constraints;    /* rules, as JSON text (rules/constraints.h); NULL: none */
    const char *mesh;           /* of the devices of a stage, "2x8" (sharding/mesh.h); NULL: any */
    int32_t max_share;  /* so many devices of a stage at most; 1: operators stay whole, unless
                           mesh or stages is given; 0: any */
    int32_t stages;     /* exactly so many; 0: any */
    bool data_parallel; /* the outermost axis of the mesh splits nothing but the batch */
    double overlap;     /* of collectives with compute, as in clv_comm_options */
    bool fewest; /* as few devices as it fits, at most `devices`; on so many by the objective */
    bool terse;  /* one candidate of several: where it does not fit, not a word on what would */
    clv_search_options search; /* without its microbatches */
    int32_t microbatches;      /* a run of the pipeline; 0: chosen */
    const char *backward;      /* as in clv_backward_ops() */
    int32_t jobs;
    const char *compiler; /* NULL: built in */
    int64_t compiler_timeout_ms;
    bool (*stop)(void *ctx); /* asked on any thread while external compilers run; may be NULL */
    void *stop_ctx;
    const clv_alloc *alloc;
} clv_request;

/* What is known of a model before any cluster comes in: all that `inspect` shows. */
typedef struct {
    clv_inference *inference;
    clv_costs *costs;
    clv_subgraphs *units;
} clv_analysis;

/* strict: symbols of the inputs that have no value are an error (planning needs numbers). */
clv_status clv_analyse(const clv_model *model, const clv_binding *bindings, int32_t n_bindings,
                       bool strict, clv_arena *arena, clv_analysis *ret, clv_error *err);

/* The same with what is known of the model, without shards inside operators. */
clv_status clv_pipeline_cut(const clv_request *req, const clv_analysis *analysis, clv_arena *arena,
                            clv_plan **ret, clv_error *err);

/* A plan whose outcome is not CLV_FITS is the nearest one seen; its notes say what is missing where
 * and what would fit. */
clv_status clv_pipeline_run(const clv_request *req, clv_arena *arena, clv_plan **ret,
                            clv_error *err);

#endif
