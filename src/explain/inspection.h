/* inspection.h - what inspecting a model found: its operators by type, the symbols still open.
 *
 * report_inspect.h shows it to people, report_inspect_json.h writes it down for programs. All of it
 * is about the main graph.
 */
#ifndef CLV_EXPLAIN_INSPECTION_H
#define CLV_EXPLAIN_INSPECTION_H

#include "cost/subgraph.h"

typedef struct {
    const char *name; /* of the file, for the head line */
    const clv_model *model;
    const clv_inference *inference;
    const clv_costs *costs;
    const clv_subgraphs *subgraphs;
} clv_inspection;

typedef struct {
    const char *type; /* "MatMul", "com.microsoft.Attention" */
    int32_t count;
    double flops;
} clv_type_count;

/* Operators by type: most FLOPs first, then most operators, then by name. In the arena; CLV_ENOMEM.
 * O(operators + types log types). */
clv_status clv_inspection_count_types(const clv_inspection *in, clv_arena *arena,
                                      clv_type_count **ret, int32_t *ret_n, clv_error *err);

/* One flag for each symbol of the model: does it still stand in the type of some tensor? NULL when
 * there is no memory. O(tensors * rank). */
bool *clv_inspection_open_symbols(const clv_inspection *in, clv_arena *arena);

#endif
