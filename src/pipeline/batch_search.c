#include "pipeline/batch_search.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "graph/infer_bound.h"
#include "pipeline/plan_model.h"
#include "plan/plan_mesh.h"

#define DOUBLINGS_MAX  18
#define HALVINGS       2
#define TRIES_MAX      (DOUBLINGS_MAX + HALVINGS)
#define FLAT_DOUBLINGS 2 /* in a row that bring too little: one may be a bad size for kernels */
#define ROUNDING       1.0001 /* times are whole nanoseconds: as many samples a second as that */
#define FIRST_MAX      512    /* the least size that a model takes is looked for up to it */

typedef enum {
    NOT_YET,
    BY_OUTCOME, /* of the last size */
    BY_WORTH,
    BY_MODEL, /* it refuses the next size */
    BY_TIME,
    BY_NUMBER
} end_reason;

typedef struct {
    clv_plan_batch row;
    clv_plan *plan;   /* NULL: it cannot be chosen */
    clv_arena *arena; /* of the plan */
} trial;

typedef struct {
    const clv_request *req;
    clv_str symbol;
    clv_arena *arena;
    trial at[TRIES_MAX];
    int32_t n;
    end_reason end;
    int64_t refused; /* BY_MODEL */
} batch_search;

/* -- one size -- */

/* The sizes of all symbols, in an arena; NULL: no memory. */
static clv_binding *bind(const batch_search *s, int64_t size, clv_arena *arena)
{
    int32_t n = s->req->n_bindings;
    clv_binding *all = CLV_NEW_ARRAY(arena, clv_binding, n + 1);
    if (all && n > 0)
        memcpy(all, s->req->bindings, (size_t)n * sizeof *all);
    if (all)
        all[n] = (clv_binding){ s->symbol, size };
    return all;
}

/* What the report calls the plan; where forms were not compared, in plain words. */
static const char *name_form(const clv_plan *plan, clv_arena *arena)
{
    if (plan->n_alternatives > 0)
        return clv_arena_printf(arena, "%s", plan->alternatives[0].form);
    int32_t copies = clv_plan_copies(plan), stages = plan->n_stages;
    const char *mesh = clv_plan_mesh_text(plan, arena);
    const char *text = mesh ? clv_arena_printf(arena, "%d stage%s%s%s", (int)stages,
                                               stages == 1 ? "" : "s", *mesh ? " of " : "", mesh)
                            : NULL;
    return text && copies > 1 ? clv_arena_printf(arena, "%d x %s", (int)copies, text) : text;
}

static clv_status make_row(const batch_search *s, int64_t size, const clv_plan *plan,
                           clv_plan_batch *ret, clv_error *err)
{
    *ret = (clv_plan_batch){ .size = size,
                             .outcome = plan->outcome,
                             .devices = clv_plan_devices_used(plan),
                             .latency_ns = plan->latency_ns,
                             .ns = clv_plan_objective_ns(plan),
                             .peak_bytes = CLV_PLAN_UNKNOWN,
                             .short_bytes = plan->short_bytes };
    for (int32_t d = 0; d < plan->n_devices; d++) {
        const clv_plan_device *device = &plan->devices[d];
        if (device->stage >= 0 && device->peak_bytes > ret->peak_bytes)
            ret->peak_bytes = device->peak_bytes;
    }
    if (plan->outcome != CLV_FITS)
        return CLV_OK;
    ret->form = name_form(plan, s->arena);
    return ret->form ? CLV_OK : clv_fail_nomem(err, "a batch");
}

static bool fits(const trial *t) { return t->row.outcome == CLV_FITS; }

static double rate_of(const trial *t) { return fits(t) ? clv_plan_samples_per_s(&t->row) : 0; }

static double best_rate(const batch_search *s)
{
    double best = 0;
    for (int32_t i = 0; i < s->n; i++)
        best = rate_of(&s->at[i]) > best ? rate_of(&s->at[i]) : best;
    return best;
}

