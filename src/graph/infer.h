/* infer.h - the type of every tensor of a model.
 *
 * One pass in operator order: each operator's shape rule gives its outputs' types from its inputs'
 * types, attributes and folded values; each fold rule gives the outputs' values where they are
 * small and known (Shape, Gather, Concat, ... chains). Bodies and function calls are inferred in
 * place, with the types of the call. O(operators + elements folded).
 *
 * Nothing is guessed: what cannot be inferred keeps unknown dimensions, and is listed.
 */
#ifndef CLV_GRAPH_INFER_H
#define CLV_GRAPH_INFER_H

#include "graph/bindings.h"
#include "graph/types.h"

typedef struct {
    clv_types *main;
    clv_tensor *open; /* tensors of the main graph whose shape is not fully known, ascending */
    int32_t n_open;
    int32_t n_open_in_bodies;
    clv_str
        *conflicts; /* sentences: where the file declares one shape and inference gives another */
    int32_t n_conflicts;
    clv_relations *relations; /* of symbols: those that are open, as far as they were found */
    clv_bindings bound;       /* what symbols were bound to */
} clv_inference;

/* Fails with CLV_EFORMAT for a binding of an unknown symbol, for shapes that contradict each other
 * (the sentence names the operator and both shapes), for sizes that 64 bits cannot hold.
 */
clv_status clv_infer(const clv_model *model, const clv_binding *bindings, int32_t n_bindings,
                     clv_arena *arena, clv_inference **ret, clv_error *err);

/* The relations of the model's symbols, which are those that clv_infer() finds without bindings:
 * none where that fails. In the arena; what else inference needs is given back. CLV_ENOMEM. */
clv_status clv_infer_relations(const clv_model *model, clv_arena *arena, clv_relations **ret,
                               clv_error *err);

#endif
