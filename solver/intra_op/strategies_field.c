/* strategies_field.c - what the searchers work on: the problem as the squeezer has left it. */
#include <math.h>
#include <string.h>

#include "solver/intra_op/strategies_work.h"
#include "solver/intra_op/whole.h"

/* Work of one searcher in a round, in table entries: so many sweeps of messages, within these. */
#define CLV_SOLVE_SWEEPS     32
#define CLV_SOLVE_WORK_LEAST 1000000
#define CLV_SOLVE_WORK_MOST  40000000
/* The first searcher needs no ascent when the bound is so much of the cost. */
#define CLV_SOLVE_NEAR 0.9

/* The squeezer's bound has come so far that what it says is of use. */
static bool has_bound(const clv_intra_op_state *s)
{
    return s->field->n_stages == clv_squeezer_n_stages(s->squeezer) &&
           s->field->flat->n == s->field->flat->n_given &&
           (double)clv_intra_op_best_bound(s) > CLV_SOLVE_NEAR * (double)clv_intra_op_best_cost(s);
}

/* The first searcher begins with the best answer where prices are known, without an ascent. */
static void start_first(clv_intra_op_state *s)
{
    clv_intra_op_field *f = s->field;
    int32_t n_rows;
    if (!clv_intra_op_is_finite(s) || f->shared.over > 0 || !has_bound(s))
        return;
    const double *price = clv_squeezer_price(s->squeezer, &n_rows);
    const int64_t *least = clv_squeezer_least(s->squeezer);
    for (int32_t c = 0; c < f->p->first_choice[f->p->n_nodes]; c++)
        f->likely[c] = (double)least[c];
    clv_searcher_start(&f->searcher[0], &f->shared, n_rows == f->flat->n_rows ? price : NULL,
                       f->likely);
}

void clv_intra_op_free_field(clv_intra_op_state *s)
{
    if (!s->field)
        return;
    for (int32_t i = 0; i <= CLV_SOLVE_SEARCHERS; i++)
        clv_bench_free(s->field->bench[i]);
    clv_arena_free(s->field->arena);
    s->field = NULL;
}

clv_status clv_intra_op_bring(clv_intra_op_state *s, clv_error *err)
{
    clv_intra_op_field *f = s->field;
    int32_t *to = f->searcher[0].guest;
    bool whole = true;
    if (!s->r->solve.found || f->flat->n != f->flat->n_given)
        return CLV_OK;
    if (f->n_stages == 0)
        memcpy(to, s->kept, (size_t)f->p->n_nodes * sizeof *to);
    else
        CLV_TRY(clv_squeezer_lower(s->squeezer, f->n_stages, s->kept, to, &whole, err));
    clv_state_set(&f->other, to);
    if (clv_state_better(&f->other, &f->shared))
        clv_state_copy(&f->shared, &f->other);
    for (int32_t i = 0; i < CLV_SOLVE_SEARCHERS; i++) {
        if (i)
            memcpy(f->searcher[i].guest, to, (size_t)f->p->n_nodes * sizeof *to);
        f->searcher[i].has_guest = true;
    }
    return CLV_OK;
}

static clv_status fill_field(clv_intra_op_state *s, clv_intra_op_field *f, clv_error *err)
{
    int32_t n_choices = f->p->first_choice[f->p->n_nodes];
    CLV_TRY(clv_flat_make(f->p, f->arena, &f->flat, err));
    CLV_TRY(clv_bench_new(f->flat, f->arena, &f->bench[0], err));
    f->bench[0]->piece->halt = &s->incumbent.limits;
    f->alive = CLV_NEW_ARRAY(f->arena, bool, n_choices);
    f->likely = CLV_NEW_ARRAY(f->arena, double, f->flat->first_choice[f->flat->n]);
    if (!f->alive || !f->likely)
        return clv_fail_nomem(err, "a search");
    memset(f->alive, 1, (size_t)n_choices);
    CLV_TRY(clv_state_new(f->flat, f->arena, &f->shared, err));
    CLV_TRY(clv_state_new(f->flat, f->arena, &f->other, err));
    f->shared.over = INFINITY;
    int64_t sweep = 0;
    for (int32_t i = 0; i < CLV_SOLVE_SEARCHERS; i++) {
        CLV_TRY(clv_searcher_new(f->flat, i, s->o->solve.seed, f->arena, &f->searcher[i], err));
        f->searcher[i].alive = f->alive;
        sweep = f->searcher[i].ascent.messages.work;
    }
    for (int32_t i = 1; i < s->jobs && i <= CLV_SOLVE_SEARCHERS; i++) {
        CLV_TRY(clv_bench_new(f->flat, f->arena, &f->bench[i], err));
        f->bench[i]->piece->halt = &s->elsewhere;
    }
    f->work = CLV_SOLVE_SWEEPS * sweep;
    f->work = f->work < CLV_SOLVE_WORK_LEAST ? CLV_SOLVE_WORK_LEAST : f->work;
    f->work = f->work > CLV_SOLVE_WORK_MOST ? CLV_SOLVE_WORK_MOST : f->work;
    f->work = s->o->brief ? f->work / 2 : f->work;
    return CLV_OK;
}

