#include "graph/graph.h"

const clv_attr *clv_op_attr(const clv_graph *g, const clv_op_info *op, const char *name)
{
    for (int32_t i = 0; i < op->n_attr; i++)
        if (clv_str_is(g->attrs[op->first_attr + i].name, name))
            return &g->attrs[op->first_attr + i];
    return NULL;
}

int64_t clv_graph_opset(const clv_graph *g, clv_str domain)
{
    for (int32_t i = 0; i < g->n_opsets; i++)
        if (clv_str_eq(g->opsets[i].domain, domain))
            return g->opsets[i].version;
    return 0;
}
