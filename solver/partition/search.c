/* search.c - the default search: good first plans, then better ones.
 *
 * 1. First plans: cuts of the list of units by weight, by time and by latency, judged together.
 * 2. Where a cut was out of memory, the same cut with the room that the verdict taught us to leave.
 * 3. Where memory is short, the documented moves, each of which is judged.
 * 4. From the best plan so far: walks and single moves that look better by their sums; while
 * nothing fits, out of the device that lacks memory.
 * 5. Exact re-optimisation of the boundaries that matter most, and step 4 again.
 * 6. For the period: annealing.
 * 7. If nothing fits: lower available memory proportions.
 */
#include "solver/partition/search.h"

#include "problem/fit.h"
#include "problem/micro.h"
#include "problem/sums.h"
#include "solver/partition/anneal.h"
#include "solver/partition/documented.h"
#include "solver/partition/refine_ilp.h"
#include "solver/partition/seeker.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* As CLV_SEEKER_PATIENCE while nothing fits, when there is nothing to lose. */
#define PATIENCE_OOM 40
/* Plans besides the smallest OOM that are tried with lower proportions. */
#define MORE_RETRIES 2
/* Problems up to this size are also searched from cuts that are not worth judging themselves: walks
 * cover a good part of them. */
#define ELSEWHERE_UNITS 5000
/* Problems up to this size are annealed so often, with so many moves at most, and fewer where there
 * are few places to move units to, or many loads to add up: some tenths of a second. */
#define ANNEALED_UNITS 1000
#define ANNEALED_PLACE 1000
#define ANNEALINGS     4
#define ANNEALED_STEPS 300000
#define ANNEALED_LOADS INT64_C(20000000)
/* Transfers looked at to find better seats for groups, for all plans together: about a tenth of a
 * second. */
#define SEAT_WORK INT64_C(20000000)
/* Rounds of exact refinement. */
#define REFINES 3

/* -- the order of plans -- */

/* What a device lacks, whether the compiler told one device or all. */
static int64_t shortage(const clv_verdict *v)
{
    return v->total_short_bytes > v->short_bytes ? v->total_short_bytes : v->short_bytes;
}

int64_t clv_verdict_ns(const clv_verdict *v, clv_objective objective)
{
    if (objective == CLV_LATENCY)
        return v->latency_ns;
    return v->share_ns > 0 ? v->share_ns : v->period_ns;
}

bool clv_verdict_better(const clv_verdict *a, const clv_verdict *b, clv_objective objective)
{
    if (a->outcome != b->outcome)
        return a->outcome < b->outcome; /* fits, OOM, failed */
    if (a->outcome == CLV_OOM)
        return shortage(a) < shortage(b);
    if (a->outcome == CLV_FAILED)
        return false;
    bool latency = objective == CLV_LATENCY;
    int64_t first_a = clv_verdict_ns(a, objective), first_b = clv_verdict_ns(b, objective);
    if (first_a != first_b)
        return first_a < first_b;
    return latency ? a->period_ns < b->period_ns : a->latency_ns < b->latency_ns;
}

/* Judges what waits. Where that teaches other times, all sums are made of those from then on. */
clv_status clv_seeker_judge(clv_seeker *s, clv_error *err)
{
    CLV_TRY(clv_desk_judge(&s->desk, err));
    if (!s->lessons || !clv_lessons_learn(s->lessons, &s->desk))
        return CLV_OK;
    clv_line_retime(s->line);
    s->improver.goal_plan = -1;
    return CLV_OK;
}

/* -- better plans -- */

/* The best plan that may have neighbours left; -1: none. One that fits, once there is one. */
static int32_t pick(const clv_seeker *s)
{
    const clv_desk *desk = &s->desk;
    clv_outcome want = clv_desk_fits(desk) ? CLV_FITS : CLV_OOM;
    int32_t best = -1;
    for (int32_t i = 0; i < desk->n_judged; i++) {
        const clv_verdict *v = &desk->tried[i].verdict;
        if (v->outcome != want || s->spent[i])
            continue;
        if (best < 0 || clv_verdict_better(v, &desk->tried[best].verdict, desk->options->objective))
            best = i;
    }
    return best;
}

static clv_status note_plans(clv_seeker *s, clv_error *err)
{
    while (s->n_spent < s->desk.n) {
        if (!CLV_PUSH_ROOM(s->desk.arena, s->spent, s->n_spent, s->cap_spent))
            return clv_fail_nomem(err, "the plans of a search");
        s->spent[s->n_spent++] = false;
    }
    return CLV_OK;
}

