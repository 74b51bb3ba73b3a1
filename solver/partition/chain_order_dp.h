/* chain_order_dp.h - chain partitioning for the least latency where the order of the devices is
 * open (NP-complete in general: Pinar, Tabak and Aykanat 2008): dynamic programming over how many
 * devices of each class are used, exact as there are few classes.
 *
 * cost[cell][class][position] is the least end of runs up to a position that use so many devices of
 * each class, which is a cell, the last run being on the class. Devices of a class come as
 * numbered, so a cell and a class say which device that is, and the boundary to the next one has
 * the delay of the very link between them. A run may begin anywhere within its device's memory: the
 * least over those is the minimum of a sliding window. It wins where servers are small, devices are
 * many, or kinds do best by turns.
 */
#ifndef CLV_SOLVER_PARTITION_CHAIN_ORDER_DP_H
#define CLV_SOLVER_PARTITION_CHAIN_ORDER_DP_H

#include "solver/partition/chain_partition.h"

/* order of the options is not looked at, nor are rules or fan-out. *found: false also where there
 * are too many kinds and devices. CLV_ENOMEM. O(cells * units * classes^2), with a limit of steps.
 */
clv_status clv_cut_any_order(const clv_unit_chain *chain, const clv_cut_options *options,
                             clv_arena *scratch, int32_t *device_of, bool *found, clv_error *err);

#endif
