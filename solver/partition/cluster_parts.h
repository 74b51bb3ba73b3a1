/* cluster_parts.h - how fast devices reach each other: kind by kind, and across the parts of a
 * cluster that slow links join. A run of more devices than a part has crosses them, whichever they
 * are.
 *
 * Kinds: bottleneck shortest paths, as in Floyd and Warshall (1962), each number for itself. Parts:
 * single-linkage clustering by the time of a byte, cut where links between parts are slowest
 * compared to those within.
 */
#ifndef CLV_SOLVER_PARTITION_CLUSTER_PARTS_H
#define CLV_SOLVER_PARTITION_CLUSTER_PARTS_H

#include "solver/partition/segment_dp_state.h"

/* Sets pair, across, and what parts there are; and the direct links of the segments. CLV_ENOMEM.
 * O(devices^2 * bandwidths). */
clv_status clv_cluster_parts_find(clv_segment_dp_state *dp, clv_error *err);

#endif
