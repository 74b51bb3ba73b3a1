/* workspace.h - the scratch memory with which a contraction runs in one pass. */
#ifndef CLV_COST_WORKSPACE_H
#define CLV_COST_WORKSPACE_H

#include "cost/sizing.h"

/* Bytes that the operator, which has a line in ops.def, would like to have; 0 for all but
 * contractions. O(rank). */
int64_t clv_wanted_workspace(clv_sizing *s);

#endif
