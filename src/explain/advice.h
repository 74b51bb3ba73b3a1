/* advice.h - what would help a request for which no plan fits. Each suggestion is tried by the
 * search that the user would start, and becomes a note of the plan with the option to give. */
#ifndef CLV_EXPLAIN_ADVICE_H
#define CLV_EXPLAIN_ADVICE_H

#include "plan/plan.h"
#include "problem/partition_problem.h"

/* The same request, but for these. */
typedef struct {
    int32_t devices;
    int64_t memory_bytes; /* of each device; 0: as described */
    int32_t microbatches; /* 0: as asked */
} clv_room;

typedef struct {
    clv_room asked;
    int32_t devices_most; /* of the cluster */
    /* How the request would end. */
    clv_status (*try_with)(void *ctx, const clv_room *room, clv_verdict *ret, clv_error *err);
    void *ctx;
    clv_plan *plan; /* the nearest one, which gets the notes; has all devices that are asked for */
    clv_arena *arena;
} clv_adviser;

/* The least memory with which a plan is found, to one part in 16; below least_bytes none can be. At
 * most some twenty tries. */
clv_status clv_advise_memory(const clv_adviser *a, int64_t least_bytes, clv_error *err);

/* The smallest larger number of the cluster's devices with which a plan is found: of the next
 * eight, and all. */
clv_status clv_advise_devices(const clv_adviser *a, clv_error *err);

/* Fewer micro-batches than asked.microbatches, with which less is in flight. */
clv_status clv_advise_microbatches(const clv_adviser *a, clv_error *err);

#endif
