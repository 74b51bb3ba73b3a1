#include "explain/joint_words.h"

#include "cost/shard_cost.h"
#include "explain/strategy_names.h"
#include "sharding/parts.h"

typedef struct {
    const clv_graph *graph;
    const clv_shard_problem *problem;
    const int32_t *answer;
    clv_plan *plan;
    clv_arena *arena;
    clv_error *err;
    clv_layout *need, *made, *kept; /* as clv_strategy_view has them */
} teller;

static clv_status no_memory(const teller *t) { return clv_fail_nomem(t->err, "a plan"); }

static const char *name_of(const teller *t, clv_tensor tensor)
{
    return clv_arena_printf(t->arena, "%.*s", CLV_STR_ARG(clv_tensor_at(t->graph, tensor)->name));
}

static clv_status gather_layouts(teller *t)
{
    const clv_graph *g = t->graph;
    int32_t n_in = 0, n_out = 0;

    for (int32_t i = 0; i < g->n_ops; i++) {
        n_in += g->ops[i].n_in;
        n_out += g->ops[i].n_out;
    }
    t->need = CLV_NEW_ARRAY(t->arena, clv_layout, n_in);
    t->made = CLV_NEW_ARRAY(t->arena, clv_layout, n_out);
    t->kept = CLV_NEW_ARRAY(t->arena, clv_layout, g->n_tensors);
    if (!t->need || !t->made || !t->kept)
        return no_memory(t);
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        for (int32_t k = 0; k < op->n_in; k++)
            t->need[op->first_in + k] =
                k < clv_op_n_explicit(op) ? clv_shard_need(t->problem, t->answer, (clv_op){ i }, k)
                                          : CLV_LAYOUT_COPIES;
        for (int32_t k = 0; k < op->n_out; k++) {
            clv_tensor out = clv_op_output(g, op, k);
            t->made[op->first_out + k] =
                out.i < 0 ? CLV_LAYOUT_COPIES : clv_shard_made(t->problem, t->answer, out);
        }
    }
    for (int32_t i = 0; i < g->n_tensors; i++)
        t->kept[i] = clv_shard_home(t->problem, t->answer, (clv_tensor){ i });
    return CLV_OK;
}

static clv_status add_found(teller *t)
{
    clv_strategy_view view = { .graph = t->graph,
                               .types = t->problem->types,
                               .axes = t->plan->axes,
                               .n_axes = t->plan->n_axes,
                               .n_stages = t->plan->n_stages,
                               .need = t->need,
                               .made = t->made,
                               .kept = t->kept };
    return clv_strategy_names(&view, t->arena, &t->plan->found, &t->plan->n_found, t->err);
}

static clv_status add_partial(teller *t)
{
    const clv_graph *g = t->graph;
    clv_plan_partial *partial = NULL;
    int32_t n = 0, cap = 0;

    for (int32_t i = 0; i < g->n_tensors; i++) {
        char text[CLV_LAYOUT_TEXT];
        clv_op writer = g->tensors[i].producer;
        if (writer.i < 0)
            continue;
        clv_layout made = clv_shard_made(t->problem, t->answer, (clv_tensor){ i });
        const clv_type *type = &t->problem->types->of[i];
        if (!clv_layout_partial_axes(&made))
            continue;
        if (!CLV_PUSH_ROOM(t->arena, partial, n, cap))
            return no_memory(t);
        clv_layout_show(text, &made, t->problem->mesh, type->rank > 0 ? type->rank : 0);
        partial[n] = (clv_plan_partial){ name_of(t, (clv_tensor){ i }),
                                         clv_arena_printf(t->arena, "%s", text) };
        if (!partial[n].tensor || !partial[n].layout)
            return no_memory(t);
        n++;
    }
    t->plan->partial = partial;
    t->plan->n_partial = n;
    return CLV_OK;
}

static clv_status add_uneven(teller *t)
{
    clv_plan_uneven *uneven = NULL;
    int32_t n = 0, cap = 0;

    for (int32_t i = 0; i < t->graph->n_tensors; i++) {
        const clv_type *type = &t->problem->types->of[i];
        clv_tensor_split split;
        char text[CLV_UNEVEN_TEXT];
        if (!clv_split_of_type(type, &split))
            continue;
        for (int32_t d = 0; d < type->rank; d++) {
            clv_layout_uneven(text, &t->kept[i], t->problem->mesh, &split, d);
            if (!*text)
                continue;
            if (!CLV_PUSH_ROOM(t->arena, uneven, n, cap))
                return no_memory(t);
            uneven[n] = (clv_plan_uneven){ name_of(t, (clv_tensor){ i }), d,
                                           clv_arena_printf(t->arena, "%s", text) };
            if (!uneven[n].tensor || !uneven[n].sizes)
                return no_memory(t);
            n++;
        }
    }
    t->plan->uneven = uneven;
    t->plan->n_uneven = n;
    return CLV_OK;
}

clv_status clv_joint_words(const clv_graph *graph, const clv_shard_problem *problem,
                           const int32_t *answer, clv_plan *plan, clv_arena *arena, clv_error *err)
{
    teller t = { graph, problem, answer, plan, arena, err, NULL, NULL, NULL };

    CLV_TRY(gather_layouts(&t));
    CLV_TRY(add_found(&t));
    CLV_TRY(add_partial(&t));
    return add_uneven(&t);
}
