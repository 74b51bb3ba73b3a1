/* read.h - the parts of the reader; onnx_read.c puts them together.
 *
 * Each reads one kind of message that lies in the map, into the arena. Strings stay in the map,
 * except the names of big tensors, which are copied so that looking at a name later does not bring
 * the weights beside it into memory.
 */
#ifndef CLV_PROTO_READ_H
#define CLV_PROTO_READ_H

#include "graph/graph_build.h"
#include "proto/external_data.h"
#include "proto/message.h"
#include "proto/onnx.pb-c.h"
#include "proto/onnx_map.h"

/* Graphs within graphs, and types within types. */
#define CLV_NESTING_MAX 64

typedef struct {
    const clv_onnx_file *file;
    clv_arena *arena;
    clv_onnx_trail trail;
    clv_external external;
    clv_map symbol_ids;
    clv_str *symbols;
    int32_t n_symbols, cap_symbols;
    const clv_opset *opsets; /* of the model or function being read */
    int32_t n_opsets;
    int32_t depth; /* of graphs */
} clv_reading;

/* One graph deeper, CLV_NESTING_MAX at most; whoever entered counts *depth down again. */
clv_status clv_graph_enter(const clv_onnx_file *file, const clv_message *graph, int32_t *depth,
                           clv_error *err);

/* A TypeProto. input: the name of the graph input that has this type, whose dimensions without a
 * value become symbols of their own; empty: no input. */
clv_status clv_read_type(clv_reading *r, const clv_message *type, clv_str input, clv_type *ret,
                         clv_error *err);

/* A TensorProto or SparseTensorProto: everything but its payload, unless that is small. */
clv_status clv_read_tensor(clv_reading *r, const clv_message *tensor, clv_const *ret,
                           clv_error *err);
clv_status clv_read_sparse(clv_reading *r, const clv_message *sparse, clv_const *ret,
                           clv_error *err);

/* What of a tensor's payload is in the file. */
typedef struct {
    clv_wire_type type; /* of one number; BYTES: raw */
    uint32_t field;     /* 0: no payload */
    int64_t count;      /* numbers, or bytes when raw */
} clv_tensor_payload;
/* The elements as a value, or NULL where the type is never folded. Precondition: the payload has
 * the right count for tensor->elems. */
clv_status clv_read_value(clv_reading *r, const clv_message *tensor,
                          const clv_tensor_payload *payload, const clv_const *t,
                          const clv_value **ret, clv_error *err);

typedef struct {
    clv_draft **at;
    int32_t n, cap;
} clv_bodies;
/* An AttributeProto; the graphs in it are appended to bodies, or refused where that is NULL. */
clv_status clv_read_attr(clv_reading *r, const clv_message *attr, clv_attr *ret, clv_bodies *bodies,
                         clv_error *err);

/* A NodeProto, a GraphProto (is_main: its inputs' open dimensions become symbols), a FunctionProto.
 */
clv_status clv_read_node(clv_reading *r, const clv_message *node, clv_draft_op *ret,
                         clv_error *err);
clv_status clv_read_graph(clv_reading *r, const clv_message *graph, bool is_main, clv_draft **ret,
                          clv_error *err);
clv_status clv_read_function(clv_reading *r, const clv_message *function, clv_draft **ret,
                             clv_error *err);
clv_status clv_read_opset(const clv_message *opset, clv_opset *ret, clv_error *err);

/* "ai.onnx" is "". */
static inline clv_str clv_read_domain(clv_str domain)
{
    return clv_str_is(domain, "ai.onnx") ? (clv_str){ NULL, 0 } : domain;
}

/* How often each field occurs, for arrays of exact size; fields from 32 on are not counted. */
typedef struct {
    int32_t of[32];
} clv_field_counts;
clv_status clv_read_counts(clv_reading *r, clv_message m, clv_field_counts *ret, clv_error *err);

#endif
