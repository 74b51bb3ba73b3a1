/* solve_state.c - solutions judged and kept, bounds kept, and whether they are enough. */
#include "solver/intra_op/solve_state.h"

#include <string.h>

clv_int128 clv_solve_best_cost(const clv_solve_state *s) { return s->r->solve.value.whole; }
clv_int128 clv_solve_best_bound(const clv_solve_state *s) { return s->r->solve.bound.whole; }

void clv_solve_report(clv_solve_state *s, const char *method)
{
    clv_incumbent_report(&s->incumbent, method, 0, 0);
}

void clv_solve_raise_bound(clv_solve_state *s, clv_int128 bound, const char *method)
{
    bound = bound > CLV_INTRA_OP_NEVER ? CLV_INTRA_OP_NEVER : bound;
    clv_incumbent_raise(&s->incumbent, clv_objval_whole(bound), method);
}

/* *ret_better: it is legal and the best so far. */
static clv_status offer_whole(clv_solve_state *s, const char *method, bool *ret_better,
                              clv_error *err)
{
    clv_intra_op_value value;
    clv_mark mark = clv_arena_mark(s->arena);
    clv_status status = clv_intra_op_judge(s->p, s->choice, s->arena, &value, err);
    clv_arena_rewind(s->arena, mark);
    CLV_TRY(status);
    *ret_better = value.legal && clv_incumbent_offer(&s->incumbent, s->choice,
                                                     clv_objval_whole(value.cost), method);
    if (*ret_better)
        s->r->value = value;
    return CLV_OK;
}

clv_status clv_solve_offer_whole(clv_solve_state *s, const char *method, clv_error *err)
{
    bool better;
    return offer_whole(s, method, &better, err);
}

clv_status clv_solve_offer(clv_solve_state *s, const int32_t *reduced, const char *method,
                           clv_error *err)
{
    bool better;
    clv_presolve_lift(s->presolved, reduced, s->choice);
    CLV_TRY(offer_whole(s, method, &better, err));
    if (!better)
        return CLV_OK;
    memcpy(s->kept, reduced, (size_t)clv_presolve_problem(s->presolved)->n_nodes * sizeof *reduced);
    if (s->r->value.nevers == 0)
        clv_bound_and_reduce_set_known_cost(s->bound_and_reduce, s->r->value.cost - s->base);
    return CLV_OK;
}

bool clv_solve_is_finite(const clv_solve_state *s)
{
    return s->r->solve.found && s->r->value.cost < CLV_INTRA_OP_NEVER;
}

bool clv_solve_none_left(const clv_solve_state *s)
{
    return !clv_solve_is_finite(s) &&
           clv_bound_and_reduce_value(s->bound_and_reduce) >= CLV_INTRA_OP_NEVER &&
           clv_presolve_finite(s->presolved);
}
