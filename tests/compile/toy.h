/* toy.h - workloads made by hand: operators, tensors, costs, units and a cluster in a few calls.
 *
 * Numbers are easy to follow: a device does one operation a nanosecond, so an operator's flops are
 * its time. Every operator is a unit of its own unless toy_units() says otherwise.
 */
#ifndef TESTS_COMPILE_TOY_H
#define TESTS_COMPILE_TOY_H

#include <stdio.h>
#include <stdlib.h>

#include "compile/compiler.h"
#include "graph/ops.h"

#define TOY_KINDS 2

typedef struct {
    clv_arena *arena;
    clv_graph graph;
    clv_model model;
    clv_types types;
    clv_costs costs;
    clv_subgraphs units;
    clv_device_kind kinds[TOY_KINDS];
    clv_cluster cluster;
    clv_workload workload;
    int32_t n_in, n_out;    /* entries of inputs_of, outputs_of */
    const clv_value *known; /* any value, for tensors that are folded */
} toy;

static inline void toy_init(toy *t, clv_arena *arena, int32_t max_ops, int32_t max_tensors,
                            int32_t max_edges)
{
    *t = (toy){ .arena = arena };
    clv_graph *g = &t->graph;
    g->model = &t->model;
    t->model.main = g;
    g->ops = CLV_NEW_ARRAY(arena, clv_op_info, max_ops);
    g->tensors = CLV_NEW_ARRAY(arena, clv_tensor_info, max_tensors);
    g->weights = CLV_NEW_ARRAY(arena, clv_const, max_tensors);
    g->inputs = CLV_NEW_ARRAY(arena, clv_tensor, max_tensors);
    g->outputs = CLV_NEW_ARRAY(arena, clv_tensor, max_tensors);
    g->inputs_of = CLV_NEW_ARRAY(arena, clv_tensor, max_edges);
    g->outputs_of = CLV_NEW_ARRAY(arena, clv_tensor, max_tensors);
    t->types.graph = t->costs.graph = t->units.graph = g;
    t->costs.types = &t->types;
    t->types.of = CLV_NEW_ARRAY(arena, clv_type, max_tensors);
    t->types.value = CLV_NEW_ARRAY(arena, const clv_value *, max_tensors);
    t->types.bytes = CLV_NEW_ARRAY(arena, int64_t, max_tensors);
    t->costs.of = CLV_NEW_ARRAY(arena, clv_op_cost, max_ops);
    t->units.at = CLV_NEW_ARRAY(arena, clv_subgraph, max_ops + 1);
    t->units.order = CLV_NEW_ARRAY(arena, clv_op, max_ops);
    t->units.of = CLV_NEW_ARRAY(arena, int32_t, max_ops);
    t->known = CLV_NEW(arena, clv_value);
    t->workload = (clv_workload){ &t->model, &t->types, &t->costs, &t->units, &t->cluster };
}

static inline clv_tensor toy_tensor(toy *t, clv_tensor_role role, int64_t bytes)
{
    clv_tensor id = { t->graph.n_tensors++ };
    t->graph.tensors[id.i] = (clv_tensor_info){
        .role = role, .producer = CLV_NO_OP, .weight = -1, .outer = CLV_NO_TENSOR
    };
    t->types.bytes[id.i] = bytes;
    return id;
}

static inline clv_tensor toy_input(toy *t, int64_t bytes)
{
    clv_tensor id = toy_tensor(t, CLV_TENSOR_INPUT, bytes);
    t->graph.inputs[t->graph.n_inputs++] = id;
    return id;
}

static inline clv_tensor toy_weight(toy *t, int64_t bytes)
{
    clv_tensor id = toy_tensor(t, CLV_TENSOR_WEIGHT, bytes);
    t->graph.tensors[id.i].weight = t->graph.n_weights;
    t->graph.weights[t->graph.n_weights++] = (clv_const){ .bytes = bytes };
    return id;
}

