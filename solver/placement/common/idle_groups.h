/* idle_groups.h - groups of classes without time join a neighbour that they may follow anywhere:
 * data reduction (Weihe 1998) that loses no best solution. The rules are ours.
 */
#ifndef CLV_SOLVER_PLACEMENT_COMMON_IDLE_GROUPS_H
#define CLV_SOLVER_PLACEMENT_COMMON_IDLE_GROUPS_H

#include "solver/placement/common/block_groups.h"

/* One round over all groups, whose sums, arcs and nets are known. *ret_joined: some were, so
 * another round may find more. CLV_ENOMEM. O(groups * (arcs + pins)) at worst, and rows of who
 * comes behind whom, O(arcs * groups / 64). */
clv_status clv_block_groups_join_idle(clv_block_groups *j, bool *ret_joined, clv_error *err);

#endif
