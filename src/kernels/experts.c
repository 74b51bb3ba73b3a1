#include "kernels/experts.h"

#include <stdlib.h>

#include "graph/ops.h"
#include "graph/shape_tools.h"

/* Two kinds of products, by what they wait for: one that waits for another of the kernel leads
 * back to the tokens' own width. */
typedef struct {
    const clv_forming *f;
    const clv_found *of;
    int32_t kernel;
    clv_op *ops; /* the kernel's, ascending */
    bool *waits; /* by operator of ops: for a product of the kernel, or is one */
    clv_op *up, *down;
    int32_t n_up, n_down;
} finder;

static int by_id(const void *a, const void *b)
{
    int32_t x = ((const clv_op *)a)->i, y = ((const clv_op *)b)->i;
    return (x > y) - (x < y);
}

static bool is_product(const clv_op_info *op)
{
    return op->kind >= 0 && (clv_op_def_at(op->kind)->flags & CLV_OPF_CONTRACTION) != 0;
}

/* The place of an operator among those of the kernel; -1. */
static int32_t place_of(const finder *s, clv_op op)
{
    if (op.i < 0 || s->f->of[op.i] != s->kernel)
        return -1;
    const clv_op *at = bsearch(&op, s->ops, (size_t)s->of->n, sizeof op, by_id);
    return at ? (int32_t)(at - s->ops) : -1;
}

static void sort_products(finder *s)
{
    const clv_graph *g = s->f->g;
    for (int32_t i = 0; i < s->of->n; i++) {
        const clv_op_info *op = clv_op_at(g, s->ops[i]);
        for (int32_t k = 0; k < op->n_in; k++) {
            clv_tensor t = clv_op_input(g, op, k);
            int32_t at = t.i < 0 ? -1 : place_of(s, clv_tensor_at(g, t)->producer);
            s->waits[i] |= at >= 0 && s->waits[at];
        }
        if (!is_product(op))
            continue;
        if (s->waits[i])
            s->down[s->n_down++] = s->ops[i];
        else
            s->up[s->n_up++] = s->ops[i];
        s->waits[i] = true;
    }
}

/* -- sizes -- */

/* The last dimension of an input or output; 0: open. */
static int64_t last_of(const finder *s, clv_tensor t)
{
    const clv_type *type = t.i < 0 ? NULL : &s->f->types->of[t.i];
    clv_dim last = type ? clv_type_dim(type, -1) : CLV_DIM_UNKNOWN;
    return clv_dim_is_number(last) ? last : 0;
}

/* Are these products [.., from] to [.., to], each with a weight? */
static bool are_alike(const finder *s, const clv_op *products, int32_t n, int64_t from, int64_t to)
{
    const clv_graph *g = s->f->g;
    for (int32_t i = 0; i < n; i++) {
        const clv_op_info *op = clv_op_at(g, products[i]);
        if (op->n_in < 2 || last_of(s, clv_op_input(g, op, 0)) != from ||
            last_of(s, clv_op_output(g, op, 0)) != to)
            return false;
    }
    return from > 0 && to > 0;
}

/* Rows of scores that the router chooses from; 0: open. */
static int64_t rows_of(const finder *s, clv_tensor scores)
{
    const clv_type *type = &s->f->types->of[scores.i];
    int64_t rows = 1;
    for (int32_t i = 0; i + 1 < type->rank; i++) {
        if (!clv_dim_is_number(type->dims[i]))
            return 0;
        if (__builtin_mul_overflow(rows, type->dims[i], &rows))
            return 0;
    }
    return rows;
}

/* The one that is read outside; -1: there are more, or none. Products are inside, so experts are
 * not looked at on their way. */
static bool has_one_result(const finder *s)
{
    int32_t n = 0;
    for (int32_t i = 0; i < s->of->n; i++) {
        clv_op op = s->ops[i];
        const clv_op_info *info = clv_op_at(s->f->g, op);
        bool returned = false;
        for (int32_t k = 0; k < info->n_out; k++) {
            clv_tensor t = clv_op_output(s->f->g, info, k);
            returned |= t.i >= 0 && clv_tensor_at(s->f->g, t)->is_output;
        }
        bool leaves = returned || !clv_stays_in_kernel(s->f, op, s->kernel);
        if (leaves && is_product(info))
            return false;
        n += leaves && s->waits[i];
    }
    return n == 1;
}

static bool measure(const finder *s, clv_experts_parts *ret)
{
    const clv_graph *g = s->f->g;
    const clv_op_info *router = clv_op_at(g, s->of->anchor);
    clv_tensor scores = clv_op_input(g, router, 0), chosen = clv_op_output(g, router, 0);
    if (s->n_down < 1 || scores.i < 0 || chosen.i < 0)
        return false;
    const clv_op_info *up = clv_op_at(g, s->up[0]);
    *ret = (clv_experts_parts){ .router = s->of->anchor,
                                .tokens = rows_of(s, scores),
                                .hidden = last_of(s, clv_op_input(g, up, 0)),
                                .intermediate = last_of(s, clv_op_output(g, up, 0)),
                                .experts = last_of(s, scores),
                                .top_k = last_of(s, chosen),
                                .gated = s->n_up > s->n_down,
                                .up = s->up,
                                .down = s->down,
                                .n_up = s->n_up,
                                .n_down = s->n_down };
    return s->n_down == ret->experts && s->n_up == s->n_down * (ret->gated ? 2 : 1) &&
           ret->top_k >= 1 && ret->top_k <= ret->experts &&
           are_alike(s, s->up, s->n_up, ret->hidden, ret->intermediate) &&
           are_alike(s, s->down, s->n_down, ret->intermediate, ret->hidden);
}

clv_status clv_expert_kernel_find(const clv_forming *f, clv_arena *arena, clv_experts_parts **ret,
                                  clv_error *err)
{
    finder s = { .f = f, .of = &f->found[f->n_found - 1], .kernel = f->n_found - 1 };
    clv_mark mark = clv_arena_mark(arena);
    clv_experts_parts *made = CLV_NEW(arena, clv_experts_parts);
    s.up = CLV_NEW_ARRAY(arena, clv_op, s.of->n);
    s.down = CLV_NEW_ARRAY(arena, clv_op, s.of->n);
    s.ops = CLV_NEW_ARRAY(f->scratch, clv_op, s.of->n);
    s.waits = CLV_NEW_ARRAY(f->scratch, bool, s.of->n);
    if (!made || !s.up || !s.down || !s.ops || !s.waits)
        return clv_fail_nomem(err, "kernels");
    for (int32_t i = 0; i < s.of->n; i++)
        s.ops[i] = f->members[s.of->first + i];
    qsort(s.ops, (size_t)s.of->n, sizeof *s.ops, by_id);
    sort_products(&s);
    *ret = NULL;
    if (measure(&s, made) && has_one_result(&s))
        *ret = made;
    else
        clv_arena_rewind(arena, mark);
    return CLV_OK;
}
