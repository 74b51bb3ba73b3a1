/* strategies.c - the door: presolve, exact elimination, searchers and the bound in rounds. */
#include "solver/strategies/strategies.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/crew.h"
#include "solver/strategies/first.h"
#include "solver/strategies/presolve.h"
#include "solver/strategies/search.h"
#include "solver/strategies/squeeze.h"
#include "solver/strategies/whole.h"

/* Searchers at most. Without a deadline all of them, whatever the threads, so that the answer does
 * not depend on them; but one in the first rounds, so that there is a good answer soon on few
 * threads too. */
#define CLV_SOLVE_SEARCHERS    4
#define CLV_SOLVE_FIRST_ROUNDS 24
/* Work of one of them in a round, in table entries: so many sweeps of messages, within these. */
#define CLV_SOLVE_SWEEPS     16
#define CLV_SOLVE_WORK_LEAST 500000
#define CLV_SOLVE_WORK_MOST  20000000
/* Of all nodes for the first answer. */
#define CLV_SOLVE_FIRST_SWEEPS 40
/* The squeezer: rounds of a stage at most; work before anything else is done. */
#define CLV_SOLVE_STAGE_ROUNDS 1200
#define CLV_SOLVE_FIRST_WORK   100000000
/* The searchers go over to what the squeezer leaves when it is so much of what they work on. */
#define CLV_SOLVE_ADOPT 0.75
/* The first searcher needs no ascent when the bound is so much of the cost. */
#define CLV_SOLVE_NEAR 0.9
/* The share of the time to a deadline for answers without never, where none is found. */
#define CLV_SOLVE_FINITE_SHARE 0.7
/* Without a deadline: rounds without a better answer before the search is done. */
#define CLV_SOLVE_STALE 64
/* Briefly: sweeps for the first answer; the squeezer's work alone; all work together. */
#define CLV_SOLVE_BRIEF_SWEEPS 10
#define CLV_SOLVE_BRIEF_FIRST  30000000
#define CLV_SOLVE_BRIEF_WORK   150000000

/* What the searchers work on: the problem after so many stages of the squeezer. */
typedef struct {
    clv_arena *arena;
    const clv_strategies *p;
    int32_t n_stages;
    clv_wide base; /* of these stages */
    clv_flat *flat;
    clv_bench *bench[CLV_SOLVE_SEARCHERS + 1]; /* by thread */
    clv_searcher searcher[CLV_SOLVE_SEARCHERS];
    clv_state shared; /* best answer of the searchers */
    clv_state other;  /* scratch */
    bool *alive;      /* by choice of p */
    double *likely;   /* by choice of flat: what answers with it cost at least */
    int64_t work;     /* of a round */
} field;

typedef struct {
    const clv_strategies *p;
    const clv_strategy_options *o;
    clv_arena *arena;
    clv_strategy_result *r;
    int64_t start_ns;
    clv_presolved *presolved;
    clv_wide base;
    clv_squeezer *squeezer;
    clv_halt own, others; /* for the calling thread, for all others */
    atomic_bool told;
    field *field;
    int32_t *choice; /* of the whole problem */
    int32_t *kept;   /* of the reduced one: the best answer */
    int32_t *lifted; /* of the reduced one: scratch */
    int32_t n_active, n_rounds, n_stale;
    int64_t share;    /* of the squeezer in a round */
    int64_t searched; /* work of all searchers and the squeezer in rounds */
    atomic_int next;  /* item of a round: 0 the squeezer, then searchers */
    clv_status status[CLV_SOLVE_SEARCHERS + 1];
    clv_error error[CLV_SOLVE_SEARCHERS + 1];
} solve;

static double seconds(const solve *s) { return (double)(clv_halt_now_ns() - s->start_ns) * 1e-9; }

static void tell(solve *s, const char *method)
{
    s->r->seconds = seconds(s);
    if (s->o->news)
        s->o->news(s->o->news_ctx, method, s->r->found ? s->r->value.cost : -1, s->r->bound,
                   s->r->seconds);
}

