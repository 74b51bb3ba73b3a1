#include "cost/kernel_costs.h"

#include "cost/runs_as.h"
#include "cost/shapes.h"
#include "cost/weights.h"
#include "graph/ops.h"

clv_status clv_types_stored(const clv_types *types, const clv_kernels *kernels, clv_dtype kv,
                            clv_arena *arena, clv_types **ret, clv_error *err)
{
    int32_t n = types->graph->n_tensors;
    clv_types *made = CLV_NEW(arena, clv_types);
    int64_t *bytes = CLV_NEW_ROOM(arena, int64_t, n), *whole = CLV_NEW_ROOM(arena, int64_t, n);
    bool narrows = kv != CLV_DT_UNDEFINED;
    clv_type *of = narrows ? CLV_NEW_ROOM(arena, clv_type, n) : types->of;
    if (!made || !bytes || !whole || !of)
        return clv_fail_nomem(err, "kernels");
    if (narrows)
        memcpy(of, types->of, (size_t)n * sizeof *of);
    for (int32_t t = 0; t < n; t++) {
        int64_t all = types->bytes[t];
        if (narrows && kernels->state[t].i >= 0)
            clv_type_narrow(&of[t], &all, kv);
        clv_op writer = types->graph->tensors[t].producer;
        bool inside = kernels->inside[t] && all > 0;
        bool in_kernel = writer.i >= 0 && kernels->of[writer.i] >= 0;
        bytes[t] = inside ? 0 : all;
        whole[t] = inside && !in_kernel ? 0 : all; /* a mask or an old state */
    }
    *made = *types;
    made->of = of;
    made->bytes = bytes;
    made->whole_bytes = whole;
    *ret = made;
    return CLV_OK;
}

/* -- costs -- */

static bool does_something(const clv_op_cost *c)
{
    return c->flops > 0 || c->read_bytes > 0 || c->write_bytes > 0;
}

/* How the second operand lies in memory, before the kernel unpacks it. */
static clv_dtype stored_as(const clv_costs *costs, const clv_kernels *kernels, clv_op op)
{
    const clv_graph *g = costs->graph;
    const clv_op_info *info = clv_op_at(g, op);
    clv_tensor t = clv_op_input(g, info, clv_second_operand(info));
    while (t.i >= 0) {
        clv_op writer = clv_tensor_at(g, t)->producer;
        if (writer.i < 0 || kernels->of[writer.i] != kernels->of[op.i])
            break;
        t = clv_op_input(g, clv_op_at(g, writer), 0);
    }
    return t.i >= 0 ? costs->types->of[t.i].dtype : CLV_DT_UNDEFINED;
}

/* What is written behind a product instead of its own result: the first that is as large. */
static void mark_result(const clv_kernels *kernels, const clv_kernel *k, clv_costs *costs)
{
    const clv_graph *g = costs->graph;
    clv_tensor product = clv_op_output(g, clv_op_at(g, k->anchor), 0);
    for (int32_t i = 0; product.i >= 0 && kernels->inside[product.i] && i < k->n; i++) {
        clv_op op = kernels->members[k->first + i];
        if (op.i <= k->anchor.i || costs->of[op.i].write_bytes == 0)
            continue;
        costs->of[op.i].result = true;
        return;
    }
}

static void apply_product(const clv_kernels *kernels, const clv_kernel *k, clv_costs *costs)
{
    clv_op_cost *anchor = &costs->of[k->anchor.i];
    anchor->starts = kernels->share[k->anchor.i];
    if (anchor->shape.kind != CLV_SHAPE_PRODUCT)
        return;
    mark_result(kernels, k, costs);
    anchor->share = anchor->starts;
    clv_dtype stored = stored_as(costs, kernels, k->anchor);
    if (clv_dtype_bits(stored) > 0 &&
        clv_dtype_bits(stored) < clv_dtype_bits(anchor->shape.weights))
        anchor->shape.weights = stored;
}

/* Attention that is written out, as the operator of its scores. */
static void gather_parts(const clv_kernel *k, clv_costs *costs)
{
    const clv_graph *g = costs->graph;
    clv_op_cost *scores = &costs->of[k->attention->scores.i];
    const clv_op_cost *values = &costs->of[k->attention->values.i];
    const clv_op_info *info = clv_op_at(g, k->attention->scores);
    const clv_type *type = &costs->types->of[clv_op_output(g, info, 0).i];
    int64_t width = scores->shape.kind == CLV_SHAPE_PRODUCT ? scores->shape.k : 0;
    scores->shape = clv_scores_shape(type->dims, type->rank, width, k->attention->group);
    scores->shape.weights = scores->math;
    scores->shape.causal = k->attention->causal;
    scores->matmul_flops = clv_weight_add(scores->matmul_flops, values->matmul_flops);
}

