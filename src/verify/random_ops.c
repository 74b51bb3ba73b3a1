#include "verify/random_ops.h"

#include "graph/ops.h"

bool clv_op_drops(const clv_types *types, const clv_op_info *op)
{
    enum { RATIO = 1, TRAINING = 2 };
    clv_tensor t = clv_op_input(types->graph, op, TRAINING);
    clv_tensor ratio = clv_op_input(types->graph, op, RATIO);
    const clv_value *r = ratio.i >= 0 && types->value ? types->value[ratio.i] : NULL;
    if (op->domain.n > 0 || !clv_str_is(op->type, "Dropout") || t.i < 0)
        return false;
    const clv_value *v = types->value ? types->value[t.i] : NULL;
    bool off = v && v->i && v->n == 1 && v->i[0] == 0;
    return !off && !(r && r->f && r->n == 1 && r->f[0] >= 0 && r->f[0] <= 0);
}

bool clv_op_draws(const clv_graph *g, const clv_op_info *op)
{
    bool random = op->kind >= 0 && clv_op_def_at(op->kind)->flags & CLV_OPF_RANDOM;
    if (random && !clv_op_attr(g, op, "seed"))
        return true;
    for (int32_t i = 0; op->function && i < op->function->n_ops; i++)
        if (clv_op_draws(op->function, &op->function->ops[i]))
            return true;
    for (int32_t k = 0; k < op->n_attr; k++) {
        const clv_attr *attr = &g->attrs[op->first_attr + k];
        bool graphs = attr->kind == CLV_ATTR_GRAPH || attr->kind == CLV_ATTR_GRAPHS;
        for (int32_t b = 0; graphs && b < attr->n; b++)
            for (int32_t i = 0; i < attr->graph[b]->n_ops; i++)
                if (clv_op_draws(attr->graph[b], &attr->graph[b]->ops[i]))
                    return true;
    }
    return false;
}

const clv_op_info *clv_op_that_draws(const clv_types *types)
{
    for (int32_t i = 0; i < types->graph->n_ops; i++) {
        const clv_op_info *op = &types->graph->ops[i];
        if (clv_op_draws(types->graph, op) ||
            (clv_op_drops(types, op) && !clv_op_attr(types->graph, op, "seed")))
            return op;
    }
    return NULL;
}
