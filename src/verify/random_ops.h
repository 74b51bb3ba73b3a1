/* random_ops.h - operators that draw random numbers, so that no two runs are the same. */
#ifndef CLV_VERIFY_RANDOM_OPS_H
#define CLV_VERIFY_RANDOM_OPS_H

#include "graph/infer.h"

/* A Dropout that is not known to be switched off, with a seed or without. */
bool clv_op_drops(const clv_types *types, const clv_op_info *op);
/* Does the operator, or one in its bodies, draw numbers without a seed? A Dropout aside.
 * O(operators of its bodies). */
bool clv_op_draws(const clv_graph *g, const clv_op_info *op);
/* An operator of the main graph that draws numbers without a seed, itself or in a body; NULL: there
 * is none. O(operators). */
const clv_op_info *clv_op_that_draws(const clv_types *types);

#endif
