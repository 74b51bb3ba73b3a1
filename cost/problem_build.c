#include "cost/problem_build.h"

#include "cost/op_time.h"
#include "cost/weight_sums.h"
#include "cost/weights.h"
#include "graph/constant.h"
#include "graph/ops.h"

/* Nanoseconds, of all operators together: later stages add sums of a few such numbers without
 * looking. */
#define TIME_MAX_NS (INT64_MAX / 8)
/* Ports that all routes take together, 64 MiB of numbers. More only where devices in a long row
 * have links to their neighbours alone. */
#define ROUTE_PORTS_MAX (INT64_C(1) << 24)

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    const clv_costs *costs;
    const clv_subgraphs *units;
    const clv_cluster *cluster;
    clv_arena *arena, *scratch;
    clv_partition_problem *p;
    /* scratch: reads across units, each once for a unit and a net, in order of the unit */
    bool *constant;  /* n_ops */
    int32_t *net_of; /* n_tensors; -1 */
    int32_t *reader_unit, *reader_net;
    clv_op *reader_op; /* the first of the unit */
    clv_op *net_op;    /* n_nets: the writer */
    int32_t n_reads;
} builder;

/* -- units -- */

static clv_status add_weights(builder *b, clv_error *err)
{
    int64_t *bytes = CLV_NEW_ARRAY(b->arena, int64_t, b->p->n_units);
    int64_t *flops = CLV_NEW_ARRAY(b->arena, int64_t, b->p->n_units);
    clv_weight_sums w;
    if (!bytes || !flops)
        return clv_fail_nomem(err, "the problem");
    CLV_TRY(clv_weight_sums_init(&w, b->costs, b->scratch, err));
    for (int32_t i = 0; i < b->g->n_ops; i++) { /* unit by unit: the first reader's unit has it */
        clv_op op = b->units->order[i];
        int32_t u = b->units->of[op.i];
        bytes[u] = clv_weight_add(bytes[u], clv_weight_sums_of(&w, op, 1));
        flops[u] = clv_weight_add(flops[u], b->costs->of[op.i].flops);
    }
    b->p->weight_bytes = bytes;
    b->p->flops = flops;
    return CLV_OK;
}

/* time: of each unit. starts, ends: of each operator, from the start of its unit. */
static clv_status add_kind_times(builder *b, const clv_device_kind *kind, int64_t *time,
                                 int64_t *starts, int64_t *ends, clv_error *err)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < b->g->n_ops; k++) {
        int32_t i = b->units->order[k].i, unit = b->units->of[i];
        const clv_op_cost *cost = &b->costs->of[i];
        int64_t workspace = clv_op_workspace(cost->workspace_bytes, kind, 0);
        int64_t ns = clv_op_time_ns(cost, kind, workspace);
        if (ns > TIME_MAX_NS - sum)
            return clv_fail(err, CLV_ELIMIT,
                            "operator '%.*s' would take %lld ns on a %s, more than 64 bits can add",
                            CLV_STR_ARG(b->g->ops[i].label), (long long)ns, kind->name);
        sum += ns;
        starts[i] = time[unit];
        ends[i] = time[unit] += ns;
    }
    return CLV_OK;
}

/* -- devices -- */

/* Numbers the ports that routes between these devices take, by first use. False: links are as good
 * as ports, for none is taken by two; or routes are too long. number: n_ports of the cluster. */
static bool number_ports(builder *b, int32_t *number, int64_t *n_taken)
{
    const clv_cluster *c = b->cluster;
    size_t n = (size_t)c->n_devices * (size_t)c->n_devices;
    bool shared = false;
    for (int32_t i = 0; i < c->n_ports; i++)
        number[i] = -1;
    *n_taken = 0;
    for (size_t link = 0; link < n; link++) {
        for (int32_t i = 0; i < c->routes[link].n_ports; i++) {
            int32_t port = c->routes[link].ports[i];
            shared |= number[port] >= 0;
            if (number[port] < 0)
                number[port] = b->p->n_ports++;
        }
        *n_taken += c->routes[link].n_ports;
    }
    return shared && *n_taken <= ROUTE_PORTS_MAX;
}

