#include "compile/program.h"

#include <assert.h>

#include "compile/offset_allocator.h"
#include "cost/op_time.h"
#include "graph/ops.h"
#include "graph/states.h"

/* One pass in execution order numbers the slots, a second resolves what each operator reads to
 * slots and initialisers. All sums that a candidate can make are bounded here, so later stages add
 * without checks.
 *
 * Then the nets: a slot read in another unit is one; constants, folded values and model inputs
 * never are, since every device can have its own copy. A position where an operator reads another
 * unit's net starts a segment, as does each unit. What follows depends on the number of segments
 * and nets, not of operators, so a schedule is as cheap as the cut is small.
 */
#define BYTES_MAX (INT64_MAX / 8) /* of everything together */
#define TIME_MAX  (INT64_MAX / 8)

typedef struct {
    clv_program *p;
    const clv_graph *g;
    clv_arena *arena;
    int32_t *slot_of;     /* n_tensors; -1 */
    int32_t *weight_seen; /* graph's n_weights: position + 1 of the last reader */
    int64_t sum_bytes;
    int32_t *unit_of; /* n_ops, by position */
    uint8_t *starts;  /* n_ops: a segment starts here */
    int32_t n_cross;  /* reads across units, at least the number of edges */
    clv_states states;
} builder;

static clv_op op_at(const clv_program *p, int32_t position)
{
    return p->workload.units->order[position];
}

/* -- slots and reads -- */

static clv_status add_bytes(builder *b, int64_t bytes, clv_op op, clv_error *err)
{
    if (bytes > BYTES_MAX || b->sum_bytes > BYTES_MAX - clv_align_bytes(bytes)) {
        clv_str label = clv_op_at(b->g, op)->label;
        return clv_fail(err, CLV_ELIMIT,
                        "operator '%.*s': with its %lld bytes the tensors of the model are more "
                        "than 64 bits can count",
                        CLV_STR_ARG(label), (long long)bytes);
    }
    b->sum_bytes += clv_align_bytes(bytes);
    return CLV_OK;
}

static int32_t add_slot(builder *b, clv_tensor t, int32_t position, unsigned flags)
{
    clv_program *p = b->p;
    int32_t slot = p->n_slots++;
    int64_t bytes = p->workload.types->bytes[t.i];
    b->slot_of[t.i] = slot;
    p->tensor_of[slot] = t;
    p->bytes[slot] = bytes > 0 ? bytes : 0;
    p->position[slot] = position;
    p->view_of[slot] = CLV_VIEW_NONE;
    p->flags[slot] = (uint8_t)flags;
    return slot;
}

/* The slot whose memory output 0 of a view is. */
static int32_t viewed_slot(const builder *b, const clv_op_info *op)
{
    clv_tensor t = clv_op_viewed(b->g, op);
    if (t.i < 0)
        return CLV_VIEW_NONE;
    if (clv_tensor_at(b->g, t)->role == CLV_TENSOR_WEIGHT)
        return CLV_VIEW_OF_WEIGHT;
    return b->slot_of[t.i];
}

/* Flags of an output of the model. */
static unsigned output_flags(const builder *b, clv_tensor t)
{
    int32_t state = b->states.of_out[t.i];
    if (!clv_tensor_at(b->g, t)->is_output)
        return 0;
    if (state < 0)
        return CLV_SLOT_OUTPUT;
    bool in_place = b->p->workload.types->bytes[b->states.at[state].in.i] == 0;
    return CLV_SLOT_OUTPUT | CLV_SLOT_STATE | (in_place ? CLV_SLOT_KEPT : 0);
}

static clv_status number_outputs(builder *b, int32_t position, clv_error *err)
{
    const clv_types *types = b->p->workload.types;
    clv_op id = op_at(b->p, position);
    const clv_op_info *op = clv_op_at(b->g, id);
    bool is_constant = op->kind >= 0 && clv_op_def_at(op->kind)->bytes == CLV_BYTES_CONST;
    b->p->first_write[position] = b->p->n_slots;
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(b->g, op, k);
        if (t.i < 0)
            continue;
        unsigned flags = is_constant ? CLV_SLOT_CONSTANT : 0;
        if (types->value && types->value[t.i])
            flags |= CLV_SLOT_FOLDED;
        int32_t slot = add_slot(b, t, position, flags | output_flags(b, t));
        if (k == 0)
            b->p->view_of[slot] = viewed_slot(b, op);
        CLV_TRY(add_bytes(b, b->p->bytes[slot], id, err));
    }
    b->p->workspace[position] = clv_program_cost(b->p, position)->workspace_bytes;
    return add_bytes(b, b->p->workspace[position], id, err);
}

