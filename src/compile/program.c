#include "compile/program.h"

#include <assert.h>

#include "compile/addresses.h"
#include "compile/cuts.h"
#include "graph/ops.h"

/* One pass in execution order numbers the slots, a second resolves what each operator reads to
 * slots and initialisers. cuts.c then finds what can leave a unit. All sums that a candidate can
 * make are bounded here, so later stages add without checks.
 */
#define BYTES_MAX (INT64_MAX / 8) /* of everything together */
#define TIME_MAX  (INT64_MAX / 8)

typedef struct {
    clv_program *p;
    const clv_graph *g;
    clv_arena *arena;
    int32_t *slot_of;     /* n_tensors; -1 */
    int32_t *weight_seen; /* graph's n_weights: position + 1 of the last reader */
    int64_t sum;
    clv_error *err;
} builder;

static clv_op op_at(const clv_program *p, int32_t position)
{
    return p->workload.units->order[position];
}

static clv_status add_bytes(builder *b, int64_t bytes, clv_op op)
{
    if (bytes > BYTES_MAX || b->sum > BYTES_MAX - clv_align_bytes(bytes)) {
        clv_str label = clv_op_at(b->g, op)->label;
        return clv_fail(b->err, CLV_ELIMIT,
                        "operator '%.*s': with its %lld bytes the tensors of the model are more "
                        "than 64 bits can count",
                        CLV_STR_ARG(label), (long long)bytes);
    }
    b->sum += clv_align_bytes(bytes);
    return CLV_OK;
}

static uint8_t flags_of(const builder *b, const clv_op_info *op, clv_tensor t)
{
    const clv_types *types = b->p->workload.types;
    unsigned flags = 0;
    if (op->kind >= 0 && clv_op_def_at(op->kind)->bytes == CLV_BYTES_CONST)
        flags |= CLV_SLOT_CONSTANT;
    if (types->value && types->value[t.i])
        flags |= CLV_SLOT_FOLDED;
    if (clv_tensor_at(b->g, t)->is_output)
        flags |= CLV_SLOT_OUTPUT;
    return (uint8_t)flags;
}

static int32_t add_slot(builder *b, clv_tensor t, int32_t position, uint8_t flags)
{
    clv_program *p = b->p;
    int32_t slot = p->n_slots++;
    int64_t bytes = p->workload.types->bytes[t.i];
    b->slot_of[t.i] = slot;
    p->tensor_of[slot] = t;
    p->bytes[slot] = bytes > 0 ? bytes : 0;
    p->position[slot] = position;
    p->view_of[slot] = CLV_VIEW_NONE;
    p->flags[slot] = flags;
    return slot;
}

/* The slot whose memory output 0 of a view is. */
static int32_t viewed_slot(const builder *b, const clv_op_info *op)
{
    clv_tensor t = clv_op_n_explicit(op) > 0 ? clv_op_input(b->g, op, 0) : CLV_NO_TENSOR;
    bool is_view = op->kind >= 0 && (clv_op_def_at(op->kind)->flags & CLV_OPF_VIEW);
    if (!is_view || t.i < 0)
        return CLV_VIEW_NONE;
    if (clv_tensor_at(b->g, t)->role == CLV_TENSOR_WEIGHT)
        return CLV_VIEW_OF_WEIGHT;
    return b->slot_of[t.i];
}

static clv_status number_writes(builder *b, int32_t position)
{
    clv_op id = op_at(b->p, position);
    const clv_op_info *op = clv_op_at(b->g, id);
    b->p->first_write[position] = b->p->n_slots;
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(b->g, op, k);
        if (t.i < 0)
            continue;
        int32_t slot = add_slot(b, t, position, flags_of(b, op, t));
        if (k == 0)
            b->p->view_of[slot] = viewed_slot(b, op);
        CLV_TRY(add_bytes(b, b->p->bytes[slot], id));
    }
    return add_bytes(b, clv_program_cost(b->p, position)->workspace_bytes, id);
}