static clv_status add_ports(builder *b, clv_error *err)
{
    const clv_cluster *c = b->cluster;
    size_t n = (size_t)c->n_devices * (size_t)c->n_devices;
    int64_t n_taken;
    int32_t *number = CLV_NEW_ARRAY(b->scratch, int32_t, c->n_ports);
    if (!number)
        return clv_fail_nomem(err, "the problem");
    if (!number_ports(b, number, &n_taken)) {
        b->p->n_ports = 0;
        return CLV_OK;
    }
    int32_t *first = CLV_NEW_ARRAY(b->arena, int32_t, n + 1);
    int32_t *ports = CLV_NEW_ARRAY(b->arena, int32_t, n_taken);
    if (!first || !ports)
        return clv_fail_nomem(err, "the problem");
    for (size_t link = 0; link < n; link++) {
        first[link + 1] = first[link];
        for (int32_t i = 0; i < c->routes[link].n_ports; i++)
            ports[first[link + 1]++] = number[c->routes[link].ports[i]];
    }
    b->p->link_first_port = first;
    b->p->link_ports = ports;
    return CLV_OK;
}

static clv_status add_devices(builder *b, clv_error *err)
{
    size_t n = (size_t)b->p->n_devices;
    int32_t *kind_of = CLV_NEW_ARRAY(b->arena, int32_t, n);
    int64_t *capacity = CLV_NEW_ARRAY(b->arena, int64_t, n);
    int64_t *latency = clv_arena_take_array(b->arena, n * n, sizeof *latency);
    double *rate = clv_arena_take_array(b->arena, n * n, sizeof *rate);
    if (!kind_of || !capacity || !latency || !rate)
        return clv_fail_nomem(err, "the problem");
    for (size_t d = 0; d < n; d++) {
        const clv_device_kind *kind = clv_device_kind_of(b->cluster, (int32_t)d);
        kind_of[d] = b->cluster->devices[d].kind;
        capacity[d] = clv_device_capacity(kind);
    }
    for (size_t i = 0; i < n * n; i++) {
        latency[i] = b->cluster->routes[i].latency_ns;
        rate[i] = b->cluster->routes[i].bytes_per_s;
    }
    b->p->kind_of = kind_of;
    b->p->capacity_bytes = capacity;
    b->p->link_latency_ns = latency;
    b->p->link_bytes_per_s = rate;
    return add_ports(b, err);
}

/* -- nets -- */

/* A tensor that has a reader in another unit gets a number, by unit of the writer; but not outputs
 * of Constant nodes, and small values made of those and of weights alone: each device has them. */
static int32_t number_nets(builder *b)
{
    int32_t n = 0;
    for (int32_t t = 0; t < b->g->n_tensors; t++)
        b->net_of[t] = -1;
    for (int32_t i = 0; i < b->g->n_ops; i++) {
        clv_op op = b->units->order[i];
        const clv_op_info *info = clv_op_at(b->g, op);
        for (int32_t k = 0; k < info->n_out; k++) {
            clv_tensor t = clv_op_output(b->g, info, k);
            if (t.i < 0 || (b->types->value[t.i] && b->constant[op.i]) ||
                (info->kind >= 0 && clv_op_def_at(info->kind)->bytes == CLV_BYTES_CONST))
                continue;
            const clv_tensor_info *at = clv_tensor_at(b->g, t);
            bool leaves = false;
            for (int32_t r = 0; r < at->n_readers && !leaves; r++)
                leaves =
                    b->units->of[b->g->readers_of[at->first_reader + r].i] != b->units->of[op.i];
            if (leaves)
                b->net_of[t.i] = n++;
        }
    }
    return n;
}

