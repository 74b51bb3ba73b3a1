/* write_values.h - what a new model says of tensors: types, elements, attributes (new_model.h). */
#ifndef CLV_PROTO_WRITE_VALUES_H
#define CLV_PROTO_WRITE_VALUES_H

#include "proto/message_index.h"
#include "proto/message_writer.h"
#include "proto/new_model.h"

/* A ValueInfoProto. */
clv_status clv_put_value_info(clv_message_writer *e, const clv_model *model, uint32_t field,
                              const clv_new_value *value, clv_error *err);
/* Is all that a value_info entry must say known of the type? */
bool clv_type_is_complete(const clv_type *type);

/* Is it a weight of the source that is kept as a SparseTensorProto? */
bool clv_new_tensor_is_sparse(const clv_model *model, const clv_new_tensor *tensor);
/* A TensorProto or SparseTensorProto. CLV_EUSAGE: no such weight in the source, strings, bytes that
 * are not what dims and dtype need, or nothing that says where they are. */
clv_status clv_put_new_tensor(clv_message_writer *e, const clv_message_index *index, uint32_t field,
                              const clv_new_tensor *tensor, clv_error *err);

/* The AttributeProto of a node, or nothing for CLV_NEW_GONE. CLV_EUSAGE as above, and for sparse
 * tensors. */
clv_status clv_put_new_attr(clv_message_writer *e, const clv_message_index *index,
                            const clv_new_attr *attr, clv_error *err);

#endif
