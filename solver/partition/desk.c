/* desk.c - the visited set is a table of hashes into the list of tried plans; equal hashes are
 * settled by comparing the plans, so two plans are never taken for one.
 */
#include "solver/partition/desk.h"

#include "base/map.h"
#include "problem/micro.h"

#include <assert.h>
#include <string.h>

/* A judgement costs about as much as there are units. These many units may be judged in all: some
 * tens of seconds with the built-in compiler. */
#define BUDGET_UNITS 1200000
#define BUDGET_MAX   200 /* for small problems: what is found later is rarely better */
#define BUDGET_MIN   8   /* for huge ones: the first plans, and a few improvements */

static const double lower_proportions[CLV_RETRIES] = { 0.3, 0.1 };

int32_t clv_desk_default_budget(int32_t n_units)
{
    int32_t budget = BUDGET_UNITS / (n_units > 0 ? n_units : 1);
    if (budget > BUDGET_MAX)
        return BUDGET_MAX;
    return budget < BUDGET_MIN ? BUDGET_MIN : budget;
}

clv_status clv_desk_open(const clv_partition_problem *p, const clv_partition_judge *judge,
                         const clv_partition_options *options, clv_arena *arena, clv_desk *ret,
                         clv_error *err)
{
    *ret = (clv_desk){ .p = p, .judge = judge, .options = options, .arena = arena, .best = -1 };
    CLV_TRY(
        clv_incumbent_open(&ret->incumbent, &options->solve, p->n_units, arena, &ret->result, err));
    ret->max_judged =
        options->max_judged > 0 ? options->max_judged : clv_desk_default_budget(p->n_units);
    ret->n_slots = 64;
    ret->slot = CLV_NEW_ARRAY(arena, int32_t, ret->n_slots);
    if (!ret->slot)
        return clv_fail_nomem(err, "the plans of a search");
    return p->rules ? clv_obey_new(p, arena, &ret->obey, err) : CLV_OK;
}

static uint64_t hash_of(const clv_desk *desk, const int32_t *device_of, double proportion)
{
    uint64_t h = clv_hash(CLV_HASH_INIT, &proportion, sizeof proportion);
    size_t bytes = (size_t)desk->p->n_units * sizeof *device_of;
    return bytes > 0 ? clv_hash(h, device_of, bytes) : h;
}

static bool is_same(const clv_desk *desk, int32_t i, const int32_t *device_of, double proportion)
{
    const clv_tried *t = &desk->tried[i];
    size_t bytes = (size_t)desk->p->n_units * sizeof *device_of;
    return !(t->proportion < proportion) && !(t->proportion > proportion) &&
           (bytes == 0 || memcmp(t->device_of, device_of, bytes) == 0);
}

/* Where it is, or where it would go. */
static int32_t find_slot(const clv_desk *desk, const int32_t *device_of, double proportion,
                         uint64_t hash)
{
    int32_t at = (int32_t)(hash & (uint64_t)(desk->n_slots - 1));
    for (;; at = (at + 1) & (desk->n_slots - 1)) {
        int32_t i = desk->slot[at] - 1;
        if (i < 0 || (desk->hash[i] == hash && is_same(desk, i, device_of, proportion)))
            return at;
    }
}

int32_t clv_desk_find(const clv_desk *desk, const int32_t *device_of, double proportion)
{
    uint64_t hash = hash_of(desk, device_of, proportion);
    return desk->slot[find_slot(desk, device_of, proportion, hash)] - 1;
}

static clv_status grow_slots(clv_desk *desk, clv_error *err)
{
    int32_t n = desk->n_slots * 2, *slot = CLV_NEW_ARRAY(desk->arena, int32_t, n);
    if (!slot)
        return clv_fail_nomem(err, "the plans of a search");
    for (int32_t i = 0; i < desk->n; i++) {
        int32_t at = (int32_t)(desk->hash[i] & (uint64_t)(n - 1));
        while (slot[at])
            at = (at + 1) & (n - 1);
        slot[at] = i + 1;
    }
    desk->slot = slot;
    desk->n_slots = n;
    return CLV_OK;
}

static clv_status copy_plan(clv_desk *desk, const int32_t *device_of, const int32_t **ret,
                            clv_error *err)
{
    int32_t *copy = CLV_NEW_ARRAY(desk->arena, int32_t, desk->p->n_units);
    if (!copy)
        return clv_fail_nomem(err, "a plan");
    if (desk->p->n_units > 0)
        memcpy(copy, device_of, (size_t)desk->p->n_units * sizeof *copy);
    *ret = copy;
    return CLV_OK;
}

/* While nothing fits, the last judgements are for lower proportions. */
static int32_t limit(const clv_desk *desk, double proportion)
{
    bool keep_back = proportion <= 0 && !clv_desk_fits(desk) && desk->max_judged > CLV_RETRIES;
    return desk->max_judged - (keep_back ? CLV_RETRIES : 0);
}

