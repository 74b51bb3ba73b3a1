#include "joint/stage_conversions.h"

#include "cost/weights.h"
#include "graph/ops.h"

typedef struct {
    const clv_stage_space *of;
    const clv_shard_problem *problem;
    const clv_graph *g;
    const clv_stage_waiting *waiting;
    clv_stage_conversions made;
    int32_t n, cap, n_beside, cap_beside;
    clv_arena *arena;
} building;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "memory of stages"); }

/* -- how a tensor lies -- */

/* By whose choice: the tensor's own, or its reader's or writer's, of which it is an operand. */
typedef struct {
    enum { HOME, NEED, MADE } kind;
    int32_t node;
    clv_op op;
    int32_t operand;
} place;

/* The layouts of a place; many choices share one. */
typedef struct {
    int32_t node, n_choices, n;
    int32_t *number; /* by choice: into at */
    clv_layout *at;
} layouts;

static place home_of(const building *b, clv_tensor t)
{
    return (place){ .kind = HOME, .node = b->problem->node_of_tensor[t.i] };
}

static place need_of(const building *b, clv_op op, int32_t k)
{
    return (place){ NEED, b->problem->node_of_op[op.i], op, k };
}

static place made_by(const building *b, clv_op op, int32_t k)
{
    return (place){ MADE, b->problem->node_of_op[op.i], op, k };
}

static clv_layout layout_at(const building *b, const place *p, int32_t choice)
{
    const clv_shard_problem *of = b->problem;
    if (p->kind == HOME)
        return of->layout[p->node][choice];
    if (p->kind == NEED)
        return clv_stage_need(b->of, p->op, p->operand, choice);
    return clv_choice_out(&of->factors[p->op.i], of->mesh, &of->op_choice[p->node][choice],
                          p->operand);
}

static clv_status list_layouts(const building *b, const place *p, layouts *ret, clv_error *err)
{
    int32_t n = clv_intra_op_n_choices(b->problem->problem, p->node);
    *ret = (layouts){ .node = p->node,
                      .n_choices = n,
                      .number = CLV_NEW_ARRAY(b->arena, int32_t, n),
                      .at = CLV_NEW_ARRAY(b->arena, clv_layout, n) };
    if (!ret->number || !ret->at)
        return no_memory(err);
    for (int32_t c = 0; c < n; c++) {
        clv_layout layout = layout_at(b, p, c);
        int32_t i = 0;
        while (i < ret->n && !clv_layout_equal(&ret->at[i], &layout))
            i++;
        ret->number[c] = i;
        ret->at[i] = layout;
        ret->n += i == ret->n;
    }
    return CLV_OK;
}

/* -- on the way -- */

typedef struct {
    clv_tensor tensor;
    bool stays; /* as it was, for who reads it behind */
    layouts from, to;
} way;

/* Each step has what it reads beside what it writes. */
static clv_status most_bytes(const building *b, const way *w, const clv_layout *from,
                             const clv_layout *to, int64_t *ret, clv_error *err)
{
    clv_relayout move = { &b->problem->types->of[w->tensor.i], from, to };
    int64_t first = clv_stage_tensor_bytes(b->of, w->tensor, from), before = 0;
    clv_chain chain;
    *ret = 0;
    if (clv_layout_equal(from, to))
        return CLV_OK;
    CLV_TRY(clv_resharder_chain(b->of->resharder, &move, b->arena, &chain, err));
    for (int32_t i = 0; i < chain.n; i++) {
        int64_t after = clv_stage_tensor_bytes(b->of, w->tensor, &chain.steps[i].to);
        int64_t bytes = clv_weight_add(before, after);
        if (i == 0 || w->stays)
            bytes = clv_weight_add(bytes, first);
        *ret = bytes > *ret ? bytes : *ret;
        before = after;
    }
    return CLV_OK;
}

static clv_status fill_bytes(const building *b, const way *w, const int64_t **ret, clv_error *err)
{
    const layouts *from = &w->from, *to = &w->to;
    int64_t *most = CLV_NEW_ARRAY(b->arena, int64_t, (size_t)from->n * (size_t)to->n);
    int64_t *bytes =
        CLV_NEW_ARRAY(b->arena, int64_t, (size_t)from->n_choices * (size_t)to->n_choices);
    if (!most || !bytes)
        return no_memory(err);
    for (int32_t i = 0; i < from->n; i++)
        for (int32_t k = 0; k < to->n; k++)
            CLV_TRY(most_bytes(b, w, &from->at[i], &to->at[k], &most[i * to->n + k], err));
    for (int32_t i = 0; i < from->n_choices; i++)
        for (int32_t k = 0; k < to->n_choices; k++)
            bytes[i * to->n_choices + k] = most[from->number[i] * to->n + to->number[k]];
    *ret = bytes;
    return CLV_OK;
}