/* last: n_nets, the unit + 1 that read a net last. */
static void list_reads(builder *b, int32_t *last)
{
    for (int32_t i = 0; i < b->g->n_ops; i++) {
        clv_op op = b->units->order[i];
        const clv_op_info *info = clv_op_at(b->g, op);
        int32_t unit = b->units->of[op.i];
        for (int32_t k = 0; k < info->n_in; k++) {
            clv_tensor t = clv_op_input(b->g, info, k);
            int32_t net = t.i < 0 ? -1 : b->net_of[t.i];
            if (net < 0 || b->p->net_from[net] == unit || last[net] == unit + 1)
                continue;
            last[net] = unit + 1;
            b->reader_unit[b->n_reads] = unit;
            b->reader_op[b->n_reads] = op;
            b->reader_net[b->n_reads++] = net;
        }
    }
}

/* Values by key: those of key k are at[first[k]] on, in the order they came. */
typedef struct {
    const int32_t *first, *at;
} groups;

static clv_status group_by(builder *b, int32_t n_keys, const int32_t *key, const int32_t *value,
                           groups *ret, clv_error *err)
{
    int32_t *first = CLV_NEW_ARRAY(b->arena, int32_t, (size_t)n_keys + 1);
    int32_t *to = CLV_NEW_ARRAY(b->arena, int32_t, b->n_reads);
    int32_t *next = CLV_NEW_ARRAY(b->scratch, int32_t, (size_t)n_keys + 1);
    if (!first || !to || !next)
        return clv_fail_nomem(err, "the problem");
    for (int32_t i = 0; i < b->n_reads; i++)
        first[key[i] + 1]++;
    for (int32_t k = 0; k < n_keys; k++)
        next[k + 1] = first[k + 1] += first[k];
    for (int32_t i = 0; i < b->n_reads; i++)
        to[next[key[i]]++] = value[i];
    *ret = (groups){ first, to };
    return CLV_OK;
}

static clv_status add_nets(builder *b, clv_error *err)
{
    clv_partition_problem *p = b->p;
    groups readers, reads;
    int64_t n_edges = 0;
    for (int32_t i = 0; i < b->g->n_ops; i++)
        n_edges += b->g->ops[i].n_in;
    b->net_of = CLV_NEW_ARRAY(b->scratch, int32_t, b->g->n_tensors);
    b->reader_unit = CLV_NEW_ARRAY(b->scratch, int32_t, n_edges);
    b->reader_net = CLV_NEW_ARRAY(b->scratch, int32_t, n_edges);
    b->reader_op = CLV_NEW_ARRAY(b->scratch, clv_op, n_edges);
    if (!b->net_of || !b->reader_unit || !b->reader_net || !b->reader_op)
        return clv_fail_nomem(err, "the problem");
    CLV_TRY(clv_constant_ops(b->g, b->scratch, &b->constant, err));
    int32_t n = number_nets(b);
    int32_t *from = CLV_NEW_ARRAY(b->arena, int32_t, n);
    int64_t *bytes = CLV_NEW_ARRAY(b->arena, int64_t, n);
    bool *known = CLV_NEW_ARRAY(b->arena, bool, n);
    int32_t *first = CLV_NEW_ARRAY(b->arena, int32_t, (size_t)p->n_units + 1);
    int32_t *last = CLV_NEW_ARRAY(b->scratch, int32_t, n);
    b->net_op = CLV_NEW_ARRAY(b->scratch, clv_op, n);
    if (!from || !bytes || !known || !first || !last || !b->net_op)
        return clv_fail_nomem(err, "the problem");
    for (int32_t t = 0; t < b->g->n_tensors; t++) {
        int32_t net = b->net_of[t];
        if (net < 0)
            continue;
        b->net_op[net] = b->g->tensors[t].producer;
        from[net] = b->units->of[b->net_op[net].i];
        first[from[net] + 1]++;
        known[net] = b->types->value[t] != NULL; /* an order, but nothing to send */
        int64_t whole = clv_bytes_outside(b->types, (clv_tensor){ t });
        bytes[net] = !known[net] && whole > 0 ? whole : 0;
    }
    for (int32_t u = 0; u < p->n_units; u++)
        first[u + 1] += first[u];
    p->n_nets = n;
    p->net_from = from;
    p->net_bytes = bytes;
    p->net_known = known;
    p->unit_first_net = first;
    list_reads(b, last);
    CLV_TRY(group_by(b, n, b->reader_net, b->reader_unit, &readers, err));
    CLV_TRY(group_by(b, p->n_units, b->reader_unit, b->reader_net, &reads, err));
    p->net_first = readers.first;
    p->net_to = readers.at;
    p->reads_first = reads.first;
    p->reads = reads.at;
    return CLV_OK;
}

