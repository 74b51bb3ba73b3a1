/* new_model.h - a new ONNX file described: nodes of an opened one, and new ones between them.
 *
 * What is lowered from a model is most of its nodes with other names, a few other attributes, and
 * nodes of its own between them. A copied node keeps all its fields, bodies and tensors included,
 * but for what is given here. onnx_write.h makes the file.
 */
#ifndef CLV_PROTO_NEW_MODEL_H
#define CLV_PROTO_NEW_MODEL_H

#include "proto/onnx_read.h"

/* A tensor of the new file: an initialiser, or the value of an attribute. */
typedef struct {
    clv_str name;
    clv_dtype dtype;
    int32_t rank;
    const int64_t *dims;
    const void *bytes; /* packed, row-major, little-endian; NULL: external */
    int64_t n_bytes;
    clv_str location; /* external: relative to the new file's folder */
    int64_t offset;
    int32_t weight; /* of the source's main graph: its TensorProto as it stands, under the name
                       above, and nothing else here counts; -1: all of the above */
} clv_new_tensor;

typedef struct {
    clv_str name;
    enum {
        CLV_NEW_INT,
        CLV_NEW_FLOAT,
        CLV_NEW_INTS,
        CLV_NEW_STRING,
        CLV_NEW_TENSOR,
        CLV_NEW_GONE /* none of that name: the source's is left out */
    } kind;
    int64_t i;
    float f;
    const int64_t *ints; /* n */
    int32_t n;
    clv_str s;
    const clv_new_tensor *tensor;
} clv_new_attr;

typedef struct {
    clv_str from, to;
} clv_rename;

/* A node. The name of an input or output that is left out is empty. */
typedef struct {
    clv_op source; /* of the source's main graph: copied; CLV_NO_OP: a new one */
    clv_str name;  /* empty: as in the source, or none */
    /* Empty: as in the source; a new node has a type. Domain "ai.onnx" is the standard one, also
     * where the source's is another. */
    clv_str type, domain;
    const clv_str *in, *out;
    int32_t n_in, n_out;       /* explicit ones */
    const clv_new_attr *attrs; /* instead of the source's of the same name, and behind the others */
    int32_t n_attrs;
    /* Tensors that bodies of a copied node take from around it, at any depth. What a body makes
     * itself hides one around it; it keeps its name, unless the new graph has a tensor of that name
     * (body_renames.h). */
    const clv_rename *captured;
    int32_t n_captured;
} clv_new_node;

typedef struct {
    clv_str name;
    const clv_type *type; /* of the source's symbols; NULL: not known, which only values may be */
} clv_new_value;

typedef struct {
    clv_str domain;
    int64_t version;
} clv_new_opset;

typedef struct {
    clv_str key, value;
} clv_new_property;

typedef struct {
    const clv_onnx_file *source;
    const clv_model *model; /* as read from it */
    clv_str graph_name;
    int64_t ir_version; /* 0: of the source, but at least 4: initialisers are no inputs */
    /* Beside those of the source; of a domain that it has already the higher version counts. */
    const clv_new_opset *opsets;
    const clv_new_value *inputs, *outputs, *values; /* values: of tensors in between */
    const clv_new_tensor *tensors;                  /* initialisers */
    const clv_new_node *nodes;                      /* in an order in which they can run */
    const clv_new_property *properties;             /* metadata_props of the model */
    int32_t n_opsets, n_inputs, n_outputs, n_values, n_tensors, n_nodes, n_properties;
} clv_new_model;

#endif