/* -- what lies beside it -- */

static clv_status add_beside(building *b, const clv_waiting *w, clv_error *err)
{
    if (!CLV_PUSH_ROOM(b->arena, b->made.beside, b->n_beside, b->cap_beside))
        return no_memory(err);
    b->made.beside[b->n_beside++] = *w;
    return CLV_OK;
}

/* An operand of the operator on whose stage it is. */
static clv_status add_operand(building *b, clv_tensor t, const place *p, clv_error *err)
{
    layouts l;
    CLV_TRY(list_layouts(b, p, &l, err));
    int64_t *bytes = CLV_NEW_ARRAY(b->arena, int64_t, l.n_choices);
    if (!bytes)
        return no_memory(err);
    for (int32_t c = 0; c < l.n_choices; c++)
        bytes[c] = clv_stage_tensor_bytes(b->of, t, &l.at[l.number[c]]);
    return add_beside(b, &(clv_waiting){ t, -1, p->node, bytes, NULL }, err);
}

/* What waits while the operator runs, as it lies, but for what shares memory with the tensor: is it
 * the tensor itself? */
static clv_status add_waiting(building *b, clv_op op, clv_tensor t, bool *ret_waits, clv_error *err)
{
    int32_t node = b->problem->node_of_op[op.i], root = clv_tensor_root(b->g, t).i;
    *ret_waits = false;
    for (int32_t i = b->waiting->first[node]; i < b->waiting->end[node]; i++) {
        const clv_waiting *w = &b->waiting->at[i];
        *ret_waits |= w->tensor.i == t.i;
        if (clv_tensor_root(b->g, w->tensor).i != root)
            CLV_TRY(add_beside(b, w, err));
    }
    return CLV_OK;
}

static bool is_beside(const building *b, clv_tensor t, int32_t first_beside)
{
    int32_t root = clv_tensor_root(b->g, t).i;
    for (int32_t i = first_beside; i < b->n_beside; i++)
        if (clv_tensor_root(b->g, b->made.beside[i].tensor).i == root)
            return true;
    return false;
}

/* Of inputs that share memory one is looked at. */
static bool is_input(const building *b, clv_op op, int32_t k)
{
    clv_tensor t = clv_op_input(b->g, clv_op_at(b->g, op), k);
    return clv_stage_tensor_counts(b->of, t) && clv_stage_input_sharing(b->of, op, t) == k;
}

/* Inputs before k as the operator needs them, those behind as they lie. Of several stages one may
 * come from another one, and not be there before it is read. */
static clv_status add_inputs(building *b, clv_op op, int32_t k, int32_t first_beside,
                             clv_error *err)
{
    const clv_op_info *info = clv_op_at(b->g, op);
    for (int32_t i = 0; i < clv_op_n_explicit(info) && b->of->stages->n_devices == 1; i++) {
        clv_tensor t = clv_op_input(b->g, info, i);
        if (i == k || !is_input(b, op, i) || is_beside(b, t, first_beside))
            continue;
        place home = home_of(b, t), need = need_of(b, op, i);
        CLV_TRY(add_operand(b, t, i > k && home.node >= 0 ? &home : &need, err));
    }
    return CLV_OK;
}

/* Outputs before k as they lie, where their own choice says so, those behind as they were made;
 * what nobody wants is gone with the operator. */
static clv_status add_outputs(building *b, clv_op op, int32_t k, clv_error *err)
{
    const clv_op_info *info = clv_op_at(b->g, op);
    for (int32_t i = 0; i < info->n_out; i++) {
        clv_tensor t = clv_op_output(b->g, info, i);
        if (i == k || !clv_stage_tensor_counts(b->of, t) || clv_tensor_root(b->g, t).i != t.i ||
            !(clv_tensor_at(b->g, t)->is_output || clv_tensor_at(b->g, t)->n_readers > 0))
            continue;
        place home = home_of(b, t), made = made_by(b, op, i);
        if (i > k || home.node >= 0)
            CLV_TRY(add_operand(b, t, i < k ? &home : &made, err));
    }
    return CLV_OK;
}

/* -- all -- */