/* -- times -- */

/* One pass over operators, reads and nets, all of which are in the same order. */
static clv_status count_net_reads(builder *b, clv_error *err)
{
    int32_t *reads = CLV_NEW_ARRAY(b->arena, int32_t, b->p->n_nets);
    int32_t *position = CLV_NEW_ARRAY(b->scratch, int32_t, b->g->n_ops);
    if (!reads || !position)
        return clv_fail_nomem(err, "the problem");
    for (int32_t i = 0; i < b->g->n_ops; i++)
        position[b->units->order[i].i] = i;
    for (int32_t net = 0, read = 0; net < b->p->n_nets; net++) {
        int32_t unit = b->p->net_from[net], first = b->p->reads_first[unit];
        read = read < first ? first : read;
        while (read < b->p->reads_first[unit + 1] &&
               position[b->reader_op[read].i] <= position[b->net_op[net].i])
            read++;
        reads[net] = read - first;
    }
    b->p->net_reads = reads;
    return CLV_OK;
}

static clv_status add_times(builder *b, clv_error *err)
{
    size_t units = (size_t)b->p->n_units, nets = (size_t)b->p->n_nets, reads = (size_t)b->n_reads,
           kinds = (size_t)b->p->n_kinds;
    int64_t *time = clv_arena_take_array(b->arena, units * kinds, sizeof *time);
    int64_t *ready = clv_arena_take_array(b->arena, nets * kinds, sizeof *ready);
    int64_t *after = clv_arena_take_array(b->arena, reads * kinds, sizeof *after);
    int64_t *starts = CLV_NEW_ARRAY(b->scratch, int64_t, b->g->n_ops);
    int64_t *ends = CLV_NEW_ARRAY(b->scratch, int64_t, b->g->n_ops);
    if (!time || !ready || !after || !starts || !ends)
        return clv_fail_nomem(err, "the problem");
    for (size_t k = 0; k < kinds; k++) {
        CLV_TRY(add_kind_times(b, &b->cluster->kinds[k], time + k * units, starts, ends, err));
        for (size_t net = 0; net < nets; net++)
            ready[k * nets + net] = ends[b->net_op[net].i];
        for (size_t i = 0; i < reads; i++)
            after[k * reads + i] = starts[b->reader_op[i].i];
    }
    b->p->time_ns = time;
    b->p->net_ready_ns = ready;
    b->p->read_after_ns = after;
    return count_net_reads(b, err);
}

clv_status clv_problem_build(const clv_costs *costs, const clv_subgraphs *units,
                             const clv_cluster *cluster, clv_arena *arena,
                             clv_partition_problem **ret, clv_error *err)
{
    builder b = { .types = costs->types,
                  .g = costs->graph,
                  .costs = costs,
                  .units = units,
                  .cluster = cluster,
                  .arena = arena,
                  .scratch = clv_arena_new(clv_arena_alloc(arena), 0),
                  .p = CLV_NEW(arena, clv_partition_problem) };
    clv_status status = b.p && b.scratch ? CLV_OK : clv_fail_nomem(err, "the problem");
    if (status == CLV_OK) {
        b.p->n_units = units->n;
        b.p->n_devices = cluster->n_devices;
        b.p->n_kinds = cluster->n_kinds;
        status = add_devices(&b, err);
    }
    if (status == CLV_OK)
        status = add_weights(&b, err);
    if (status == CLV_OK)
        status = add_nets(&b, err);
    if (status == CLV_OK)
        status = add_times(&b, err);
    clv_arena_free(b.scratch);
    if (status == CLV_OK)
        *ret = b.p;
    return status;
}
