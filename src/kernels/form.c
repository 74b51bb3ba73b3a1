/* form.c - patterns in their order, each over all operators; then what nobody took. */
#include "kernels/form.h"

#include "graph/ops.h"
#include "graph/states.h"
#include "kernels/attention.h"
#include "kernels/circles.h"
#include "kernels/conditions.h"
#include "kernels/experts.h"
#include "kernels/grow.h"

#define WHAT "kernels"

typedef struct {
    clv_forming f;
    clv_arena *arena, *scratch;
    const clv_types *types;
    const clv_graph *g;
    bool *causal_masks;
    int32_t *kind; /* n_ops: that of operators, side by side: each pattern looks at all of them */
    int32_t *product;                /* n_ops; of those that begin one: its number among them */
    bool *makes_mask;                /* by operator: nothing but masks that kernels know */
    clv_attention_parts **attention; /* by kernel found */
    clv_experts_parts **experts;     /* by kernel found */
    clv_kernels *made;
} former;

/* -- what is found -- */

static clv_status try_experts(former *m, clv_error *err)
{
    int32_t last = m->f.n_found - 1;
    CLV_TRY(clv_expert_kernel_find(&m->f, m->arena, &m->experts[last], err));
    if (!m->experts[last])
        clv_form_undo(&m->f);
    return CLV_OK;
}

static clv_status try_pattern(former *m, const clv_pattern *p, clv_op op, clv_error *err)
{
    if (!clv_form_from(&m->f, p, op))
        return CLV_OK;
    m->attention[m->f.n_found - 1] = NULL;
    m->experts[m->f.n_found - 1] = NULL;
    if (p->kind == CLV_KERNEL_EXPERTS && p->n_after > 1)
        return try_experts(m, err);
    bool written_out = p->kind == CLV_KERNEL_ATTENTION && p->n_before > 1;
    if (!written_out)
        return CLV_OK;
    if (!m->causal_masks)
        m->causal_masks = clv_causal_masks(m->types, m->scratch);
    if (!m->causal_masks)
        return clv_fail_nomem(err, WHAT);
    m->attention[m->f.n_found - 1] = clv_attention_find(&m->f, m->causal_masks, m->arena);
    if (!m->attention[m->f.n_found - 1])
        clv_form_undo(&m->f);
    return CLV_OK;
}

/* What only makes their masks is not run. */
static void leave_masks(former *m)
{
    clv_find_mask_makers(&m->f, m->attention, m->causal_masks, m->makes_mask);
    for (int32_t i = 0; i < m->g->n_ops; i++)
        m->f.is_free[i] |= m->makes_mask[i];
}

static clv_status find_all(former *m, const clv_runtime *runtime, clv_error *err)
{
    bool left = false;
    for (int32_t p = 0; p < runtime->n; p++) {
        const clv_pattern *pattern = &runtime->patterns[p];
        if (pattern->kind != CLV_KERNEL_ATTENTION && m->causal_masks && !left) {
            leave_masks(m);
            left = true;
        }
        for (int32_t i = 0; i < m->g->n_ops; i++)
            if (m->kind[i] >= 0 && pattern->start[m->kind[i]] && m->f.of[i] < 0 && !m->f.is_free[i])
                CLV_TRY(try_pattern(m, pattern, (clv_op){ i }, err));
    }
    return CLV_OK;
}

/* -- the result -- */

/* Kernels by their first operator, and an operator that is in none by itself. */
static clv_status number_kernels(former *m, clv_error *err)
{
    const clv_graph *g = m->g;
    int32_t *number = CLV_NEW_ARRAY(m->scratch, int32_t, m->f.n_found);
    int32_t *of = CLV_NEW_ARRAY(m->arena, int32_t, g->n_ops);
    clv_kernel *at = CLV_NEW_ROOM(m->arena, clv_kernel, g->n_ops);
    clv_op *members = CLV_NEW_ARRAY(m->arena, clv_op, g->n_ops);
    int32_t n = 0, n_members = 0;
    if (!number || !of || !at || !members)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < m->f.n_found; k++)
        number[k] = -1;
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t found = m->f.of[i];
        of[i] = found >= 0 ? number[found] : -1;
        if (of[i] < 0 && (found >= 0 || !m->f.is_free[i])) {
            const clv_found *from = found >= 0 ? &m->f.found[found] : NULL;
            at[n] = (clv_kernel){ .kind = from ? from->pattern->kind : CLV_KERNEL_SINGLE,
                                  .pattern = from ? from->pattern : NULL,
                                  .anchor = from ? from->anchor : (clv_op){ i },
                                  .attention = from ? m->attention[found] : NULL,
                                  .experts = from ? m->experts[found] : NULL };
            of[i] = n++;
            if (found >= 0)
                number[found] = of[i];
        }
        if (of[i] >= 0)
            at[of[i]].n++;
    }
    for (int32_t k = 0; k < n; k++) {
        if (at[k].attention)
            at[k].anchor = at[k].attention->scores;
        at[k].first = n_members;
        n_members += at[k].n;
        at[k].n = 0;
    }
    for (int32_t i = 0; i < g->n_ops; i++)
        if (of[i] >= 0)
            members[at[of[i]].first + at[of[i]].n++] = (clv_op){ i };
    m->made->n = n;
    m->made->at = at;
    m->made->members = members;
    m->made->of = of;
    return CLV_OK;
}

