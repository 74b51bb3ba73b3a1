/* bound.h - what a lower bound of the search is asked and what it gives: for every legal assignment
 * to any of the devices.
 *
 * Times are those of clv_partition_estimate(), so a bound holds for a judge whose times are never
 * below those. docs/search/partition.md, "Bounds"; bound_period.h and bound_latency.h cite the
 * methods.
 */
#ifndef CLV_SOLVER_PARTITION_BOUND_H
#define CLV_SOLVER_PARTITION_BOUND_H

#include "problem/partition_problem.h"

/* Sums of so many doubles are this exact; what is proven in doubles is lowered by this part. */
#define CLV_BOUND_MARGIN 1e-9

/* Orders of devices that are found at most. */
#define CLV_BOUND_ORDERS 2

typedef struct {
    const int64_t *live_bytes; /* as in clv_partition_judge, or NULL; the next one too */
    const int64_t *held_bytes;
    int64_t reserve_bytes; /* of each device; more than 0: for a plan that is likely to fit, and
                              what is proven then holds for such plans only */
    bool use_all;          /* as in clv_partition_options */
    int32_t near;          /* width of the backbone (backbone.h); 0: what proves most */
} clv_bound_options;

typedef struct {
    int64_t ns;         /* no plan that fits has less; 0: nothing is known */
    bool found;         /* device_of is a plan that may come near it, if it is legal and fits */
    int32_t n_orders;   /* so many orders of devices may, too */
    int32_t *device_of; /* n_units, of the caller; the next one too */
    int32_t *orders;    /* CLV_BOUND_ORDERS * n_devices, each for cuts of the list of units; of the
                           latency alone, else may be NULL */
} clv_bound;

#endif