static clv_status number_slots(builder *b)
{
    clv_program *p = b->p;
    for (int32_t k = 0; k < b->g->n_inputs; k++) {
        clv_tensor t = b->g->inputs[k];
        int32_t slot = add_slot(b, t, -1, CLV_SLOT_INPUT);
        if (p->bytes[slot] > BYTES_MAX - b->sum - CLV_MEMORY_ALIGN)
            return clv_fail(b->err, CLV_ELIMIT, "input '%.*s' is larger than 64 bits can count",
                            CLV_STR_ARG(clv_tensor_at(b->g, t)->name));
        b->sum += clv_align_bytes(p->bytes[slot]);
    }
    for (int32_t i = 0; i < p->n_ops; i++)
        CLV_TRY(number_writes(b, i));
    p->first_write[p->n_ops] = p->n_slots;
    return CLV_OK;
}

/* What the bodies of an operator own besides the main graph's initialisers. */
static clv_status add_body_weight(builder *b, int32_t position, int64_t direct, int32_t *n_reads)
{
    clv_program *p = b->p;
    const clv_op_info *op = clv_op_at(b->g, op_at(p, position));
    bool has_body = op->kind == CLV_OPKIND_FUNCTION ||
                    (op->kind >= 0 && (clv_op_def_at(op->kind)->flags & CLV_OPF_CONTROL));
    int64_t own = clv_program_cost(p, position)->weight_bytes - direct;
    if (!has_body || own <= 0)
        return CLV_OK;
    p->weight_bytes[p->n_weights] = own;
    p->weight_reads[(*n_reads)++] = p->n_weights++;
    return add_bytes(b, own, op_at(p, position));
}

static clv_status resolve_reads(builder *b)
{
    clv_program *p = b->p;
    int32_t n_reads = 0, n_weight_reads = 0;
    for (int32_t i = 0; i < p->n_ops; i++) {
        const clv_op_info *op = clv_op_at(b->g, op_at(p, i));
        int64_t direct = 0;
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
                direct = clv_add_saturated(direct, p->weight_bytes[weight]);
            }
        }
        CLV_TRY(add_body_weight(b, i, direct, &n_weight_reads));
    }
    p->first_read[p->n_ops] = n_reads;
    p->first_weight[p->n_ops] = n_weight_reads;
    return CLV_OK;
}

static clv_status take_weights(builder *b)
{
    clv_program *p = b->p;
    p->n_weights = b->g->n_weights;
    for (int32_t w = 0; w < p->n_weights; w++) {
        int64_t bytes = b->g->weights[w].bytes;
        if (bytes > BYTES_MAX - b->sum)
            return clv_fail(b->err, CLV_ELIMIT,
                            "initialiser '%.*s': with its %lld bytes the tensors of the model are "
                            "more than 64 bits can count",
                            CLV_STR_ARG(b->g->weights[w].name), (long long)bytes);
        p->weight_bytes[w] = bytes;
        b->sum += bytes;
    }
    return CLV_OK;
}