/* A bound of the whole problem. Answers that cost never are beyond it. */
static void offer_bound(solve *s, clv_wide bound, const char *method)
{
    if (bound > CLV_STRATEGY_NEVER)
        bound = CLV_STRATEGY_NEVER;
    if (bound <= s->r->bound)
        return;
    s->r->bound = bound;
    s->r->bound_by = method;
}

/* An answer of the reduced problem: lifted, judged, and kept if it is legal and better. */
static clv_status offer(solve *s, const int32_t *reduced, const char *method, clv_error *err)
{
    clv_strategy_value value;
    clv_presolve_lift(s->presolved, reduced, s->choice);
    clv_mark mark = clv_arena_mark(s->arena);
    clv_status status = clv_strategy_judge(s->p, s->choice, s->arena, &value, err);
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

/* The same of what the searchers work on. */
static clv_status offer_field(solve *s, const int32_t *choice, const char *method, clv_error *err)
{
    clv_squeezer_lift(s->squeezer, s->field->n_stages, choice, s->lifted);
    return offer(s, s->lifted, method, err);
}

/* The gap asked for is reached, or the bound. */
static bool near_enough(const solve *s)
{
    const clv_strategy_result *r = s->r;
    if (s->o->enough > 0 && r->bound >= s->o->enough)
        return true;
    return r->found && (r->bound >= r->value.cost ||
                        (double)(r->value.cost - r->bound) <= s->o->gap * (double)r->value.cost);
}

static bool is_finite(const solve *s) { return s->r->found && s->r->value.nevers == 0; }

/* Answers without never are proven not to be, or the reduced problem has no others. */
static bool none_left(const solve *s)
{
    return !is_finite(s) && clv_squeezer_bound(s->squeezer) >= CLV_STRATEGY_NEVER &&
           clv_presolve_finite(s->presolved);
}

static bool ask(void *ctx) { return clv_halted(ctx); }

static void run_items(void *ctx, int32_t thread)
{
    solve *s = ctx;
    field *f = s->field;
    for (int32_t i; (i = atomic_fetch_add(&s->next, 1)) <= s->n_active;) {
        if (i == 0)
            s->status[0] = clv_squeezer_step(s->squeezer, s->share, ask,
                                             thread ? &s->others : &s->own, &s->error[0]);
        else
            s->status[i] = clv_searcher_round(&f->searcher[i - 1], f->bench[thread], &f->shared,
                                              f->work, &s->error[i]);
    }
}

/* ---- the field ---- */

/* The squeezer's bound has come so far that what it says is of use. */
static bool has_bound(const solve *s)
{
    return s->field->n_stages == clv_squeezer_n_stages(s->squeezer) &&
           s->field->flat->n == s->field->flat->n_given &&
           s->r->bound > CLV_SOLVE_NEAR * (double)s->r->value.cost;
}

/* The first searcher begins with the best answer where prices are known, without an ascent. */
static void start_first(solve *s)
{
    field *f = s->field;
    int32_t n_rows;
    if (!is_finite(s) || f->shared.over > 0 || !has_bound(s))
        return;
    const double *price = clv_squeezer_price(s->squeezer, &n_rows);
    const int64_t *least = clv_squeezer_least(s->squeezer);
    for (int32_t c = 0; c < f->p->first_choice[f->p->n_nodes]; c++)
        f->likely[c] = (double)least[c];
    clv_searcher_start(&f->searcher[0], &f->shared, n_rows == f->flat->n_rows ? price : NULL,
                       f->likely);
}

static void free_field(solve *s)
{
    if (!s->field)
        return;
    for (int32_t i = 0; i <= CLV_SOLVE_SEARCHERS; i++)
        clv_bench_free(s->field->bench[i]);
    clv_arena_free(s->field->arena);
    s->field = NULL;
}

/* The reduced problem's best answer becomes one of the field, if it can be, for searchers to begin
 * with. */
static clv_status bring(solve *s, clv_error *err)
{
    field *f = s->field;
    int32_t *to = f->searcher[0].guest;
    bool whole = true;
    if (!s->r->found || f->flat->n != f->flat->n_given)
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

static clv_status fill_field(solve *s, field *f, clv_error *err)
{
    int32_t n_choices = f->p->first_choice[f->p->n_nodes];
    CLV_TRY(clv_flat_make(f->p, f->arena, &f->flat, err));
    CLV_TRY(clv_bench_new(f->flat, f->arena, &f->bench[0], err));
    f->bench[0]->piece->halt = &s->own;
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
        CLV_TRY(clv_searcher_new(f->flat, i, s->o->seed, f->arena, &f->searcher[i], err));
        f->searcher[i].alive = f->alive;
        sweep = f->searcher[i].ascent.messages.work;
    }
    for (int32_t i = 1; i < s->o->jobs && i <= CLV_SOLVE_SEARCHERS; i++) {
        CLV_TRY(clv_bench_new(f->flat, f->arena, &f->bench[i], err));
        f->bench[i]->piece->halt = &s->others;
    }
    f->work = CLV_SOLVE_SWEEPS * sweep;
    f->work = f->work < CLV_SOLVE_WORK_LEAST ? CLV_SOLVE_WORK_LEAST : f->work;
    f->work = f->work > CLV_SOLVE_WORK_MOST ? CLV_SOLVE_WORK_MOST : f->work;
    return CLV_OK;
}

/* Searchers on what the squeezer has left now. */
static clv_status new_field(solve *s, clv_error *err)
{
    free_field(s);
    clv_arena *arena = clv_arena_new(clv_arena_alloc(s->arena), 0);
    field *f = arena ? CLV_NEW(arena, field) : NULL;
    if (!f) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a search");
    }
    *f = (field){ .arena = arena,
                  .p = clv_squeezer_problem(s->squeezer),
                  .n_stages = clv_squeezer_n_stages(s->squeezer),
                  .base = clv_squeezer_base(s->squeezer) };
    s->field = f;
    return fill_field(s, f, err);
}

