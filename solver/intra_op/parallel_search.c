/* parallel_search.c - see parallel_search.h. */
#include "solver/intra_op/parallel_search.h"

#include <math.h>
#include <string.h>

#include "solver/intra_op/exact_elimination.h"

/* Work of one searcher in a round, in table entries: so many sweeps of messages, within these. */
#define CLV_SOLVE_SWEEPS     32
#define CLV_SOLVE_WORK_LEAST 1000000
#define CLV_SOLVE_WORK_MOST  40000000
/* The first searcher needs no subgradient when the bound is so much of the cost. */
#define CLV_SOLVE_NEAR 0.9

/* The first searcher begins with the best answer where prices are known, without a subgradient
 * phase. */
static void start_first_from_best(clv_solve_state *s)
{
    clv_parallel_search *f = s->search;
    int32_t n_rows;
    /* The bound must have come so far that what it says is of use. */
    if (!clv_solve_is_finite(s) || f->shared.over > 0 ||
        f->n_stages != clv_bound_and_reduce_n_stages(s->bound_and_reduce) ||
        f->pairwise->n != f->pairwise->n_given ||
        (double)clv_solve_best_bound(s) <= CLV_SOLVE_NEAR * (double)clv_solve_best_cost(s))
        return;
    const double *price = clv_bound_and_reduce_prices(s->bound_and_reduce, &n_rows);
    const int64_t *least = clv_bound_and_reduce_min_marginals(s->bound_and_reduce);
    for (int32_t c = 0; c < f->p->first_choice[f->p->n_nodes]; c++)
        f->likely[c] = (double)least[c];
    clv_lns_start_from(&f->searcher[0], &f->shared, n_rows == f->pairwise->n_rows ? price : NULL,
                       f->likely);
}

clv_status clv_parallel_search_offer(clv_solve_state *s, const int32_t *choice, const char *method,
                                     clv_error *err)
{
    clv_bound_and_reduce_lift(s->bound_and_reduce, s->search->n_stages, choice, s->lifted);
    return clv_solve_offer(s, s->lifted, method, err);
}

void clv_parallel_search_free(clv_solve_state *s)
{
    if (!s->search)
        return;
    for (int32_t i = 0; i <= CLV_SOLVE_SEARCHERS; i++)
        clv_workspace_free(s->search->workspace[i]);
    clv_arena_free(s->search->arena);
    s->search = NULL;
}

clv_status clv_parallel_search_import_best(clv_solve_state *s, clv_error *err)
{
    clv_parallel_search *f = s->search;
    int32_t *to = f->searcher[0].imported;
    bool whole = true;
    if (!s->r->solve.found || f->pairwise->n != f->pairwise->n_given)
        return CLV_OK;
    if (f->n_stages == 0)
        memcpy(to, s->kept, (size_t)f->p->n_nodes * sizeof *to);
    else
        CLV_TRY(clv_bound_and_reduce_project(s->bound_and_reduce, f->n_stages, s->kept, to, &whole,
                                             err));
    clv_search_state_set(&f->other, to);
    if (clv_search_state_is_better(&f->other, &f->shared))
        clv_search_state_copy(&f->shared, &f->other);
    for (int32_t i = 0; i < CLV_SOLVE_SEARCHERS; i++) {
        if (i)
            memcpy(f->searcher[i].imported, to, (size_t)f->p->n_nodes * sizeof *to);
        f->searcher[i].has_imported = true;
    }
    return CLV_OK;
}

