/* request.h - what a plan is asked for: the model, the devices, and how to search.
 *
 * Read-only for everything below src/api, which makes it. Strings and arrays stay the caller's.
 */
#ifndef CLV_REQUEST_REQUEST_H
#define CLV_REQUEST_REQUEST_H

#include "cluster/backend.h"
#include "cluster/cluster.h"
#include "graph/infer.h"
#include "kernels/runtime.h"
#include "proto/onnx_file.h"
#include "solver/partition/solve.h"

#define CLV_DEFAULT_JOBS 2 /* as PopRT's --num_processes */

typedef struct {
    const clv_onnx_file *file;
    const clv_model *model;
    const char *model_name; /* file name without folder */
    const clv_binding *bindings;
    int32_t n_bindings;
    const char
        *batch_symbol;     /* the size of this one is searched (batch_symbol.h); NULL: if plain */
    clv_dtype activations; /* of FLOAT tensors, likewise */
    clv_dtype kv;          /* of caches of keys and values, as if stored so; UNDEFINED: as is */
    const clv_runtime *runtime; /* who forms kernels; NULL: each operator is one */
    const clv_cluster *cluster; /* the whole one */
    int32_t devices;            /* exactly so many of it; 0: up to all */
    int64_t memory_bytes;       /* 0: as described */
    const char
        *sharding_nodes; /* manual mode: "node=device,..." (stages/manual_cut.h); NULL: search */
    const char *constraints; /* rules, as JSON text (rules/constraints.h); NULL: none */
    const char *mesh;        /* of the devices of a stage, "2x8" (sharding/mesh.h); NULL: any */
    int32_t max_share;       /* so many devices of a stage at most; 1: operators stay whole, unless
                                mesh or stages is given; 0: any */
    int32_t stages;          /* exactly so many; 0: any */
    int32_t copies;          /* exactly so many of the plan; 0: any by throughput, else one */
    double worth; /* a plan of more devices, memory or the like has to be better by that part */
    int32_t alternatives;       /* the best plans of so many forms are wanted for comparison */
    const clv_backend *backend; /* who is to run the plan (cluster/backend.h); NULL: anyone */
    bool data_parallel;         /* the outermost axis of the mesh splits nothing but the batch */
    double overlap;             /* of collectives with compute, as in clv_comm_options */
    int64_t max_latency_ns;     /* no plan that takes longer is wanted; 0: any */
    bool fewest; /* as few devices as it fits, at most `devices`; on so many by the objective */
    bool terse;  /* one candidate of several: where it does not fit, no advice on what would */
    int64_t no_use_ns; /* pipelines that memory does not let fill are of no use where they take so
                          long of a sample; 0: all are of use */
    clv_partition_options search; /* without its microbatches */
    int32_t microbatches;         /* a run of the pipeline; 0: chosen */
    const char *backward;         /* as in clv_backward_ops() */
    int32_t jobs;                 /* 0: CLV_DEFAULT_JOBS */
    const char *compiler;         /* a command, or the name of the host's; NULL: built in */
    const struct clv_host_compiler *host_compiler; /* is asked in place of it; NULL: none */
    int64_t compiler_timeout_ms;
    bool (*stop)(void *ctx); /* asked on any thread while external compilers run; may be NULL */
    void *stop_ctx;
    const clv_alloc *alloc;
} clv_request;

static inline int32_t clv_request_jobs(const clv_request *req)
{
    return req->jobs > 0 ? req->jobs : CLV_DEFAULT_JOBS;
}

/* Is the search left to cleave: which one, when it ends, and where it may cut? Then each operator
 * of a model of up to CLV_SINGLE_OPS_MAX is a unit by itself, and they run in the order of the
 * file. */
#define CLV_SINGLE_OPS_MAX 16
static inline bool clv_request_leaves_search(const clv_request *req)
{
    return req->search.kind == CLV_SEARCH_DEFAULT && !req->search.first_fit &&
           req->search.max_judged == 0 && !req->compiler && !req->sharding_nodes;
}

/* Are stages whole layers of the model? */
static inline bool clv_request_keeps_layers(const clv_request *req)
{
    return req->backend && req->backend->whole_layers;
}

/* Are shards inside operators asked for? */
static inline bool clv_request_asks_mesh(const clv_request *req)
{
    return req->mesh || req->max_share > 1 || req->stages > 0;
}

#endif
