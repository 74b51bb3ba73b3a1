/* read_tensor.h - a constant: a TensorProto or SparseTensorProto, everything but its payload unless
 * that is small.
 */
#ifndef CLV_PROTO_READ_TENSOR_H
#define CLV_PROTO_READ_TENSOR_H

#include "proto/reading.h"

/* CLV_EFORMAT: dimensions, type and payload do not fit each other; CLV_EUNSUPP: an unknown type of
 * elements, or a tensor in segments. O(fields), and O(bytes) for short lists of varints. */
clv_status clv_read_tensor(clv_reading *r, const clv_message *tensor, clv_const *ret,
                           clv_error *err);
clv_status clv_read_sparse(clv_reading *r, const clv_message *sparse, clv_const *ret,
                           clv_error *err);

#endif
