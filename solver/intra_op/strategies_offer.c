/* strategies_offer.c - answers judged and kept, bounds kept, and whether they are enough. */
#include <string.h>

#include "base/clock.h"
#include "solver/intra_op/strategies_work.h"

double clv_solve_seconds(const clv_solve *s) { return (double)(clv_now_ns() - s->start_ns) * 1e-9; }

void clv_solve_tell(clv_solve *s, const char *method)
{
    s->r->seconds = clv_solve_seconds(s);
    if (s->o->news)
        s->o->news(s->o->news_ctx, method, s->r->found ? s->r->value.cost : -1, s->r->bound,
                   s->r->seconds);
}

void clv_solve_offer_bound(clv_solve *s, clv_int128 bound, const char *method)
{
    if (bound > CLV_INTRA_OP_NEVER)
        bound = CLV_INTRA_OP_NEVER;
    if (bound <= s->r->bound)
        return;
    s->r->bound = bound;
    s->r->bound_by = method;
}

clv_status clv_solve_offer(clv_solve *s, const int32_t *reduced, const char *method, clv_error *err)
{
    clv_intra_op_value value;
    clv_presolve_lift(s->presolved, reduced, s->choice);
    clv_mark mark = clv_arena_mark(s->arena);
    clv_status status = clv_intra_op_judge(s->p, s->choice, s->arena, &value, err);
    clv_arena_rewind(s->arena, mark);
    CLV_TRY(status);
    if (!value.legal || (s->r->found && value.cost >= s->r->value.cost))
        return CLV_OK;
    if (s->p->n_nodes > 0)
        memcpy(s->r->choice_of, s->choice, (size_t)s->p->n_nodes * sizeof *s->choice);
    memcpy(s->kept, reduced, (size_t)clv_presolve_problem(s->presolved)->n_nodes * sizeof *reduced);
    s->r->found = true;
    s->r->value = value;
    s->r->found_by = method;
    if (value.nevers == 0)
        clv_squeezer_know(s->squeezer, value.cost - s->base);
    return CLV_OK;
}

clv_status clv_solve_offer_field(clv_solve *s, const int32_t *choice, const char *method,
                                 clv_error *err)
{
    clv_squeezer_lift(s->squeezer, s->field->n_stages, choice, s->lifted);
    return clv_solve_offer(s, s->lifted, method, err);
}

bool clv_solve_near_enough(const clv_solve *s)
{
    const clv_intra_op_result *r = s->r;
    if (s->o->enough > 0 && r->bound >= s->o->enough)
        return true;
    return r->found && (r->bound >= r->value.cost ||
                        (double)(r->value.cost - r->bound) <= s->o->gap * (double)r->value.cost);
}

bool clv_solve_is_finite(const clv_solve *s) { return s->r->found && s->r->value.nevers == 0; }

bool clv_solve_none_left(const clv_solve *s)
{
    return !clv_solve_is_finite(s) && clv_squeezer_bound(s->squeezer) >= CLV_INTRA_OP_NEVER &&
           clv_presolve_finite(s->presolved);
}
