/* precision.h - a model as if its file had stored weights in another type. */
#ifndef CLV_REQUEST_PRECISION_H
#define CLV_REQUEST_PRECISION_H

#include "base/arena.h"
#include "graph/graph.h"

/* "bf16", "fp8", "int8", "int4" or "nvfp4"; what: the option, for the message. */
clv_status clv_precision_find(const char *name, const char *what, clv_dtype *ret, clv_error *err);

/* The same model with weights in that type, where theirs is wider: with 16 bits all that are FLOAT,
 * for whoever runs such weights runs such activations (clv_analysed.activations); with less those
 * of products: the second operands of matrix products, plain or transposed, and experts. Not those
 * whose result the model returns, as engines keep the last product wide, nor tables, biases and
 * norms. Types of 4 bits have the scales of their blocks beside them. Shares all but the list of
 * weights. O(operators + weights). */
clv_status clv_model_stored_as(const clv_model *model, clv_dtype weights, clv_arena *arena,
                               const clv_model **ret, clv_error *err);

#endif
