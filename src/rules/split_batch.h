/* split_batch.h - where the batch is: the leading dimension of the model's inputs, and what comes
 * of it in operators and tensors.
 */
#ifndef CLV_RULES_SPLIT_BATCH_H
#define CLV_RULES_SPLIT_BATCH_H

#include "sharding/factors.h"

typedef struct {
    int64_t size;   /* the leading dimension of the first input that has one; 0: none has */
    uint64_t *dims; /* by tensor, one bit each: dimensions whose outermost part is the batch */
} clv_batch;

/* Inputs whose leading dimension is another size hold no batch. Lives in the arena.
 * O(operators * dimensions). */
clv_status clv_batch_find(const clv_types *types, const clv_factors *factors, clv_arena *arena,
                          clv_batch *ret, clv_error *err);

/* Is a factor of an operator the batch, or its outermost part? */
bool clv_batch_is_factor(const clv_batch *b, const clv_graph *g, clv_op op, const clv_factors *f,
                         int32_t factor);

#endif
