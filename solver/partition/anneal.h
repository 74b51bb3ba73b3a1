/* anneal.h - simulated annealing of the period: where walks of best moves end too early.
 *
 * The period is the largest of many loads, and most single moves leave it as it is, so a walk soon
 * sees no better move. Here the moves are drawn, and taken by what they do to a sum in which large
 * loads count most; worse ones too, fewer and fewer of them.
 */
#ifndef CLV_SOLVER_PARTITION_ANNEAL_H
#define CLV_SOLVER_PARTITION_ANNEAL_H

#include "solver/partition/groups.h"

typedef struct {
    const int64_t *room_bytes; /* n_devices: for weights */
    bool keep_groups;          /* no device is left without units */
    int64_t steps;
    uint64_t seed;
} clv_anneal_options;

/* From the assignment that g has, which has no rules; it ends with another one. best: n_units, the
 * one with the least period by sums that was met and whose weights have room; *ret_ns its period.
 * Same options, same answer. CLV_ENOMEM. O(steps * (pins of a unit + devices^2 / 64 + ports)). */
clv_status clv_anneal(clv_groups *g, const clv_anneal_options *o, clv_arena *arena, int32_t *best,
                      int64_t *ret_ns, clv_error *err);

#endif