/* Searchers on what the squeezer has left now. */
static clv_status new_field(clv_intra_op_state *s, clv_error *err)
{
    clv_intra_op_free_field(s);
    clv_arena *arena = clv_arena_new(clv_arena_alloc(s->arena), 0);
    clv_intra_op_field *f = arena ? CLV_NEW(arena, clv_intra_op_field) : NULL;
    if (!f) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a search");
    }
    *f = (clv_intra_op_field){ .arena = arena,
                               .p = clv_squeezer_problem(s->squeezer),
                               .n_stages = clv_squeezer_n_stages(s->squeezer),
                               .base = clv_squeezer_base(s->squeezer) };
    s->field = f;
    return fill_field(s, f, err);
}

/* The field as one piece, where its tables are small. *none: proven that nothing is within the
 * limit. */
static clv_status solve_whole(clv_intra_op_state *s, bool *none, clv_error *err)
{
    clv_intra_op_field *f = s->field;
    clv_whole_end end;
    double bound;
    CLV_TRY(clv_whole_solve(f->bench[0], &f->other, s->o->brief, &end, &bound, err));
    bool any = f->flat->n == 0 || f->other.choice[0] >= 0;
    *none = end == CLV_WHOLE_NONE && f->n_stages == 0;
    if (any && f->other.over <= 0) {
        CLV_TRY(clv_intra_op_offer_field(s, f->other.choice, "elimination", err));
        if (clv_state_better(&f->other, &f->shared))
            clv_state_copy(&f->shared, &f->other);
    }
    /* Of what is left, and of all better answers. */
    clv_int128 proven = bound >= 0 ? (clv_int128)bound + f->base + s->base : 0;
    if (f->n_stages > 0 && s->r->solve.found && proven > clv_intra_op_best_cost(s))
        proven = clv_intra_op_best_cost(s);
    clv_intra_op_raise(s, proven, "elimination");
    if (s->r->solve.found)
        clv_intra_op_report(s, s->r->solve.found_by);
    return CLV_OK;
}

clv_status clv_intra_op_enter_field(clv_intra_op_state *s, bool *none, clv_error *err)
{
    CLV_TRY(new_field(s, err));
    CLV_TRY(solve_whole(s, none, err));
    if (*none || clv_incumbent_is_enough(&s->incumbent))
        return CLV_OK;
    CLV_TRY(clv_intra_op_bring(s, err));
    start_first(s);
    return CLV_OK;
}

void clv_intra_op_share(clv_intra_op_state *s)
{
    clv_intra_op_field *f = s->field;
    if (f->n_stages != clv_squeezer_n_stages(s->squeezer))
        return;
    const int64_t *least = clv_squeezer_least(s->squeezer);
    int64_t most = CLV_INTRA_OP_NEVER;
    if (s->r->solve.found && clv_intra_op_best_cost(s) - s->base - f->base < most)
        most = (int64_t)(clv_intra_op_best_cost(s) - s->base - f->base);
    for (int32_t c = 0; c < f->p->first_choice[f->p->n_nodes]; c++) {
        f->likely[c] = (double)least[c];
        if (s->r->solve.found && least[c] > most)
            f->alive[c] = false;
    }
    for (int32_t i = 0; i < CLV_SOLVE_SEARCHERS; i++)
        f->searcher[i].likely = f->likely;
}
