#include "annotations/stage_order.h"

#include <inttypes.h>

#include "graph/backward.h"
#include "graph/constant.h"

/* The stage that an operator cannot come before, and whose it is. */
typedef struct {
    int64_t stage; /* -1: none */
    clv_op of;
} floor_stage;

typedef struct {
    const clv_graph *g;
    clv_shard_list *list;
    clv_arena *arena;
    const bool *backward;  /* by operator; NULL: none is */
    const bool *constant;  /* by operator: made of constants alone, so it can be had anywhere */
    clv_shard_node **node; /* by operator: its entry with a stage; NULL */
    floor_stage *at;       /* by operator */
} pass;

/* The farthest along of what the operator reads; of the other pass nothing counts. */
static floor_stage floor_of(const pass *p, clv_op op)
{
    const clv_op_info *info = clv_op_at(p->g, op);
    bool is_backward = p->backward && p->backward[op.i];
    floor_stage ret = { -1, op };
    for (int32_t k = 0; k < info->n_in; k++) {
        clv_tensor t = clv_op_input(p->g, info, k);
        clv_op from = t.i >= 0 ? clv_tensor_at(p->g, t)->producer : CLV_NO_OP;
        if (from.i < 0 || p->constant[from.i] ||
            (p->backward && p->backward[from.i] != is_backward))
            continue;
        floor_stage one = p->at[from.i];
        if (one.stage >= 0 &&
            (ret.stage < 0 || (is_backward ? one.stage < ret.stage : one.stage > ret.stage)))
            ret = one;
    }
    return ret;
}

static clv_status check_op(pass *p, clv_op op, clv_error *err)
{
    clv_shard_node *node = p->node[op.i];
    floor_stage least = floor_of(p, op);
    p->at[op.i] = least;
    if (!node)
        return CLV_OK;
    bool is_backward = p->backward && p->backward[op.i];
    p->at[op.i] = (floor_stage){ node->stage, op };
    bool is_late = is_backward ? node->stage <= least.stage : node->stage >= least.stage;
    if (least.stage < 0 || is_late || node->wrong)
        return CLV_OK;
    node->wrong = clv_arena_printf(
        p->arena,
        "node '%.*s' is in stage %" PRId64 " and needs what node '%.*s' makes in stage %" PRId64
        ": expected stage %" PRId64 " or %s",
        CLV_STR_ARG(node->node), node->stage, CLV_STR_ARG(clv_op_at(p->g, least.of)->label),
        least.stage, least.stage,
        is_backward ? "an earlier one, in a backward pass" : "a later one");
    p->list->n_wrong++;
    return node->wrong ? CLV_OK : clv_fail_nomem(err, "checking stages");
}

clv_status clv_check_stage_order(clv_shard_list *list, clv_arena *arena, clv_error *err)
{
    const clv_graph *g = list->model->main;
    bool *backward = NULL, *constant;
    pass p = { .g = g,
               .list = list,
               .arena = arena,
               .node = CLV_NEW_ARRAY(arena, clv_shard_node *, g->n_ops),
               .at = CLV_NEW_ARRAY(arena, floor_stage, g->n_ops) };
    if (!p.node || !p.at)
        return clv_fail_nomem(err, "checking stages");
    CLV_TRY(clv_backward_ops(g, NULL, arena, &backward, err));
    CLV_TRY(clv_constant_ops(g, arena, &constant, err));
    p.backward = backward;
    p.constant = constant;
    for (int32_t c = 0; c < list->n_configurations; c++) {
        memset(p.node, 0, (size_t)g->n_ops * sizeof *p.node);
        for (int32_t i = 0; i < list->n_nodes; i++)
            if (list->nodes[i].configuration == c && list->nodes[i].has_stage)
                p.node[list->nodes[i].op.i] = &list->nodes[i];
        for (int32_t i = 0; i < g->n_ops; i++)
            CLV_TRY(check_op(&p, (clv_op){ i }, err));
    }
    return CLV_OK;
}
