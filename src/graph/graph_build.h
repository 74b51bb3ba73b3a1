/* graph_build.h - from a list of nodes with names to a frozen graph.
 *
 * A reader of a model format fills a draft, in file order, with names only. Building resolves the
 * names, checks that each tensor has one producer and each input a source, puts the operators in
 * order and makes the tables. O(nodes + names), expected; ordering adds O(log ready) a node.
 *
 * Bodies are drafts inside an operator's attributes: the builder builds them after the graph around
 * them knows its names, so that they can see those.
 */
#ifndef CLV_GRAPH_GRAPH_BUILD_H
#define CLV_GRAPH_GRAPH_BUILD_H

#include "base/arena.h"
#include "graph/graph.h"

typedef struct clv_draft clv_draft;

typedef struct {
    clv_str name, type, domain, overload;
    const clv_str *inputs, *outputs; /* empty name: left out */
    int32_t n_inputs, n_outputs;
    clv_attr *attrs; /* for GRAPH and GRAPHS leave .graph NULL and give bodies below */
    int32_t n_attrs;
    clv_draft **bodies; /* one for each graph of each GRAPH/GRAPHS attribute, in order */
    int32_t n_bodies;
} clv_draft_op;

typedef struct {
    clv_str name;
    const clv_type *type; /* NULL when the file declares none */
} clv_draft_value;

struct clv_draft {
    clv_str name;
    clv_draft_op *ops;
    clv_draft_value *inputs, *outputs, *values; /* values: value_info */
    clv_const *weights;
    int32_t n_ops, n_inputs, n_outputs, n_values, n_weights;
    const clv_opset *opsets;
    int32_t n_opsets;
    /* functions only */
    clv_str function_domain, function_overload;
    const clv_attr *default_attrs;
    int32_t n_default_attrs;
};

typedef struct {
    int64_t ir_version;
    clv_str producer;
    clv_draft *main;
    clv_draft *const *functions;
    int32_t n_functions;
    const clv_str *symbols;
    int32_t n_symbols;
} clv_draft_model;

/* Errors (CLV_EFORMAT) name the tensor or operator: written twice, read but never written, part of
 * a cycle, weight named twice, too deep (limit 64 bodies in bodies), function that calls itself.
 */
clv_status clv_model_build(const clv_draft_model *draft, clv_arena *arena, clv_model **ret,
                           clv_error *err);

#endif
