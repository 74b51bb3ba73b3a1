/* rule_stages.h - rules on stages that no assignment can meet, seen without trying any: the latest
 * start of the critical path method (Kelley, Walker 1959) as bounds propagation.
 *
 * A supernode's stage is at most that of those that read it, and less where the two are bound to
 * different devices, however many free ones lie between them. What is bound to one device is at one
 * stage. So from the end backwards each supernode has a highest stage; where none is left, nothing
 * meets the rules.
 */
#ifndef CLV_SOLVER_PARTITION_RULE_STAGES_H
#define CLV_SOLVER_PARTITION_RULE_STAGES_H

#include "solver/partition/rule_supernodes.h"

/* False when rules on stages cannot be met, whatever the assignment; without memory true.
 * O(supernodes + edges) times a few rounds. */
bool clv_rule_stages_fit(const clv_supernodes *g);

#endif
