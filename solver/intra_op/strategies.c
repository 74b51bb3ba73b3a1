/* strategies.c - the door: presolve, a first answer, the bound, then searchers beside it. */
#include "solver/intra_op/strategies.h"
#include "base/clock.h"

#include <stdio.h>

#include "solver/intra_op/first.h"
#include "solver/intra_op/strategies_work.h"

/* Sweeps over all nodes for the first answer, and the squeezer's work before anything else is done;
 * the same briefly. */
#define CLV_SOLVE_FIRST_SWEEPS 40
#define CLV_SOLVE_FIRST_WORK   100000000
#define CLV_SOLVE_BRIEF_SWEEPS 10
#define CLV_SOLVE_BRIEF_FIRST  30000000
/* Rounds of the bound in a stage of the squeezer, at most. */
#define CLV_SOLVE_STAGE_ROUNDS 1200

/* Why the search ended, the answers being as they are. */
static clv_intra_op_end end_of(const clv_solve *s)
{
    if (s->r->found && s->r->bound >= s->r->value.cost)
        return CLV_SOLVED_OPTIMAL;
    if (s->o->enough > 0 && s->r->bound >= s->o->enough)
        return CLV_SOLVED_ENOUGH;
    if (clv_solve_near_enough(s))
        return CLV_SOLVED_GAP;
    if (!clv_halted(&s->own))
        return CLV_SOLVED_SEARCHED;
    if (s->own.deadline_ns > 0 && clv_now_ns() >= s->own.deadline_ns)
        return CLV_SOLVED_DEADLINE;
    return CLV_SOLVED_STOPPED;
}

/* *ret_none: proven that no answer of the reduced problem is within the limit. */
static clv_status solve_reduced(clv_solve *s, bool *ret_none, clv_error *err)
{
    const clv_intra_op_problem *reduced = clv_presolve_problem(s->presolved);
    int64_t room = (int64_t)reduced->n_nodes + 1;
    s->base = clv_presolve_base(s->presolved);
    s->kept = CLV_NEW_ARRAY(s->arena, int32_t, room);
    s->lifted = CLV_NEW_ARRAY(s->arena, int32_t, room);
    if (!s->kept || !s->lifted)
        return clv_fail_nomem(err, "a search");
    CLV_TRY(clv_squeezer_new(reduced, CLV_SOLVE_STAGE_ROUNDS, s->arena, &s->squeezer, err));
    if (s->r->found && s->r->value.nevers == 0)
        clv_squeezer_know(s->squeezer, s->r->value.cost - s->base);
    int32_t sweeps = s->o->brief ? CLV_SOLVE_BRIEF_SWEEPS : CLV_SOLVE_FIRST_SWEEPS;
    CLV_TRY(clv_intra_op_first(reduced, sweeps, &s->own, s->arena, s->lifted, err));
    CLV_TRY(clv_solve_offer(s, s->lifted, "sweeps", err));
    if (s->r->found)
        clv_solve_tell(s, "sweeps");
    CLV_TRY(clv_solve_squeeze(s, s->o->brief ? CLV_SOLVE_BRIEF_FIRST : CLV_SOLVE_FIRST_WORK, err));
    if (clv_solve_near_enough(s) || clv_solve_none_left(s) || clv_halted(&s->own))
        return CLV_OK;
    CLV_TRY(clv_solve_enter_field(s, ret_none, err));
    if (*ret_none)
        return CLV_OK;
    return clv_solve_search(s, err);
}

static void free_all(clv_solve *s)
{
    clv_solve_free_field(s);
    clv_squeezer_free(s->squeezer);
    s->squeezer = NULL;
}

static clv_status solve_all(clv_solve *s, clv_error *err)
{
    bool infeasible = false, none = false;
    CLV_TRY(clv_presolve(s->p, s->arena, &s->presolved, &infeasible, s->r->why, err));
    if (!infeasible) {
        CLV_TRY(solve_reduced(s, &none, err));
        if (!clv_solve_is_finite(s) && clv_presolve_finite(s->presolved) && !clv_halted(&s->own)) {
            /* Perhaps only answers that cost never are within the limit: the best of those. */
            free_all(s);
            s->n_rounds = s->n_stale = 0;
            CLV_TRY(clv_presolve_rows(s->p, s->arena, &s->presolved, &infeasible, s->r->why, err));
            if (!infeasible)
                CLV_TRY(solve_reduced(s, &none, err));
        }
    }
    if (none && !s->r->found && !clv_presolve_finite(s->presolved)) {
        infeasible = true;
        snprintf(s->r->why, sizeof s->r->why,
                 "no choices together keep within the limit of %lld at every moment",
                 (long long)s->p->usage_limit);
    }
    s->r->end = infeasible ? CLV_SOLVED_INFEASIBLE : end_of(s);
    return CLV_OK;
}

clv_status clv_intra_op_solve(const clv_intra_op_problem *p, const clv_intra_op_options *options,
                              clv_arena *arena, clv_intra_op_result *ret, clv_error *err)
{
    clv_intra_op_result r = { .bound_by = "costs are not negative", .found_by = "" };
    clv_arena *own = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_solve *s = own ? CLV_NEW(own, clv_solve) : NULL;
    int32_t *choice_of = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    int32_t *choice = own ? CLV_NEW_ARRAY(own, int32_t, p->n_nodes) : NULL;
    clv_status status = CLV_OK;
    if (s && choice_of && choice) {
        int64_t now = clv_now_ns();
        int64_t until = options->deadline_s > 0 ? now + (int64_t)(options->deadline_s * 1e9) : 0;
        r.choice_of = choice_of;
        *s = (clv_solve){
            .p = p, .o = options, .arena = own, .r = &r, .start_ns = now, .choice = choice
        };
        s->own = (clv_halt){ &s->told, until, options->stop, options->stop_ctx };
        s->others = (clv_halt){ &s->told, until, NULL, NULL };
        clv_solve_offer_bound(s, options->known, "what was known before");
        status = solve_all(s, err);
        r.seconds = clv_solve_seconds(s);
        free_all(s);
    } else {
        status = clv_fail_nomem(err, "a strategy problem");
    }
    clv_arena_free(own);
    if (status != CLV_OK)
        return status;
    if (!r.found)
        r.choice_of = NULL;
    *ret = r;
    return CLV_OK;
}
