/* compiler.h - a candidate plan -> does it fit, how fast. One interface, two compilers:
 * builtin.h (our own model of a device) and external.h (any command).
 */
#ifndef CLV_COMPILE_COMPILER_H
#define CLV_COMPILE_COMPILER_H

#include <stdatomic.h>

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
    int64_t state_bytes;     /* of the activations: states of the model (states.h) */
    int64_t in_flight_bytes; /* copies for further micro-batches (in_flight.h); 0 for one */
    int64_t
        peak_bytes; /* weights + the arena's high-water mark (those three and gaps) + in flight */
    int64_t capacity_bytes;
    int64_t busy_ns; /* sum of operator times */
    int64_t flops;
    int32_t n_ops;
    clv_op peak_op; /* runs at the fullest moment; CLV_NO_OP on an empty device */
    clv_live *live; /* largest first, at most CLV_LIVE_SHOWN; filled only when asked for */
    int32_t n_live;
} clv_device_report;
#define CLV_LIVE_SHOWN 8

typedef struct {
    clv_tensor tensor;
    int32_t from, to;
    int64_t bytes, start_ns, ns;
} clv_transfer;

typedef struct {
    clv_device_report *devices; /* cluster->n_devices; NULL from compilers that report none */
    clv_transfer *transfers;    /* in order of start */
    int32_t n_transfers;
    int64_t fill_ns, drain_ns; /* of schedule.h */
} clv_compile_report;

/* Who calls: index is 0 .. jobs-1. The arena is its own; whoever calls rewinds it afterwards. */
typedef struct {
    int32_t index;
    clv_arena *arena;
    /* Set while what it compiles is not wanted any more: it may end with CLV_ECANCELED then. NULL:
     * that never happens. */
    const atomic_bool *is_dropped;
} clv_compile_worker;

typedef struct clv_compiler clv_compiler;
struct clv_compiler {
    const char *name; /* "builtin", or the command */
    /* Judges one candidate. May be called by several workers at once, by each from one thread.
     * report may be NULL; what it points to lives in the worker's arena. A candidate that fails is
     * a verdict, not a status. */
    clv_status (*compile)(clv_compiler *self, const clv_compile_worker *worker,
                          const clv_assignment *candidate, clv_verdict *verdict,
                          clv_compile_report *report, clv_error *err);
    void (*close)(clv_compiler *self); /* NULL-safe through clv_compiler_close() */
    const int64_t
        *live_bytes; /* as in clv_partition_judge, and the next one, with one micro-batch */
    const int64_t *held_bytes;
    const int64_t *piped_live_bytes; /* the same with more than one */
    const int64_t *piped_held_bytes;
    double bounded_at;    /* as in clv_partition_judge */
    int32_t microbatches; /* so many pass the pipeline in a run: their memory is judged; 0 is as 1,
                             CLV_MICRO_FULL any number. May be set while nothing is compiled */
    const char *warning;  /* a sentence for the user about how it will run; NULL: none */
};

static inline void clv_compiler_close(clv_compiler *c)
{
    if (c && c->close)
        c->close(c);
}

#endif