/* Keys and values are read as their cache stores them. Tokens that are appended to a cache see
 * those before them, whatever mask the model is given. */
static void apply_state(const clv_kernels *kernels, const clv_kernel *k, clv_costs *costs)
{
    const clv_graph *g = costs->graph;
    for (int32_t i = 0; i < k->n; i++) {
        const clv_op_info *op = clv_op_at(g, kernels->members[k->first + i]);
        for (int32_t w = 0; w < op->n_out; w++) {
            clv_tensor t = clv_op_output(g, op, w);
            if (t.i < 0 || kernels->state[t.i].i < 0)
                continue;
            costs->of[k->anchor.i].shape.weights = costs->types->of[t.i].dtype;
            costs->of[k->anchor.i].shape.causal = true;
        }
    }
}

static void apply_attention(const clv_kernels *kernels, const clv_kernel *k, clv_costs *costs)
{
    clv_op_cost *anchor = &costs->of[k->anchor.i];
    int64_t flops = 0;
    if (k->attention)
        gather_parts(k, costs);
    for (int32_t i = 0; i < k->n; i++) {
        clv_op_cost *one = &costs->of[kernels->members[k->first + i].i];
        flops = clv_weight_add(flops, one->flops);
        one->flops = one->read_bytes = one->write_bytes = one->workspace_bytes = 0;
        if (one != anchor) {
            one->matmul_flops = 0;
            one->shape.kind = CLV_SHAPE_NONE;
        }
    }
    anchor->flops = flops;
    anchor->starts = 1;
    apply_state(kernels, k, costs);
    if (anchor->shape.kind == CLV_SHAPE_ATTENTION) {
        anchor->read_bytes = clv_attention_read_bytes(&anchor->shape, anchor->math);
        anchor->write_bytes = clv_attention_write_bytes(&anchor->shape, anchor->math);
    }
}

void clv_expert_product_cost(clv_op_cost *cost)
{
    const clv_kernel_shape *w = &cost->shape;
    if (w->kind != CLV_SHAPE_EXPERTS)
        return;
    /* what is narrower than 16 bits is an operand only */
    clv_dtype made = clv_dtype_bits(cost->math) < 16 ? CLV_DT_BFLOAT16 : cost->math;
    double rows = (double)w->tokens * (double)w->top_k / (double)w->experts;
    double wide = rows * (double)w->hidden, inner = rows * (double)w->intermediate;
    double flops = 2 * wide * (double)w->intermediate;
    double weights = (double)w->hidden * (double)w->intermediate * clv_experts_hit(w);
    cost->matmul_flops = flops < (double)(INT64_MAX / 8) ? (int64_t)flops : INT64_MAX / 8;
    cost->flops = cost->matmul_flops;
    cost->read_bytes =
        clv_shape_bytes(w->weights, weights) + clv_shape_bytes(cost->math, w->back ? inner : wide);
    cost->write_bytes = clv_shape_bytes(made, w->back ? wide : w->gated ? inner / 2 : inner);
    cost->workspace_bytes = clv_shape_bytes(made, (double)clv_experts_scratch_elems(w));
}

/* Experts that are written out: each of their products has its share of the kernel, so that a
 * layout that splits one of them changes that part of its time. */
static void apply_experts(const clv_kernels *kernels, const clv_kernel *k, clv_costs *costs)
{
    const clv_experts_parts *p = k->experts;
    for (int32_t i = 0; i < k->n; i++) {
        clv_op_cost *one = &costs->of[kernels->members[k->first + i].i];
        one->flops = one->read_bytes = one->write_bytes = 0;
        one->matmul_flops = one->workspace_bytes = 0;
        one->shape.kind = CLV_SHAPE_NONE;
    }
    for (int32_t i = 0; i < p->n_up + p->n_down; i++) {
        bool back = i >= p->n_up;
        clv_op op = back ? p->down[i - p->n_up] : p->up[i];
        clv_op_cost *one = &costs->of[op.i];
        one->share = one->starts = 1.0 / (double)(p->n_up + p->n_down);
        one->shape = clv_experts_shape(p, stored_as(costs, kernels, op));
        one->shape.back = back;
        clv_expert_product_cost(one);
    }
}

static void apply_memory(const clv_kernels *kernels, const clv_kernel *k, clv_costs *costs)
{
    for (int32_t i = 0; i < k->n; i++) {
        clv_op_cost *one = &costs->of[kernels->members[k->first + i].i];
        if (does_something(one)) {
            one->starts = 1;
            return;
        }
    }
}

