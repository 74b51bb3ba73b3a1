#include "solver/intra_op/shift_costs.h"

/* Takes the least of n numbers off them; returns it. */
static int64_t take_least_off(const int64_t *from, int64_t n, int64_t *to)
{
    int64_t least = n > 0 ? from[0] : 0;
    for (int64_t i = 1; i < n; i++)
        least = from[i] < least ? from[i] : least;
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i] - least;
    return least;
}

clv_status clv_shift_costs(const clv_intra_op_problem *p, clv_arena *arena,
                           clv_intra_op_problem *ret, clv_int128 *ret_shift, clv_error *err)
{
    int64_t *cost = CLV_NEW_ARRAY(arena, int64_t, p->first_choice[p->n_nodes]);
    int64_t *entry = CLV_NEW_ARRAY(arena, int64_t, p->first_entry[p->n_matrices]);
    int64_t *least = CLV_NEW_ARRAY(arena, int64_t, p->n_matrices);
    clv_int128 shift = 0;
    if (!cost || !entry || !least)
        return clv_fail_nomem(err, "a strategy problem");
    for (int32_t v = 0; v < p->n_nodes; v++)
        shift += take_least_off(p->cost + p->first_choice[v], clv_intra_op_n_choices(p, v),
                                cost + p->first_choice[v]);
    for (int32_t m = 0; m < p->n_matrices; m++)
        least[m] =
            take_least_off(p->entry + p->first_entry[m], p->first_entry[m + 1] - p->first_entry[m],
                           entry + p->first_entry[m]);
    for (int32_t e = 0; e < p->n_edges; e++)
        shift += least[p->matrix_of[e]];
    *ret = *p;
    ret->cost = cost;
    ret->entry = entry;
    *ret_shift = shift;
    return CLV_OK;
}
