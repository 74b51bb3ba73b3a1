/* infer_bound.h - the types of a model whose symbols have sizes: those that are given, and those
 * that follow from them.
 */
#ifndef CLV_GRAPH_INFER_BOUND_H
#define CLV_GRAPH_INFER_BOUND_H

#include "graph/infer.h"

/* As clv_infer(), with the bindings completed. CLV_EFORMAT also for sizes that contradict a
 * relation of the symbols; the sentence names symbols, sizes and the relation. Relations are looked
 * for where a symbol of an input has no size, or where sizes disagree: then the model is inferred
 * once more, without sizes. */
clv_status clv_infer_bound(const clv_model *model, const clv_binding *given, int32_t n_given,
                           clv_arena *arena, clv_inference **ret, clv_error *err);

#endif