/* What was open of experts written out, as how many tokens are gathered for one, is no lack of the
 * kernel: all of them together have so many rows as are chosen. */
static void drop_sized(const clv_kernels *kernels, clv_costs *costs)
{
    int32_t n = 0;
    for (int32_t i = 0; i < costs->n_unsized; i++) {
        int32_t of = kernels->of[costs->unsized[i].i];
        const clv_experts_parts *p = of >= 0 ? kernels->at[of].experts : NULL;
        if (!p || costs->of[p->up[0].i].shape.kind != CLV_SHAPE_EXPERTS)
            costs->unsized[n++] = costs->unsized[i];
    }
    costs->n_unsized = n;
}

static clv_status find_held(const clv_kernels *kernels, clv_costs *costs, clv_arena *arena,
                            clv_error *err)
{
    int32_t *held_by = CLV_NEW_ARRAY(arena, int32_t, costs->graph->n_ops);
    if (!held_by)
        return clv_fail_nomem(err, "kernels");
    for (int32_t i = 0; i < costs->graph->n_ops; i++) {
        int32_t k = kernels->of[i];
        clv_kernel_kind kind = k < 0 ? CLV_KERNEL_SINGLE : kernels->at[k].kind;
        bool holds = kind == CLV_KERNEL_PRODUCT || kind == CLV_KERNEL_ATTENTION ||
                     kind == CLV_KERNEL_EXPERTS;
        held_by[i] = holds ? k : -1;
    }
    costs->held_by = held_by;
    return CLV_OK;
}

clv_status clv_kernel_costs_apply(const clv_kernels *kernels, clv_costs *costs, clv_arena *arena,
                                  clv_error *err)
{
    for (int32_t i = 0; i < costs->graph->n_ops; i++) {
        costs->of[i].starts = 0;
        costs->of[i].captured = kernels->runtime->graph;
        costs->of[i].quantised = kernels->runtime->quantised;
        if (kernels->of[i] < 0) { /* also what makes masks that kernels know */
            clv_op_cost *c = &costs->of[i];
            c->flops = c->matmul_flops = c->read_bytes = c->write_bytes = c->workspace_bytes = 0;
        }
    }
    for (int32_t i = 0; i < kernels->n; i++) {
        const clv_kernel *k = &kernels->at[i];
        switch (k->kind) {
        case CLV_KERNEL_PRODUCT:
            apply_product(kernels, k, costs);
            break;
        case CLV_KERNEL_ATTENTION:
            apply_attention(kernels, k, costs);
            break;
        case CLV_KERNEL_EXPERTS:
            if (k->experts)
                apply_experts(kernels, k, costs);
            else
                apply_memory(kernels, k, costs);
            break;
        case CLV_KERNEL_SINGLE:
        case CLV_KERNEL_MEMORY:
        case CLV_N_KERNEL_KINDS:
            apply_memory(kernels, k, costs);
            break;
        }
        if (k->pattern && k->pattern->runs_as >= 0)
            clv_kernel_runs_as(kernels, i, costs);
    }
    costs->kernels = kernels;
    drop_sized(kernels, costs);
    return find_held(kernels, costs, arena, err);
}

/* -- units -- */

clv_status clv_kernel_followers(const clv_types *types, const clv_kernels *kernels,
                                clv_arena *arena, const clv_op **ret, clv_error *err)
{
    const clv_graph *g = types->graph;
    clv_op *with = CLV_NEW_ARRAY(arena, clv_op, g->n_ops);
    if (!with)
        return clv_fail_nomem(err, "kernels");
    for (int32_t i = g->n_ops; i-- > 0;) {
        const clv_op_info *op = &g->ops[i];
        int32_t goes = -1;
        bool alone = kernels->of[i] >= 0;
        for (int32_t k = 0; alone && k < op->n_out; k++) {
            clv_tensor t = clv_op_output(g, op, k);
            const clv_tensor_info *at = t.i < 0 ? NULL : clv_tensor_at(g, t);
            alone = !at || !at->is_output;
            for (int32_t r = 0; alone && at && r < at->n_readers; r++) {
                int32_t reader = g->readers_of[at->first_reader + r].i;
                alone =
                    kernels->of[reader] == kernels->of[i] && (goes < 0 || goes == with[reader].i);
                goes = with[reader].i;
            }
        }
        with[i] = (clv_op){ alone && goes >= 0 ? goes : i };
    }
    *ret = with;
    return CLV_OK;
}