/* Does a rate bring enough more than another? */
static bool is_more(const batch_search *s, double rate, double than)
{
    return rate > than * (1 + s->req->worth) * ROUNDING;
}

static bool is_near(const batch_search *s, const trial *t, double best)
{
    return fits(t) && !is_more(s, best, rate_of(t));
}

/* Gives back plans that cannot be chosen any more. */
static void drop_useless(batch_search *s)
{
    double best = best_rate(s);
    for (int32_t i = 0; i < s->n; i++) {
        trial *t = &s->at[i];
        if (is_near(s, t, best) || (best == 0 && i == 0))
            continue;
        clv_arena_free(t->arena);
        t->arena = NULL;
        t->plan = NULL;
    }
}

static clv_status plan_size(batch_search *s, int64_t size, trial *ret, clv_error *err)
{
    clv_request req = *s->req;
    int64_t *deadline_ns = &req.search.solve.deadline_ns;
    req.bindings = bind(s, size, ret->arena);
    req.n_bindings++;
    if (!req.bindings)
        return clv_fail_nomem(err, "a batch");
    if (*deadline_ns > 0)
        *deadline_ns -= (*deadline_ns - clv_now_ns()) / 4 * 3;
    CLV_TRY(clv_plan_model(&req, ret->arena, &ret->plan, err));
    return make_row(s, size, ret->plan, &ret->row, err);
}

static clv_status try_size(batch_search *s, int64_t size, clv_error *err)
{
    trial *t = &s->at[s->n];
    *t = (trial){ .arena = clv_arena_new(clv_arena_alloc(s->arena), 0) };
    clv_status status =
        t->arena ? plan_size(s, size, t, err) : clv_fail_nomem(err, "a plan for a batch");
    if (status != CLV_OK) {
        clv_arena_free(t->arena);
        return status;
    }
    s->n++;
    drop_useless(s);
    return CLV_OK;
}

/* -- all sizes -- */

static bool is_over(const batch_search *s)
{
    const clv_request *req = s->req;
    return clv_time_is_up(req->search.solve.deadline_ns) || (req->stop && req->stop(req->stop_ctx));
}

/* The least power of two that the model takes. */
static clv_status find_first(const batch_search *s, int64_t *ret, clv_error *err)
{
    clv_status first = CLV_OK;
    for (*ret = 1; *ret <= FIRST_MAX; *ret *= 2) {
        clv_mark mark = clv_arena_mark(s->arena);
        clv_binding *all = bind(s, *ret, s->arena);
        clv_inference *inference;
        clv_error own;
        clv_status status = all ? clv_infer_bound(s->req->model, all, s->req->n_bindings + 1,
                                                  s->arena, &inference, &own)
                                : clv_fail_nomem(&own, "a batch");
        clv_arena_rewind(s->arena, mark);
        if (status == CLV_OK)
            return CLV_OK;
        if (first == CLV_OK || status != CLV_EFORMAT)
            first = clv_fail(err, status, "%s", own.message);
        if (status != CLV_EFORMAT)
            break;
    }
    return first;
}

/* A size that is refused, or stopped before it had a plan, ends the search where others have one.
 */
static bool ends_search(batch_search *s, clv_status status, int64_t size)
{
    bool is_refused = status == CLV_EFORMAT || status == CLV_ELIMIT;
    if (s->n == 0 || (!is_refused && status != CLV_ECANCELED))
        return false;
    s->end = is_refused ? BY_MODEL : BY_TIME;
    s->refused = size;
    return true;
}

/* The first size with a plan. What is asked of it may need a larger one, to split the batch over
 * devices; a refusal in the same words is not about the size. */
static clv_status try_first(batch_search *s, int64_t *size, clv_error *err)
{
    clv_error own = { .message = "" };
    clv_status status = try_size(s, *size, err), next = status;
    while (next == CLV_EFORMAT && *size < FIRST_MAX && strcmp(own.message, err->message) != 0) {
        *size *= 2;
        next = try_size(s, *size, &own);
    }
    if (next == status || next == CLV_EFORMAT)
        return status;
    return next == CLV_OK ? CLV_OK : clv_fail(err, next, "%s", own.message);
}

