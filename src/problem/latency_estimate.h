/* latency_estimate.h - the latency of assignments that differ from one in a few units each: a local
 * search asks for thousands of them.
 *
 * Units run in their order, so what is before the first unit that has moved is as it was. States at
 * some units of the last whole run are kept, and a run of a changed assignment begins at one.
 */
#ifndef CLV_PROBLEM_LATENCY_ESTIMATE_H
#define CLV_PROBLEM_LATENCY_ESTIMATE_H

#include "problem/partition_problem.h"

typedef struct {
    const clv_partition_problem *p;
    int32_t stride;        /* units from one state that is kept to the next */
    int64_t *states;       /* of the last whole run: ready_ns before each such unit */
    int64_t *ready_ns;     /* by device: when it may start its next unit */
    int64_t *done_ns;      /* by net: when it is written; of the last whole run */
    int64_t *changed_ns;   /* the same of a run that began at a state */
    int32_t first_changed; /* the first net of those */
} clv_latency_estimate;

/* p must outlive it. CLV_ENOMEM. Memory O(nets + devices). */
clv_status clv_latency_estimate_new(const clv_partition_problem *p, clv_arena *arena,
                                    clv_latency_estimate *ret, clv_error *err);

/* Operators in order on each device, transfers as if alone (estimate.h). O(units + reads). */
int64_t clv_latency_estimate_whole(clv_latency_estimate *l, const int32_t *device_of);

/* The same of what differs from the last whole run in no unit before this one. O(units + reads from
 * it on). */
int64_t clv_latency_estimate_changed(clv_latency_estimate *l, const int32_t *device_of,
                                     int32_t first_unit);

#endif
