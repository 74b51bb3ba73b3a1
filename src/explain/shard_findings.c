#include "explain/shard_findings.h"

#include "cost/shard_cost.h"
#include "explain/parallelism.h"
#include "notation/layout_text.h"
#include "sharding/parts.h"

/* What a solution of the problem gives. */
typedef struct {
    const clv_graph *graph;
    const clv_shard_problem *problem;
    const int32_t *solution;
} sharding;

static const char *copy_name(const clv_graph *g, int32_t tensor, clv_arena *arena)
{
    return clv_arena_printf(arena, "%.*s", CLV_STR_ARG(g->tensors[tensor].name));
}

static clv_status add_found(const sharding *s, clv_plan *plan, clv_arena *arena, clv_error *err)
{
    const clv_graph *g = s->graph;
    int32_t n_in = 0, n_out = 0;

    for (int32_t i = 0; i < g->n_ops; i++) {
        n_in += g->ops[i].n_in;
        n_out += g->ops[i].n_out;
    }
    clv_layout *need = CLV_NEW_ARRAY(arena, clv_layout, n_in);
    clv_layout *made = CLV_NEW_ARRAY(arena, clv_layout, n_out);
    clv_layout *kept = CLV_NEW_ARRAY(arena, clv_layout, g->n_tensors);
    int32_t *stage_of_op = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    if (!need || !made || !kept || !stage_of_op)
        return clv_fail_nomem(err, "a plan");
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        stage_of_op[i] = plan->devices[plan->device_of_op[op->file_index]].stage;
        for (int32_t k = 0; k < op->n_in; k++)
            need[op->first_in + k] = k < clv_op_n_explicit(op)
                                         ? clv_shard_need(s->problem, s->solution, (clv_op){ i }, k)
                                         : CLV_LAYOUT_COPIES;
        for (int32_t k = 0; k < op->n_out; k++) {
            clv_tensor out = clv_op_output(g, op, k);
            made[op->first_out + k] =
                out.i < 0 ? CLV_LAYOUT_COPIES : clv_shard_made(s->problem, s->solution, out);
        }
    }
    for (int32_t i = 0; i < g->n_tensors; i++)
        kept[i] = clv_shard_home(s->problem, s->solution, (clv_tensor){ i });
    clv_plan_layouts layouts = { .graph = g,
                                 .types = s->problem->types,
                                 .axes = plan->axes,
                                 .n_axes = plan->n_axes,
                                 .n_stages = plan->n_stages,
                                 .stage_of_op = stage_of_op,
                                 .need = need,
                                 .made = made,
                                 .kept = kept };
    return clv_find_parallelism(&layouts, arena, &plan->found, &plan->n_found, err);
}

static clv_status add_partial(const sharding *s, clv_plan *plan, clv_arena *arena, clv_error *err)
{
    const clv_graph *g = s->graph;
    clv_plan_partial *partial = NULL;
    int32_t n = 0, cap = 0;

    for (int32_t i = 0; i < g->n_tensors; i++) {
        char text[CLV_LAYOUT_TEXT];
        if (g->tensors[i].producer.i < 0)
            continue;
        clv_layout made = clv_shard_made(s->problem, s->solution, (clv_tensor){ i });
        const clv_type *type = &s->problem->types->of[i];
        if (!clv_layout_partial_axes(&made))
            continue;
        if (!CLV_PUSH_ROOM(arena, partial, n, cap))
            return clv_fail_nomem(err, "a plan");
        clv_layout_show(text, &made, s->problem->mesh, type->rank > 0 ? type->rank : 0);
        partial[n] =
            (clv_plan_partial){ copy_name(g, i, arena), clv_arena_printf(arena, "%s", text) };
        if (!partial[n].tensor || !partial[n].layout)
            return clv_fail_nomem(err, "a plan");
        n++;
    }
    plan->partial = partial;
    plan->n_partial = n;
    return CLV_OK;
}

static clv_status add_uneven(const sharding *s, clv_plan *plan, clv_arena *arena, clv_error *err)
{
    const clv_graph *g = s->graph;
    clv_plan_uneven *uneven = NULL;
    int32_t n = 0, cap = 0;

    for (int32_t i = 0; i < g->n_tensors; i++) {
        const clv_type *type = &s->problem->types->of[i];
        clv_tensor_split split;
        char text[CLV_UNEVEN_TEXT];
        if (!clv_split_of_type(type, &split))
            continue;
        clv_layout kept = clv_shard_home(s->problem, s->solution, (clv_tensor){ i });
        for (int32_t d = 0; d < type->rank; d++) {
            clv_layout_uneven(text, &kept, s->problem->mesh, &split, d);
            if (!*text)
                continue;
            if (!CLV_PUSH_ROOM(arena, uneven, n, cap))
                return clv_fail_nomem(err, "a plan");
            uneven[n] =
                (clv_plan_uneven){ copy_name(g, i, arena), d, clv_arena_printf(arena, "%s", text) };
            if (!uneven[n].tensor || !uneven[n].sizes)
                return clv_fail_nomem(err, "a plan");
            n++;
        }
    }
    plan->uneven = uneven;
    plan->n_uneven = n;
    return CLV_OK;
}

clv_status clv_plan_add_shard_findings(const clv_graph *graph, const clv_shard_problem *problem,
                                       const int32_t *solution, clv_plan *plan, clv_arena *arena,
                                       clv_error *err)
{
    sharding s = { graph, problem, solution };

    CLV_TRY(add_found(&s, plan, arena, err));
    CLV_TRY(add_partial(&s, plan, arena, err));
    return add_uneven(&s, plan, arena, err);
}
