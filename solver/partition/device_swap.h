/* device_swap.h - the same groups on other devices of their kind, so that the busiest port has less
 * to carry: steepest descent by pairwise exchange for a quadratic assignment problem (Koopmans and
 * Beckmann 1957) whose objective is a bottleneck.
 *
 * Runs are put on devices in an order that is made before it is known what crosses where. What one
 * unit writes for many readers is cheap to send within a server and dear across: its server should
 * be full of readers, and those that read nothing of it can be elsewhere. Each time it
 * is the exchange after which the busiest port has least left, and no other port has as
 * much as that one had. It wins where one device sends to many across servers.
 */
#ifndef CLV_SOLVER_PARTITION_DEVICE_SWAP_H
#define CLV_SOLVER_PARTITION_DEVICE_SWAP_H

#include "problem/partition_problem.h"

/* Groups of units change devices with each other, or with empty ones, two at a time, where kind and
 * capacity are the same and the rules of p allow it. Times of devices and the quotient graph stay
 * as they are but for the names of devices. Ends when no exchange helps, no port is busier than a
 * device, or the work is used up. device_of: n_units, a legal assignment; *ret_ns is the busiest
 * device's or port's time in the end. *work: how many transfers may be looked at, and how many of
 * them are left. O(units + pins + ports) and, for each exchange, O(ends of transfers through the
 * port * devices * transfers of both). CLV_ENOMEM. */
clv_status clv_device_swap(const clv_partition_problem *p, int32_t *device_of, clv_arena *scratch,
                           int64_t *work, int64_t *ret_ns, clv_error *err);

#endif
