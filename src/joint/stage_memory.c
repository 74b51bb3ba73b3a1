#include "joint/stage_memory.h"

#include "cost/op_time.h"
#include "graph/ops.h"
#include "solver/partition/search_types.h"

typedef struct {
    clv_stage_memory m;
    const clv_graph *g;
    const clv_costs *costs;
    const clv_cluster *stages;
    bool *weight_counted;
    int32_t n_waiting, cap_waiting;
    clv_arena *arena;
} building;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "memory of stages"); }

/* At most INT64_MAX. */
static int64_t add_up(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t bytes_as(const building *b, clv_tensor t, const clv_layout *layout)
{
    const clv_shard_problem *of = b->m.of;
    return clv_part_bytes(of->mesh, layout, &of->types->of[t.i], of->types->bytes[t.i]);
}

/* Made in the run, or given to it, with memory of its own. */
static bool flows(const building *b, clv_tensor t)
{
    return t.i >= 0 && clv_tensor_at(b->g, t)->role != CLV_TENSOR_WEIGHT &&
           !clv_shard_is_known(b->m.of->types, t);
}

/* Does it share the memory of another tensor? Then it is counted nowhere. */
static bool is_view(const building *b, clv_tensor t) { return clv_tensor_viewed(b->g, t).i >= 0; }

/* What an operator needs of its explicit input k, by its choice. */
static clv_layout need_of(const building *b, int32_t op, int32_t k, int32_t choice)
{
    const clv_shard_problem *of = b->m.of;
    return clv_choice_in(&of->factors[op], of->mesh, &of->op_choice[of->node_of_op[op]][choice], k);
}

/* Which explicit input of an operator a tensor is; -1: none. */
static int32_t input_number(const building *b, int32_t op, clv_tensor t)
{
    const clv_op_info *info = &b->g->ops[op];
    for (int32_t k = 0; k < clv_op_n_explicit(info); k++)
        if (clv_op_input(b->g, info, k).i == t.i)
            return k;
    return -1;
}

/* -- while an operator runs -- */

/* Inputs that are views are left out: they may be of another input. */
static void add_reads(building *b, int32_t op, int64_t *weight, int64_t *running)
{
    const clv_shard_problem *of = b->m.of;
    const clv_op_info *info = &b->g->ops[op];
    int32_t node = of->node_of_op[op], n = clv_intra_op_n_choices(of->problem, node);
    for (int32_t k = 0; k < clv_op_n_explicit(info); k++) {
        clv_tensor t = clv_op_input(b->g, info, k);
        if (t.i < 0 || input_number(b, op, t) < k)
            continue;
        int32_t w = clv_tensor_at(b->g, t)->weight;
        bool is_weight = clv_tensor_at(b->g, t)->role == CLV_TENSOR_WEIGHT;
        if (is_weight ? b->weight_counted[w] : !flows(b, t) || is_view(b, t))
            continue;
        if (is_weight)
            b->weight_counted[w] = true;
        for (int32_t c = 0; c < n; c++) {
            clv_layout need = need_of(b, op, k, c);
            int64_t *sum = is_weight ? &weight[c] : &running[c];
            *sum = add_up(*sum, bytes_as(b, t, &need));
        }
    }
}

static void add_writes(building *b, int32_t op, int64_t *running)
{
    const clv_shard_problem *of = b->m.of;
    const clv_op_info *info = &b->g->ops[op];
    int32_t node = of->node_of_op[op], n = clv_intra_op_n_choices(of->problem, node);
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(b->g, info, k);
        if (!flows(b, t) || is_view(b, t))
            continue;
        for (int32_t c = 0; c < n; c++) {
            clv_layout made =
                clv_choice_out(&of->factors[op], of->mesh, &of->op_choice[node][c], k);
            running[c] = add_up(running[c], bytes_as(b, t, &made));
        }
    }
}