static clv_status double_sizes(batch_search *s, clv_error *err)
{
    int64_t size;
    int32_t flat = 0; /* doublings that brought too little, in a row */
    CLV_TRY(find_first(s, &size, err));
    for (; s->n < DOUBLINGS_MAX; size *= 2) {
        double best = best_rate(s);
        clv_status status = s->n == 0 ? try_first(s, &size, err) : try_size(s, size, err);
        if (status != CLV_OK)
            return ends_search(s, status, size) ? CLV_OK : status;
        const trial *last = &s->at[s->n - 1];
        flat = is_more(s, rate_of(last), best) ? 0 : flat + 1;
        s->end = !fits(last)              ? BY_OUTCOME
                 : flat == FLAT_DOUBLINGS ? BY_WORTH
                 : is_over(s)             ? BY_TIME
                                          : NOT_YET;
        if (s->end != NOT_YET)
            return CLV_OK;
    }
    s->end = BY_NUMBER;
    return CLV_OK;
}

/* Of those near the most samples a second the ones near the least latency, and of these the
 * smallest. */
static const trial *choose(const batch_search *s)
{
    double best = best_rate(s), least_ns = INFINITY;
    const trial *chosen = NULL;
    for (const trial *t = s->at; t < s->at + s->n; t++)
        if (is_near(s, t, best) && (double)t->row.latency_ns < least_ns)
            least_ns = (double)t->row.latency_ns;
    for (const trial *t = s->at; t < s->at + s->n; t++) {
        bool may =
            is_near(s, t, best) && (double)t->row.latency_ns <= least_ns * (1 + s->req->worth);
        if (may && (!chosen || t->row.size < chosen->row.size))
            chosen = t;
    }
    return chosen ? chosen : &s->at[0];
}

/* Between the size that would be chosen and the next one: memory or the latency may allow a part of
 * the step. */
static clv_status halve_sizes(batch_search *s, clv_error *err)
{
    int64_t least = choose(s)->row.size, most = 2 * least;
    for (int32_t i = 0; i < HALVINGS && most - least > 1 && !is_over(s); i++) {
        int64_t middle = least + (most - least) / 2;
        double best = best_rate(s);
        clv_status status = try_size(s, middle, err);
        if (status != CLV_OK)
            return ends_search(s, status, middle) ? CLV_OK : status;
        *(is_more(s, rate_of(&s->at[s->n - 1]), best) ? &least : &most) = middle;
    }
    return CLV_OK;
}

/* -- why -- */

/* The next size that has no plan within memory and latency; NULL: there is none. */
static const trial *next_unfit(const batch_search *s, const trial *than)
{
    for (const trial *t = than; t < s->at + s->n; t++)
        if (!fits(t))
            return t;
    return NULL;
}

static const char *why_unfit(const batch_search *s, const trial *t)
{
    char have[32], most[32];
    long long size = t->row.size;
    if (t->row.outcome == CLV_OOM)
        return clv_arena_printf(s->arena, "%lld does not fit, a device lacks %s", size,
                                clv_show_bytes(have, t->row.short_bytes));
    if (t->row.outcome == CLV_LATE)
        return clv_arena_printf(s->arena, "%lld takes %s, above the limit of %s", size,
                                clv_show_time(have, t->row.latency_ns),
                                clv_show_time(most, s->req->max_latency_ns));
    return clv_arena_printf(s->arena, "%lld has no plan", size);
}

/* Why no larger one is chosen. */
static const char *why_no_more(const batch_search *s, const trial *chosen)
{
    const trial *unfit = next_unfit(s, chosen);
    if (unfit)
        return why_unfit(s, unfit);
    if (s->end == BY_WORTH && s->req->worth > 0)
        return clv_arena_printf(s->arena, "larger ones bring less than %.3g %% more",
                                100 * s->req->worth);
    if (s->end == BY_MODEL)
        return clv_arena_printf(s->arena, "the model does not take %" PRId64, s->refused);
    return s->end == BY_TIME    ? "the search was over before a larger one"
           : s->end == BY_WORTH ? "larger ones bring no more"
                                : "it is the largest that is tried";
}

