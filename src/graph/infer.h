/* infer.h - the type of every tensor of a model.
 *
 * One pass in operator order: each operator's shape rule gives its outputs' types from its inputs'
 * types, attributes and folded values; each fold rule gives the outputs' values where they are small
 * and known (Shape, Gather, Concat, ... chains). Bodies and function calls are inferred in place,
 * with the types of the call. O(operators + elements folded).
 *
 * Nothing is guessed: what cannot be inferred keeps unknown dimensions, and is listed.
 */
#ifndef CLV_GRAPH_INFER_H
#define CLV_GRAPH_INFER_H

#include "base/arena.h"
#include "graph/graph.h"

/* A value for a symbol of the model: `--bind batch=8`. */
typedef struct {
    clv_str symbol;
    int64_t value; /* at least 1 */
} clv_binding;

typedef struct clv_types clv_types;

struct clv_types {
    const clv_graph *graph;
    clv_type *of;            /* n_tensors; kind UNKNOWN where nothing is known */
    const clv_value **value; /* n_tensors; NULL where not known */
    int64_t *bytes;          /* n_tensors; of the whole tensor, -1 where a dimension is open */
    /* Bodies and calls: body_of[op] is where the operator's types start in body, in the order of
     * its graph attributes (or the one function body). NULL arrays when no operator has any.
     */
    int32_t *first_body; /* n_ops + 1 */
    clv_types **body;
    int64_t *trips; /* n_ops; times a Loop or Scan body runs, -1 when not known; NULL likewise */
};

typedef struct {
    clv_types *main;
    clv_tensor *open; /* tensors of the main graph whose shape is not fully known, ascending */
    int32_t n_open;
    int32_t n_open_in_bodies;
    clv_str *conflicts; /* sentences: where the file declares one shape and inference gives another */
    int32_t n_conflicts;
} clv_inference;

/* Fails with CLV_EFORMAT for a binding of an unknown symbol, for shapes that contradict each other
 * (the sentence names the operator and both shapes), for sizes that 64 bits cannot hold.
 */
clv_status clv_infer(const clv_model *model, const clv_binding *bindings, int32_t n_bindings,
                     clv_arena *arena, clv_inference **ret, clv_error *err);

/* All dims known numbers? */
bool clv_type_is_static(const clv_type *type);
/* Number of elements, -1 if not known or more than 64 bits hold. */
int64_t clv_type_elems(const clv_type *type);
/* "float16[8,2048,?]" into buf. Returns buf. */
const char *clv_type_show(const clv_model *model, const clv_type *type, char *buf, size_t size);

#endif