/* The field as one piece, where its tables are small. *none: proven that nothing is within the
 * limit. */
static clv_status solve_whole(solve *s, bool *none, clv_error *err)
{
    field *f = s->field;
    clv_whole_end end;
    double bound;
    CLV_TRY(clv_whole_solve(f->bench[0], &f->other, s->o->brief, &end, &bound, err));
    bool any = f->flat->n == 0 || f->other.choice[0] >= 0;
    *none = end == CLV_WHOLE_NONE && f->n_stages == 0;
    if (any && f->other.over <= 0) {
        CLV_TRY(offer_field(s, f->other.choice, "elimination", err));
        if (clv_state_better(&f->other, &f->shared))
            clv_state_copy(&f->shared, &f->other);
    }
    /* Of what is left, and of all better answers. */
    clv_wide proven = bound >= 0 ? (clv_wide)bound + f->base + s->base : 0;
    if (f->n_stages > 0 && s->r->found && proven > s->r->value.cost)
        proven = s->r->value.cost;
    offer_bound(s, proven, "elimination");
    if (s->r->found)
        tell(s, s->r->found_by);
    return CLV_OK;
}

/* ---- rounds ---- */

/* What the squeezer tells the searchers: which choices are out, and what others cost. */
static void share(solve *s, bool better)
{
    field *f = s->field;
    if (!better || f->n_stages != clv_squeezer_n_stages(s->squeezer))
        return;
    const int64_t *least = clv_squeezer_least(s->squeezer);
    int64_t most = CLV_STRATEGY_NEVER;
    if (s->r->found && s->r->value.cost - s->base - f->base < most)
        most = (int64_t)(s->r->value.cost - s->base - f->base);
    for (int32_t c = 0; c < f->p->first_choice[f->p->n_nodes]; c++) {
        f->likely[c] = (double)least[c];
        if (s->r->found && least[c] > most)
            f->alive[c] = false;
    }
    for (int32_t i = 0; i < CLV_SOLVE_SEARCHERS; i++)
        f->searcher[i].likely = f->likely;
}

/* The squeezer's news. */
static clv_status collect_squeezer(solve *s, bool *better, clv_error *err)
{
    clv_wide cost;
    const int32_t *answer = clv_squeezer_news(s->squeezer, &cost);
    *better = answer && (!s->r->found || cost + s->base < s->r->value.cost);
    if (*better) {
        CLV_TRY(offer(s, answer, "messages and prices", err));
        if (s->field)
            CLV_TRY(bring(s, err));
    }
    offer_bound(s, clv_squeezer_bound(s->squeezer) + s->base, "messages and prices");
    return CLV_OK;
}

