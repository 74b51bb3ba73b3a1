/* segment_dp.h - the least latency by dynamic programming over segments, where devices are unequal,
 * each with its own memory: Bellman 1957, with the devices used as a resource (Handler, Zang 1980).
 *
 * In a legal plan the cut vertices (backbone.h) are on devices in runs: a device that was left is
 * never come back to. Between two of one device all is on it; between two devices something is
 * sent, and what lies between may be anywhere. So a dynamic programme along the cut vertices whose
 * state says how many devices of each class (kind and capacity) were used, which is a cell, and
 * where a run began and on what kind, has every legal plan in it: interval partitioning with a
 * resource state, each run within its own device's memory. It is as exact as the times of split
 * segments are. What it costs to leave a part of a cluster that slow links join is a Lagrangian
 * relaxation (visit_multiplier.h). It wins where devices are unequal or memory is short.
 *
 * A run of a class that begins at node s ends at node e at (when s ends) + (whole segments from s
 * to e), if it fits: for each e the least over s is that of a sliding window, as a shorter run fits
 * where a longer one does. What it leads to depends on its kind, on that of the next run, and on
 * when the node before the last was there; begun_ns takes all this in as soon as a cell's runs have
 * ended, so nothing else of them is kept.
 *
 *     segment_dp_state.h   the table and what it is made of
 *     segment_splits.h     how far each class reaches; ways to split a segment
 *     cluster_parts.h      how fast devices reach each other
 *     segment_dp_plan.h    the plan behind the answer
 */
#ifndef CLV_SOLVER_PARTITION_SEGMENT_DP_H
#define CLV_SOLVER_PARTITION_SEGMENT_DP_H

#include "solver/partition/segments.h"

typedef struct {
    bool is_solved;     /* few enough kinds of devices, devices and units */
    bool found;         /* order and device_of are set */
    double ns;          /* no plan that fits has less; INFINITY: none fits */
    int32_t *order;     /* n_devices, of the caller: the devices of the runs, then the others */
    int32_t *device_of; /* n_units, of the caller: the plan behind it, which need not be legal or
                           fit */
} clv_segment_dp;

/* b: as opened, without prices. CLV_ENOMEM. O(cells * cut vertices * kinds^2 * ways to split a
 * segment), within a limit of steps. */
clv_status clv_segment_dp_bound(clv_segments *b, const clv_bound_options *o, clv_arena *scratch,
                                clv_segment_dp *ret, clv_error *err);

#endif
