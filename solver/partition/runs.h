/* runs.h - the least latency where devices are unequal, each with its own memory.
 *
 * In a legal plan the units through which all paths lead are on devices in runs: a device that was
 * left is never come back to. Between two of one device all is on it; between two devices
 * something is sent, and what lies between may be anywhere. So a walk along those units that knows
 * how many devices of each kind and capacity were used has a bound in it, as exact as the parted
 * stretches are: each run fits its device.
 */
#ifndef CLV_SOLVER_PARTITION_RUNS_H
#define CLV_SOLVER_PARTITION_RUNS_H

#include "solver/partition/stretches.h"

typedef struct {
    bool walked; /* few enough kinds of devices, devices and units for the walk */
    bool found;  /* order and device_of are set */
    double ns;   /* no plan that fits has less; INFINITY: none fits */
} clv_runs;

/* b: as opened, without prices. order: n_devices, the devices of the runs, then the others.
 * device_of: n_units, the plan behind the bound, which need not be legal or fit. CLV_ENOMEM.
 * O(cells * cuts * classes * ways to part a stretch): a cell is a number of used devices of each
 * kind and capacity, which make a class. */
clv_status clv_runs_bound(clv_stretches *b, const clv_bound_options *o, clv_arena *scratch,
                          int32_t *order, int32_t *device_of, clv_runs *ret, clv_error *err);

#endif
