/* bound_broadcast.h - a lower bound of the period from what one device has to send to many:
 * one-port broadcast.
 *
 * A mask that every layer reads is written once. Layers that follow each other cannot share a
 * device within a short period, so the writer's device has to send the mask to many others, all
 * through its own ports. Take readers each of which leads to the next: those on one device are
 * neighbours in this chain, and all units on the way between them are there too. So within a period
 * they need at least as many devices as longest stretches of the chain that cover it, found
 * greedily as in chain partitioning (Pinar and Aykanat 2004). Ours, as far as we know. It wins
 * where all layers read one tensor: a mask of 8 MB that the 126 layers of Llama-3.1 405B read costs
 * more on 256 devices than all their work.
 */
#ifndef CLV_SOLVER_PARTITION_BOUND_BROADCAST_H
#define CLV_SOLVER_PARTITION_BOUND_BROADCAST_H

#include "problem/partition_problem.h"

/* At least low_ns, which must be a bound, at most best_ns, which a plan has; the least such period
 * by bisection. CLV_ENOMEM. O(units + pins), and O(devices^2) for each net that many units read,
 * within a limit of work. */
clv_status clv_bound_broadcast(const clv_partition_problem *p, int64_t low_ns, int64_t best_ns,
                               clv_arena *arena, int64_t *ret_ns, clv_error *err);

#endif
