/* fit.h - what memory any assignment needs: a bound, and the few numbers that prove it.
 *
 * A device whose units hold up to t bytes besides their weights has capacity - t left for weights.
 * So most weights find room where units that hold alike share a device: the units that hold most on
 * the largest device until it is full, and so on. What is left then fits nowhere.
 */
#ifndef CLV_PROBLEM_FIT_H
#define CLV_PROBLEM_FIT_H

#include "problem/partition_problem.h"

typedef struct {
    int64_t least_bytes;  /* were all devices of one capacity, nothing would fit below this */
    bool impossible;      /* nothing fits the capacities as they are, because: */
    int32_t unit;         /* this unit is too big for any device; or, -1, all units together are */
    int64_t live_bytes;   /* it holds; of all the most; 0 if the weights alone are too much */
    int64_t weight_bytes; /* its weights, or all weights */
    int64_t room_bytes;   /* of the largest device, or on all devices for weights */
} clv_fit_bound;

/* live_bytes: as in clv_partition_judge; NULL counts as zeros, so that only weights speak. n units,
 * D devices: O(n log n + 64 (n + D)). */
clv_status clv_partition_fit_bound(const clv_partition_problem *p, const int64_t *live_bytes,
                                   clv_arena *arena, clv_fit_bound *ret, clv_error *err);

#endif