/* Room for everything whose number is known before looking at operators' inputs. */
static bool take_room(builder *b, clv_arena *scratch)
{
    clv_program *p = b->p;
    const clv_graph *g = b->g;
    int64_t n_slots = g->n_inputs, n_reads = 0, n_weight_reads = 0, n_owners = 0;
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        n_slots += op->n_out;
        n_owners += op->kind == CLV_OPKIND_FUNCTION ||
                    (op->kind >= 0 && (clv_op_def_at(op->kind)->flags & CLV_OPF_CONTROL));
        for (int32_t k = 0; k < op->n_in; k++) {
            clv_tensor t = clv_op_input(g, op, k);
            bool is_weight = t.i >= 0 && clv_tensor_at(g, t)->weight >= 0;
            n_reads += t.i >= 0 && !is_weight;
            n_weight_reads += is_weight;
        }
    }
    clv_arena *a = b->arena;
    p->tensor_of = CLV_NEW_ARRAY(a, clv_tensor, n_slots);
    p->bytes = CLV_NEW_ARRAY(a, int64_t, n_slots);
    p->position = CLV_NEW_ARRAY(a, int32_t, n_slots);
    p->view_of = CLV_NEW_ARRAY(a, int32_t, n_slots);
    p->net_of = CLV_NEW_ARRAY(a, int32_t, n_slots);
    p->flags = CLV_NEW_ARRAY(a, uint8_t, n_slots);
    p->first_write = CLV_NEW_ARRAY(a, int32_t, p->n_ops + 1);
    p->first_read = CLV_NEW_ARRAY(a, int32_t, p->n_ops + 1);
    p->reads = CLV_NEW_ARRAY(a, int32_t, n_reads);
    p->first_weight = CLV_NEW_ARRAY(a, int32_t, p->n_ops + 1);
    p->weight_reads = CLV_NEW_ARRAY(a, int32_t, n_weight_reads + n_owners);
    p->weight_bytes = CLV_NEW_ARRAY(a, int64_t, g->n_weights + n_owners);
    b->slot_of = CLV_NEW_ARRAY(scratch, int32_t, g->n_tensors);
    b->weight_seen = CLV_NEW_ARRAY(scratch, int32_t, g->n_weights);
    return p->tensor_of && p->bytes && p->position && p->view_of && p->net_of && p->flags &&
           p->first_write && p->first_read && p->reads && p->first_weight && p->weight_reads &&
           p->weight_bytes && b->slot_of && b->weight_seen;
}

clv_status clv_program_ticks(const clv_program *p, int32_t kind, double proportion,
                             clv_arena *arena, int64_t **ret, clv_error *err)
{
    const clv_device_kind *k = &p->workload.cluster->kinds[kind];
    int64_t *ticks = CLV_NEW_ARRAY(arena, int64_t, p->n_ops + 1);
    if (!ticks)
        return clv_fail_nomem(err, "operator times");
    for (int32_t i = 0; i < p->n_ops; i++) {
        const clv_op_cost *cost = clv_program_cost(p, i);
        int64_t workspace = clv_op_workspace(cost, k, clv_proportion_of(proportion, k));
        int64_t ns = clv_op_time_ns(cost, k, workspace);
        if (ns > TIME_MAX - ticks[i])
            return clv_fail(err, CLV_ELIMIT,
                            "operator '%.*s' would take %lld ns on a %s, more than 64 bits can add",
                            CLV_STR_ARG(clv_op_at(p->workload.units->graph, op_at(p, i))->label),
                            (long long)ns, k->name);
        ticks[i + 1] = ticks[i] + ns;
    }
    *ret = ticks;
    return CLV_OK;
}

static clv_status build_ticks(clv_program *p, clv_arena *arena, clv_error *err)
{
    int32_t n_kinds = p->workload.cluster->n_kinds;
    p->ticks = CLV_NEW_ARRAY(arena, int64_t *, n_kinds);
    if (!p->ticks)
        return clv_fail_nomem(err, "operator times");
    for (int32_t kind = 0; kind < n_kinds; kind++)
        CLV_TRY(clv_program_ticks(p, kind, 0, arena, &p->ticks[kind], err));
    return CLV_OK;
}

static clv_status build(builder *b, clv_arena *scratch)
{
    if (!take_room(b, scratch))
        return clv_fail_nomem(b->err, "the program");
    for (int32_t t = 0; t < b->g->n_tensors; t++)
        b->slot_of[t] = -1;
    CLV_TRY(take_weights(b));
    CLV_TRY(number_slots(b));
    CLV_TRY(resolve_reads(b));
    CLV_TRY(clv_cuts_build(b->p, b->arena, scratch, b->err));
    return build_ticks(b->p, b->arena, b->err);
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
    builder b = { .p = p, .g = g, .arena = arena, .err = err };
    status = build(&b, scratch);
    if (status == CLV_OK)
        *ret = p;
done:
    clv_arena_free(scratch);
    return status;
}
