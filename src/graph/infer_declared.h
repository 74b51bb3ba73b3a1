/* infer_declared.h - the types that the file declares, with symbols bound, and how they add to what
 * inference found. Used by infer.c only.
 */
#ifndef CLV_GRAPH_INFER_DECLARED_H
#define CLV_GRAPH_INFER_DECLARED_H

#include "graph/bindings.h"
#include "graph/types.h"

typedef struct {
    const clv_model *model;
    clv_arena *arena;
    clv_dim *symbol; /* n_symbols: the number it is bound to, or the symbol itself */
    clv_str *conflicts;
    int32_t n_conflicts, cap_conflicts;
    clv_relations *relations; /* of the model's symbols */
} clv_declared_ctx;

/* Fails with CLV_EFORMAT for a binding of an unknown symbol, to a number below 1, or twice to
 * different numbers. O(symbols + bindings). */
clv_status clv_declared_init(clv_declared_ctx *ctx, const clv_model *model,
                             const clv_binding *bindings, int32_t n_bindings, clv_arena *arena,
                             clv_error *err);

/* Completes types->of[t] by what the file declares of the tensor. What both know and know
 * differently stays as inferred; in the main graph a sentence says so. Where an output of it has
 * symbols by which inference does not know it, they are related. O(rank). */
clv_status clv_declared_merge(clv_declared_ctx *ctx, const clv_graph *graph, int32_t t,
                              clv_types *types, clv_error *err);

#endif
