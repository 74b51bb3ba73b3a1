#include "graph/freeze.h"

#include <string.h>

#include "graph/order.h"

/* The operator that writes an input of the operator, or CLV_NO_OP. */
static clv_op writer_of(const clv_graph *g, const clv_op_info *op, int32_t k)
{
    clv_tensor t = clv_op_input(g, op, k);
    return t.i < 0 ? CLV_NO_OP : clv_tensor_at(g, t)->producer;
}

static bool is_ordered(const clv_graph *g)
{
    for (int32_t i = 0; i < g->n_ops; i++)
        for (int32_t k = 0; k < g->ops[i].n_in; k++)
            if (writer_of(g, &g->ops[i], k).i >= i)
                return false;
    return true;
}

static clv_status find_order(const clv_graph *g, clv_arena *scratch, int32_t **ret_order,
                             clv_error *err)
{
    int32_t n_in = 0;
    for (int32_t i = 0; i < g->n_ops; i++)
        n_in += g->ops[i].n_in;
    int32_t *start = CLV_NEW_ARRAY(scratch, int32_t, g->n_ops + 1);
    int32_t *from = CLV_NEW_ARRAY(scratch, int32_t, n_in);
    if (!start || !from)
        return clv_fail_nomem(err, "ordering the operators");
    int32_t n = 0, cycle = -1;
    for (int32_t i = 0; i < g->n_ops; i++) {
        start[i] = n;
        for (int32_t k = 0; k < g->ops[i].n_in; k++) {
            int32_t writer = writer_of(g, &g->ops[i], k).i;
            if (writer >= 0)
                from[n++] = writer;
        }
    }
    start[g->n_ops] = n;
    CLV_TRY(clv_order(&(clv_order_in){ g->n_ops, start, from }, scratch, ret_order, &cycle, err));
    if (cycle >= 0)
        return clv_fail(err, CLV_EFORMAT,
                        "operator '%.*s' (%.*s) depends on its own output: expected no cycle",
                        CLV_STR_ARG(g->ops[cycle].label), CLV_STR_ARG(g->ops[cycle].type));
    return CLV_OK;
}

clv_status clv_graph_put_in_order(clv_graph *g, clv_arena *scratch, clv_error *err)
{
    int32_t *order;
    if (is_ordered(g))
        return CLV_OK;
    CLV_TRY(find_order(g, scratch, &order, err));
    clv_op_info *in_file = CLV_NEW_ROOM(scratch, clv_op_info, g->n_ops);
    int32_t *place = CLV_NEW_ARRAY(scratch, int32_t, g->n_ops);
    if (!in_file || !place)
        return clv_fail_nomem(err, "operators");
    memcpy(in_file, g->ops, (size_t)g->n_ops * sizeof *in_file);
    for (int32_t k = 0; k < g->n_ops; k++) {
        g->ops[k] = in_file[order[k]];
        place[order[k]] = k;
    }
    for (int32_t t = 0; t < g->n_tensors; t++)
        if (g->tensors[t].producer.i >= 0)
            g->tensors[t].producer.i = place[g->tensors[t].producer.i];
    return CLV_OK;
}

/* Each reader once, ascending: operators are visited in order, so one that reads a tensor twice is
 * the last one there. */
static void fill_readers(clv_graph *g)
{
    for (int32_t i = 0; i < g->n_ops; i++)
        for (int32_t k = 0; k < g->ops[i].n_in; k++) {
            clv_tensor t = clv_op_input(g, &g->ops[i], k);
            if (t.i < 0)
                continue;
            clv_tensor_info *info = &g->tensors[t.i];
            clv_op *end = &g->readers_of[info->first_reader + info->n_readers];
            if (info->n_readers > 0 && end[-1].i == i)
                continue;
            *end = (clv_op){ i };
            info->n_readers++;
        }
}

clv_status clv_graph_list_readers(clv_graph *g, clv_arena *arena, clv_error *err)
{
    int32_t total = 0;
    for (int32_t i = 0; i < g->n_ops; i++)
        for (int32_t k = 0; k < g->ops[i].n_in; k++) {
            clv_tensor t = clv_op_input(g, &g->ops[i], k);
            if (t.i >= 0)
                g->tensors[t.i].n_readers++;
        }
    for (int32_t t = 0; t < g->n_tensors; t++) {
        g->tensors[t].first_reader = total;
        total += g->tensors[t].n_readers;
        g->tensors[t].n_readers = 0;
    }
    g->readers_of = CLV_NEW_ARRAY(arena, clv_op, total);
    if (!g->readers_of)
        return clv_fail_nomem(err, "readers of tensors");
    fill_readers(g);
    return CLV_OK;
}