static clv_status climb(clv_seeker *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    int32_t batch = desk->judge->batch > 0 ? desk->judge->batch : 1, stale = 0;
    while (!clv_desk_over(desk) &&
           stale < (clv_desk_fits(desk) ? CLV_SEEKER_PATIENCE : PATIENCE_OOM)) {
        CLV_TRY(note_plans(s, err));
        int32_t plan = pick(s), best = desk->best, added;
        if (plan < 0)
            return CLV_OK;
        CLV_TRY(clv_improver_expand(&s->improver, plan, batch, &added, err));
        s->spent[plan] = added == 0;
        CLV_TRY(clv_seeker_judge(s, err));
        stale = desk->best != best ? 0 : stale + added;
    }
    if (!desk->done && clv_desk_over(desk))
        desk->is_full = true; /* there was more to try */
    return CLV_OK;
}

/* Other cuts, not good enough to be judged, may lie near a better optimum: walks from there. */
static clv_status start_elsewhere(clv_seeker *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    int32_t best = desk->best;
    for (int how = CLV_AS_GIVEN; how < CLV_SLOWEST_FIRST && !clv_desk_over(desk); how++) {
        if (!clv_seeker_order(s, (clv_device_order)how) && how != CLV_AS_GIVEN)
            continue;
        for (int i = 0; i < 4; i++) {
            clv_cut_options o = { .order = s->order,
                                  .capacity_bytes = i < 2 ? desk->p->capacity_bytes : NULL,
                                  .use_all = i % 2 == 0 };
            if (desk->options->use_all_devices && i % 2)
                continue;
            if (clv_seeker_cut_by_rules(
                    s, &o, desk->options->objective == CLV_LATENCY ? CLV_THROUGHPUT : CLV_LATENCY))
                if (!desk->obey || clv_obey_mend(desk->obey, s->order, s->device_of))
                    CLV_TRY(clv_improver_start(&s->improver, s->device_of, err));
        }
    }
    CLV_TRY(clv_seeker_judge(s, err));
    return desk->best != best ? climb(s, err) : CLV_OK;
}

/* Once more from the best plan, where the period may not be the least there is. */
static clv_status anneal(clv_seeker *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    bool is_wanted = desk->options->objective == CLV_THROUGHPUT && !desk->p->rules;
    if (!is_wanted || !clv_desk_fits(desk) || clv_desk_over(desk) ||
        desk->p->n_units > ANNEALED_UNITS)
        return CLV_OK;
    int32_t best = desk->best;
    int64_t ns, least = desk->tried[best].verdict.period_ns;
    int64_t steps = ANNEALED_LOADS / (desk->p->n_devices + clv_n_ports(desk->p));
    steps = steps < ANNEALED_STEPS ? steps : ANNEALED_STEPS;
    int64_t places = (int64_t)desk->p->n_units * desk->p->n_devices;
    steps = steps < places * ANNEALED_PLACE ? steps : places * ANNEALED_PLACE;
    clv_seeker_leave_room(s, true);
    for (uint64_t seed = 1; seed <= ANNEALINGS && !clv_desk_over(desk); seed++) {
        clv_anneal_options o = { s->room_bytes, desk->options->use_all_devices, steps, seed };
        clv_groups_load(s->improver.g, desk->tried[best].device_of);
        CLV_TRY(clv_anneal(s->improver.g, &o, desk->arena, s->device_of, &ns, err));
        if (ns < least)
            CLV_TRY(clv_seeker_add(s, "annealing", err));
        least = ns < least ? ns : least;
    }
    CLV_TRY(clv_seeker_judge(s, err));
    return desk->best != best ? climb(s, err) : CLV_OK;
}

/* The plan behind a bound of the latency; cuts with the devices in the orders, and again where
 * those are out of memory. Late, so that it is only more that is tried. */
static clv_status try_orders(clv_seeker *s, clv_error *err)
{
    static const char label[] = "least latency, kinds as in the bound";
    clv_desk *desk = &s->desk;
    int32_t n = desk->p->n_devices, best = desk->best;
    if (desk->options->objective == CLV_LATENCY)
        CLV_TRY(clv_seeker_try_bound_plan(s, "least latency by runs", err));
    for (int32_t i = 0; i < s->n_orders && !clv_desk_over(desk); i++) {
        memcpy(s->order, s->bound_orders + (ptrdiff_t)i * n, (size_t)n * sizeof *s->order);
        CLV_TRY(clv_seeker_add_cut(s, desk->p->capacity_bytes, false, label, label, err));
        CLV_TRY(clv_seeker_add_cut(s, s->alive_room, true, label, label, err));
        CLV_TRY(clv_seeker_judge(s, err));
        CLV_TRY(clv_seeker_cut_again(s, err));
    }
    return desk->best != best ? climb(s, err) : CLV_OK;
}