/* Takes ns, writes one tensor of out_bytes. type NULL: an operator that nothing is known of. */
static inline clv_tensor toy_op(toy *t, const char *type, int64_t ns, int64_t out_bytes,
                                int32_t n_in, const clv_tensor *in)
{
    clv_graph *g = &t->graph;
    clv_op op = { g->n_ops++ };
    clv_tensor out = toy_tensor(t, CLV_TENSOR_RESULT, out_bytes);
    g->ops[op.i] = (clv_op_info){ .label = clv_str_of("toy"),
                                  .type = clv_str_of(type ? type : "Toy"),
                                  .kind = type ? clv_op_def_find(clv_str_of(""), clv_str_of(type))
                                               : CLV_OPKIND_UNKNOWN,
                                  .first_in = t->n_in,
                                  .n_in = n_in,
                                  .first_out = t->n_out,
                                  .n_out = 1 };
    for (int32_t k = 0; k < n_in; k++)
        g->inputs_of[t->n_in++] = in[k];
    g->outputs_of[t->n_out++] = out;
    g->tensors[out.i].producer = op;
    t->costs.of[op.i] = (clv_op_cost){ .flops = ns, .math = CLV_DT_FLOAT };
    t->units.order[op.i] = op;
    t->units.of[op.i] = op.i;
    t->units.at[t->units.n++] = (clv_subgraph){ .candidate = op, .first = op.i, .n = 1 };
    return out;
}
#define TOY_OP(t, type, ns, bytes, ...)                                                            \
    toy_op(t, type, ns, bytes,                                                                     \
           (int32_t)(sizeof((clv_tensor[]){ __VA_ARGS__ }) / sizeof(clv_tensor)),                  \
           (clv_tensor[]){ __VA_ARGS__ })

static inline void toy_output(toy *t, clv_tensor id)
{
    t->graph.tensors[id.i].is_output = true;
    t->graph.outputs[t->graph.n_outputs++] = id;
}

static inline clv_op_cost *toy_last_cost(toy *t) { return &t->costs.of[t->graph.n_ops - 1]; }

/* Who reads each tensor, for what asks that of a graph: the compiler does not. */
static inline void toy_find_readers(toy *t)
{
    clv_graph *g = &t->graph;
    int32_t n = 0;
    g->readers_of = CLV_NEW_ARRAY(t->arena, clv_op, t->n_in);
    for (int32_t i = 0; i < g->n_tensors; i++) {
        clv_tensor_info *at = &g->tensors[i];
        at->first_reader = n;
        for (int32_t o = 0; o < g->n_ops; o++) {
            bool reads = false;
            for (int32_t k = 0; k < g->ops[o].n_in; k++)
                reads |= g->inputs_of[g->ops[o].first_in + k].i == i;
            if (reads)
                g->readers_of[n++] = (clv_op){ o };
        }
        at->n_readers = n - at->first_reader;
    }
}

/* n units of these many operators; their sum is the number of operators. */
static inline void toy_units(toy *t, int32_t n, const int32_t *sizes)
{
    int32_t first = 0;
    t->units.n = n;
    for (int32_t u = 0; u < n; u++) {
        t->units.at[u] = (clv_subgraph){ .candidate = CLV_NO_OP, .first = first, .n = sizes[u] };
        for (int32_t k = 0; k < sizes[u]; k++)
            t->units.of[first + k] = u;
        first += sizes[u];
    }
}