/* Answers of the searchers in their order. */
static clv_status collect_searchers(solve *s, bool *better, clv_error *err)
{
    field *f = s->field;
    const char *by = NULL;
    for (int32_t i = 0; i < s->n_active; i++) {
        if (!clv_state_better(&f->searcher[i].best, &f->shared))
            continue;
        clv_state_copy(&f->shared, &f->searcher[i].best);
        by = f->searcher[i].found_by;
        *better = true;
    }
    if (*better && f->shared.over <= 0)
        CLV_TRY(offer_field(s, f->shared.choice, by ? by : "regions", err));
    return CLV_OK;
}

static clv_status collect(solve *s, clv_error *err)
{
    clv_wide bound_before = s->r->bound, cost_before = s->r->found ? s->r->value.cost : -1;
    bool better = false, squeezed = false;
    for (int32_t i = 0; i <= s->n_active; i++)
        if (s->status[i] != CLV_OK)
            return clv_fail(err, s->status[i], "%s", s->error[i].message);
    CLV_TRY(collect_squeezer(s, &squeezed, err));
    CLV_TRY(collect_searchers(s, &better, err));
    bool raised = s->r->bound > bound_before;
    s->n_stale = better || squeezed ? 0 : s->n_stale + 1;
    share(s, better || squeezed || raised);
    if (raised || (s->r->found && s->r->value.cost != cost_before))
        tell(s, s->r->found ? s->r->found_by : "messages");
    return CLV_OK;
}

/* Searchers of the next round, and the squeezer's work. With a deadline there are as many as there
 * are threads for. */
static void deal(solve *s)
{
    int32_t n = s->o->jobs - (clv_squeezer_over(s->squeezer) ? 0 : 1);
    if (s->o->deadline_s <= 0)
        n = s->n_rounds < CLV_SOLVE_FIRST_ROUNDS ? 1 : CLV_SOLVE_SEARCHERS;
    n = n > CLV_SOLVE_SEARCHERS ? CLV_SOLVE_SEARCHERS : n;
    s->n_active = n < 1 ? 1 : n;
    s->share = s->field->work;
    if (s->o->brief)
        s->n_active = 1;
    s->searched += s->share + s->n_active * s->field->work;
    s->n_rounds++;
}

static bool is_smaller(const solve *s)
{
    const clv_strategies *now = clv_squeezer_problem(s->squeezer), *old = s->field->p;
    return now != old &&
           now->first_choice[now->n_nodes] <= CLV_SOLVE_ADOPT * old->first_choice[old->n_nodes];
}

static clv_status search(solve *s, clv_error *err)
{
    while (!near_enough(s) && !clv_halted(&s->own) && !none_left(s)) {
        if (s->o->deadline_s <= 0 && s->n_stale >= CLV_SOLVE_STALE)
            break;
        if (s->o->brief && s->searched >= CLV_SOLVE_BRIEF_WORK)
            break;
        if (s->o->deadline_s > 0 && !is_finite(s) && clv_presolve_finite(s->presolved) &&
            seconds(s) > CLV_SOLVE_FINITE_SHARE * s->o->deadline_s)
            break;
        deal(s);
        atomic_store(&s->next, 0);
        clv_crew_run(s->o->jobs < s->n_active + 1 ? s->o->jobs : s->n_active + 1, run_items, s);
        CLV_TRY(collect(s, err));
        if (is_smaller(s) && !near_enough(s)) {
            bool none;
            CLV_TRY(new_field(s, err));
            CLV_TRY(solve_whole(s, &none, err));
            CLV_TRY(bring(s, err));
            start_first(s);
        }
    }
    return CLV_OK;
}