/* The kernel that alone reads an input; -1. */
static int32_t only_reader(const former *m, clv_tensor t)
{
    const clv_tensor_info *at = clv_tensor_at(m->g, t);
    int32_t kernel = -1;
    for (int32_t r = 0; r < at->n_readers; r++) {
        clv_op reader = m->g->readers_of[at->first_reader + r];
        if (clv_is_idle(&m->f, reader))
            continue;
        if (m->made->of[reader.i] < 0 || (kernel >= 0 && m->made->of[reader.i] != kernel))
            return -1;
        kernel = m->made->of[reader.i];
    }
    return kernel;
}

/* Keys and values that attention appends to stay where they are, where its kernel alone reads the
 * past. */
static clv_status find_state(former *m, bool *inside, clv_error *err)
{
    const clv_graph *g = m->g;
    clv_tensor *state = CLV_NEW_ARRAY(m->arena, clv_tensor, g->n_tensors);
    clv_states states;
    if (!state)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_states_find(m->types, m->scratch, &states, err));
    for (int32_t t = 0; t < g->n_tensors; t++)
        state[t] = CLV_NO_TENSOR;
    for (int32_t i = 0; i < states.n; i++) {
        clv_tensor in = states.at[i].in, out = states.at[i].out;
        int32_t kernel = only_reader(m, in);
        if (kernel < 0 || m->made->at[kernel].kind != CLV_KERNEL_ATTENTION ||
            m->made->of[clv_tensor_at(g, out)->producer.i] != kernel)
            continue;
        state[in.i] = out;
        state[out.i] = in;
        inside[in.i] = true;
    }
    m->made->state = state;
    return CLV_OK;
}

/* A tensor is inside where all that reads it, or a view of it, is in the kernel that writes it. */
static clv_status find_inside(former *m, clv_error *err)
{
    const clv_graph *g = m->g;
    const int32_t *of = m->made->of;
    bool *inside = CLV_NEW_ARRAY(m->arena, bool, g->n_tensors);
    if (!inside)
        return clv_fail_nomem(err, WHAT);
    for (int32_t t = 0; t < g->n_tensors; t++) {
        const clv_tensor_info *at = &g->tensors[t];
        int32_t kernel = at->producer.i < 0 ? -1 : of[at->producer.i];
        inside[t] = kernel >= 0 && !at->is_output && at->n_readers > 0 && m->made->at[kernel].n > 1;
        for (int32_t r = 0; inside[t] && r < at->n_readers; r++) {
            clv_op reader = g->readers_of[at->first_reader + r];
            inside[t] = of[reader.i] == kernel || clv_is_idle(&m->f, reader);
        }
    }
    for (int32_t i = g->n_ops; i-- > 0;) { /* what is seen from outside by another name */
        clv_tensor viewed = clv_op_passed(m->types, &g->ops[i]);
        if (viewed.i >= 0 && !inside[clv_op_output(g, &g->ops[i], 0).i])
            inside[viewed.i] = false;
    }
    for (int32_t i = 0; i < g->n_ops; i++)
        for (int32_t k = 0; m->makes_mask[i] && k < g->ops[i].n_out; k++)
            if (clv_op_output(g, &g->ops[i], k).i >= 0)
                inside[clv_op_output(g, &g->ops[i], k).i] = true;
    m->made->inside = inside;
    return find_state(m, inside, err);
}

