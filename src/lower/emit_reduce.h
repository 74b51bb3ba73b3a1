/* emit_reduce.h - partial results that become one, by standard operators. */
#ifndef CLV_LOWER_EMIT_REDUCE_H
#define CLV_LOWER_EMIT_REDUCE_H

#include "lower/emit_tensor.h"

/* Tensors of one shape and type, element by element, as partial results become one. Computed in a
 * wider type where runtimes have no kernel for this one. CLV_EUNSUPP: the type has no sums. */
clv_status clv_emit_reduce(const clv_emit_scope *scope, clv_names in, clv_reduce reduce,
                           clv_dtype dtype, clv_str *ret, clv_error *err);

/* The same of blocks, one behind the other in the first dimension; what comes has one. */
clv_status clv_emit_reduce_blocks(const clv_emit_scope *scope, clv_str in,
                                  const clv_emit_type *type, clv_reduce reduce, clv_str *ret,
                                  clv_error *err);

#endif