clv_status clv_desk_add(clv_desk *desk, const int32_t *device_of, double proportion,
                        const char *move, bool *ret_added, clv_error *err)
{
    uint64_t hash = hash_of(desk, device_of, proportion);
    int32_t at = find_slot(desk, device_of, proportion, hash);
    if (ret_added)
        *ret_added = false;
    if (desk->slot[at] || !clv_partition_satisfies_rules(desk->p, device_of, desk->arena))
        return CLV_OK;
    if (desk->n >= limit(desk, proportion)) {
        desk->is_full = true;
        return CLV_OK;
    }
    const int32_t *copy = NULL;
    CLV_TRY(copy_plan(desk, device_of, &copy, err));
    if (!CLV_PUSH_ROOM(desk->arena, desk->tried, desk->n, desk->cap) ||
        !CLV_PUSH_ROOM(desk->arena, desk->hash, desk->n, desk->cap_hash))
        return clv_fail_nomem(err, "the plans of a search");
    desk->tried[desk->n] = (clv_tried){ .device_of = copy, .proportion = proportion, .move = move };
    desk->hash[desk->n] = hash;
    desk->slot[at] = ++desk->n;
    if (ret_added)
        *ret_added = true;
    return desk->n * 2 > desk->n_slots ? grow_slots(desk, err) : CLV_OK;
}

static void set_best(clv_desk *desk, int32_t i)
{
    const clv_tried *t = &desk->tried[i];
    desk->best = i;
    if (t->verdict.outcome == CLV_FITS)
        clv_incumbent_set(&desk->incumbent, t->device_of,
                          clv_objval_whole(clv_desk_objective(desk, &t->verdict)), t->move);
}

static void note_verdict(clv_desk *desk, int32_t i)
{
    if (desk->done)
        return;
    const clv_verdict *v = &desk->tried[i].verdict;
    bool first_fit = desk->options->first_fit && v->outcome == CLV_FITS;
    if (first_fit || desk->best < 0 ||
        clv_verdict_better(v, &desk->tried[desk->best].verdict, desk->options->objective))
        set_best(desk, i);
    desk->done = first_fit;
    desk->why = CLV_END_FIRST_FIT;
}

int64_t clv_desk_objective(const clv_desk *desk, const clv_verdict *v)
{
    return clv_verdict_ns(v, desk->options->objective);
}

/* Is the best plan near enough to the bound? */
static void note_gap(clv_desk *desk)
{
    const clv_solve_result *r = &desk->result;
    if (desk->done || r->bound.whole <= 0 || !r->found)
        return;
    desk->done = clv_incumbent_is_enough(&desk->incumbent);
    desk->why = clv_objval_less(r->bound, r->value) ? CLV_END_GAP : CLV_END_OPTIMAL;
}

void clv_desk_raise_bound(clv_desk *desk, int64_t bound_ns, const char *method)
{
    clv_incumbent_raise(&desk->incumbent, clv_objval_whole(bound_ns), method);
    note_gap(desk);
}

static void set_verdict(clv_desk *desk, int32_t i, const clv_verdict *answer)
{
    clv_verdict *v = &desk->tried[i].verdict;
    *v = *answer;
    v->share_ns = 0;
    if (desk->options->microbatches > 0)
        v->share_ns = clv_micro_share_ns(v->latency_ns, v->period_ns, desk->options->microbatches);
}

/* Where the judge may write what devices take. */
static clv_status ask_times(clv_desk *desk, int32_t n, clv_error *err)
{
    for (int32_t i = desk->n_judged; i < desk->n_judged + n && desk->asks_times; i++) {
        int64_t *told = CLV_NEW_ARRAY(desk->arena, int64_t, desk->p->n_devices);
        if (!told || !CLV_PUSH_ROOM(desk->arena, desk->busy_ns, i, desk->cap_told))
            return clv_fail_nomem(err, "a batch of plans");
        for (int32_t d = 0; d < desk->p->n_devices; d++)
            told[d] = -1;
        desk->busy_ns[i] = told;
    }
    return CLV_OK;
}

static clv_status judge_batch(clv_desk *desk, int32_t n, clv_error *err)
{
    CLV_TRY(ask_times(desk, n, err));
    clv_mark mark = clv_arena_mark(desk->arena);
    clv_assignment *ask = CLV_NEW_ARRAY(desk->arena, clv_assignment, n);
    clv_verdict *answer = CLV_NEW_ARRAY(desk->arena, clv_verdict, n);
    if (!ask || !answer)
        return clv_fail_nomem(err, "a batch of plans");
    for (int32_t i = 0; i < n; i++) {
        const clv_tried *t = &desk->tried[desk->n_judged + i];
        int64_t *told = desk->asks_times ? desk->busy_ns[desk->n_judged + i] : NULL;
        ask[i] = (clv_assignment){ t->device_of, t->proportion, told };
    }
    CLV_TRY(desk->judge->judge(desk->judge->ctx, ask, n, answer, err));
    for (int32_t i = 0; i < n; i++)
        set_verdict(desk, desk->n_judged + i, &answer[i]);
    clv_arena_rewind(desk->arena, mark);
    for (int32_t i = 0; i < n; i++)
        note_verdict(desk, desk->n_judged + i);
    desk->n_judged += n;
    note_gap(desk);
    return CLV_OK;
}

