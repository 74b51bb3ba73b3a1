#include "joint/stage_memory.h"

#include "cost/op_time.h"
#include "cost/weights.h"
#include "graph/ops.h"
#include "graph/states.h"
#include "solver/partition/search_types.h"

typedef struct {
    clv_stage_memory m;
    const clv_stage_space *of;
    const clv_graph *g;
    bool *weight_counted;
    bool *is_state; /* by tensor */
    clv_arena *arena;
} building;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "memory of stages"); }

/* -- while an operator runs -- */

/* The first time that an operator reads a weight, and of inputs that share memory the first. */
static bool is_read_here(building *b, clv_op op, int32_t k)
{
    clv_tensor t = clv_op_input(b->g, clv_op_at(b->g, op), k);
    if (t.i < 0 || clv_tensor_at(b->g, t)->role != CLV_TENSOR_WEIGHT)
        return clv_stage_tensor_counts(b->of, t) && clv_stage_input_sharing(b->of, op, t) == k;
    bool *counted = &b->weight_counted[clv_tensor_at(b->g, t)->weight];
    bool is_first = !*counted;
    *counted = true;
    return is_first;
}

/* Is one more of an input or output of the model in flight, a view too, on the stage of its node
 * or, without one, of its reader? Of several stages any may read an input that is a node; of
 * states there are as many as there are stages in a row, at least the one that is there anyhow. */
static bool has_copy(const building *b, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    if (!b->of->piped || b->is_state[t.i] || !clv_stage_tensor_counts(b->of, t))
        return false;
    if (info->role == CLV_TENSOR_RESULT)
        return info->is_output;
    return info->n_readers > 0 && (b->m.one_stage || b->m.of->node_of_tensor[t.i] < 0);
}

/* What an operator needs of an input, by choice. */
static void add_input(const building *b, clv_op op, int32_t k, int64_t *sum)
{
    clv_tensor t = clv_op_input(b->g, clv_op_at(b->g, op), k);
    int32_t n = clv_intra_op_n_choices(b->m.of->problem, b->m.of->node_of_op[op.i]);
    for (int32_t c = 0; c < n; c++) {
        clv_layout need = clv_stage_need(b->of, op, k, c);
        sum[c] = clv_weight_add(sum[c], clv_stage_tensor_bytes(b->of, t, &need));
    }
}

static void add_reads(building *b, clv_op op, int64_t *kept, int64_t *running)
{
    const clv_op_info *info = clv_op_at(b->g, op);
    for (int32_t k = 0; k < clv_op_n_explicit(info); k++) {
        clv_tensor t = clv_op_input(b->g, info, k);
        if (!is_read_here(b, op, k))
            continue;
        bool is_weight = clv_tensor_at(b->g, t)->role == CLV_TENSOR_WEIGHT;
        add_input(b, op, k, is_weight ? kept : running);
        if (!is_weight && b->m.of->node_of_tensor[t.i] < 0 &&
            clv_tensor_at(b->g, t)->role == CLV_TENSOR_INPUT && has_copy(b, t))
            add_input(b, op, k, kept);
    }
}

/* A view takes no memory of its own. */
static void add_writes(building *b, int32_t op, int64_t *running)
{
    const clv_shard_problem *of = b->m.of;
    const clv_op_info *info = &b->g->ops[op];
    int32_t node = of->node_of_op[op], n = clv_intra_op_n_choices(of->problem, node);
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(b->g, info, k);
        if (!clv_stage_tensor_counts(b->of, t) || clv_tensor_root(b->g, t).i != t.i)
            continue;
        for (int32_t c = 0; c < n; c++) {
            clv_layout made =
                clv_choice_out(&of->factors[op], of->mesh, &of->op_choice[node][c], k);
            running[c] = clv_weight_add(running[c], clv_stage_tensor_bytes(b->of, t, &made));
        }
    }
}

/* The workspace that an operator has at least, on any device. */
static int64_t least_workspace(const building *b, const clv_op_cost *cost)
{
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < b->of->stages->n_kinds; k++) {
        const clv_device_kind *kind = &b->of->stages->kinds[k];
        double own = kind->workspace_proportion;
        int64_t bytes = clv_op_workspace(cost->workspace_bytes, kind,
                                         own < CLV_PROPORTION_MIN ? own : CLV_PROPORTION_MIN);
        least = bytes < least ? bytes : least;
    }
    return least;
}

