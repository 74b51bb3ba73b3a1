/* read_graph.h - graphs and functions, with their nodes. Graphs have attributes (read_attr.h),
 * which have graphs.
 */
#ifndef CLV_PROTO_READ_GRAPH_H
#define CLV_PROTO_READ_GRAPH_H

#include "proto/reading.h"

/* A GraphProto. is_main: its inputs' open dimensions become symbols. */
clv_status clv_read_graph(clv_reading *r, const clv_message *graph, bool is_main, clv_draft **ret,
                          clv_error *err);
/* A FunctionProto. */
clv_status clv_read_function(clv_reading *r, const clv_message *function, clv_draft **ret,
                             clv_error *err);
/* An OperatorSetIdProto. */
clv_status clv_read_opset(const clv_message *opset, clv_opset *ret, clv_error *err);

#endif
