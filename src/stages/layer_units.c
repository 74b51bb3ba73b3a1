#include "stages/layer_units.h"

#include "explain/layers.h"

/* The latest layer of what an operator reads. */
static int32_t latest_read(const clv_graph *g, const clv_op_info *op, const int32_t *group)
{
    int32_t latest = 0;
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(g, op, k);
        clv_op writer = t.i >= 0 ? clv_tensor_at(g, t)->producer : CLV_NO_OP;
        if (writer.i >= 0 && group[writer.i] > latest)
            latest = group[writer.i];
    }
    return latest;
}

static bool is_constant(const clv_op_info *op) { return clv_str_is(op->type, "Constant"); }

/* The earliest layer that reads it. */
static int32_t earliest_reader(const clv_graph *g, const clv_op_info *op, const int32_t *group)
{
    clv_tensor t = op->n_out > 0 ? clv_op_output(g, op, 0) : CLV_NO_TENSOR;
    int32_t earliest = INT32_MAX;
    for (int32_t r = 0; t.i >= 0 && r < clv_tensor_at(g, t)->n_readers; r++) {
        int32_t reader = g->readers_of[clv_tensor_at(g, t)->first_reader + r].i;
        earliest = group[reader] < earliest ? group[reader] : earliest;
    }
    return earliest < INT32_MAX ? earliest : 0;
}

/* By operator its layer, which is not before one that it reads; what goes with another, and what is
 * constant, follows. */
static void set_groups(const clv_costs *costs, const clv_layers *layers, int32_t *group)
{
    const clv_graph *g = costs->graph;
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t with = costs->goes_with ? costs->goes_with[i].i : i;
        int32_t read = latest_read(g, &g->ops[i], group);
        group[i] = layers->of[with] > read ? layers->of[with] : read;
        if (is_constant(&g->ops[i]))
            group[i] = 0;
    }
    for (int32_t i = 0; i < g->n_ops; i++)
        group[i] = costs->goes_with ? group[costs->goes_with[i].i] : group[i];
    for (int32_t i = 0; i < g->n_ops; i++)
        if (is_constant(&g->ops[i]))
            group[i] = earliest_reader(g, &g->ops[i], group);
}

clv_status clv_layer_units_make(const clv_costs *costs, clv_arena *arena, clv_subgraphs **io,
                                clv_error *err)
{
    clv_layers layers;
    int32_t *group = CLV_NEW_ARRAY(arena, int32_t, costs->graph->n_ops);
    if (!group)
        return clv_fail_nomem(err, "units of layers");
    CLV_TRY(clv_layers_find(costs->graph, arena, &layers, err));
    if (layers.n == 0)
        return CLV_OK;
    set_groups(costs, &layers, group);
    return clv_subgraphs_of_groups(costs, group, layers.n, arena, io, err);
}