/* Once something is judged. */
static void look_at_limits(clv_desk *desk)
{
    if (desk->n_judged > 0 && !desk->done && clv_limits_over(&desk->incumbent.limits))
        desk->is_over = desk->is_full = true;
}

clv_status clv_desk_judge(clv_desk *desk, clv_error *err)
{
    int32_t batch = desk->judge->batch > 0 ? desk->judge->batch : 1;
    while (desk->n_judged < desk->n && !desk->done && !desk->is_over) {
        int32_t n = desk->n - desk->n_judged;
        if (desk->options->first_fit && n > desk->n_judged + 1)
            n = desk->n_judged + 1; /* 1, 2, 4, ...: the first plan mostly fits */
        CLV_TRY(judge_batch(desk, n < batch ? n : batch, err));
        clv_incumbent_report(&desk->incumbent, desk->result.found_by, desk->n_judged,
                             desk->n - desk->n_judged);
        look_at_limits(desk);
    }
    return CLV_OK;
}

bool clv_desk_over(clv_desk *desk)
{
    look_at_limits(desk);
    return desk->done || desk->is_over || desk->n >= limit(desk, 0);
}

bool clv_desk_fits(const clv_desk *desk)
{
    return desk->best >= 0 && desk->tried[desk->best].verdict.outcome == CLV_FITS;
}

/* The OOM plan that comes next after plan `after` (-1: the very best), among the first n. */
static int32_t next_smallest(const clv_desk *desk, int32_t n, int32_t after)
{
    clv_objective o = desk->options->objective;
    int32_t best = -1;
    for (int32_t i = 0; i < n; i++) {
        const clv_verdict *v = &desk->tried[i].verdict;
        if (v->outcome != CLV_OOM)
            continue;
        if (after >= 0) {
            const clv_verdict *a = &desk->tried[after].verdict;
            if (clv_verdict_better(v, a, o) || (!clv_verdict_better(a, v, o) && i <= after))
                continue;
        }
        if (best < 0 || clv_verdict_better(v, &desk->tried[best].verdict, o))
            best = i;
    }
    return best;
}

/* One plan with lower and lower proportions; *ret_fits when one of them fits, now or before. */
static clv_status retry_plan(clv_desk *desk, int32_t plan, bool *ret_fits, clv_error *err)
{
    const int32_t *device_of = desk->tried[plan].device_of;
    *ret_fits = false;
    for (int32_t i = 0; i < CLV_RETRIES && !desk->is_over && !*ret_fits; i++) {
        const char *move =
            clv_arena_printf(desk->arena, "plan %d with available memory proportion %.1f", plan + 1,
                             lower_proportions[i]);
        if (!move)
            return clv_fail_nomem(err, "a plan");
        CLV_TRY(clv_desk_add(desk, device_of, lower_proportions[i], move, NULL, err));
        CLV_TRY(clv_desk_judge(desk, err));
        int32_t at = clv_desk_find(desk, device_of, lower_proportions[i]);
        *ret_fits = at >= 0 && at < desk->n_judged && desk->tried[at].verdict.outcome == CLV_FITS;
    }
    return CLV_OK;
}

/* Out of memory, but by its times better than the best that fits. */
static bool promises_more(const clv_desk *desk, int32_t plan)
{
    clv_verdict v = desk->tried[plan].verdict;
    v.outcome = CLV_FITS;
    return clv_verdict_better(&v, &desk->tried[desk->best].verdict, desk->options->objective);
}

clv_status clv_desk_retry(clv_desk *desk, int32_t n_more, int32_t other, clv_error *err)
{
    int32_t n = desk->n_judged, plan = -1;
    bool fits = false;
    if (desk->is_over)
        return CLV_OK;
    bool other_may = other >= 0 && desk->tried[other].verdict.outcome == CLV_OOM;
    if (clv_desk_fits(desk))
        return other_may && !desk->done && promises_more(desk, other)
                   ? retry_plan(desk, other, &fits, err)
                   : CLV_OK;
    for (int32_t k = 0; k <= n_more && !fits; k++) {
        plan = next_smallest(desk, n, plan);
        if (plan < 0)
            return CLV_OK;
        CLV_TRY(retry_plan(desk, plan, &fits, err));
    }
    return other_may && !desk->done ? retry_plan(desk, other, &fits, err) : CLV_OK;
}

void clv_desk_close(clv_desk *desk)
{
    clv_solve_result *r = &desk->result;
    if (desk->done)
        r->end = desk->why;
    else if (desk->is_over)
        r->end = clv_limits_end(&desk->incumbent.limits);
    else if (clv_objval_is_infinite(r->bound))
        r->end = CLV_END_INFEASIBLE;
    else
        r->end = desk->is_full ? CLV_END_CANDIDATES : CLV_END_SEARCHED;
    desk->done = true;
    r->seconds = clv_incumbent_seconds(&desk->incumbent);
}
