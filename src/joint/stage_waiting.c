#include "joint/stage_waiting.h"

#include "graph/ops.h"

typedef struct {
    const clv_stage_space *of;
    const clv_shard_problem *problem;
    const clv_graph *g;
    clv_stage_waiting made;
    int32_t n, cap;
    clv_arena *arena;
} building;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "memory of stages"); }

/* The last operator that reads a tensor; -1: none does. of_problem: that has a choice. Readers
 * ascend; one that is known before the run comes as late as in the file, or later. */
static clv_op last_reader(const clv_shard_problem *p, clv_tensor t, bool of_problem)
{
    const clv_graph *g = p->types->graph;
    const clv_tensor_info *info = clv_tensor_at(g, t);
    for (int32_t r = info->n_readers - 1; r >= 0; r--) {
        clv_op op = g->readers_of[info->first_reader + r];
        if (!of_problem || p->node_of_op[op.i] >= 0)
            return op;
    }
    return CLV_NO_OP;
}

/* What the only reader of a tensor needs at least; without one an input is whole. */
static int64_t least_need(const clv_stage_space *of, clv_tensor t)
{
    const clv_shard_problem *p = of->problem;
    clv_op op = last_reader(p, t, true);
    if (op.i < 0)
        return clv_tensor_at(p->types->graph, t)->role == CLV_TENSOR_RESULT ? 0
                                                                            : p->types->bytes[t.i];
    int32_t n = clv_intra_op_n_choices(p->problem, p->node_of_op[op.i]);
    int32_t k = clv_stage_input_number(of, op, t);
    int64_t least = k < 0 ? 0 : INT64_MAX;
    for (int32_t c = 0; k >= 0 && c < n; c++) {
        clv_layout need = clv_stage_need(of, op, k, c);
        int64_t bytes = clv_stage_tensor_bytes(of, t, &need);
        least = bytes < least ? bytes : least;
    }
    return least;
}

/* A tensor that is a node lies by its choice until its last reader is there; any other one as its
 * reader needs it. */
static int64_t bytes_of(const clv_stage_space *of, clv_tensor t, int32_t choice)
{
    int32_t node = of->problem->node_of_tensor[t.i];
    return node < 0 ? least_need(of, t)
                    : clv_stage_tensor_bytes(of, t, &of->problem->layout[node][choice]);
}

static int32_t n_layouts(const clv_stage_space *of, clv_tensor t)
{
    int32_t node = of->problem->node_of_tensor[t.i];
    return node < 0 ? 1 : clv_intra_op_n_choices(of->problem->problem, node);
}

/* Does a tensor wait while the operator runs, which reads no other one that shares its memory? */
static bool waits(const building *b, clv_tensor t, clv_op op)
{
    if (!clv_stage_tensor_counts(b->of, t))
        return false;
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    bool is_result = info->role == CLV_TENSOR_RESULT;
    int32_t shared = clv_stage_input_sharing(b->of, op, t);
    if (shared >= 0 && shared != clv_stage_input_number(b->of, op, t))
        return false;
    if (is_result && (info->producer.i >= op.i || b->problem->node_of_op[info->producer.i] < 0))
        return false;
    return (info->is_output && is_result) ||
           (b->of->stages->n_devices == 1 && last_reader(b->problem, t, false).i > op.i);
}

/* Does one that shares its memory wait already? */
static bool is_counted(const building *b, clv_tensor t, int32_t node)
{
    int32_t root = clv_tensor_root(b->g, t).i;
    for (int32_t i = b->made.first[node]; i < b->n; i++)
        if (clv_tensor_root(b->g, b->made.at[i].tensor).i == root)
            return true;
    return false;
}

static clv_status add(building *b, clv_tensor t, clv_op op, clv_error *err)
{
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    int32_t n = n_layouts(b->of, t), k = clv_stage_input_number(b->of, op, t);
    int32_t n_needs =
        k < 0 ? 0 : clv_intra_op_n_choices(b->problem->problem, b->problem->node_of_op[op.i]);
    int64_t *bytes = CLV_NEW_ARRAY(b->arena, int64_t, n);
    clv_layout *need = CLV_NEW_ARRAY(b->arena, clv_layout, n_needs);
    if (!bytes || !need || !CLV_PUSH_ROOM(b->arena, b->made.at, b->n, b->cap))
        return no_memory(err);
    for (int32_t c = 0; c < n; c++)
        bytes[c] = bytes_of(b->of, t, c);
    for (int32_t c = 0; c < n_needs; c++)
        need[c] = clv_stage_need(b->of, op, k, c);
    b->made.at[b->n++] = (clv_waiting){ .tensor = t,
                                        .maker = info->role == CLV_TENSOR_RESULT
                                                     ? b->problem->node_of_op[info->producer.i]
                                                     : -1,
                                        .node = b->problem->node_of_tensor[t.i],
                                        .bytes = bytes,
                                        .need = k < 0 ? NULL : need };
    return CLV_OK;
}

static clv_status add_all(building *b, clv_error *err)
{
    for (int32_t i = 0; i < b->g->n_ops; i++) {
        int32_t node = b->problem->node_of_op[i];
        if (node < 0)
            continue;
        b->made.first[node] = b->n;
        for (int32_t t = 0; t < b->g->n_tensors; t++)
            if (waits(b, (clv_tensor){ t }, (clv_op){ i }) &&
                !is_counted(b, (clv_tensor){ t }, node))
                CLV_TRY(add(b, (clv_tensor){ t }, (clv_op){ i }, err));
        b->made.end[node] = b->n;
    }
    return CLV_OK;
}

clv_status clv_stage_waiting_make(const clv_stage_space *of, clv_arena *arena,
                                  clv_stage_waiting *ret, clv_error *err)
{
    int32_t n = of->problem->problem->n_nodes;
    building b = { .of = of,
                   .problem = of->problem,
                   .g = of->problem->types->graph,
                   .made = { .first = CLV_NEW_ARRAY(arena, int32_t, n),
                             .end = CLV_NEW_ARRAY(arena, int32_t, n) },
                   .arena = arena };
    if (!b.made.first || !b.made.end)
        return no_memory(err);
    CLV_TRY(add_all(&b, err));
    *ret = b.made;
    return CLV_OK;
}
