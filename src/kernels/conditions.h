/* conditions.h - what a stage of a pattern asks of one operator, beside its type. */
#ifndef CLV_KERNELS_CONDITIONS_H
#define CLV_KERNELS_CONDITIONS_H

#include "graph/types.h"
#include "kernels/runtime.h"

/* Elements of a type: of one with open dimensions those that are known, so that like is like. */
int64_t clv_known_elems(const clv_type *type);

/* The input that an operator gives back as it is, so that no runtime runs it: of a view, of a Cast
 * to the type that there is, of an Expand to the same dimensions, of a Slice of all, of a
 * Transpose that leaves the dimensions above 1 in their order. CLV_NO_TENSOR: it does something.
 * O(rank). */
clv_tensor clv_op_passed(const clv_types *types, const clv_op_info *op);

/* A kernel as far as it is found. */
typedef struct {
    const int32_t *of; /* n_ops: the kernel of each operator; -1 */
    int32_t number;    /* its own */
    clv_op start;
} clv_partial_kernel;

/* Does an operator meet what a stage says of its other operands, and of how it transposes? O(its
 * inputs + rank). */
bool clv_meets(const clv_types *types, const clv_partial_kernel *kernel,
               const clv_pattern_stage *stage, clv_op op);

#endif
