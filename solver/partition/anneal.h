/* anneal.h - simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983) of the period: where local
 * search ends too early.
 *
 * The period is the largest of many loads, and most single moves leave it as it is, so a descent
 * soon sees no better move. Here moves are drawn and accepted by Metropolis' rule on a smooth
 * energy, the 8-norm of the loads of devices and ports; the temperature falls geometrically. Ours
 * are the moves: a unit, with the units that only feed it, or all units of two devices. It wins for
 * the period of small problems, where many steps cost tenths of a second.
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
 * Same options, same solution. CLV_ENOMEM. O(steps * (pins of a unit + devices^2 / 64 + ports)). */
clv_status clv_anneal(clv_groups *g, const clv_anneal_options *o, clv_arena *arena, int32_t *best,
                      int64_t *ret_ns, clv_error *err);

#endif
