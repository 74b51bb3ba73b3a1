#include "proto/called_functions.h"

#include "base/map.h"
#include "proto/message.h"

typedef struct {
    const clv_model *model;
    clv_map by_name; /* -> first function of that name */
    int32_t *next;   /* function of the same name, -1: none */
    bool *is_called;
    int32_t *stack, n_stack; /* called, and not looked into yet */
} calls;

/* The function itself, or where it is NULL all of that name and domain. */
static void mark_called(calls *c, const clv_graph *function, clv_str name, clv_str domain)
{
    for (int32_t f = clv_map_get(&c->by_name, name); f >= 0; f = c->next[f]) {
        const clv_graph *g = c->model->functions[f];
        bool is_meant = function ? g == function : clv_str_eq(g->function_domain, domain);
        if (is_meant && !c->is_called[f]) {
            c->is_called[f] = true;
            c->stack[c->n_stack++] = f;
        }
    }
}

static void visit_op(calls *c, const clv_graph *g, const clv_op_info *op);

/* Bodies are at most 64 deep. */
static void visit_graph(calls *c, const clv_graph *g)
{
    for (int32_t i = 0; i < g->n_ops; i++)
        visit_op(c, g, &g->ops[i]);
}

static void visit_op(calls *c, const clv_graph *g, const clv_op_info *op)
{
    if (op->function)
        mark_called(c, op->function, op->function->name, op->function->function_domain);
    for (int32_t k = 0; k < op->n_attr; k++) {
        const clv_attr *a = &g->attrs[op->first_attr + k];
        if (a->kind == CLV_ATTR_GRAPH || a->kind == CLV_ATTR_GRAPHS)
            for (int32_t b = 0; b < a->n; b++)
                visit_graph(c, a->graph[b]);
    }
}

static void visit_node(calls *c, const clv_new_node *node)
{
    const clv_graph *g = c->model->main;
    const clv_op_info *op = node->source.i >= 0 ? &g->ops[node->source.i] : NULL;
    if (op)
        visit_op(c, g, op);
    if (op && !node->type.n && !node->domain.n)
        return;
    mark_called(c, NULL, node->type.n || !op ? node->type : op->type,
                node->domain.n || !op ? clv_onnx_domain(node->domain) : op->domain);
}

static clv_status index_functions(calls *c, clv_arena *arena, clv_error *err)
{
    int32_t n = c->model->n_functions;
    CLV_TRY(clv_map_init(&c->by_name, arena, n, err));
    for (int32_t f = 0; f < n; f++) {
        int32_t first;
        CLV_TRY(clv_map_put(&c->by_name, c->model->functions[f]->name, f, &first, err));
        c->next[f] = -1;
        if (first != f) { /* behind the first of its name */
            c->next[f] = c->next[first];
            c->next[first] = f;
        }
    }
    return CLV_OK;
}

clv_status clv_called_functions(const clv_new_model *m, clv_arena *arena, bool **ret,
                                clv_error *err)
{
    int32_t n = m->model->n_functions;
    calls c = { .model = m->model };
    c.next = CLV_NEW_ARRAY(arena, int32_t, n);
    c.stack = CLV_NEW_ARRAY(arena, int32_t, n);
    c.is_called = CLV_NEW_ARRAY(arena, bool, n);
    if (!c.next || !c.stack || !c.is_called)
        return clv_fail_nomem(err, "the functions of a model");
    CLV_TRY(index_functions(&c, arena, err));
    for (int32_t i = 0; n && i < m->n_nodes; i++)
        visit_node(&c, &m->nodes[i]);
    while (c.n_stack)
        visit_graph(&c, m->model->functions[c.stack[--c.n_stack]]);
    *ret = c.is_called;
    return CLV_OK;
}
