#include "solver/placement/latency/piece_min_cut.h"

#include "solver/common/max_flow.h"

struct clv_piece_cut {
    const clv_latency_units *units;
    clv_max_flow flow;   /* nodes: units, two for each net, source, sink */
    int32_t *into, *out; /* by unit: its arc from the source, to the sink */
};

clv_status clv_piece_cut_new(const clv_latency_units *units, clv_arena *arena, clv_piece_cut **ret,
                             clv_error *err)
{
    clv_piece_cut *c = CLV_NEW(arena, clv_piece_cut);
    if (!c)
        return clv_fail_nomem(err, "a flow network");
    size_t pins = (size_t)units->pins.first[units->n_nets];
    size_t pairs = (size_t)units->n_nets + 2 * pins + 2 * (size_t)units->n;
    int32_t inner = units->n, n_nodes = units->n + 2;
    c->units = units;
    c->into = CLV_NEW_ARRAY(arena, int32_t, units->n);
    c->out = CLV_NEW_ARRAY(arena, int32_t, units->n);
    if (!c->into || !c->out)
        return clv_fail_nomem(err, "a flow network");
    for (int32_t e = 0; e < units->n_nets; e++)
        n_nodes += units->pins.first[e + 1] - units->pins.first[e] == 2 ? 0 : 2;
    CLV_TRY(clv_max_flow_new(n_nodes, pairs, arena, &c->flow, err));
    for (int32_t e = 0; e < units->n_nets; e++) {
        int32_t first = units->pins.first[e], n = units->pins.first[e + 1] - first;
        clv_max_flow_add_net(&c->flow, units->pins.at + first, n, units->net_cost[e], inner);
        inner += n == 2 ? 0 : 2;
    }
    for (int32_t i = 0; i < units->n; i++) {
        c->into[i] = clv_max_flow_add_arc(&c->flow, c->flow.source, i, 0, 0);
        c->out[i] = clv_max_flow_add_arc(&c->flow, i, c->flow.sink, 0, 0);
    }
    clv_max_flow_finish(&c->flow);
    *ret = c;
    return CLV_OK;
}

int64_t clv_piece_cut_min(clv_piece_cut *c, const clv_cut_side *side, const int64_t *weight,
                          bool *chosen)
{
    int64_t sum = 0, flow;
    for (int32_t i = 0; i < c->units->n; i++) {
        bool in = side[i] == CLV_SIDE_IN;
        clv_max_flow_set(&c->flow, c->into[i], in ? CLV_FLOW_UNLIMITED : 0);
        clv_max_flow_set(&c->flow, c->out[i],
                         side[i] == CLV_SIDE_OUT ? CLV_FLOW_UNLIMITED
                         : in                    ? 0
                                                 : weight[i]);
        sum += in ? weight[i] : 0; /* it flows for certain */
    }
    clv_max_flow_run(&c->flow, INT64_MAX, &flow);
    for (int32_t i = 0; chosen && i < c->units->n; i++)
        chosen[i] = clv_max_flow_reaches(&c->flow, i);
    return sum + flow;
}
