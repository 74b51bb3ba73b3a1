/* estimate.h - sums of an assignment before any compilation, to decide what is worth compiling. */
#ifndef CLV_PROBLEM_ESTIMATE_H
#define CLV_PROBLEM_ESTIMATE_H

#include "problem/partition_problem.h"

/* Both times are true lower bounds of the built-in judge's at the default workspace: it adds only
 * that transfers wait for each other. Sums stop at INT64_MAX / 4. */
typedef struct {
    int64_t period_ns;        /* largest busy time of a device, or of a port */
    int64_t latency_bound_ns; /* operators in order on each device, transfers as if alone */
    int64_t max_weight_bytes;
} clv_estimate;
/* O(units + devices + ports + transfers). */
clv_status clv_partition_estimate(const clv_partition_problem *p, const int32_t *device_of,
                                  clv_arena *arena, clv_estimate *ret, clv_error *err);

#endif