static clv_status number_slots(builder *b, clv_error *err)
{
    clv_program *p = b->p;
    for (int32_t k = 0; k < b->g->n_inputs; k++) {
        clv_tensor t = b->g->inputs[k];
        int32_t slot = add_slot(b, t, -1, CLV_SLOT_INPUT);
        if (p->bytes[slot] > BYTES_MAX - b->sum_bytes - CLV_MEMORY_ALIGN)
            return clv_fail(err, CLV_ELIMIT, "input '%.*s' is larger than 64 bits can count",
                            CLV_STR_ARG(clv_tensor_at(b->g, t)->name));
        b->sum_bytes += clv_align_bytes(p->bytes[slot]);
    }
    for (int32_t i = 0; i < b->states.n; i++)
        p->flags[b->slot_of[b->states.at[i].in.i]] |= CLV_SLOT_STATE;
    for (int32_t i = 0; i < p->n_ops; i++)
        CLV_TRY(number_outputs(b, i, err));
    p->first_write[p->n_ops] = p->n_slots;
    return CLV_OK;
}

/* Has it bodies, which may own weights? */
static bool has_body(const clv_op_info *op)
{
    return op->kind == CLV_OPKIND_FUNCTION ||
           (op->kind >= 0 && (clv_op_def_at(op->kind)->flags & CLV_OPF_CONTROL));
}

static clv_status resolve_reads(builder *b, clv_error *err)
{
    clv_program *p = b->p;
    int32_t n_reads = 0, n_weight_reads = 0;
    for (int32_t i = 0; i < p->n_ops; i++) {
        const clv_op_info *op = clv_op_at(b->g, op_at(p, i));
        int64_t direct_bytes = 0;
        p->first_read[i] = n_reads;
        p->first_weight[i] = n_weight_reads;
        for (int32_t k = 0; k < op->n_in; k++) {
            clv_tensor t = clv_op_input(b->g, op, k);
            int32_t weight = t.i < 0 ? -1 : clv_tensor_at(b->g, t)->weight;
            if (t.i >= 0 && b->slot_of[t.i] >= 0)
                p->reads[n_reads++] = b->slot_of[t.i];
            else if (weight >= 0 && b->weight_seen[weight] != i + 1) {
                b->weight_seen[weight] = i + 1;
                p->weight_reads[n_weight_reads++] = weight;
                direct_bytes = clv_add_saturated(direct_bytes, p->weight_bytes[weight]);
            }
        }
        /* what its bodies own besides the main graph's initialisers */
        int64_t own_bytes = clv_program_cost(p, i)->weight_bytes - direct_bytes;
        if (!has_body(op) || own_bytes <= 0)
            continue;
        p->weight_bytes[p->n_weights] = own_bytes;
        p->weight_reads[n_weight_reads++] = p->n_weights++;
        CLV_TRY(add_bytes(b, own_bytes, op_at(p, i), err));
    }
    p->first_read[p->n_ops] = n_reads;
    p->first_weight[p->n_ops] = n_weight_reads;
    return CLV_OK;
}

static clv_status add_weights(builder *b, clv_error *err)
{
    clv_program *p = b->p;
    p->n_weights = b->g->n_weights;
    for (int32_t w = 0; w < p->n_weights; w++) {
        int64_t bytes = b->g->weights[w].bytes;
        if (bytes > BYTES_MAX - b->sum_bytes)
            return clv_fail(err, CLV_ELIMIT,
                            "initialiser '%.*s': with its %lld bytes the tensors of the model are "
                            "more than 64 bits can count",
                            CLV_STR_ARG(b->g->weights[w].name), (long long)bytes);
        p->weight_bytes[w] = bytes;
        b->sum_bytes += bytes;
    }
    return CLV_OK;
}