/* The workspace that an operator has at least, on any device. */
static int64_t least_workspace(const building *b, const clv_op_cost *cost)
{
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < b->stages->n_kinds; k++) {
        const clv_device_kind *kind = &b->stages->kinds[k];
        double own = kind->workspace_proportion;
        int64_t bytes =
            clv_op_workspace(cost, kind, own < CLV_PROPORTION_MIN ? own : CLV_PROPORTION_MIN);
        least = bytes < least ? bytes : least;
    }
    return least;
}

static clv_status add_workspace(building *b, int32_t op, int64_t *running, clv_error *err)
{
    const clv_shard_problem *of = b->m.of;
    int32_t node = of->node_of_op[op];
    const clv_shard_op sharded = { of->types, { op }, &b->costs->of[op], &of->factors[op] };
    for (int32_t c = 0; c < clv_intra_op_n_choices(of->problem, node); c++) {
        clv_op_cost cost;
        CLV_TRY(clv_shard_choice_cost(&sharded, of->mesh, &of->op_choice[node][c], b->arena, &cost,
                                      err));
        running[c] = add_up(running[c], least_workspace(b, &cost));
    }
    return CLV_OK;
}

/* -- what waits -- */

/* The last operator of the problem that reads a tensor; -1: none does. Readers ascend. */
static int32_t last_reader(const building *b, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    for (int32_t r = info->n_readers - 1; r >= 0; r--) {
        int32_t op = b->g->readers_of[info->first_reader + r].i;
        if (b->m.of->node_of_op[op] >= 0)
            return op;
    }
    return -1;
}

/* How often an operator reads a tensor; more than once, where it does so by a view. */
static int32_t count_reads(const building *b, clv_tensor t, const clv_op_info *op)
{
    int32_t n = 0;
    for (int32_t k = 0; k < op->n_in; k++)
        for (clv_tensor in = clv_op_input(b->g, op, k); in.i >= 0; in = clv_tensor_viewed(b->g, in))
            if (in.i == t.i)
                n += in.i == clv_op_input(b->g, op, k).i ? 1 : 2;
    return n;
}

/* What the only reader of a tensor needs at least. */
static int64_t least_need(const building *b, clv_tensor t, int32_t op)
{
    int32_t n = clv_intra_op_n_choices(b->m.of->problem, b->m.of->node_of_op[op]);
    int32_t k = input_number(b, op, t);
    int64_t least = k < 0 ? 0 : INT64_MAX;
    for (int32_t c = 0; k >= 0 && c < n; c++) {
        clv_layout need = need_of(b, op, k, c);
        int64_t bytes = bytes_as(b, t, &need);
        least = bytes < least ? bytes : least;
    }
    return least;
}

/* A tensor that is a node lies by its choice until its last reader is there; any other one as its
 * reader needs it. */
static clv_status find_bytes(const building *b, clv_tensor t, clv_waiting *ret, clv_error *err)
{
    const clv_shard_problem *of = b->m.of;
    ret->node = of->node_of_tensor[t.i];
    int32_t n = ret->node < 0 ? 1 : clv_intra_op_n_choices(of->problem, ret->node);
    int64_t *bytes = CLV_NEW_ARRAY(b->arena, int64_t, n);
    if (!bytes)
        return no_memory(err);
    for (int32_t c = 0; c < n; c++)
        bytes[c] = ret->node < 0 ? least_need(b, t, last_reader(b, t))
                                 : bytes_as(b, t, &of->layout[ret->node][c]);
    ret->bytes = bytes;
    return CLV_OK;
}

/* Where the operator reads the tensor too: as it needs it, by choice. */
static clv_status find_needs(const building *b, clv_tensor t, int32_t op, clv_waiting *ret,
                             clv_error *err)
{
    int32_t n = clv_intra_op_n_choices(b->m.of->problem, b->m.of->node_of_op[op]);
    int32_t k = input_number(b, op, t);
    if (k < 0)
        return CLV_OK;
    clv_layout *need = CLV_NEW_ARRAY(b->arena, clv_layout, n);
    if (!need)
        return no_memory(err);
    for (int32_t c = 0; c < n; c++)
        need[c] = need_of(b, op, k, c);
    ret->need = need;
    return CLV_OK;
}

