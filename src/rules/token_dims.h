/* token_dims.h - where the tokens are: batch and sequence of the model's inputs, and what comes of
 * them in operators and tensors.
 *
 * Batch and sequence may be one dimension, and may be fused with others behind them, b*s*h: so of
 * each dimension it is known how many outermost parts are tokens.
 */
#ifndef CLV_RULES_TOKEN_DIMS_H
#define CLV_RULES_TOKEN_DIMS_H

#include "graph/infer.h"
#include "sharding/factors.h"

#define CLV_TOKEN_RANK 8 /* dimensions of tensors that are followed */

typedef struct {
    const clv_graph *g;
    int64_t (*parts)[CLV_TOKEN_RANK]; /* by tensor and dimension; 0: no tokens */
} clv_token_dims;

/* Tokens are all dimensions of inputs of two or fewer, the first two of three, the first and third
 * of four, and what states grow along (graph/states.h). factors: by operator. Lives in the arena;
 * CLV_ENOMEM. O(operators * dimensions). */
clv_status clv_token_dims_find(const clv_types *types, const clv_factors *factors, clv_arena *arena,
                               clv_token_dims *ret, clv_error *err);

/* Is a factor of an operator tokens of one of its inputs? O(dimensions of its inputs). */
bool clv_token_dims_has_factor(const clv_token_dims *tokens, clv_op op, const clv_factors *f,
                               int32_t factor);

#endif
