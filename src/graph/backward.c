#include "graph/backward.h"

#include <string.h>

#include "base/map.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
}

static bool means_gradient(clv_str word)
{
    static const char *const words[] = { "grad",      "Grad",     "gradient", "Gradient",
                                         "gradients", "backward", "Backward", NULL };
    for (int32_t k = 0; words[k]; k++)
        if (clv_str_is(word, words[k]))
            return true;
    return false;
}

static bool name_is_backward(clv_str name)
{
    clv_str before = { "", 0 };
    for (int32_t i = 0, end; i < name.n; i = end + 1) {
        for (end = i; end < name.n && is_in_word(name.at[end]); end++)
            continue;
        clv_str word = { name.at + i, end - i };
        if (means_gradient(word) && !clv_str_is(before, "no"))
            return true;
        before = word;
    }
    return false;
}

static bool type_is_backward(clv_str type)
{
    while (type.n > 0 && is_digit(type.at[type.n - 1]))
        type.n--;
    if (type.n > 0 && (type.at[type.n - 1] == '_' || type.at[type.n - 1] == 'V'))
        type.n--;
    for (int32_t k = 0; k < 2; k++) {
        clv_str end = clv_str_of(k ? "Gradient" : "Grad");
        if (type.n >= end.n && memcmp(type.at + type.n - end.n, end.at, (size_t)end.n) == 0)
            return true;
    }
    return false;
}

static bool begins_backward(const clv_graph *g, const clv_op_info *op)
{
    bool backward = type_is_backward(op->type) || name_is_backward(op->name);
    for (int32_t k = 0; k < op->n_out && !backward; k++) {
        clv_tensor t = g->outputs_of[op->first_out + k];
        backward = t.i >= 0 && name_is_backward(g->tensors[t.i].name);
    }
    return backward;
}

static clv_status mark_named(const clv_graph *g, const char *first, clv_arena *arena, bool *mark,
                             clv_error *err)
{
    clv_map labels;
    CLV_TRY(clv_map_init(&labels, arena, g->n_ops, err));
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t id = i;
        CLV_TRY(clv_map_put(&labels, g->ops[i].label, i, &id, err));
    }
    while (*first) {
        size_t n = strcspn(first, ",");
        int32_t op = clv_map_get(&labels, (clv_str){ first, (int32_t)n });
        if (op < 0)
            return clv_fail(
                err, CLV_EUSAGE,
                "'%.*s', with which the backward pass begins, is not an operator of the "
                "model's main graph",
                (int)(n > 100 ? 100 : n), first);
        mark[op] = true;
        first += n + (first[n] == ',');
    }
    return CLV_OK;
}

/* Operators are in topological order, so one pass reaches all. */
static int32_t mark_readers(const clv_graph *g, bool *mark)
{
    int32_t n = 0;
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        for (int32_t k = 0; k < op->n_in && !mark[i]; k++) {
            clv_tensor t = g->inputs_of[op->first_in + k];
            int32_t from = t.i >= 0 ? g->tensors[t.i].producer.i : -1;
            mark[i] = from >= 0 && mark[from];
        }
        n += mark[i];
    }
    return n;
}

clv_status clv_backward_ops(const clv_graph *g, const char *first, clv_arena *arena, bool **ret,
                            clv_error *err)
{
    *ret = NULL;
    if (first && strcmp(first, "none") == 0)
        return CLV_OK;
    bool *mark = CLV_NEW_ARRAY(arena, bool, g->n_ops);
    if (!mark)
        return clv_fail_nomem(err, "the backward operators");
    if (first)
        CLV_TRY(mark_named(g, first, arena, mark, err));
    for (int32_t i = 0; i < g->n_ops && !first; i++)
        mark[i] = begins_backward(g, &g->ops[i]);
    if (mark_readers(g, mark) > 0)
        *ret = mark;
    return CLV_OK;
}