/* Behind what was added beside it since first_beside. */
static clv_status add_conversion(building *b, const way *w, int32_t on, int32_t first_beside,
                                 clv_error *err)
{
    clv_conversion made = { w->from.node, w->to.node, NULL, on, first_beside, b->n_beside };
    CLV_TRY(fill_bytes(b, w, &made.bytes, err));
    if (!CLV_PUSH_ROOM(b->arena, b->made.at, b->n, b->cap))
        return no_memory(err);
    b->made.at[b->n++] = made;
    return CLV_OK;
}

/* Before the operator runs. */
static clv_status convert_input(building *b, clv_op op, int32_t k, clv_error *err)
{
    clv_tensor t = clv_op_input(b->g, clv_op_at(b->g, op), k);
    way w = { .tensor = t };
    place from = home_of(b, t), to = need_of(b, op, k);
    int32_t first_beside = b->n_beside;
    CLV_TRY(list_layouts(b, &from, &w.from, err));
    CLV_TRY(list_layouts(b, &to, &w.to, err));
    CLV_TRY(add_waiting(b, op, t, &w.stays, err));
    w.stays &= b->of->stages->n_devices == 1; /* else it may be elsewhere that it waits */
    CLV_TRY(add_inputs(b, op, k, first_beside, err));
    return add_conversion(b, &w, to.node, first_beside, err);
}

/* Behind the operator that wrote it. */
static clv_status convert_output(building *b, clv_op op, int32_t k, const place *to, clv_error *err)
{
    way w = { .tensor = clv_op_output(b->g, clv_op_at(b->g, op), k) };
    place from = made_by(b, op, k);
    int32_t first_beside = b->n_beside;
    CLV_TRY(list_layouts(b, &from, &w.from, err));
    CLV_TRY(list_layouts(b, to, &w.to, err));
    CLV_TRY(add_waiting(b, op, w.tensor, &w.stays, err));
    CLV_TRY(add_outputs(b, op, k, err));
    return add_conversion(b, &w, from.node, first_beside, err);
}

/* Of which output an operator's result is. */
static int32_t output_number(const building *b, clv_op op, clv_tensor t)
{
    int32_t k = 0;
    while (clv_op_output(b->g, clv_op_at(b->g, op), k).i != t.i)
        k++;
    return k;
}

/* Inputs that have no choice of their own come from their writer, if they have one. */
static clv_status convert_inputs(building *b, clv_op op, clv_error *err)
{
    for (int32_t k = 0; k < clv_op_n_explicit(clv_op_at(b->g, op)); k++) {
        if (!is_input(b, op, k))
            continue;
        clv_tensor t = clv_op_input(b->g, clv_op_at(b->g, op), k);
        clv_op maker = clv_tensor_at(b->g, t)->producer;
        place need = need_of(b, op, k);
        if (b->problem->node_of_tensor[t.i] >= 0)
            CLV_TRY(convert_input(b, op, k, err));
        else if (maker.i >= 0 && b->problem->node_of_op[maker.i] >= 0)
            CLV_TRY(convert_output(b, maker, output_number(b, maker, t), &need, err));
    }
    return CLV_OK;
}

static clv_status add_op(building *b, clv_op op, clv_error *err)
{
    const clv_op_info *info = clv_op_at(b->g, op);
    int32_t node = b->problem->node_of_op[op.i];
    b->made.first[node] = b->n;
    CLV_TRY(convert_inputs(b, op, err));
    b->made.end[node] = b->n;
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(b->g, info, k);
        if (!clv_stage_tensor_counts(b->of, t) || b->problem->node_of_tensor[t.i] < 0)
            continue;
        place home = home_of(b, t);
        b->made.first[home.node] = b->n;
        CLV_TRY(convert_output(b, op, k, &home, err));
        b->made.end[home.node] = b->n;
    }
    return CLV_OK;
}

clv_status clv_stage_conversions_make(const clv_stage_space *of, const clv_stage_waiting *waiting,
                                      clv_arena *arena, clv_stage_conversions *ret, clv_error *err)
{
    int32_t n = of->problem->problem->n_nodes;
    building b = { .of = of,
                   .problem = of->problem,
                   .g = of->problem->types->graph,
                   .waiting = waiting,
                   .made = { .first = CLV_NEW_ARRAY(arena, int32_t, n),
                             .end = CLV_NEW_ARRAY(arena, int32_t, n) },
                   .arena = arena };
    if (!b.made.first || !b.made.end)
        return no_memory(err);
    for (int32_t i = 0; i < b.g->n_ops; i++)
        if (b.problem->node_of_op[i] >= 0)
            CLV_TRY(add_op(&b, (clv_op){ i }, err));
    *ret = b.made;
    return CLV_OK;
}