/* Does a tensor wait while the operator runs, made before it and wanted behind it? One that it
 * reads by a view, or twice, is left out. */
static bool waits(const building *b, clv_tensor t, int32_t op)
{
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    bool is_result = info->role == CLV_TENSOR_RESULT;
    if (!flows(b, t) || is_view(b, t) || count_reads(b, t, &b->g->ops[op]) > 1)
        return false;
    if (is_result && (info->producer.i >= op || b->m.of->node_of_op[info->producer.i] < 0))
        return false;
    return (info->is_output && is_result) || (b->m.one_stage && last_reader(b, t) > op);
}

static clv_status add_waiting(building *b, int32_t op, clv_error *err)
{
    for (int32_t t = 0; t < b->g->n_tensors; t++) {
        const clv_tensor_info *info = &b->g->tensors[t];
        clv_waiting *w;
        if (!waits(b, (clv_tensor){ t }, op))
            continue;
        if (!CLV_PUSH_ROOM(b->arena, b->m.waiting, b->n_waiting, b->cap_waiting))
            return no_memory(err);
        w = &b->m.waiting[b->n_waiting++];
        w->maker = info->role == CLV_TENSOR_RESULT ? b->m.of->node_of_op[info->producer.i] : -1;
        w->need = NULL;
        CLV_TRY(find_bytes(b, (clv_tensor){ t }, w, err));
        CLV_TRY(find_needs(b, (clv_tensor){ t }, op, w, err));
    }
    return CLV_OK;
}

/* -- all -- */

int64_t clv_stage_capacity(const clv_cluster *stages)
{
    int64_t least = INT64_MAX;
    for (int32_t d = 0; d < stages->n_devices; d++) {
        const clv_device_kind *kind = clv_device_kind_of(stages, d);
        int64_t bytes = kind->memory_bytes - kind->reserved_bytes;
        least = bytes < least ? bytes : least;
    }
    return least;
}

static clv_status add_all(building *b, clv_error *err)
{
    clv_stage_memory *m = &b->m;
    const clv_intra_op_problem *p = m->of->problem;
    for (int32_t i = 0; i < b->g->n_ops; i++) {
        int32_t node = m->of->node_of_op[i];
        if (node < 0)
            continue;
        int64_t *weight = m->weight_bytes + p->first_choice[node];
        int64_t *running = m->running_bytes + p->first_choice[node];
        add_reads(b, i, weight, running);
        add_writes(b, i, running);
        CLV_TRY(add_workspace(b, i, running, err));
        m->first_waiting[node] = b->n_waiting;
        CLV_TRY(add_waiting(b, i, err));
        m->end_waiting[node] = b->n_waiting;
    }
    return CLV_OK;
}

/* Several stages may share the rest in any way. */
static void add_rest(building *b)
{
    clv_stage_memory *m = &b->m;
    const clv_intra_op_problem *p = m->of->problem;
    int64_t rest = 0;
    for (int32_t i = b->g->n_ops - 1; i >= 0 && m->one_stage; i--) {
        int32_t node = m->of->node_of_op[i];
        int64_t least = INT64_MAX;
        if (node < 0)
            continue;
        m->rest_bytes[node] = rest;
        for (int32_t c = p->first_choice[node]; c < p->first_choice[node + 1]; c++)
            least = m->weight_bytes[c] < least ? m->weight_bytes[c] : least;
        rest = add_up(rest, least);
    }
}

