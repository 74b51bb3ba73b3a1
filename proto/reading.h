/* reading.h - what the parts of the reader share; onnx_read.c puts them together.
 *
 * Each part reads one kind of message that lies in the map, into the arena. Strings stay in the
 * map, except the names of big tensors, which are copied so that looking at a name later does not
 * bring the weights beside it into memory.
 */
#ifndef CLV_PROTO_READING_H
#define CLV_PROTO_READING_H

#include "graph/graph_build.h"
#include "proto/external_data.h"
#include "proto/message.h"
#include "proto/onnx_file.h"

typedef struct {
    const clv_onnx_file *file;
    clv_arena *arena;
    clv_arena *scratch; /* drafts: what is gone when the graphs are built */
    clv_external external;
    clv_map symbol_ids;
    clv_str *symbols;
    int32_t n_symbols, cap_symbols;
    const clv_opset *opsets; /* of the model or function being read */
    int32_t n_opsets;
    int32_t depth; /* of graphs */
} clv_reading;

/* How often each field occurs, for arrays of exact size; fields from 32 on are not counted. */
typedef struct {
    int32_t of[32];
} clv_field_counts;

/* CLV_ELIMIT: over INT32_MAX / 4 of one. O(fields). */
clv_status clv_count_fields(clv_reading *r, clv_message m, clv_field_counts *ret, clv_error *err);

#endif