static const char *why(const batch_search *s, const trial *chosen)
{
    int64_t size = chosen->row.size;
    const trial *best = chosen;
    for (const trial *t = s->at; t < s->at + s->n; t++)
        best = rate_of(t) > rate_of(best) ? t : best;
    if (!fits(chosen)) {
        const char *text = why_unfit(s, chosen);
        bool takes_more = chosen->row.outcome == CLV_OOM || chosen->row.outcome == CLV_LATE;
        return text ? clv_arena_printf(s->arena, "%s, and larger ones %s", text,
                                       takes_more ? "take more" : "are not tried")
                    : NULL;
    }
    if (rate_of(best) > rate_of(chosen) * ROUNDING)
        return clv_arena_printf(s->arena,
                                "%" PRId64 " is enough: %" PRId64 " has %.1f %% more samples a "
                                "second, at %.3g times the latency",
                                size, best->row.size, 100 * (rate_of(best) / rate_of(chosen) - 1),
                                (double)best->row.latency_ns / (double)chosen->row.latency_ns);
    const char *end = why_no_more(s, chosen);
    return end ? clv_arena_printf(s->arena, "%" PRId64 " has most samples a second; %s", size, end)
               : NULL;
}

static clv_status mark_plan(const batch_search *s, const trial *chosen, bool found, clv_error *err)
{
    clv_plan *plan = chosen->plan;
    clv_plan_batch *rows = CLV_NEW_ARRAY(s->arena, clv_plan_batch, s->n);
    plan->batch_symbol = clv_arena_str(s->arena, s->symbol);
    plan->why_batch = why(s, chosen);
    if (!rows || !plan->batch_symbol || !plan->why_batch)
        return clv_fail_nomem(err, "batches of a plan");
    for (int32_t i = 0; i < s->n; i++)
        rows[i] = s->at[i].row;
    plan->batch = chosen->row.size;
    plan->batches = rows;
    plan->n_batches = s->n;
    if (!found)
        return CLV_OK;
    return clv_plan_add_note(
        plan,
        clv_arena_printf(s->arena,
                         "'%s' is the first dimension of all inputs and has no size, so it is "
                         "taken for the batch: --bind gives it a size",
                         plan->batch_symbol),
        s->arena, err);
}

static int by_size(const void *a, const void *b)
{
    const trial *x = a, *y = b;
    return (x->row.size > y->row.size) - (x->row.size < y->row.size);
}

/* Where samples a second rise no more by themselves, nothing between two sizes has more. */
static clv_status search(batch_search *s, clv_error *err)
{
    CLV_TRY(double_sizes(s, err));
    if (best_rate(s) > 0 && (s->end == BY_OUTCOME || s->req->max_latency_ns > 0))
        CLV_TRY(halve_sizes(s, err));
    qsort(s->at, (size_t)s->n, sizeof *s->at, by_size);
    return CLV_OK;
}

clv_status clv_batch_search(const clv_request *req, const clv_batch_symbol *batch, clv_arena *arena,
                            clv_plan **ret, clv_error *err)
{
    batch_search s = { .req = req, .symbol = req->model->symbols[batch->symbol], .arena = arena };
    clv_status status = search(&s, err);
    const trial *chosen = status == CLV_OK ? choose(&s) : NULL;
    if (chosen)
        status = mark_plan(&s, chosen, batch->found, err);
    for (int32_t i = 0; i < s.n; i++)
        if (&s.at[i] != chosen || status != CLV_OK)
            clv_arena_free(s.at[i].arena);
    if (status != CLV_OK)
        return status;
    clv_arena_adopt(arena, chosen->arena);
    *ret = chosen->plan;
    return CLV_OK;
}
