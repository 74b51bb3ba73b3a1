/* problem_build.h - from subgraphs and a cluster to the partition problem as numbers.
 *
 * Units are the subgraphs. A net is a tensor that a unit writes and a later one reads, with all its
 * bytes, of a view too. What every device has by itself is no net: initialisers, outputs of
 * Constant nodes, and small values that are computed from those alone. A net whose value is known
 * before the run (a shape) or whose size is unknown has 0 bytes, but still orders its units.
 */
#ifndef CLV_COST_PROBLEM_BUILD_H
#define CLV_COST_PROBLEM_BUILD_H

#include "cluster/cluster.h"
#include "cost/subgraph.h"
#include "problem/partition_problem.h"

/* Everything lives in the arena. CLV_ELIMIT when times do not add up in 64 bits, naming the
 * operator. O(ops * kinds + edges + devices^2 * hops of a route). */
clv_status clv_problem_build(const clv_costs *costs, const clv_subgraphs *units,
                             const clv_cluster *cluster, clv_arena *arena,
                             clv_partition_problem **ret, clv_error *err);

#endif
