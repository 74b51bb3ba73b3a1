/* subproblem.c - see subproblem.h. */
#include "solver/intra_op/subproblem.h"

#include <string.h>

clv_status clv_subproblem_new(const clv_pairwise *f, clv_arena *arena, clv_subproblem **ret,
                              clv_error *err)
{
    clv_subproblem *x = CLV_NEW(arena, clv_subproblem);
    if (!x)
        return clv_fail_nomem(err, "an elimination");
    x->f = f;
    x->arena = clv_arena_new(clv_arena_alloc(arena), 0);
    x->local = CLV_NEW_ARRAY(arena, int32_t, f->n);
    x->row = CLV_NEW_ARRAY(arena, double, f->max_choices);
    if (!x->arena || !x->local || !x->row) {
        clv_arena_free(x->arena);
        return clv_fail_nomem(err, "an elimination");
    }
    for (int32_t v = 0; v < f->n; v++)
        x->local[v] = -1;
    x->mark = clv_arena_mark(x->arena);
    *ret = x;
    return CLV_OK;
}

void clv_subproblem_free(clv_subproblem *x)
{
    if (x)
        clv_arena_free(x->arena);
}

clv_status clv_subproblem_begin(clv_subproblem *x, const int32_t *node, int32_t n,
                                const int32_t *choice, clv_error *err)
{
    const clv_pairwise *f = x->f;
    int64_t n_values = 0;
    for (int32_t i = 0; i < x->n; i++)
        x->local[x->node[i]] = -1;
    x->n = 0;
    clv_arena_rewind(x->arena, x->mark);
    for (int32_t i = 0; i < n; i++)
        n_values += clv_pairwise_n_choices(f, node[i]);
    x->node = CLV_NEW_ARRAY(x->arena, int32_t, n);
    x->first_value = CLV_NEW_ARRAY(x->arena, int32_t, n + 1);
    x->value = CLV_NEW_ARRAY(x->arena, int32_t, n_values);
    x->present = CLV_NEW_ARRAY(x->arena, int32_t, n);
    x->base = CLV_NEW_ARRAY(x->arena, double, n_values);
    x->unary = CLV_NEW_ARRAY(x->arena, double, n_values);
    x->order = CLV_NEW_ARRAY(x->arena, int32_t, n);
    x->position = CLV_NEW_ARRAY(x->arena, int32_t, n);
    x->chosen = CLV_NEW_ARRAY(x->arena, int32_t, n);
    x->scope_first = CLV_NEW_ARRAY(x->arena, int32_t, n + 1);
    x->factor_first = CLV_NEW_ARRAY(x->arena, int32_t, n + 1);
    if (!x->node || !x->first_value || !x->value || !x->present || !x->base || !x->unary ||
        !x->order || !x->position || !x->chosen || !x->scope_first || !x->factor_first)
        return clv_fail_nomem(err, "an elimination");
    for (int32_t i = 0; i < n; i++) {
        x->node[i] = node[i];
        x->local[node[i]] = i;
        x->present[i] = choice[node[i]];
        x->first_value[i + 1] = x->first_value[i] + clv_pairwise_n_choices(f, node[i]);
        for (int32_t c = 0; c < clv_pairwise_n_choices(f, node[i]); c++)
            x->value[x->first_value[i] + c] = c;
    }
    x->n = n;
    x->n_order = x->n_held = 0;
    return CLV_OK;
}

void clv_subproblem_restrict(clv_subproblem *x, int32_t local, const bool *keep)
{
    /* Values move to the front; what is left over is taken out when the subproblem is prepared. */
    int32_t n = 0, first = x->first_value[local], last = x->first_value[local + 1];
    int32_t present = x->present[local];
    x->present[local] = -1;
    for (int32_t i = first; i < last && x->value[i] >= 0; i++)
        if (keep[x->value[i]]) {
            if (x->value[i] == present)
                x->present[local] = n;
            x->value[first + n++] = x->value[i];
        }
    for (int32_t i = first + n; i < last; i++)
        x->value[i] = -1;
}
