/* spmd_ops.h - which operators of the model run, and which of them may not. */
#ifndef CLV_LOWER_SPMD_OPS_H
#define CLV_LOWER_SPMD_OPS_H

#include "lower/spmd.h"

/* Sets needed[] of each operator that an output of the model needs, other than through what is
 * known before the run. needed: n_ops, all false. O(operators + edges). */
void clv_spmd_mark_needed(const clv_spmd *s, bool *needed);

/* The first operator that runs and draws random numbers without a seed, in itself or in one of its
 * bodies: it cannot run on several devices. *ret NULL: none does. O(operators + edges). */
clv_status clv_find_random(const clv_model *model, const clv_types *types, clv_arena *arena,
                           const clv_op_info **ret, clv_error *err);

/* CLV_EUNSUPP: each device of the mesh would draw random numbers of its own, in the operator or in
 * one of its bodies, which the sentence names. One with a seed draws the same everywhere.
 * O(operators of its bodies). */
clv_status clv_spmd_check_random(const clv_spmd *s, const clv_op_info *op, clv_error *err);

#endif