/* Columns of a product of a tensor with a weight; 0: it is none that could be packed. */
static int64_t packed_columns(const former *m, int32_t op, clv_tensor t)
{
    int32_t k = m->made->of[op];
    const clv_op_info *info = &m->g->ops[op];
    if (k < 0 || m->made->at[k].anchor.i != op || !m->made->at[k].pattern ||
        !m->made->at[k].pattern->packed || info->n_in < 2 || clv_op_input(m->g, info, 0).i != t.i)
        return 0;
    bool windows = clv_op_def_at(info->kind)->flops == CLV_FLOPS_CONV; /* each has its own */
    int64_t in = windows ? 0 : clv_known_elems(&m->types->of[t.i]);
    int64_t row =
        m->types->of[t.i].rank > 0 ? m->types->of[t.i].dims[m->types->of[t.i].rank - 1] : 0;
    int64_t out = clv_known_elems(&m->types->of[clv_op_output(m->g, info, 0).i]);
    return in > 0 && row > 0 && in % row == 0 && out % (in / row) == 0 ? out / (in / row) : 0;
}

/* Of the readers of t from the r-th on, those that are products and next to each other among the
 * products of the model: they share their columns. The reader behind them. */
static int32_t share_run(const former *m, clv_tensor t, int32_t r, double *share)
{
    const clv_tensor_info *at = clv_tensor_at(m->g, t);
    const clv_op *readers = &m->g->readers_of[at->first_reader];
    int64_t all = 0, one;
    int32_t end = r, last = -1;
    for (; end < at->n_readers; end++) {
        one = packed_columns(m, readers[end].i, t);
        if (one > 0 && last >= 0 && m->product[readers[end].i] != m->product[last] + 1)
            break;
        all += one;
        last = one > 0 ? readers[end].i : last;
    }
    for (int32_t i = r; i < end; i++)
        if ((one = packed_columns(m, readers[i].i, t)))
            share[readers[i].i] = (double)one / (double)all;
    return end;
}

/* Products that read one tensor run as one, their weights side by side, as the queries, keys and
 * values of a layer do: each has its share of the columns. */
static clv_status find_shares(former *m, clv_error *err)
{
    const clv_graph *g = m->g;
    double *share = CLV_NEW_ARRAY(m->arena, double, g->n_ops);
    if (!share)
        return clv_fail_nomem(err, WHAT);
    m->product = CLV_NEW_ARRAY(m->scratch, int32_t, g->n_ops);
    if (!m->product)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0, n = 0; i < g->n_ops; i++) {
        int32_t k = m->made->of[i];
        share[i] = 1;
        if (k >= 0 && m->made->at[k].kind == CLV_KERNEL_PRODUCT && m->made->at[k].anchor.i == i)
            m->product[i] = n++;
    }
    for (int32_t t = 0; t < g->n_tensors; t++) {
        const clv_tensor_info *at = &g->tensors[t];
        if (at->n_readers < 2 || m->types->of[t].kind != CLV_TYPE_TENSOR)
            continue;
        for (int32_t r = 0; r < at->n_readers;)
            r = share_run(m, (clv_tensor){ t }, r, share);
    }
    m->made->share = share;
    return CLV_OK;
}

static clv_status form(former *m, const clv_runtime *runtime, clv_error *err)
{
    CLV_TRY(clv_forming_init(&m->f, m->types, m->scratch, err));
    m->attention = clv_arena_take_room(m->scratch, (size_t)m->g->n_ops, sizeof *m->attention);
    m->experts = clv_arena_take_room(m->scratch, (size_t)m->g->n_ops, sizeof *m->experts);
    m->makes_mask = CLV_NEW_ARRAY(m->scratch, bool, m->g->n_ops);
    m->kind = CLV_NEW_ROOM(m->scratch, int32_t, m->g->n_ops);
    if (!m->attention || !m->experts || !m->makes_mask || !m->kind)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; runtime->n > 0 && i < m->g->n_ops; i++) {
        m->kind[i] = m->g->ops[i].kind;
        m->f.is_free[i] |= clv_op_passed(m->types, &m->g->ops[i]).i >= 0;
    }
    CLV_TRY(find_all(m, runtime, err));
    CLV_TRY(clv_break_circles(&m->f, err));
    CLV_TRY(number_kernels(m, err));
    CLV_TRY(find_inside(m, err));
    return find_shares(m, err);
}

clv_status clv_kernels_form(const clv_types *types, const clv_runtime *runtime, clv_arena *arena,
                            clv_kernels **ret, clv_error *err)
{
    former m = { .arena = arena,
                 .scratch = clv_arena_new(clv_arena_alloc(arena), 0),
                 .types = types,
                 .g = types->graph,
                 .made = CLV_NEW(arena, clv_kernels) };
    clv_status status = m.scratch && m.made ? CLV_OK : clv_fail_nomem(err, WHAT);
    if (status == CLV_OK)
        status = form(&m, runtime, err);
    clv_arena_free(m.scratch);
    if (status == CLV_OK) {
        m.made->runtime = runtime;
        *ret = m.made;
    }
    return status;
}