/* The squeezer alone, at first in the smallest steps: an answer soon. */
static clv_status squeeze(solve *s, int64_t work, clv_error *err)
{
    enum { STEPS = 32 };
    int64_t until = clv_squeezer_work(s->squeezer) + work;
    while (clv_squeezer_work(s->squeezer) < until && !near_enough(s) && !clv_halted(&s->own) &&
           !clv_squeezer_over(s->squeezer)) {
        clv_wide bound = s->r->bound;
        bool better;
        CLV_TRY(clv_squeezer_step(s->squeezer, is_finite(s) ? work / STEPS : 1, ask, &s->own, err));
        CLV_TRY(collect_squeezer(s, &better, err));
        if (better || s->r->bound > bound)
            tell(s, s->r->found ? s->r->found_by : "messages");
    }
    return CLV_OK;
}

/* Why the search ended, the answers being as they are. */
static clv_strategy_end end_of(const solve *s)
{
    if (s->r->found && s->r->bound >= s->r->value.cost)
        return CLV_SOLVED_OPTIMAL;
    if (s->o->enough > 0 && s->r->bound >= s->o->enough)
        return CLV_SOLVED_ENOUGH;
    if (near_enough(s))
        return CLV_SOLVED_GAP;
    if (!clv_halted(&s->own))
        return CLV_SOLVED_SEARCHED;
    if (s->own.deadline_ns > 0 && clv_halt_now_ns() >= s->own.deadline_ns)
        return CLV_SOLVED_DEADLINE;
    return CLV_SOLVED_STOPPED;
}

/* *ret_none: proven that no answer of the reduced problem is within the limit. */
static clv_status solve_reduced(solve *s, bool *ret_none, clv_error *err)
{
    const clv_strategies *reduced = clv_presolve_problem(s->presolved);
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
    CLV_TRY(clv_strategy_first(reduced, sweeps, s->arena, s->lifted, err));
    CLV_TRY(offer(s, s->lifted, "sweeps", err));
    if (s->r->found)
        tell(s, "sweeps");
    CLV_TRY(squeeze(s, s->o->brief ? CLV_SOLVE_BRIEF_FIRST : CLV_SOLVE_FIRST_WORK, err));
    if (near_enough(s) || none_left(s) || clv_halted(&s->own))
        return CLV_OK;
    CLV_TRY(new_field(s, err));
    CLV_TRY(solve_whole(s, ret_none, err));
    if (*ret_none || near_enough(s))
        return CLV_OK;
    CLV_TRY(bring(s, err));
    start_first(s);
    return search(s, err);
}

static void free_all(solve *s)
{
    free_field(s);
    clv_squeezer_free(s->squeezer);
    s->squeezer = NULL;
}

static clv_status solve_all(solve *s, clv_error *err)
{
    bool infeasible = false, none = false;
    CLV_TRY(clv_presolve(s->p, s->arena, &s->presolved, &infeasible, s->r->why, err));
    if (!infeasible) {
        CLV_TRY(solve_reduced(s, &none, err));
        if (!is_finite(s) && clv_presolve_finite(s->presolved) && !clv_halted(&s->own)) {
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

clv_status clv_strategy_solve(const clv_strategies *p, const clv_strategy_options *options,
                              clv_arena *arena, clv_strategy_result *ret, clv_error *err)
{
    clv_strategy_result r = { .bound_by = "costs are not negative", .found_by = "" };
    clv_arena *own = clv_arena_new(clv_arena_alloc(arena), 0);
    solve *s = own ? CLV_NEW(own, solve) : NULL;
    int32_t *choice_of = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    int32_t *choice = own ? CLV_NEW_ARRAY(own, int32_t, p->n_nodes) : NULL;
    clv_status status = CLV_OK;
    if (s && choice_of && choice) {
        int64_t now = clv_halt_now_ns();
        int64_t until = options->deadline_s > 0 ? now + (int64_t)(options->deadline_s * 1e9) : 0;
        r.choice_of = choice_of;
        *s = (solve){
            .p = p, .o = options, .arena = own, .r = &r, .start_ns = now, .choice = choice
        };
        s->own = (clv_halt){ &s->told, until, options->stop, options->stop_ctx };
        s->others = (clv_halt){ &s->told, until, NULL, NULL };
        offer_bound(s, options->known, "what was known before");
        status = solve_all(s, err);
        r.seconds = seconds(s);
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
