/* batch_dims.h - where the batch is: the leading dimension of the model's inputs, and what comes
 * of it in operators and tensors.
 */
#ifndef CLV_RULES_BATCH_DIMS_H
#define CLV_RULES_BATCH_DIMS_H

#include "graph/infer.h"
#include "sharding/factors.h"

typedef struct {
    int64_t size;   /* the leading dimension of the first input that has one; 0: none has */
    uint64_t *dims; /* by tensor, one bit each: dimensions whose outermost part is the batch */
} clv_batch_dims;

/* Inputs whose leading dimension is another size hold no batch. factors: by operator. Lives in the
 * arena; CLV_ENOMEM. O(operators * dimensions). */
clv_status clv_batch_dims_find(const clv_types *types, const clv_factors *factors, clv_arena *arena,
                               clv_batch_dims *ret, clv_error *err);

/* Is a factor of an operator the batch, or its outermost part? O(dimensions of its inputs). */
bool clv_batch_dims_has_factor(const clv_batch_dims *b, const clv_graph *g, clv_op op,
                               const clv_factors *f, int32_t factor);

#endif