static void add_workspace(const building *b, int32_t op, int64_t *running)
{
    const clv_shard_problem *of = b->m.of;
    int32_t node = of->node_of_op[op];
    for (int32_t c = 0; c < clv_intra_op_n_choices(of->problem, node); c++)
        running[c] = clv_weight_add(running[c], least_workspace(b, &of->op_cost[node][c]));
}

/* -- all -- */

int64_t clv_stage_capacity(const clv_cluster *stages)
{
    int64_t least = INT64_MAX;
    for (int32_t d = 0; d < stages->n_devices; d++) {
        const clv_device_kind *kind = clv_device_kind_of(stages, d);
        int64_t bytes = clv_device_capacity(kind);
        least = bytes < least ? bytes : least;
    }
    return least;
}

static void add_all(building *b)
{
    clv_stage_memory *m = &b->m;
    const clv_intra_op_problem *p = m->of->problem;
    for (int32_t i = 0; i < b->g->n_ops; i++) {
        int32_t node = m->of->node_of_op[i];
        if (node < 0)
            continue;
        int64_t *kept = m->kept_bytes + p->first_choice[node];
        int64_t *running = m->running_bytes + p->first_choice[node];
        add_reads(b, (clv_op){ i }, kept, running);
        add_writes(b, i, running);
        add_workspace(b, i, running);
    }
}

/* Of tensors that are nodes, by their own choice. */
static void add_copies(building *b)
{
    const clv_shard_problem *of = b->m.of;
    for (int32_t t = 0; t < b->g->n_tensors; t++) {
        int32_t node = of->node_of_tensor[t];
        if (node < 0 || !has_copy(b, (clv_tensor){ t }))
            continue;
        for (int32_t c = 0; c < clv_intra_op_n_choices(of->problem, node); c++)
            b->m.kept_bytes[of->problem->first_choice[node] + c] =
                clv_stage_tensor_bytes(b->of, (clv_tensor){ t }, &of->layout[node][c]);
    }
}

/* A node is before what rest says, which it is a part of behind it. */
static void add_to_rest(clv_stage_memory *m, int32_t node, int64_t *rest)
{
    const clv_intra_op_problem *p = m->of->problem;
    int64_t least = INT64_MAX;
    m->rest_bytes[node] = *rest;
    for (int32_t c = p->first_choice[node]; c < p->first_choice[node + 1]; c++)
        least = m->kept_bytes[c] < least ? m->kept_bytes[c] : least;
    *rest = clv_weight_add(*rest, least);
}

/* Several stages may share the rest in any way. Operators and their outputs, from the end. */
static void add_rest(building *b)
{
    int64_t rest = 0;
    for (int32_t i = b->g->n_ops - 1; i >= 0 && b->m.one_stage; i--) {
        const clv_op_info *info = &b->g->ops[i];
        if (b->m.of->node_of_op[i] < 0)
            continue;
        for (int32_t k = info->n_out - 1; k >= 0; k--) {
            clv_tensor t = clv_op_output(b->g, info, k);
            if (t.i >= 0 && b->m.of->node_of_tensor[t.i] >= 0)
                add_to_rest(&b->m, b->m.of->node_of_tensor[t.i], &rest);
        }
        add_to_rest(&b->m, b->m.of->node_of_op[i], &rest);
    }
}

/* Has any stage room for all that the model holds, however it lies? For tensors four times over: on
 * its way one is there up to three times, and an input or output once more. */
static bool is_ample(const building *b)
{
    int64_t all_bytes = 0, weight_bytes = b->of->costs->total.weight_bytes;
    for (int32_t t = 0; t < b->g->n_tensors; t++)
        if (clv_stage_tensor_counts(b->of, (clv_tensor){ t }))
            all_bytes = clv_weight_add(all_bytes, b->m.of->types->bytes[t]);
    return all_bytes <= (b->m.capacity_bytes - weight_bytes) / 4;
}

