/* overlay.h - a training problem with the backward pass laid over the forward one.
 *
 * 1F1B (Narayanan et al. 2019) wants a device to run the forward and the backward operators of the
 * same layers, which makes a circle of devices: not legal in partition_problem.h. So each backward
 * unit is laid on a forward one, and the search cuts the forward units alone; whatever device they
 * get, their backward units get too. The backward pass then goes through the stages in the opposite
 * order.
 *
 * Of the folded problem, times, FLOPs and weights are sums over both; nets are those of the forward
 * pass and what the backward one reads of it on later units. What goes back is not counted, so sums
 * of it are still true lower bounds of the period.
 */
#ifndef CLV_PROBLEM_OVERLAY_H
#define CLV_PROBLEM_OVERLAY_H

#include "problem/partition_problem.h"

typedef struct {
    const clv_partition_problem *whole;
    clv_partition_problem folded;
    bool *backward;      /* whole's units */
    int32_t *of;         /* whole's units: the folded unit that each is part of */
    int32_t *forward;    /* folded units: the forward unit of whole */
    int64_t *live_bytes; /* folded units: largest of the parts; NULL: not known */
} clv_overlay;

/* backward: of all units; set too, in place, for units that read from a backward one. weight_of: a
 * unit that shares weights, or -1, for each. live_bytes as in clv_partition_judge, or NULL. *ret is
 * NULL where no unit is left to be forward. O(units + readers log readers). */
clv_status clv_overlay_build(const clv_partition_problem *p, bool *backward,
                             const int32_t *weight_of, clv_arena *arena, clv_overlay **ret,
                             clv_error *err);
/* live_bytes of the whole to that of the folded problem. */
clv_status clv_overlay_live(clv_overlay *fold, const int64_t *live_bytes, clv_arena *arena,
                            clv_error *err);

/* whole's n_units from folded's. O(units). */
void clv_overlay_expand(const clv_overlay *fold, const int32_t *folded_device_of,
                        int32_t *device_of);

#endif
