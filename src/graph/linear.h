/* linear.h - may the parts of a sum go through an operator one by one?
 *
 * f is linear in an input where f(a + b) = f(a) + f(b): what devices have as parts of a sum may
 * then stay parts, and be added up behind it. The flags of ops.def say it of operators, for
 * floating-point numbers: whole ones are rounded by a division, and wrap around.
 */
#ifndef CLV_GRAPH_LINEAR_H
#define CLV_GRAPH_LINEAR_H

#include "graph/types.h"

typedef enum {
    CLV_NOT_LINEAR,
    CLV_LINEAR,   /* in input 0, for given others */
    CLV_ADDITIVE, /* in all floating-point inputs together: parts of one, parts of all */
    CLV_BILINEAR  /* in input 0 for a given input 1, and the other way round */
} clv_linearity;

/* Of an operator with its attributes and types: all its floating-point inputs and its outputs are
 * of one type, in which sums are made (FLOAT, DOUBLE, FLOAT16, BFLOAT16). O(operands). */
clv_linearity clv_op_linearity(const clv_types *types, clv_op op);
/* Is the input one of those that the operator is linear in? */
bool clv_is_linear_in(const clv_types *types, clv_op op, clv_linearity linearity, int32_t k);

#endif