/* One stage holds each input and output of the model once more. */
static clv_status leave_room_in_flight(building *b, clv_error *err)
{
    for (int32_t t = 0; t < b->g->n_tensors; t++) {
        const clv_tensor_info *info = &b->g->tensors[t];
        clv_waiting w;
        if (!flows(b, (clv_tensor){ t }) || is_view(b, (clv_tensor){ t }) ||
            (info->role == CLV_TENSOR_RESULT ? !info->is_output
                                             : last_reader(b, (clv_tensor){ t }) < 0))
            continue;
        CLV_TRY(find_bytes(b, (clv_tensor){ t }, &w, err));
        int32_t n = w.node < 0 ? 1 : clv_intra_op_n_choices(b->m.of->problem, w.node);
        int64_t least = INT64_MAX;
        for (int32_t c = 0; c < n; c++)
            least = w.bytes[c] < least ? w.bytes[c] : least;
        b->m.capacity_bytes -= least < b->m.capacity_bytes ? least : b->m.capacity_bytes;
    }
    return CLV_OK;
}

clv_status clv_stage_memory_make(const clv_stage_space *of, clv_arena *arena, clv_stage_memory *ret,
                                 clv_error *err)
{
    const clv_intra_op_problem *p = of->problem->problem;
    const clv_graph *g = of->problem->types->graph;
    int32_t n_choices = p->first_choice[p->n_nodes];
    building b = { .m = { .of = of->problem,
                          .capacity_bytes = clv_stage_capacity(of->stages),
                          .one_stage = of->stages->n_devices == 1,
                          .weight_bytes = CLV_NEW_ARRAY(arena, int64_t, n_choices),
                          .running_bytes = CLV_NEW_ARRAY(arena, int64_t, n_choices),
                          .rest_bytes = CLV_NEW_ARRAY(arena, int64_t, p->n_nodes),
                          .first_waiting = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes),
                          .end_waiting = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes) },
                   .g = g,
                   .costs = of->costs,
                   .stages = of->stages,
                   .weight_counted = CLV_NEW_ARRAY(arena, bool, g->n_weights),
                   .arena = arena };
    if (!b.m.weight_bytes || !b.m.running_bytes || !b.m.rest_bytes || !b.m.first_waiting ||
        !b.m.end_waiting || !b.weight_counted)
        return no_memory(err);
    CLV_TRY(add_all(&b, err));
    add_rest(&b);
    if (of->piped && b.m.one_stage)
        CLV_TRY(leave_room_in_flight(&b, err));
    *ret = b.m;
    return CLV_OK;
}

/* Beside what the operator itself holds of it. */
static int64_t waiting_bytes(const clv_stage_memory *m, const clv_waiting *w, int32_t node,
                             const int32_t *choice_of)
{
    int32_t c = w->node < 0 ? 0 : choice_of[w->node];
    bool is_same = w->need && (w->node < 0 || clv_layout_equal(&m->of->layout[w->node][c],
                                                               &w->need[choice_of[node]]));
    return is_same ? 0 : w->bytes[c];
}

bool clv_stage_memory_run(const clv_stage_memory *m, int32_t node, const int32_t *choice_of,
                          const int32_t *stage_of, clv_stage_held *io)
{
    int32_t choice = m->of->problem->first_choice[node] + choice_of[node];
    int64_t bytes = m->running_bytes[choice];
    for (int32_t i = m->first_waiting[node]; i < m->end_waiting[node]; i++) {
        const clv_waiting *w = &m->waiting[i];
        if (w->maker < 0 || stage_of[w->maker] == stage_of[node])
            bytes = add_up(bytes, waiting_bytes(m, w, node, choice_of));
    }
    io->weight_bytes = add_up(io->weight_bytes, m->weight_bytes[choice]);
    io->most_bytes = bytes > io->most_bytes ? bytes : io->most_bytes;
    int64_t weight_bytes = add_up(io->weight_bytes, m->rest_bytes[node]);
    return add_up(weight_bytes, io->most_bytes) <= m->capacity_bytes;
}
