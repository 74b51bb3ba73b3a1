/* presolve_problem.c - see presolve_problem.h. */
#include "solver/intra_op/presolve_problem.h"

clv_status clv_pre_fold_new(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *ret,
                            clv_error *err)
{
    const clv_intra_op_problem *p = &w->p;
    int32_t n = p->n_nodes, most = 0;
    int32_t *same;

    for (int32_t v = 0; v < n; v++)
        if (clv_intra_op_n_choices(p, v) > most)
            most = clv_intra_op_n_choices(p, v);
    *ret = (clv_pre_fold){ .into = CLV_NEW_ARRAY(arena, int32_t, n),
                           .map = CLV_NEW_ARRAY(arena, const int32_t *, n),
                           .n_new = CLV_NEW_ARRAY(arena, int32_t, n) };
    same = CLV_NEW_ARRAY(arena, int32_t, most);
    if (!ret->into || !ret->map || !ret->n_new || !same)
        return clv_fail_nomem(err, "a fold of a strategy problem");
    for (int32_t k = 0; k < most; k++)
        same[k] = k;
    for (int32_t v = 0; v < n; v++) {
        ret->into[v] = v;
        ret->map[v] = same;
        ret->n_new[v] = clv_intra_op_n_choices(p, v);
    }
    return CLV_OK;
}

clv_status clv_pre_fold_alive(const clv_pre_problem *w, const bool *alive, clv_arena *arena,
                              clv_pre_fold *ret, clv_error *err)
{
    const clv_intra_op_problem *p = &w->p;

    CLV_TRY(clv_pre_fold_new(w, arena, ret, err));
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t n = clv_intra_op_n_choices(p, v), left = 0, *map;
        const bool *a = alive + p->first_choice[v];

        for (int32_t k = 0; k < n; k++)
            left += a[k];
        if (left == n)
            continue;
        map = CLV_NEW_ARRAY(arena, int32_t, left);
        if (!map)
            return clv_fail_nomem(err, "a fold of a strategy problem");
        ret->n_new[v] = 0;
        for (int32_t k = 0; k < n; k++)
            if (a[k])
                map[ret->n_new[v]++] = k;
        ret->map[v] = map;
        ret->any = true;
    }
    return CLV_OK;
}
