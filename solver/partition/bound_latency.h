/* bound_latency.h - a lower bound of the latency: critical paths, and a choice for each segment
 * between cut vertices, by Lagrangian relaxation of memory and of the number of devices (Geoffrion
 * 1974).
 *
 * Between two cut vertices of the backbone, a and b, either all runs on one device, or a and b are
 * on different ones, and something is sent on every path from a to b: a legal plan never comes back
 * to a device that it has left. So with d devices at most d - 1 of these segments are split. Where
 * memory asks for m devices, split segments have room for m - 1 more devices than one: a split
 * segment has one more, and one for each unit inside it. What is cheaper is taken for each: with
 * equal devices by sorting.
 *
 * With unequal devices it is a dynamic programme along the segments whose state is the kind and how
 * many were split. Memory has a price there: a unit on a kind of device pays for its weights, and
 * what all devices of the kind hold is given back. A device has a price too, if it is scarce, or a
 * reward, if it is to be used. Any prices give a bound, which is concave in each. segment_dp.h,
 * where it can, knows each device's memory instead, and is mostly better.
 */
#ifndef CLV_SOLVER_PARTITION_BOUND_LATENCY_H
#define CLV_SOLVER_PARTITION_BOUND_LATENCY_H

#include "solver/partition/bound.h"

/* Fills ret->orders and ret->device_of, where it says so. CLV_ENOMEM. O(units * (64 + log units) +
 * nets' readers) for each of three widths of the backbone, some hundred times that with unequal
 * devices, within a limit. */
clv_status clv_bound_latency(const clv_partition_problem *p, const clv_bound_options *options,
                             clv_arena *arena, clv_bound *ret, clv_error *err);

/* The critical path by itself (Kelley, Walker 1959), each unit on the kind that is fastest, nothing
 * sent: a bound of the latency too, and never more than the one above. CLV_ENOMEM. O(nets' readers
 * * kinds^2). */
clv_status clv_bound_critical_path(const clv_partition_problem *p, clv_arena *arena,
                                   int64_t *ret_ns, clv_error *err);

#endif
