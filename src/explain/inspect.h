/* inspect.h - what both forms of the inspection need: operators counted by type, symbols still
 * open.
 */
#ifndef CLV_EXPLAIN_INSPECT_H
#define CLV_EXPLAIN_INSPECT_H

#include "explain/report.h"

typedef struct {
    const char *type; /* "MatMul", "com.microsoft.Attention" */
    int32_t count;
    double flops;
} clv_type_count;

/* Operators of the main graph by type: most FLOPs first, then most operators, then by name.
 * O(operators + types log types). */
clv_status clv_count_types(const clv_inspection *in, clv_arena *arena, clv_type_count **ret,
                           int32_t *ret_n, clv_error *err);

/* One flag for each symbol of the model: does it still stand in the type of some tensor of the main
 * graph? NULL when there is no memory. O(tensors * rank). */
bool *clv_open_symbols(const clv_inspection *in, clv_arena *arena);

#endif
