/* batch_dims.h - where the batch is: the leading dimension of the model's inputs, and what comes
 * of it in operators and tensors.
 */
#ifndef CLV_RULES_BATCH_DIMS_H
#define CLV_RULES_BATCH_DIMS_H

#include "graph/infer.h"
#include "sharding/factors.h"

/* The dimension of a tensor that the batch is in, and how many elements of the dimension are in
 * front of it: sequence times batch, in this order, has it behind the sequence. */
typedef struct {
    int32_t dim;
    int64_t outer; /* 0: the tensor has no batch */
} clv_batch_place;

typedef struct {
    int64_t size;        /* the leading dimension of the first input that has one; 0: none has */
    clv_batch_place *at; /* by tensor */
} clv_batch_dims;

/* Inputs whose leading dimension is another size hold no batch. factors: by operator. Lives in the
 * arena; CLV_ENOMEM. O(operators * dimensions). */
clv_status clv_batch_dims_find(const clv_types *types, const clv_factors *factors, clv_arena *arena,
                               clv_batch_dims *ret, clv_error *err);

static inline bool clv_batch_dims_is_at(const clv_batch_dims *b, clv_tensor t, int32_t dim)
{
    return b->at[t.i].outer > 0 && b->at[t.i].dim == dim;
}

/* Is a factor of an operator the batch, or the outermost part of it? O(dimensions of its inputs).
 */
bool clv_batch_dims_has_factor(const clv_batch_dims *b, const clv_graph *g, clv_op op,
                               const clv_factors *f, int32_t factor);

#endif
