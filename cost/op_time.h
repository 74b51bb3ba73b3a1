/* op_time.h - how long a device takes for an operator: the roofline model (Williams, Waterman,
 * Patterson 2009). The only place where work becomes time.
 */
#ifndef CLV_COST_OP_TIME_H
#define CLV_COST_OP_TIME_H

#include "cluster/cluster.h"
#include "cost/op_cost.h"

/* What an operator takes by cause: as clv_op_time_ns(), which is the sum. */
clv_time_parts clv_op_time_parts(const clv_op_cost *cost, const clv_device_kind *kind,
                                 int64_t workspace_bytes);

/* With what the device says of that operator if it does: the longest of matrix time,
 * vector time and memory time, plus the launch, plus its time on links; with less workspace than
 * wanted the operator runs in passes that read its inputs again. workspace_bytes is what it gets;
 * at least 1 when it wants any. Of kinds that stand for one the slowest counts. Whole nanoseconds,
 * rounded up; 0 for views and constants. Never negative, never falls when the workspace shrinks.
 * O(kinds beside it). */
int64_t clv_op_time_ns(const clv_op_cost *cost, const clv_device_kind *kind,
                       int64_t workspace_bytes);

/* A proportion of a device's memory for workspace; 0 stands for the device's own. */
static inline double clv_proportion_of(double proportion, const clv_device_kind *kind)
{
    return proportion > 0 ? proportion : kind->workspace_proportion;
}

/* What an operator gets that wants so many bytes: proportion, or where that is 0 the device's own,
 * of its usable memory at most. */
int64_t clv_op_workspace(int64_t wanted, const clv_device_kind *kind, double proportion);

#endif
