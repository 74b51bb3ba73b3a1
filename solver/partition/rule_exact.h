/* rule_exact.h - is there any legal assignment that meets the rules? Backtracking (Golomb and
 * Baumert 1965) with dominance and symmetry breaking.
 *
 * First all orders of devices, device by device. A device takes all that it may: what only reads
 * what was taken before or by itself. Taking more never hurts those that come later (dominance), so
 * only the device that comes next, and where units must be apart, whose units a device takes, has
 * to be tried in all ways. A device that takes nothing may as well not be there; of devices that
 * all rules treat alike the first one stands for all.
 *
 * This leaves out that rules on stages speak of levels: a boundary is only taken for "the rest goes
 * to devices that come after", other rules on stages for nothing. If no order works out, nothing
 * does. If one does, but its stages break rules, all assignments are tried, supernode by supernode.
 */
#ifndef CLV_SOLVER_PARTITION_RULE_EXACT_H
#define CLV_SOLVER_PARTITION_RULE_EXACT_H

#include "solver/partition/rule_supernodes.h"

typedef enum {
    CLV_RULES_FEASIBLE,
    CLV_RULES_INFEASIBLE, /* proven: no legal assignment meets them */
    CLV_RULES_UNDECIDED /* none found within the work allowed, which depends on the problem alone */
} clv_rule_outcome;

/* device_of: n_units, the assignment where there is one; scratch else. Without memory undecided.
 * O(supernodes + edges) for each order of devices tried, at worst devices! of them, but stopped
 * after a fixed amount of work. */
clv_rule_outcome clv_rule_exact(const clv_supernodes *g, int32_t *device_of);

#endif