static clv_status find_states(building *b, clv_error *err)
{
    clv_states states;
    b->is_state = CLV_NEW_ARRAY(b->arena, bool, b->g->n_tensors);
    if (!b->is_state)
        return no_memory(err);
    CLV_TRY(clv_states_find(b->m.of->types, b->arena, &states, err));
    for (int32_t i = 0; i < states.n; i++) {
        if (states.at[i].in.i >= 0)
            b->is_state[states.at[i].in.i] = true;
        b->is_state[states.at[i].out.i] = true;
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
                          .kept_bytes = CLV_NEW_ARRAY(arena, int64_t, n_choices),
                          .running_bytes = CLV_NEW_ARRAY(arena, int64_t, n_choices),
                          .rest_bytes = CLV_NEW_ARRAY(arena, int64_t, p->n_nodes) },
                   .of = of,
                   .g = g,
                   .weight_counted = CLV_NEW_ARRAY(arena, bool, g->n_weights),
                   .arena = arena };
    if (!b.m.kept_bytes || !b.m.running_bytes || !b.m.rest_bytes || !b.weight_counted)
        return no_memory(err);
    b.m.ample = is_ample(&b);
    *ret = b.m;
    if (b.m.ample)
        return CLV_OK;
    CLV_TRY(find_states(&b, err));
    add_all(&b);
    add_copies(&b);
    add_rest(&b);
    CLV_TRY(clv_stage_waiting_make(of, arena, &b.m.waiting, err));
    CLV_TRY(clv_stage_conversions_make(of, &b.m.waiting, arena, &b.m.conversions, err));
    *ret = b.m;
    return CLV_OK;
}

/* What waits of that stage, by its own choice, but for what its operator holds of it already: by
 * that one's choice; -1: nothing. */
static int64_t bytes_waiting(const clv_stage_memory *m, const clv_waiting *w, int32_t choice,
                             const int32_t *choice_of)
{
    int32_t own = w->node < 0 ? 0 : choice_of[w->node];
    bool is_held =
        choice >= 0 && w->need &&
        (w->node < 0 || clv_layout_equal(&m->of->layout[w->node][own], &w->need[choice]));
    return is_held ? 0 : w->bytes[own];
}

/* Beside what is kept, while the operator of a node runs. */
static int64_t bytes_running(const clv_stage_memory *m, int32_t node, const int32_t *choice_of,
                             const int32_t *stage_of)
{
    int64_t bytes = m->running_bytes[m->of->problem->first_choice[node] + choice_of[node]];
    for (int32_t i = m->waiting.first[node]; i < m->waiting.end[node]; i++) {
        const clv_waiting *w = &m->waiting.at[i];
        if (w->maker < 0 || stage_of[w->maker] == stage_of[node])
            bytes = clv_weight_add(bytes, bytes_waiting(m, w, choice_of[node], choice_of));
    }
    return bytes;
}

/* The same, while a tensor comes to another layout; 0: it need not. */
static int64_t bytes_converting(const clv_stage_memory *m, const clv_conversion *c,
                                const int32_t *choice_of, const int32_t *stage_of)
{
    int32_t n = clv_intra_op_n_choices(m->of->problem, c->to);
    int64_t bytes = c->bytes[choice_of[c->from] * n + choice_of[c->to]];
    for (int32_t i = c->first_beside; i < c->end_beside && bytes > 0; i++) {
        const clv_waiting *w = &m->conversions.beside[i];
        if (w->maker < 0 || stage_of[w->maker] == stage_of[c->on])
            bytes = clv_weight_add(bytes, bytes_waiting(m, w, -1, choice_of));
    }
    return bytes;
}

/* Is there room for so much beside what is kept, which includes what is still to come? */
static bool hold(const clv_stage_memory *m, int32_t node, int64_t bytes, clv_stage_held *io)
{
    io->most_bytes = bytes > io->most_bytes ? bytes : io->most_bytes;
    int64_t kept_bytes = clv_weight_add(io->kept_bytes, m->rest_bytes[node]);
    return clv_weight_add(kept_bytes, io->most_bytes) <= m->capacity_bytes;
}

bool clv_stage_memory_run(const clv_stage_memory *m, int32_t node, const int32_t *choice_of,
                          const int32_t *stage_of, clv_stage_held *io)
{
    if (m->ample)
        return true;
    int32_t choice = m->of->problem->first_choice[node] + choice_of[node];
    clv_stage_held *own = &io[m->one_stage ? 0 : stage_of[node]];
    if (m->kept_bytes[choice] > 0) /* not of an input that is on no stage */
        own->kept_bytes = clv_weight_add(own->kept_bytes, m->kept_bytes[choice]);
    if (m->of->op_choice[node] && !hold(m, node, bytes_running(m, node, choice_of, stage_of), own))
        return false;
    for (int32_t i = m->conversions.first[node]; i < m->conversions.end[node]; i++) {
        const clv_conversion *c = &m->conversions.at[i];
        if (!hold(m, node, bytes_converting(m, c, choice_of, stage_of), &io[stage_of[c->on]]))
            return false;
    }
    return true;
}