static clv_status refine(clv_seeker *s, clv_error *err)
{
    for (int32_t i = 0; i < REFINES && clv_desk_fits(&s->desk) && !clv_desk_over(&s->desk); i++) {
        int32_t best = s->desk.best;
        CLV_TRY(clv_refine_ilp(&s->improver, s->desk.arena, err));
        CLV_TRY(clv_seeker_judge(s, err));
        if (s->desk.best == best)
            return CLV_OK;
        CLV_TRY(climb(s, err));
    }
    return CLV_OK;
}

/* Cuts from the bound's orders, then from any order; each is only more that is tried. */
static clv_status try_more_cuts(clv_seeker *s, clv_error *err)
{
    int32_t best = s->desk.best;
    CLV_TRY(try_orders(s, err));
    if (s->desk.best != best)
        CLV_TRY(refine(s, err));
    best = s->desk.best;
    CLV_TRY(clv_seeker_cut_by_kinds(s, err));
    if (s->desk.best == best)
        return CLV_OK;
    CLV_TRY(climb(s, err));
    return refine(s, err);
}

/* What climbing and refining taught may lead to other cuts yet. */
static clv_status climb_by_lessons(clv_seeker *s, clv_error *err)
{
    int32_t best = s->desk.best;
    CLV_TRY(clv_seeker_cut_by_lessons(s, err));
    return s->desk.best != best ? climb(s, err) : CLV_OK;
}

/* Was any plan out of memory? Then sums of weights do not say well what fits. */
static bool is_short_of_memory(const clv_desk *desk)
{
    for (int32_t i = 0; i < desk->n_judged; i++)
        if (desk->tried[i].verdict.outcome == CLV_OOM)
            return true;
    return false;
}

/* More tries are in vain: it is proven that nothing fits, with any workspace. */
static clv_status is_hopeless(const clv_seeker *s, bool *ret, clv_error *err)
{
    clv_fit_bound bound;
    *ret = false;
    if (clv_desk_fits(&s->desk) || !s->desk.judge->live_bytes || !is_short_of_memory(&s->desk))
        return CLV_OK;
    CLV_TRY(
        clv_partition_fit_bound(s->desk.p, s->desk.judge->live_bytes, s->desk.arena, &bound, err));
    *ret = bound.impossible;
    return CLV_OK;
}

static clv_status open_search(clv_seeker *s, clv_arena *arena, clv_error *err)
{
    const clv_partition_problem *p = s->desk.p;
    CLV_TRY(clv_line_new(p, s->desk.judge->held_bytes, arena, &s->line, err));
    CLV_TRY(clv_improver_new(&s->desk, arena, &s->improver, err));
    s->order = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    s->device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    s->room_bytes = CLV_NEW_ARRAY(arena, int64_t, p->n_devices);
    s->alive_room = CLV_NEW_ARRAY(arena, int64_t, p->n_devices);
    s->bound_orders = CLV_NEW_ARRAY(arena, int32_t, CLV_BOUND_ORDERS * p->n_devices);
    s->bound_device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    if (!s->order || !s->device_of || !s->room_bytes || !s->alive_room || !s->bound_orders ||
        !s->bound_device_of)
        return clv_fail_nomem(err, "a search");
    clv_seeker_find_alive_room(s);
    return CLV_OK;
}

static clv_status search_default(clv_seeker *s, clv_arena *arena, clv_error *err)
{
    int32_t documented = -1;
    bool hopeless;
    CLV_TRY(open_search(s, arena, err));
    CLV_TRY(clv_seeker_first_plans(s, err));
    CLV_TRY(clv_seeker_find_bound(s, err));
    CLV_TRY(is_hopeless(s, &hopeless, err));
    if (s->desk.p->n_devices > 1)
        CLV_TRY(clv_seeker_cut_again(s, err));
    if (hopeless) {
        s->desk.result.bound = CLV_OBJVAL_INFINITE;
        return CLV_OK;
    }
    CLV_TRY(clv_seeker_find_bound(s, err));
    if (s->desk.p->n_devices > 1) {
        CLV_TRY(clv_seeker_cut_by_lessons(s, err));
        CLV_TRY(clv_seeker_spread_senders(s, err));
        if (is_short_of_memory(&s->desk))
            CLV_TRY(clv_documented_moves(&s->desk, arena, &documented, err));
        CLV_TRY(climb(s, err));
        if (s->desk.p->n_units <= ELSEWHERE_UNITS)
            CLV_TRY(start_elsewhere(s, err));
        if (documented < 0 && is_short_of_memory(&s->desk)) { /* that only later plans told */
            CLV_TRY(clv_documented_moves(&s->desk, arena, &documented, err));
            CLV_TRY(climb(s, err));
        }
        CLV_TRY(clv_seeker_find_bound(s, err));
        CLV_TRY(refine(s, err));
        CLV_TRY(try_more_cuts(s, err));
        CLV_TRY(anneal(s, err));
        CLV_TRY(climb_by_lessons(s, err));
    }
    return clv_desk_retry(&s->desk, MORE_RETRIES, documented, err);
}