/* Everything whose number is known before looking at operators' inputs. */
static bool allocate_slots(builder *b, clv_arena *scratch)
{
    clv_program *p = b->p;
    const clv_graph *g = b->g;
    int64_t n_slots = g->n_inputs, n_reads = 0, n_weight_reads = 0, n_owners = 0;
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        n_slots += op->n_out;
        n_owners += has_body(op);
        for (int32_t k = 0; k < op->n_in; k++) {
            clv_tensor t = clv_op_input(g, op, k);
            bool is_weight = t.i >= 0 && clv_tensor_at(g, t)->weight >= 0;
            n_reads += t.i >= 0 && !is_weight;
            n_weight_reads += is_weight;
        }
    }
    clv_arena *a = b->arena;
    p->tensor_of = CLV_NEW_ROOM(a, clv_tensor, n_slots);
    p->bytes = CLV_NEW_ROOM(a, int64_t, n_slots);
    p->position = CLV_NEW_ROOM(a, int32_t, n_slots);
    p->view_of = CLV_NEW_ROOM(a, int32_t, n_slots);
    p->net_of = CLV_NEW_ROOM(a, int32_t, n_slots);
    p->flags = CLV_NEW_ROOM(a, uint8_t, n_slots);
    p->first_write = CLV_NEW_ROOM(a, int32_t, p->n_ops + 1);
    p->first_read = CLV_NEW_ROOM(a, int32_t, p->n_ops + 1);
    p->reads = CLV_NEW_ROOM(a, int32_t, n_reads);
    p->kernel_end = CLV_NEW_ROOM(a, int32_t, p->n_ops);
    p->workspace = CLV_NEW_ROOM(a, int64_t, p->n_ops);
    p->first_weight = CLV_NEW_ROOM(a, int32_t, p->n_ops + 1);
    p->weight_reads = CLV_NEW_ROOM(a, int32_t, n_weight_reads + n_owners);
    p->weight_bytes = CLV_NEW_ROOM(a, int64_t, g->n_weights + n_owners);
    p->prefix_ns = CLV_NEW_ARRAY(a, int64_t *, p->workload.cluster->n_kinds);
    b->slot_of = CLV_NEW_ROOM(scratch, int32_t, g->n_tensors);
    b->weight_seen = CLV_NEW_ARRAY(scratch, int32_t, g->n_weights);
    b->unit_of = CLV_NEW_ROOM(scratch, int32_t, p->n_ops);
    b->starts = CLV_NEW_ARRAY(scratch, uint8_t, p->n_ops);
    return p->tensor_of && p->bytes && p->position && p->view_of && p->net_of && p->flags &&
           p->first_write && p->first_read && p->reads && p->kernel_end && p->workspace &&
           p->first_weight && p->weight_reads && p->weight_bytes && p->prefix_ns && b->slot_of &&
           b->weight_seen && b->unit_of && b->starts;
}

/* -- nets, segments and edges -- */

static bool crosses(const builder *b, int32_t slot, int32_t position)
{
    int32_t writer = b->p->position[slot];
    return writer >= 0 && b->unit_of[writer] != b->unit_of[position] &&
           !(b->p->flags[slot] & (CLV_SLOT_CONSTANT | CLV_SLOT_FOLDED));
}

/* Numbers the nets in net_of and marks where segments start: at units, and at positions that read a
 * net. */
static void number_nets(builder *b)
{
    clv_program *p = b->p;
    for (int32_t u = 0; u < p->n_units; u++) {
        const clv_subgraph *unit = &p->workload.units->at[u];
        for (int32_t k = 0; k < unit->n; k++)
            b->unit_of[unit->first + k] = u;
        if (unit->n > 0)
            b->starts[unit->first] = 1;
    }
    for (int32_t s = 0; s < p->n_slots; s++)
        p->net_of[s] = -1;
    for (int32_t i = 0; i < p->n_ops; i++) {
        for (int32_t r = p->first_read[i]; r < p->first_read[i + 1]; r++) {
            if (!crosses(b, p->reads[r], i))
                continue;
            p->net_of[p->reads[r]] = 0; /* numbered below */
            b->starts[i] = 1;
            b->n_cross++;
        }
        p->n_segments += b->starts[i];
    }
    for (int32_t s = 0; s < p->n_slots; s++)
        if (p->net_of[s] == 0) {
            int64_t whole = clv_bytes_outside(p->workload.types, p->tensor_of[s]);
            p->net_of[s] = p->n_nets++;
            if (whole > p->bytes[s] && whole <= BYTES_MAX - b->sum_bytes) {
                p->bytes[s] = whole; /* what leaves its kernel is stored */
                b->sum_bytes += whole;
            }
        }
}

/* -- kernels -- */

