/* spmd_ops.h - which operators of the model run, and which of them may not: between the files of
 * spmd. */
#ifndef CLV_LOWER_SPMD_OPS_H
#define CLV_LOWER_SPMD_OPS_H

#include "lower/spmd.h"

/* By operator: does an output of the model need it, other than through what is known before the
 * run? needed: n_ops, all false. O(operators + edges). */
void clv_spmd_needed(const clv_spmd *s, bool *needed);

/* Would each device of the mesh draw numbers of its own? CLV_EUNSUPP names the operator, or the one
 * in its bodies. One with a seed draws the same everywhere. O(operators of its bodies). */
clv_status clv_spmd_check_random(const clv_spmd *s, const clv_op_info *op, clv_error *err);

#endif
