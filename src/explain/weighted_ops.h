/* weighted_ops.h - what an operator reads of weights and of activations.
 *
 * constant: clv_constant_ops(). What is made of weights alone counts as a weight.
 */
#ifndef CLV_EXPLAIN_WEIGHTED_OPS_H
#define CLV_EXPLAIN_WEIGHTED_OPS_H

#include "graph/constant.h"
#include "graph/infer.h"

/* Of a tensor; CLV_RANK_UNKNOWN where that is not known or it is none. */
int32_t clv_tensor_rank(const clv_types *types, clv_tensor t);

/* The weight that an operator contracts with, of two dimensions at least, by input; -1: none.
 * Biases come after it. O(inputs). */
int32_t clv_weight_input(const clv_types *types, const bool *constant, const clv_op_info *op);

/* The first input that is no weight; -1: none. O(inputs). */
int32_t clv_data_input(const clv_graph *g, const bool *constant, const clv_op_info *op);

/* All inputs of the model with a batch, that is with two dimensions at least, have a batch of one:
 * dimension 0 of a flat activation is the sequence then. O(inputs). */
bool clv_has_batch_of_one(const clv_types *types);

#endif