/* -- the call -- */

/* Optimal where that is proven, whatever the end was. The bound may still be missing: the
 * documented search asks for none, and some plans fit only at a lower proportion. */
static clv_status end_search(clv_seeker *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    clv_desk_close(desk);
    if (!desk->result.found)
        return CLV_OK;
    if (!s->bound_orders) {
        s->bound_orders =
            CLV_NEW_ARRAY(desk->arena, int32_t, CLV_BOUND_ORDERS * desk->p->n_devices);
        s->bound_device_of = CLV_NEW_ARRAY(desk->arena, int32_t, desk->p->n_units);
        s->device_of = CLV_NEW_ARRAY(desk->arena, int32_t, desk->p->n_units);
        if (!s->bound_orders || !s->bound_device_of || !s->device_of)
            return clv_fail_nomem(err, "a search");
    }
    CLV_TRY(clv_seeker_find_bound(s, err));
    if (!clv_objval_less(desk->result.bound, desk->result.value))
        desk->result.end = CLV_END_OPTIMAL;
    return CLV_OK;
}

/* Is there anything to search for? */
static clv_status check_rules(clv_seeker *s, clv_arena *arena, clv_partition_result *ret,
                              clv_error *err)
{
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, s->desk.p->n_units);
    if (!device_of)
        return clv_fail_nomem(err, "a search");
    clv_obey_outcome outcome =
        s->desk.obey ? clv_obey_find(s->desk.obey, device_of) : CLV_OBEY_FOUND;
    *ret = (clv_partition_result){ .none_obeys = outcome != CLV_OBEY_FOUND,
                                   .proven = outcome == CLV_OBEY_NONE };
    if (ret->none_obeys)
        ret->best.verdict.outcome = CLV_INFEASIBLE;
    return CLV_OK;
}

clv_status clv_partition_solve(const clv_partition_problem *p, const clv_partition_judge *judge,
                               const clv_partition_options *options, clv_arena *arena,
                               clv_partition_result *ret, clv_error *err)
{
    assert(p && judge && judge->judge && options && arena && ret && p->n_devices > 0);
    clv_seeker s = { .seat_work = SEAT_WORK };
    CLV_TRY(clv_partition_check_sums(p, err));
    if (options->kind == CLV_SEARCH_DEFAULT && !(judge->bounded_at > 0)) {
        CLV_TRY(clv_lessons_new(p, arena, &s.lessons, err));
        p = &s.lessons->corrected;
    }
    CLV_TRY(clv_desk_open(p, judge, options, arena, &s.desk, err));
    s.desk.asks_times = s.lessons != NULL;
    clv_partition_result looked;
    CLV_TRY(check_rules(&s, arena, &looked, err));
    if (looked.none_obeys) {
        *ret = looked;
        return CLV_OK;
    }
    if (options->kind == CLV_SEARCH_DOCUMENTED)
        CLV_TRY(clv_search_documented(&s.desk, arena, err));
    else
        CLV_TRY(search_default(&s, arena, err));
    if (s.desk.best < 0) /* no plan could be held against the rules */
        return clv_fail_nomem(err, "the plans of a search");
    CLV_TRY(end_search(&s, err));
    if (s.desk.result.end == CLV_END_STOPPED && !s.desk.result.found)
        return clv_fail(err, CLV_ECANCELED, "stopped after %d plans, none of which fits",
                        s.desk.n_judged);
    *ret = (clv_partition_result){ .solve = s.desk.result,
                                   .best = s.desk.tried[s.desk.best],
                                   .n_judged = s.desk.n_judged,
                                   .tried = s.desk.tried };
    return CLV_OK;
}