/* The kernel that a collective parts, as it brings elsewhere what would stay inside; -1. */
static int32_t parted_kernel(const builder *b, clv_op op)
{
    const clv_costs *costs = b->p->workload.costs;
    const clv_op_info *info = clv_op_at(b->g, op);
    if (costs->of[op.i].link_ns == 0 || info->n_in == 0)
        return -1;
    clv_tensor t = clv_op_input(b->g, info, 0);
    clv_op writer = t.i < 0 ? CLV_NO_OP : clv_tensor_at(b->g, t)->producer;
    return writer.i < 0 ? -1 : costs->held_by[writer.i];
}

/* The end of a kernel holds the workspace of the one of its operators that wants most. */
static void hold_workspace(clv_program *p, int32_t position, int32_t end)
{
    if (position == end)
        return;
    if (p->workspace[position] > p->workspace[end])
        p->workspace[end] = p->workspace[position];
    p->workspace[position] = 0;
}

/* O(ops). Needs unit_of. */
static clv_status find_kernel_ends(builder *b, clv_arena *scratch, clv_error *err)
{
    clv_program *p = b->p;
    const int32_t *held_by = p->workload.costs->held_by;
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_ops; i++) {
        p->kernel_end[i] = i;
        n = held_by && held_by[i] >= n ? held_by[i] + 1 : n;
    }
    int32_t *end_of = CLV_NEW_ROOM(scratch, int32_t, n); /* the last one met, from the back */
    if (!end_of)
        return clv_fail_nomem(err, "the program");
    for (int32_t k = 0; k < n; k++)
        end_of[k] = -1;
    for (int32_t i = p->n_ops; held_by && i-- > 0;) {
        clv_op op = p->workload.units->order[i];
        int32_t k = held_by[op.i], parted = parted_kernel(b, op);
        if (parted >= 0)
            end_of[parted] = -1;
        if (k < 0)
            continue;
        if (end_of[k] < 0 || b->unit_of[end_of[k]] != b->unit_of[i])
            end_of[k] = i;
        p->kernel_end[i] = end_of[k];
        hold_workspace(p, i, end_of[k]);
    }
    return CLV_OK;
}

static bool allocate_nets(builder *b)
{
    clv_program *p = b->p;
    clv_arena *a = b->arena;
    p->unit_segment = CLV_NEW_ROOM(a, int32_t, p->n_units + 1);
    p->segment_first = CLV_NEW_ROOM(a, int32_t, p->n_segments + 1);
    p->segment_unit = CLV_NEW_ROOM(a, int32_t, p->n_segments);
    p->segment_edge = CLV_NEW_ROOM(a, int32_t, p->n_segments + 1);
    p->segment_net = CLV_NEW_ROOM(a, int32_t, p->n_segments + 1);
    p->edge_segment = CLV_NEW_ROOM(a, int32_t, b->n_cross);
    p->edge_net = CLV_NEW_ROOM(a, int32_t, b->n_cross);
    p->net_slot = CLV_NEW_ROOM(a, int32_t, p->n_nets);
    p->net_edge = CLV_NEW_ARRAY(a, int32_t, p->n_nets + 1);
    p->net_edges = CLV_NEW_ROOM(a, int32_t, b->n_cross);
    return p->unit_segment && p->segment_first && p->segment_unit && p->segment_edge &&
           p->segment_net && p->edge_segment && p->edge_net && p->net_slot && p->net_edge &&
           p->net_edges;
}

/* seen: n_nets, the segment + 1 that read a net last, so that each net is an edge once. */
static void build_segments(builder *b, int32_t *seen)
{
    clv_program *p = b->p;
    int32_t segment = 0, net = 0;
    for (int32_t i = 0; i < p->n_ops; i++) {
        if (!b->starts[i])
            continue;
        p->segment_first[segment] = i;
        p->segment_unit[segment] = b->unit_of[i];
        p->segment_edge[segment] = p->n_edges;
        while (net < p->n_nets && p->position[p->net_slot[net]] < i)
            net++;
        p->segment_net[segment] = net;
        for (int32_t r = p->first_read[i]; r < p->first_read[i + 1]; r++) {
            int32_t slot = p->reads[r];
            if (!crosses(b, slot, i) || seen[p->net_of[slot]] == segment + 1)
                continue;
            seen[p->net_of[slot]] = segment + 1;
            p->edge_segment[p->n_edges] = segment;
            p->edge_net[p->n_edges++] = p->net_of[slot];
        }
        segment++;
    }
    p->segment_first[segment] = p->n_ops;
    p->segment_edge[segment] = p->n_edges;
    p->segment_net[segment] = p->n_nets;
}