/* Every device the same, memory_bytes for tensors; each has a port out and a port in. */
static inline void toy_cluster(toy *t, int32_t n_devices, int64_t memory_bytes, int64_t latency_ns,
                               double bytes_per_s)
{
    clv_device *devices = CLV_NEW_ARRAY(t->arena, clv_device, n_devices);
    clv_port *ports = CLV_NEW_ARRAY(t->arena, clv_port, 2 * n_devices);
    clv_route *routes = CLV_NEW_ARRAY(t->arena, clv_route, n_devices * n_devices);
    int32_t *on = CLV_NEW_ARRAY(t->arena, int32_t, 2 * n_devices * n_devices);
    for (int32_t k = 0; k < TOY_KINDS; k++) {
        t->kinds[k] = (clv_device_kind){ .name = k ? "slow" : "toy",
                                         .vendor = "none",
                                         .memory_bytes = memory_bytes + 1000,
                                         .reserved_bytes = 1000,
                                         .memory_bytes_per_s = 1e18,
                                         .matrix_efficiency = 1,
                                         .vector_efficiency = 1,
                                         .memory_efficiency = 1,
                                         .workspace_proportion = 0.6,
                                         .tiles = 1 };
        t->kinds[k].matrix_per_s[CLV_DT_FLOAT] = k ? 0.5e9 : 1e9;
        t->kinds[k].vector_per_s[CLV_DT_FLOAT] = k ? 0.5e9 : 1e9;
    }
    for (int32_t d = 0; d < n_devices; d++) {
        devices[d] = (clv_device){ 0, clv_arena_printf(t->arena, "toy%d", d) };
        ports[2 * d] = (clv_port){ "out", bytes_per_s };
        ports[2 * d + 1] = (clv_port){ "in", bytes_per_s };
        for (int32_t e = 0; e < n_devices; e++) {
            int32_t *pair = &on[2 * (d * n_devices + e)];
            pair[0] = 2 * d;
            pair[1] = 2 * e + 1;
            routes[d * n_devices + e] = (clv_route){ .name = "wire",
                                                     .latency_ns = latency_ns,
                                                     .bytes_per_s = bytes_per_s,
                                                     .ports = pair,
                                                     .n_ports = d == e ? 0 : 2 };
        }
    }
    t->cluster = (clv_cluster){ .name = "toys",
                                .n_kinds = TOY_KINDS,
                                .n_devices = n_devices,
                                .n_ports = 2 * n_devices,
                                .kinds = t->kinds,
                                .devices = devices,
                                .ports = ports,
                                .routes = routes };
}

/* xorshift, so that a seed gives the same workload everywhere. */
static inline uint32_t toy_random(uint32_t *state, uint32_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state % below;
}

/* A random workload: operators read any earlier tensor, mostly near ones; some are views, constants
 * or folded; some have workspace; units of 1 to 5 operators. Needs room for n_ops, 2 * n_ops + 8
 * tensors and 3 * n_ops edges. */
static inline void toy_grow_random(toy *t, int32_t n_ops, uint32_t seed)
{
    uint32_t random = seed * 2654435761u + 1;
    clv_tensor *made = CLV_NEW_ARRAY(t->arena, clv_tensor, n_ops + 2);
    int32_t *sizes = CLV_NEW_ARRAY(t->arena, int32_t, n_ops);
    int32_t n_made = 0, n_units = 0;
    made[n_made++] = toy_input(t, 5000);
    made[n_made++] = toy_input(t, 300);
    for (int32_t i = 0; i < n_ops; i++) {
        clv_tensor in[3];
        int32_t n_in = 1 + (int32_t)toy_random(&random, 2);
        for (int32_t k = 0; k < n_in; k++) {
            uint32_t back = toy_random(&random, 8) ? 6 : (uint32_t)n_made;
            back = back < (uint32_t)n_made ? back : (uint32_t)n_made;
            in[k] = made[n_made - 1 - (int32_t)toy_random(&random, back)];
        }
        if (toy_random(&random, 3) == 0)
            in[n_in++] = toy_weight(t, 1 + (int64_t)toy_random(&random, 4000));
        uint32_t what = toy_random(&random, 12);
        int64_t bytes = (int64_t)toy_random(&random, 20000);
        clv_tensor out = toy_op(t,
                                what == 0   ? "Identity"
                                : what == 1 ? "Constant"
                                            : NULL,
                                (int64_t)toy_random(&random, 500), bytes, what == 1 ? 0 : n_in, in);
        if (what == 2)
            t->types.value[out.i] = t->known;
        if (what > 8)
            toy_last_cost(t)->workspace_bytes = 1 + (int64_t)toy_random(&random, 9000);
        if (toy_random(&random, 20) == 0 || i == n_ops - 1)
            toy_output(t, out);
        made[n_made++] = out;
    }
    for (int32_t done = 0; done < n_ops; done += sizes[n_units++]) {
        int32_t size = 1 + (int32_t)toy_random(&random, 5);
        sizes[n_units] = size < n_ops - done ? size : n_ops - done;
    }
    toy_units(t, n_units, sizes);
}

#endif
