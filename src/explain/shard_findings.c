#include "explain/shard_findings.h"

#include "explain/parallelism.h"
#include "notation/layout_text.h"
#include "sharding/parts.h"

static const char *copy_name(const clv_graph *g, int32_t tensor, clv_arena *arena)
{
    return clv_arena_str(arena, g->tensors[tensor].name);
}

/* Of a result, as its operator leaves it. */
static const clv_layout *made_of(const clv_plan_layouts *l, int32_t tensor)
{
    const clv_op_info *op = clv_op_at(l->graph, l->graph->tensors[tensor].producer);
    int32_t k = 0;
    while (clv_op_output(l->graph, op, k).i != tensor)
        k++;
    return &l->made[op->first_out + k];
}

static clv_status add_partial(const clv_plan_layouts *l, clv_plan *plan, clv_arena *arena,
                              clv_error *err)
{
    const clv_graph *g = l->graph;
    clv_plan_partial *partial = NULL;
    int32_t n = 0, cap = 0;

    for (int32_t i = 0; i < g->n_tensors; i++) {
        char text[CLV_LAYOUT_TEXT];
        if (g->tensors[i].producer.i < 0)
            continue;
        const clv_layout *made = made_of(l, i);
        const clv_type *type = &l->types->of[i];
        if (!clv_layout_partial_axes(made))
            continue;
        if (!CLV_PUSH_ROOM(arena, partial, n, cap))
            return clv_fail_nomem(err, "a plan");
        clv_layout_show(text, made, &l->mesh, type->rank > 0 ? type->rank : 0);
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

static clv_status add_uneven(const clv_plan_layouts *l, clv_plan *plan, clv_arena *arena,
                             clv_error *err)
{
    const clv_graph *g = l->graph;
    clv_plan_uneven *uneven = NULL;
    int32_t n = 0, cap = 0;

    for (int32_t i = 0; i < g->n_tensors; i++) {
        const clv_type *type = &l->types->of[i];
        clv_tensor_split split;
        char text[CLV_UNEVEN_TEXT];
        if (!clv_split_of_type(type, &split))
            continue;
        memcpy(split.share, l->mesh.share, sizeof split.share);
        for (int32_t d = 0; d < type->rank; d++) {
            clv_layout_uneven(text, &l->kept[i], &l->mesh, &split, d);
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

clv_status clv_plan_add_findings(clv_plan *plan, const clv_plan_layouts *layouts, clv_arena *arena,
                                 clv_error *err)
{
    CLV_TRY(clv_find_parallelism(layouts, arena, &plan->found, &plan->n_found, err));
    CLV_TRY(add_partial(layouts, plan, arena, err));
    return add_uneven(layouts, plan, arena, err);
}