/* O(ops + edges). */
static clv_status build_nets(builder *b, clv_arena *scratch, clv_error *err)
{
    clv_program *p = b->p;
    number_nets(b);
    CLV_TRY(find_kernel_ends(b, scratch, err));
    int32_t *seen = CLV_NEW_ARRAY(scratch, int32_t, p->n_nets);
    int32_t *next = CLV_NEW_ROOM(scratch, int32_t, p->n_nets);
    if (!seen || !next || !allocate_nets(b))
        return clv_fail_nomem(err, "the cuts");
    for (int32_t s = 0; s < p->n_slots; s++)
        if (p->net_of[s] >= 0)
            p->net_slot[p->net_of[s]] = s;
    build_segments(b, seen);
    int32_t segment = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        p->unit_segment[u] = segment;
        while (segment < p->n_segments && p->segment_unit[segment] == u)
            segment++;
    }
    p->unit_segment[p->n_units] = segment;
    /* counting sort: edges of each net, ascending */
    for (int32_t e = 0; e < p->n_edges; e++)
        p->net_edge[p->edge_net[e] + 1]++;
    for (int32_t n = 0; n < p->n_nets; n++) {
        p->net_edge[n + 1] += p->net_edge[n];
        next[n] = p->net_edge[n];
    }
    for (int32_t e = 0; e < p->n_edges; e++)
        p->net_edges[next[p->edge_net[e]]++] = e;
    return CLV_OK;
}

/* -- the whole -- */

clv_status clv_program_prefix_ns(const clv_program *p, int32_t kind, double proportion,
                                 clv_arena *arena, int64_t **ret, clv_error *err)
{
    const clv_device_kind *k = &p->workload.cluster->kinds[kind];
    int64_t *prefix_ns = CLV_NEW_ARRAY(arena, int64_t, p->n_ops + 1);
    if (!prefix_ns)
        return clv_fail_nomem(err, "operator times");
    for (int32_t i = 0; i < p->n_ops; i++) {
        const clv_op_cost *cost = clv_program_cost(p, i);
        int64_t workspace = clv_op_workspace(cost->workspace_bytes, k, proportion);
        int64_t ns = clv_op_time_ns(cost, k, workspace);
        if (ns > TIME_MAX - prefix_ns[i])
            return clv_fail(err, CLV_ELIMIT,
                            "operator '%.*s' would take %lld ns on a %s, more than 64 bits can add",
                            CLV_STR_ARG(clv_op_at(p->workload.units->graph, op_at(p, i))->label),
                            (long long)ns, k->name);
        prefix_ns[i + 1] = prefix_ns[i] + ns;
    }
    *ret = prefix_ns;
    return CLV_OK;
}

static clv_status build(builder *b, clv_arena *scratch, clv_error *err)
{
    clv_program *p = b->p;
    if (!allocate_slots(b, scratch))
        return clv_fail_nomem(err, "the program");
    for (int32_t t = 0; t < b->g->n_tensors; t++)
        b->slot_of[t] = -1;
    CLV_TRY(add_weights(b, err));
    CLV_TRY(number_slots(b, err));
    CLV_TRY(resolve_reads(b, err));
    CLV_TRY(build_nets(b, scratch, err));
    for (int32_t kind = 0; kind < p->workload.cluster->n_kinds; kind++)
        CLV_TRY(clv_program_prefix_ns(p, kind, 0, b->arena, &p->prefix_ns[kind], err));
    return CLV_OK;
}

clv_status clv_program_build(const clv_workload *workload, clv_arena *arena, clv_program **ret,
                             clv_error *err)
{
    const clv_graph *g = workload->units->graph;
    assert(g && workload->types->graph == g && workload->costs->graph == g);
    clv_program *p = CLV_NEW(arena, clv_program);
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_status status = CLV_OK;
    if (!p || !scratch) {
        status = clv_fail_nomem(err, "the program");
        goto done;
    }
    p->workload = *workload;
    p->n_ops = g->n_ops;
    p->n_units = workload->units->n;
    builder b = { .p = p, .g = g, .arena = arena };
    status = clv_states_find(workload->types, scratch, &b.states, err);
    if (status == CLV_OK)
        status = build(&b, scratch, err);
    if (status == CLV_OK)
        *ret = p;
done:
    clv_arena_free(scratch);
    return status;
}
