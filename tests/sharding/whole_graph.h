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
    clv_error err = { 0 };
    clv_model *model = NULL;
    clv_inference *found = NULL;
    cr_assert_eq(case_model(text, g.arena, g.arena, &model, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_infer(model, NULL, 0, g.arena, &found, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_factors_all(model, found->main, g.arena, &g.all, &err), CLV_OK);
    g.graph = model->main;
    g.types = found->main;
    return g;
}

#endif
