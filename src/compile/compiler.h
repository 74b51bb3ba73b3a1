/* compiler.h - a candidate plan -> does it fit, how fast. One interface, two compilers:
 * builtin.h (our own model of a device) and external.h (any command).
 */
#ifndef CLV_COMPILE_COMPILER_H
#define CLV_COMPILE_COMPILER_H

#include "cluster/cluster.h"
#include "cost/subgraph.h"
#include "problem/partition_problem.h"

/* All that any candidate of one job shares. Read-only: compilers run on many threads. */
typedef struct {
    const clv_model *model;
    const clv_types *types; /* of the main graph */
    const clv_costs *costs;
    const clv_subgraphs *units;
    const clv_cluster *cluster;
} clv_workload;

/* What is in a device's memory at its fullest moment. */
typedef struct {
    clv_tensor tensor;
    int64_t offset, bytes;
} clv_live;

typedef struct {
    int64_t weight_bytes, activation_bytes, workspace_bytes; /* at the fullest moment */
    int64_t in_flight_bytes; /* copies for further micro-batches (flight.h); 0 for one */
    int64_t peak_bytes; /* weights + the arena's high-water mark (those three and gaps) + in flight */
    int64_t capacity_bytes;
    int64_t busy_ns;    /* sum of operator times */
    int64_t flops;
    int32_t n_ops;
    clv_op peak_op;     /* runs at the fullest moment; CLV_NO_OP on an empty device */
    clv_live *live;     /* largest first, at most CLV_LIVE_SHOWN; filled only when asked for */
    int32_t n_live;
} clv_device_report;
#define CLV_LIVE_SHOWN 8

typedef struct {
    clv_tensor tensor;
    int32_t from, to;
    int64_t bytes, start_ns, ns;
} clv_transfer;

typedef struct {
    clv_device_report *devices; /* cluster->n_devices; NULL from compilers that do not tell */
    clv_transfer *transfers;    /* in order of start */
    int32_t n_transfers;
    int64_t fill_ns, drain_ns; /* of schedule.h */
} clv_compile_report;

typedef struct clv_compiler clv_compiler;
struct clv_compiler {
    const char *name; /* "builtin", or the command */
    /* Judges one candidate. worker is 0 .. jobs-1; each worker has an arena of its own, rewound after
     * the call. report may be NULL. A candidate that fails is a verdict, not a status. */
    clv_status (*compile)(clv_compiler *self, int32_t worker, const clv_assignment *candidate,
                          clv_arena *arena, clv_verdict *verdict, clv_compile_report *report,
                          clv_error *err);
    void (*close)(clv_compiler *self); /* NULL-safe through clv_compiler_close() */
    const int64_t *live_bytes;         /* as in clv_partition_judge, and the next one, with one micro-batch */
    const int64_t *held_bytes;
    const int64_t *piped_live_bytes; /* the same with more than one */
    const int64_t *piped_held_bytes;
    double bounded_at;         /* as in clv_partition_judge */
    int32_t microbatches;      /* so many pass the pipeline in a run: their memory is judged; 0 is as 1,
                                  CLV_MICRO_FULL any number. May be set while nothing is compiled */
    const char *warning; /* a sentence for the user about how it will run; NULL: none */
};

static inline void clv_compiler_close(clv_compiler *c)
{
    if (c && c->close)
        c->close(c);
}

/* The built-in compiler. It keeps what it learned of each device's group, so a candidate that moves
 * one boundary costs two groups, not all. jobs: how many workers may call it at once. */
/* backward: n_units, or NULL; stays the caller's. Training: marked units are the backward pass, run in 1F1B
 * order with the stages of the forward one. To be called while nothing is compiled, before anything was. */
void clv_builtin_set_backward(clv_compiler *compiler, const bool *backward);
clv_status clv_builtin_open(const clv_workload *workload, int32_t jobs, const clv_alloc *alloc,
                            clv_compiler **ret, clv_error *err);

/* A command, run for each candidate: docs/compiler-protocol.md. emit writes the candidate's annotated
 * model and plan into its folder (this layer knows no file format). */
typedef struct {
    const char *source;      /* path of the model that is planned; NULL: none */
    const char *command;     /* given to /bin/sh -c, with the folder as working directory */
    int64_t timeout_ms;      /* then the whole process group is killed; 0: 600 s */
    int64_t max_answer_bytes; /* 0: 64 KiB */
    clv_status (*emit)(void *ctx, const clv_assignment *candidate, const char *folder,
                       clv_arena *arena, clv_error *err);
    void *emit_ctx;
    bool (*stop)(void *ctx); /* polled while waiting, on any worker's thread; true ends the call
                                with CLV_ECANCELED; may be NULL */
    void *stop_ctx;
} clv_external_options;

clv_status clv_external_open(const clv_workload *workload, const clv_external_options *options,
                             const clv_alloc *alloc, clv_compiler **ret, clv_error *err);

/* -- the pool -- */

/* jobs workers (libuv threads, at least 1) that judge batches with a compiler; makes a clv_partition_judge.
 * Close the judge before the compiler. */
typedef struct clv_pool clv_pool;
clv_status clv_pool_open(clv_compiler *compiler, int32_t jobs, int32_t batch, const clv_alloc *alloc,
                         clv_pool **ret, clv_error *err);
void clv_pool_close(clv_pool *pool); /* NULL is fine; waits for what runs */
clv_partition_judge clv_pool_judge(clv_pool *pool);

#endif