static clv_status allocate(clv_solve_state *s, clv_parallel_search *f, clv_error *err)
{
    int32_t n_choices = f->p->first_choice[f->p->n_nodes];
    CLV_TRY(clv_pairwise_make(f->p, f->arena, &f->pairwise, err));
    CLV_TRY(clv_workspace_new(f->pairwise, f->arena, &f->workspace[0], err));
    f->workspace[0]->subproblem->halt = &s->incumbent.limits;
    f->alive = CLV_NEW_ARRAY(f->arena, bool, n_choices);
    f->likely = CLV_NEW_ARRAY(f->arena, double, f->pairwise->first_choice[f->pairwise->n]);
    if (!f->alive || !f->likely)
        return clv_fail_nomem(err, "a search");
    memset(f->alive, 1, (size_t)n_choices);
    CLV_TRY(clv_search_state_new(f->pairwise, f->arena, &f->shared, err));
    CLV_TRY(clv_search_state_new(f->pairwise, f->arena, &f->other, err));
    f->shared.over = INFINITY;
    int64_t sweep = 0;
    for (int32_t i = 0; i < CLV_SOLVE_SEARCHERS; i++) {
        CLV_TRY(clv_lns_new(f->pairwise, i, s->o->solve.seed, f->arena, &f->searcher[i], err));
        f->searcher[i].alive = f->alive;
        sweep = f->searcher[i].subgradient.trws.work;
    }
    for (int32_t i = 1; i < s->jobs && i <= CLV_SOLVE_SEARCHERS; i++) {
        CLV_TRY(clv_workspace_new(f->pairwise, f->arena, &f->workspace[i], err));
        f->workspace[i]->subproblem->halt = &s->elsewhere;
    }
    f->work = CLV_SOLVE_SWEEPS * sweep;
    f->work = f->work < CLV_SOLVE_WORK_LEAST ? CLV_SOLVE_WORK_LEAST : f->work;
    f->work = f->work > CLV_SOLVE_WORK_MOST ? CLV_SOLVE_WORK_MOST : f->work;
    f->work = s->o->brief ? f->work / 2 : f->work;
    return CLV_OK;
}

/* Searchers on what bound and reduction have left now. */
static clv_status new_search(clv_solve_state *s, clv_error *err)
{
    clv_parallel_search_free(s);
    clv_arena *arena = clv_arena_new(clv_arena_alloc(s->arena), 0);
    clv_parallel_search *f = arena ? CLV_NEW(arena, clv_parallel_search) : NULL;
    if (!f) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a search");
    }
    *f = (clv_parallel_search){ .arena = arena,
                                .p = clv_bound_and_reduce_problem(s->bound_and_reduce),
                                .n_stages = clv_bound_and_reduce_n_stages(s->bound_and_reduce),
                                .base = clv_bound_and_reduce_base(s->bound_and_reduce) };
    s->search = f;
    return allocate(s, f, err);
}

/* The problem as one subproblem, where its tables are small. *none: proven that nothing is within
 * the limit. */
static clv_status solve_whole(clv_solve_state *s, bool *none, clv_error *err)
{
    clv_parallel_search *f = s->search;
    clv_exact_elimination_end end;
    double bound;
    CLV_TRY(clv_exact_elimination(f->workspace[0], &f->other, s->o->brief, &end, &bound, err));
    bool any = f->pairwise->n == 0 || f->other.choice[0] >= 0;
    *none = end == CLV_EXACT_ELIMINATION_NONE && f->n_stages == 0;
    if (any && f->other.over <= 0) {
        CLV_TRY(clv_parallel_search_offer(s, f->other.choice, "elimination", err));
        if (clv_search_state_is_better(&f->other, &f->shared))
            clv_search_state_copy(&f->shared, &f->other);
    }
    /* Of what is left, and of all better answers. */
    clv_int128 proven = bound >= 0 ? (clv_int128)bound + f->base + s->base : 0;
    if (f->n_stages > 0 && s->r->solve.found && proven > clv_solve_best_cost(s))
        proven = clv_solve_best_cost(s);
    clv_solve_raise_bound(s, proven, "elimination");
    if (s->r->solve.found)
        clv_solve_report(s, s->r->solve.found_by);
    return CLV_OK;
}

clv_status clv_parallel_search_start(clv_solve_state *s, bool *none, clv_error *err)
{
    CLV_TRY(new_search(s, err));
    CLV_TRY(solve_whole(s, none, err));
    if (*none || clv_incumbent_is_enough(&s->incumbent))
        return CLV_OK;
    CLV_TRY(clv_parallel_search_import_best(s, err));
    start_first_from_best(s);
    return CLV_OK;
}

void clv_parallel_search_share_bounds(clv_solve_state *s)
{
    clv_parallel_search *f = s->search;
    if (f->n_stages != clv_bound_and_reduce_n_stages(s->bound_and_reduce))
        return;
    const int64_t *least = clv_bound_and_reduce_min_marginals(s->bound_and_reduce);
    int64_t most = CLV_INTRA_OP_NEVER;
    if (s->r->solve.found && clv_solve_best_cost(s) - s->base - f->base < most)
        most = (int64_t)(clv_solve_best_cost(s) - s->base - f->base);
    for (int32_t c = 0; c < f->p->first_choice[f->p->n_nodes]; c++) {
        f->likely[c] = (double)least[c];
        if (s->r->solve.found && least[c] > most)
            f->alive[c] = false;
    }
    for (int32_t i = 0; i < CLV_SOLVE_SEARCHERS; i++)
        f->searcher[i].likely = f->likely;
}
