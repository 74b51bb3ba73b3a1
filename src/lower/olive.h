/* olive.h - stages of whole operators as split assignments of Olive: "a=0;b=1", by names of nodes.
 *
 * Olive takes the name of a node with '/' as '.', and drops components at its end until what is
 * left is one of the assignments. A node then comes into no earlier split than what it reads.
 */
#ifndef CLV_LOWER_OLIVE_H
#define CLV_LOWER_OLIVE_H

#include "graph/graph.h"
#include "plan/plan.h"

/* Of each node the shortest prefix that only nodes of its stage have. The text is tried as Olive
 * matches it: if a node would come into another split than its stage, because nodes have no names
 * or share them, CLV_EFORMAT names it. In the arena. O(bytes of names * log nodes + edges). */
clv_status clv_olive_assignments(const clv_model *model, const clv_plan *plan, clv_arena *arena,
                                 const char **ret, clv_error *err);

#endif
