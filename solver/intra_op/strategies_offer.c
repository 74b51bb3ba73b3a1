/* strategies_offer.c - answers judged and kept, bounds kept, and whether they are enough. */
#include <string.h>

#include "solver/intra_op/strategies_work.h"

clv_int128 clv_intra_op_best_cost(const clv_intra_op_state *s) { return s->r->solve.value.whole; }
clv_int128 clv_intra_op_best_bound(const clv_intra_op_state *s) { return s->r->solve.bound.whole; }

void clv_intra_op_report(clv_intra_op_state *s, const char *method)
{
    clv_incumbent_report(&s->incumbent, method, 0, 0);
}

void clv_intra_op_raise(clv_intra_op_state *s, clv_int128 bound, const char *method)
{
    bound = bound > CLV_INTRA_OP_NEVER ? CLV_INTRA_OP_NEVER : bound;
    clv_incumbent_raise(&s->incumbent, clv_objval_whole(bound), method);
}

clv_status clv_intra_op_offer(clv_intra_op_state *s, const int32_t *reduced, const char *method,
                              clv_error *err)
{
    clv_intra_op_value value;
    clv_presolve_lift(s->presolved, reduced, s->choice);
    clv_mark mark = clv_arena_mark(s->arena);
    clv_status status = clv_intra_op_judge(s->p, s->choice, s->arena, &value, err);
    clv_arena_rewind(s->arena, mark);
    CLV_TRY(status);
    if (!value.legal ||
        !clv_incumbent_offer(&s->incumbent, s->choice, clv_objval_whole(value.cost), method))
        return CLV_OK;
    memcpy(s->kept, reduced, (size_t)clv_presolve_problem(s->presolved)->n_nodes * sizeof *reduced);
    s->r->value = value;
    if (value.nevers == 0)
        clv_squeezer_know(s->squeezer, value.cost - s->base);
    return CLV_OK;
}

clv_status clv_intra_op_offer_field(clv_intra_op_state *s, const int32_t *choice,
                                    const char *method, clv_error *err)
{
    clv_squeezer_lift(s->squeezer, s->field->n_stages, choice, s->lifted);
    return clv_intra_op_offer(s, s->lifted, method, err);
}

bool clv_intra_op_is_finite(const clv_intra_op_state *s)
{
    return s->r->solve.found && s->r->value.nevers == 0;
}

bool clv_intra_op_none_left(const clv_intra_op_state *s)
{
    return !clv_intra_op_is_finite(s) && clv_squeezer_bound(s->squeezer) >= CLV_INTRA_OP_NEVER &&
           clv_presolve_finite(s->presolved);
}
