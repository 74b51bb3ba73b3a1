/* whole_graph.h - a graph from one line of text (graph/rule_case.h), with its types and the factors
 * of all its operators.
 */
#ifndef CLV_TESTS_SHARDING_WHOLE_GRAPH_H
#define CLV_TESTS_SHARDING_WHOLE_GRAPH_H

#include "graph/rule_case.h"
#include "sharding/graph_factors.h"

typedef struct {
    clv_arena *arena;
    const clv_graph *graph;
    clv_types *types;
    clv_factors *all;
} whole_graph;

static whole_graph read_graph(const char *text)
{
    whole_graph g = { .arena = clv_arena_new(NULL, 0) };
    case_reader c = { .arena = g.arena, .at = text, .opset = 18 };
    clv_error err = { 0 };
    clv_model *model = NULL;
    clv_inference *found = NULL;
    clv_draft *d = case_graph(&c);
    clv_opset opsets[1] = { { clv_str_of(""), c.opset } };
    d->opsets = opsets;
    d->n_opsets = 1;
    clv_draft_model draft = { .ir_version = 8, .main = d };
    cr_assert_eq(clv_model_build(&draft, g.arena, &model, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_infer(model, NULL, 0, g.arena, &found, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_factors_all(model, found->main, g.arena, &g.all, &err), CLV_OK);
    g.graph = model->main;
    g.types = found->main;
    return g;
}

#endif
