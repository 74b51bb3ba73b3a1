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
#include "solver/search.h"

#include "problem/fit.h"
#include "problem/micro.h"
#include "problem/sums.h"
#include "solver/anneal.h"
#include "solver/balance.h"
#include "solver/bound.h"
#include "solver/device_order.h"
#include "solver/documented.h"
#include "solver/improve.h"
#include "solver/lessons.h"
#include "solver/refine_ilp.h"
#include "solver/reseat.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Judgements without a better plan after which a search gives up: with something that fits, and
 * without, when there is nothing to lose. */
#define PATIENCE_FITS 6
#define PATIENCE_OOM  40
/* Cuts made again with the room that verdicts taught. */
#define RECUTS 4
/* Plans besides the smallest OOM that are tried with lower proportions. */
#define MORE_RETRIES 2
/* Problems up to this size are also searched from cuts that are not worth judging themselves: walks
 * cover a good part of them. */
#define ELSEWHERE_UNITS 5000
/* Problems up to this size are annealed, with so many moves: some tenths of a second. */
#define ANNEALED_UNITS 1000
#define ANNEALED_STEPS 300000
/* Transfers looked at to find better seats for groups, for all plans together: about a tenth of a
 * second. */
#define SEAT_WORK INT64_C(20000000)
/* Rounds of exact refinement. */
#define REFINES 3

typedef struct {
    clv_desk desk;
    clv_improver improver;
    clv_lessons *lessons; /* NULL: the model's times hold */
    clv_line *line;
    int32_t *order, *device_of; /* scratch */
    int64_t *room_bytes;        /* scratch: by device */
    int64_t *alive_room;        /* by device: for weights, beside what a unit has alive */
    bool *spent;                /* by plan: has no more neighbours to give */
    int32_t n_spent, cap_spent;
    bool is_bounded;       /* the bound is known, or there is none */
    int32_t *bound_orders; /* of devices, behind a bound of the latency; n_orders of n_devices */
    int32_t n_orders;
    int32_t *bound_device_of; /* the plan behind it */
    bool has_bound_plan;
    int64_t seat_work; /* left */
} search;

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
static clv_status judge_and_learn(search *s, clv_error *err)
{
    CLV_TRY(clv_desk_judge(&s->desk, err));
    if (!s->lessons || !clv_lessons_learn(s->lessons, &s->desk))
        return CLV_OK;
    clv_line_retime(s->line);
    s->improver.goal_plan = -1;
    return CLV_OK;
}

/* -- first plans -- */

/* What a device has room for beside the unit that has most alive: most plans that keep to it fit.
 */
static void find_alive_room(search *s)
{
    const clv_partition *p = s->desk.p;
    const clv_judge *judge = s->desk.judge;
    int64_t most = 0;
    for (int32_t u = 0; u < p->n_units && judge->live_bytes; u++) {
        int64_t live = judge->live_bytes[u] - (judge->held_bytes ? judge->held_bytes[u] : 0);
        most = live > most ? live : most;
    }
    for (int32_t d = 0; d < p->n_devices; d++)
        s->alive_room[d] = p->capacity_bytes[d] - most;
}

static clv_status add_plan(search *s, const char *label, clv_error *err)
{
    if (s->desk.obey && !clv_obey_mend(s->desk.obey, s->order, s->device_of))
        return CLV_OK;
    return clv_desk_add(&s->desk, s->device_of, 0, label, NULL, err);
}

static bool cut(const search *s, const clv_cut_options *o, clv_objective objective)
{
    return objective == CLV_LATENCY ? clv_cut_by_latency(s->line, o, s->device_of)
                                    : clv_cut_by_time(s->line, o, s->device_of);
}

/* Runs may be too simple for the rules: then runs that do not look at them, to be mended. */
static bool cut_by_rules(search *s, const clv_cut_options *o, clv_objective objective)
{
    if (cut(s, o, objective))
        return true;
    const clv_rules *rules = s->line->rules;
    s->line->rules = NULL;
    bool found = rules && cut(s, o, objective);
    s->line->rules = rules;
    return found;
}

/* The cut that suits the objective. */
static clv_status add_cut(search *s, const int64_t *capacity, bool with_held, const char *by_time,
                          const char *by_latency, clv_error *err)
{
    const clv_search_options *options = s->desk.options;
    clv_cut_options o = { .order = s->order,
                          .capacity_bytes = capacity,
                          .use_all = options->use_all_devices,
                          .with_held = with_held };
    const char *label = options->objective == CLV_LATENCY ? by_latency : by_time;
    const clv_rules *rules = s->desk.p->rules;
    if (rules && rules->stage_set_of && !o.use_all) { /* runs are stages if none is empty */
        o.use_all = true;
        if (cut_by_rules(s, &o, options->objective))
            CLV_TRY(add_plan(s, label, err));
        o.use_all = false;
    }
    return cut_by_rules(s, &o, options->objective) ? add_plan(s, label, err) : CLV_OK;
}

static bool order_devices(search *s, clv_device_order how)
{
    if (how == CLV_SLOWEST_FIRST && s->desk.options->objective == CLV_LATENCY)
        return false; /* the bound tells a better order */
    return clv_order_devices(s->line, s->desk.obey, how, s->order);
}

static clv_status first_plans(search *s, clv_error *err)
{
    static const char *const labels[CLV_FIRST_ORDERS][2] = {
        { "time balance", "least latency" },
        { "time balance, most memory first", "least latency, most memory first" },
        { "time balance, fastest first", "least latency, fastest first" },
        { "time balance, kinds mixed", "least latency, kinds mixed" },
        { "time balance, devices as the rules go", "least latency, devices as the rules go" },
        { "time balance, slowest first", "least latency, slowest first" },
    };
    order_devices(s, CLV_AS_GIVEN);
    clv_cut_by_weight(s->line, s->desk.options->use_all_devices, s->device_of);
    CLV_TRY(add_plan(s, "memory balance", err));
    for (int how = CLV_AS_GIVEN; how < CLV_FIRST_ORDERS; how++) {
        if (!order_devices(s, (clv_device_order)how) && how != CLV_AS_GIVEN)
            continue;
        CLV_TRY(add_cut(s, s->desk.p->capacity_bytes, false, labels[how][0], labels[how][1], err));
        CLV_TRY(add_cut(s, s->alive_room, true, labels[how][0], labels[how][1], err));
    }
    order_devices(s, CLV_AS_GIVEN);
    if (s->desk.n == 0 && clv_obey_find(s->desk.obey, s->device_of) == CLV_OBEY_FOUND)
        CLV_TRY(add_plan(s, "as the rules go", err));
    return judge_and_learn(s, err);
}

/* Room for weights by what verdicts taught. Devices that no verdict spoke of need as much as the
 * neediest one, if all is set. False when there is nothing to learn from. */
static bool leave_room(search *s, bool all)
{
    const clv_partition *p = s->desk.p;
    int64_t most = 0;
    for (int32_t d = 0; d < p->n_devices; d++)
        most = s->improver.reserve_bytes[d] > most ? s->improver.reserve_bytes[d] : most;
    for (int32_t d = 0; d < p->n_devices; d++) {
        int64_t reserve = s->improver.reserve_bytes[d];
        s->room_bytes[d] = p->capacity_bytes[d] - (reserve == 0 && all ? most : reserve);
    }
    return most > 0;
}

static clv_status cut_again(search *s, clv_error *err)
{
    for (int32_t i = 0, seen = 0; i < RECUTS && !clv_desk_over(&s->desk); i++) {
        int32_t before = s->desk.n;
        for (; seen < s->desk.n_judged; seen++)
            clv_improver_learn(&s->improver, &s->desk.tried[seen]);
        for (int all = 0; all < 2; all++)
            if (leave_room(s, all))
                CLV_TRY(add_cut(s, s->room_bytes, false, "time balance, with room left",
                                "least latency, with room left", err));
        if (s->desk.n == before)
            return CLV_OK;
        CLV_TRY(judge_and_learn(s, err));
    }
    return CLV_OK;
}

/* Cuts by the times that verdicts taught, until the best of them are plans judged before. */
static clv_status cut_by_lessons(search *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    for (int32_t stale = 0; s->lessons && s->lessons->differs && stale < PATIENCE_FITS;) {
        static const char by_time[] = "time balance, by times told";
        static const char by_latency[] = "least latency, by times told";
        int32_t before = desk->n, best = desk->best;
        for (int how = CLV_AS_GIVEN; how < CLV_FIRST_ORDERS && !clv_desk_over(desk); how++) {
            if (!order_devices(s, (clv_device_order)how) && how != CLV_AS_GIVEN)
                continue;
            CLV_TRY(add_cut(s, desk->p->capacity_bytes, false, by_time, by_latency, err));
            if (leave_room(s, true))
                CLV_TRY(add_cut(s, s->room_bytes, false, by_time, by_latency, err));
        }
        order_devices(s, CLV_AS_GIVEN);
        if (desk->n == before)
            return CLV_OK;
        CLV_TRY(judge_and_learn(s, err));
        stale = desk->best != best ? 0 : stale + desk->n - before;
    }
    return CLV_OK;
}

/* -- the bound -- */

static clv_bound_options bound_options(const search *s)
{
    const clv_desk *desk = &s->desk;
    return (clv_bound_options){ .live_bytes = desk->judge->live_bytes,
                                .held_bytes = desk->judge->held_bytes,
                                /* rules may leave a device without units */
                                .use_all = desk->options->use_all_devices && !desk->p->rules };
}

/* What the device that lacks most needs besides what units are known to need; at least something
 * more than before. */
static int64_t untold_bytes(const search *s, const clv_tried *plan, int64_t before)
{
    const clv_partition *p = s->desk.p;
    const clv_judge *judge = s->desk.judge;
    int64_t known = 0, most = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        if (plan->device_of[u] != plan->verdict.device)
            continue;
        int64_t held = judge->held_bytes ? judge->held_bytes[u] : 0;
        int64_t live = judge->live_bytes ? judge->live_bytes[u] - held : 0;
        known += p->weight_bytes[u] + held;
        most = live > most ? live : most;
    }
    int64_t needs = p->capacity_bytes[plan->verdict.device] + plan->verdict.short_bytes;
    int64_t untold = needs - known - most, least = before + plan->verdict.short_bytes;
    return untold > least ? untold : least;
}

/* The bound of the objective, and the plan behind it. */
static clv_status ask_bound(search *s, const clv_bound_options *o, clv_bound *ret, clv_error *err)
{
    clv_desk *desk = &s->desk;
    if (desk->options->objective == CLV_LATENCY)
        return clv_bound_latency(desk->p, o, desk->arena, s->bound_orders, s->bound_device_of, ret,
                                 err);
    int64_t best = desk->tried[desk->best].verdict.period_ns;
    return clv_bound_period(desk->p, o, best, desk->arena, s->bound_device_of, ret, err);
}

/* Is a device left without units that all are to be used? The period's bound does not ask for them,
 * and what comes after its plan fills them. */
static bool leaves_out(const search *s, const int32_t *device_of)
{
    const clv_desk *desk = &s->desk;
    int32_t n_used = 0;
    if (!desk->options->use_all_devices || desk->options->objective != CLV_LATENCY)
        return false;
    memset(s->room_bytes, 0, (size_t)desk->p->n_devices * sizeof *s->room_bytes);
    for (int32_t u = 0; u < desk->p->n_units; u++) {
        n_used += s->room_bytes[device_of[u]]++ == 0;
    }
    return n_used < desk->p->n_devices && n_used < desk->p->n_units;
}

/* Adds the plan behind a bound and judges it. *ret_new: it is legal, and none that was known. */
static clv_status judge_bound_plan(search *s, const char *label, bool *ret_new, clv_error *err)
{
    clv_desk *desk = &s->desk;
    int32_t before = desk->n;
    *ret_new = false;
    if (leaves_out(s, s->bound_device_of) ||
        !clv_partition_is_acyclic(desk->p, s->bound_device_of, desk->arena))
        return CLV_OK;
    memcpy(s->device_of, s->bound_device_of, (size_t)desk->p->n_units * sizeof *s->device_of);
    CLV_TRY(add_plan(s, label, err));
    *ret_new = desk->n > before;
    return *ret_new ? judge_and_learn(s, err) : CLV_OK;
}

/* Judges the plan behind a bound. Where it lacks memory, that of devices with less, as much as the
 * verdict taught to leave; and once that fits, of devices with something between. */
static clv_status try_bound_plan(search *s, const char *label, clv_error *err)
{
    clv_desk *desk = &s->desk;
    clv_bound_options options = bound_options(s);
    int64_t too_little = 0, enough = INT64_MAX; /* to leave */
    for (int32_t i = 0; i < RECUTS && s->has_bound_plan && !clv_desk_over(desk); i++) {
        bool is_new;
        clv_bound bound;
        CLV_TRY(judge_bound_plan(s, label, &is_new, err));
        if (!is_new || clv_desk_over(desk))
            return CLV_OK;
        const clv_tried *tried = &desk->tried[desk->n - 1];
        if (tried->verdict.outcome == CLV_OOM) {
            too_little = options.reserve_bytes;
            options.reserve_bytes = untold_bytes(s, tried, options.reserve_bytes);
        } else {
            enough = options.reserve_bytes;
        }
        if (enough == 0 || tried->verdict.outcome > CLV_OOM)
            return CLV_OK;
        if (enough < INT64_MAX)
            options.reserve_bytes = too_little + (enough - too_little) / 2;
        CLV_TRY(ask_bound(s, &options, &bound, err));
        s->has_bound_plan = bound.found;
        s->n_orders = bound.n_orders;
    }
    return CLV_OK;
}

/* Of the share of a number of micro-batches: no plan has less latency, none less period. */
static clv_status bound_share(search *s, const clv_bound_options *options, int64_t *ns,
                              clv_error *err)
{
    const clv_desk *desk = &s->desk;
    int32_t n = desk->options->microbatches;
    clv_bound latency;
    if (desk->options->objective == CLV_LATENCY || n == 0 || desk->options->only_period_is_bounded)
        return CLV_OK;
    CLV_TRY(clv_bound_latency(desk->p, options, desk->arena, s->bound_orders, s->bound_device_of,
                              &latency, err));
    *ns = clv_micro_share_ns(latency.ns, *ns, n);
    return CLV_OK;
}

/* Once there is a plan that fits: what is proven of the best one, and, for the period, a plan that
 * would reach it if transfers took no time. */
static clv_status find_bound(search *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    clv_bound_options options = bound_options(s);
    clv_bound bound = { 0 };
    if (s->is_bounded || !clv_desk_fits(desk))
        return CLV_OK;
    s->is_bounded = true;
    if (!(desk->judge->bounded_at > 0) ||
        desk->tried[desk->best].proportion > desk->judge->bounded_at)
        return CLV_OK;
    CLV_TRY(ask_bound(s, &options, &bound, err));
    s->n_orders = bound.n_orders;
    s->has_bound_plan = bound.found;
    CLV_TRY(bound_share(s, &options, &bound.ns, err));
    clv_desk_set_bound(desk, bound.ns);
    if (desk->options->objective == CLV_LATENCY)
        return CLV_OK; /* later, so that it is only more that is tried */
    return try_bound_plan(s, "least period by order and memory", err);
}

/* -- what many devices read -- */

/* Is a port busier than any device, by sums? */
static bool is_port_bound(search *s, const clv_tried *plan)
{
    clv_groups *g = s->improver.g;
    int64_t busiest = 0;
    clv_groups_load(g, plan->device_of);
    for (int32_t d = 0; d < g->p->n_devices; d++)
        busiest = g->time_ns[d] > busiest ? g->time_ns[d] : busiest;
    return clv_groups_period_ns(g) > busiest;
}

/* Cuts that share what one device sends to many with others. */
static clv_status cut_by_fans(search *s, clv_error *err)
{
    static const char label[] = "time balance, senders apart";
    clv_desk *desk = &s->desk;
    CLV_TRY(clv_line_learn_fans(s->line, desk->tried[desk->best].device_of, desk->arena, err));
    for (int how = CLV_AS_GIVEN; how < CLV_N_ORDERS; how++) {
        if (!order_devices(s, (clv_device_order)how) && how != CLV_AS_GIVEN)
            continue;
        CLV_TRY(add_cut(s, desk->p->capacity_bytes, false, label, label, err));
        CLV_TRY(add_cut(s, s->alive_room, true, label, label, err));
        clv_cut_options o = { .order = s->order,
                              .capacity_bytes = s->alive_room,
                              .use_all = desk->options->use_all_devices,
                              .with_held = true,
                              .short_runs = true };
        if (cut_by_rules(s, &o, CLV_THROUGHPUT))
            CLV_TRY(add_plan(s, "time balance, senders apart, short runs", err));
    }
    order_devices(s, CLV_AS_GIVEN);
    return judge_and_learn(s, err);
}

/* Of the plans judged from this one on, the one that is best with its groups on other devices of
 * their kind. The last ones first, which are cut for this, while there is work left. */
static clv_status try_other_seats(search *s, int32_t from, clv_error *err)
{
    clv_desk *desk = &s->desk;
    int64_t best_ns = desk->tried[desk->best].verdict.period_ns;
    int32_t *best = NULL;
    for (int32_t i = desk->n_judged - 1; i >= from && !clv_desk_over(desk); i--) {
        const clv_tried *plan = &desk->tried[i];
        int64_t ns;
        if (plan->verdict.outcome != CLV_FITS || !is_port_bound(s, plan))
            continue;
        memcpy(s->bound_device_of, plan->device_of,
               (size_t)desk->p->n_units * sizeof *s->bound_device_of);
        CLV_TRY(clv_reseat(desk->p, s->bound_device_of, desk->arena, &s->seat_work, &ns, err));
        if (ns >= best_ns)
            continue;
        best_ns = ns;
        best = s->device_of;
        memcpy(best, s->bound_device_of, (size_t)desk->p->n_units * sizeof *best);
    }
    if (!best)
        return CLV_OK;
    CLV_TRY(clv_desk_add(desk, best, 0, "readers beside their sender", NULL, err));
    return judge_and_learn(s, err);
}

/* Where one device is busy sending to many: several share in that, and readers sit near. */
static clv_status spread_senders(search *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    for (int32_t i = 0, from = 0; i < RECUTS && clv_desk_fits(desk) && !clv_desk_over(desk); i++) {
        int32_t was = desk->best;
        if (desk->options->objective != CLV_THROUGHPUT || !is_port_bound(s, &desk->tried[was]))
            return CLV_OK;
        CLV_TRY(cut_by_fans(s, err));
        CLV_TRY(try_other_seats(s, from, err));
        if (desk->best == was)
            return CLV_OK;
        from = desk->n_judged;
    }
    return CLV_OK;
}

/* -- better plans -- */

/* The best plan that may have neighbours left; -1: none. One that fits, once there is one. */
static int32_t pick(const search *s)
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

static clv_status note_plans(search *s, clv_error *err)
{
    while (s->n_spent < s->desk.n) {
        if (!CLV_PUSH_ROOM(s->desk.arena, s->spent, s->n_spent, s->cap_spent))
            return clv_fail_nomem(err, "the plans of a search");
        s->spent[s->n_spent++] = false;
    }
    return CLV_OK;
}

static clv_status climb(search *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    int32_t batch = desk->judge->batch > 0 ? desk->judge->batch : 1, stale = 0;
    while (!clv_desk_over(desk) && stale < (clv_desk_fits(desk) ? PATIENCE_FITS : PATIENCE_OOM)) {
        CLV_TRY(note_plans(s, err));
        int32_t plan = pick(s), best = desk->best, added;
        if (plan < 0)
            return CLV_OK;
        CLV_TRY(clv_improver_expand(&s->improver, plan, batch, &added, err));
        s->spent[plan] = added == 0;
        CLV_TRY(judge_and_learn(s, err));
        stale = desk->best != best ? 0 : stale + added;
    }
    if (!desk->done && clv_desk_over(desk))
        desk->stopped = true; /* there was more to try */
    return CLV_OK;
}

/* Other cuts, not good enough to be judged, may lie near a better optimum: walks from there. */
static clv_status start_elsewhere(search *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    int32_t best = desk->best;
    for (int how = CLV_AS_GIVEN; how < CLV_SLOWEST_FIRST && !clv_desk_over(desk); how++) {
        if (!order_devices(s, (clv_device_order)how) && how != CLV_AS_GIVEN)
            continue;
        for (int i = 0; i < 4; i++) {
            clv_cut_options o = { .order = s->order,
                                  .capacity_bytes = i < 2 ? desk->p->capacity_bytes : NULL,
                                  .use_all = i % 2 == 0 };
            if (desk->options->use_all_devices && i % 2)
                continue;
            if (cut_by_rules(
                    s, &o, desk->options->objective == CLV_LATENCY ? CLV_THROUGHPUT : CLV_LATENCY))
                if (!desk->obey || clv_obey_mend(desk->obey, s->order, s->device_of))
                    CLV_TRY(clv_improver_start(&s->improver, s->device_of, err));
        }
    }
    CLV_TRY(judge_and_learn(s, err));
    return desk->best != best ? climb(s, err) : CLV_OK;
}

/* Once more from the best plan, where the period may not be the least there is. */
static clv_status anneal(search *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    bool is_wanted = desk->options->objective == CLV_THROUGHPUT && !desk->p->rules;
    if (!is_wanted || !clv_desk_fits(desk) || clv_desk_over(desk) ||
        desk->p->n_units > ANNEALED_UNITS)
        return CLV_OK;
    int32_t best = desk->best;
    int64_t ns, was = desk->tried[best].verdict.period_ns;
    clv_anneal_options o = { s->room_bytes, desk->options->use_all_devices, ANNEALED_STEPS, 1 };
    leave_room(s, true);
    clv_groups_load(s->improver.g, desk->tried[best].device_of);
    CLV_TRY(clv_anneal(s->improver.g, &o, desk->arena, s->device_of, &ns, err));
    if (ns >= was)
        return CLV_OK;
    CLV_TRY(add_plan(s, "annealing", err));
    CLV_TRY(judge_and_learn(s, err));
    return desk->best != best ? climb(s, err) : CLV_OK;
}

/* The plan behind a bound of the latency; cuts with the devices in the orders, and again where
 * those are out of memory. Late, so that it is only more that is tried. */
static clv_status try_orders(search *s, clv_error *err)
{
    static const char label[] = "least latency, kinds as in the bound";
    clv_desk *desk = &s->desk;
    int32_t n = desk->p->n_devices, best = desk->best;
    if (desk->options->objective == CLV_LATENCY)
        CLV_TRY(try_bound_plan(s, "least latency by runs", err));
    for (int32_t i = 0; i < s->n_orders && !clv_desk_over(desk); i++) {
        memcpy(s->order, s->bound_orders + (ptrdiff_t)i * n, (size_t)n * sizeof *s->order);
        CLV_TRY(add_cut(s, desk->p->capacity_bytes, false, label, label, err));
        CLV_TRY(add_cut(s, s->alive_room, true, label, label, err));
        CLV_TRY(judge_and_learn(s, err));
        CLV_TRY(cut_again(s, err));
    }
    return desk->best != best ? climb(s, err) : CLV_OK;
}

static clv_status refine(search *s, clv_error *err)
{
    for (int32_t i = 0; i < REFINES && clv_desk_fits(&s->desk) && !clv_desk_over(&s->desk); i++) {
        int32_t best = s->desk.best;
        CLV_TRY(clv_refine_ilp(&s->improver, s->desk.arena, err));
        CLV_TRY(judge_and_learn(s, err));
        if (s->desk.best == best)
            return CLV_OK;
        CLV_TRY(climb(s, err));
    }
    return CLV_OK;
}

/* What climbing and refining taught may lead to other cuts yet. */
static clv_status climb_by_lessons(search *s, clv_error *err)
{
    int32_t best = s->desk.best;
    CLV_TRY(cut_by_lessons(s, err));
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
static clv_status is_hopeless(const search *s, bool *ret, clv_error *err)
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

static clv_status open_search(search *s, clv_arena *arena, clv_error *err)
{
    const clv_partition *p = s->desk.p;
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
    find_alive_room(s);
    return CLV_OK;
}

static clv_status search_default(search *s, clv_arena *arena, clv_error *err)
{
    int32_t documented = -1;
    bool hopeless;
    CLV_TRY(open_search(s, arena, err));
    CLV_TRY(first_plans(s, err));
    CLV_TRY(find_bound(s, err));
    CLV_TRY(is_hopeless(s, &hopeless, err));
    if (s->desk.p->n_devices > 1)
        CLV_TRY(cut_again(s, err));
    if (hopeless) {
        s->desk.why = CLV_STOP_INFEASIBLE;
        return CLV_OK;
    }
    CLV_TRY(find_bound(s, err));
    if (s->desk.p->n_devices > 1) {
        CLV_TRY(cut_by_lessons(s, err));
        CLV_TRY(spread_senders(s, err));
        if (is_short_of_memory(&s->desk))
            CLV_TRY(clv_documented_moves(&s->desk, arena, &documented, err));
        CLV_TRY(climb(s, err));
        if (s->desk.p->n_units <= ELSEWHERE_UNITS)
            CLV_TRY(start_elsewhere(s, err));
        if (documented < 0 && is_short_of_memory(&s->desk)) { /* that only later plans told */
            CLV_TRY(clv_documented_moves(&s->desk, arena, &documented, err));
            CLV_TRY(climb(s, err));
        }
        CLV_TRY(find_bound(s, err));
        CLV_TRY(refine(s, err));
        int32_t best = s->desk.best;
        CLV_TRY(try_orders(s, err));
        if (s->desk.best != best)
            CLV_TRY(refine(s, err));
        CLV_TRY(anneal(s, err));
        CLV_TRY(climb_by_lessons(s, err));
    }
    return clv_desk_retry(&s->desk, MORE_RETRIES, documented, err);
}

/* -- the call -- */

/* Why it ended; optimal where that is proven, whatever the end was. The bound may still be missing:
 * the documented search asks for none, and some plans fit only at a lower proportion. */
static clv_status end_search(search *s, clv_stop *ret_why, clv_error *err)
{
    clv_desk *desk = &s->desk;
    bool told = desk->canceled || desk->done || desk->why == CLV_STOP_INFEASIBLE;
    *ret_why = told ? desk->why : desk->stopped ? CLV_STOP_LIMIT : CLV_STOP_SEARCHED;
    if (!clv_desk_fits(desk))
        return CLV_OK;
    desk->done = true; /* no more plans */
    if (!s->bound_orders) {
        s->bound_orders =
            CLV_NEW_ARRAY(desk->arena, int32_t, CLV_BOUND_ORDERS * desk->p->n_devices);
        s->bound_device_of = CLV_NEW_ARRAY(desk->arena, int32_t, desk->p->n_units);
        s->device_of = CLV_NEW_ARRAY(desk->arena, int32_t, desk->p->n_units);
        if (!s->bound_orders || !s->bound_device_of || !s->device_of)
            return clv_fail_nomem(err, "a search");
    }
    CLV_TRY(find_bound(s, err));
    if (clv_desk_objective(desk, &desk->tried[desk->best].verdict) <= desk->bound_ns)
        *ret_why = CLV_STOP_OPTIMAL;
    return CLV_OK;
}

/* Is there anything to search for? */
static clv_status check_rules(search *s, clv_arena *arena, clv_search_result *ret, clv_error *err)
{
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, s->desk.p->n_units);
    if (!device_of)
        return clv_fail_nomem(err, "a search");
    clv_obey_outcome outcome =
        s->desk.obey ? clv_obey_find(s->desk.obey, device_of) : CLV_OBEY_FOUND;
    *ret = (clv_search_result){ .none_obeys = outcome != CLV_OBEY_FOUND,
                                .proven = outcome == CLV_OBEY_NONE };
    if (ret->none_obeys)
        ret->best.verdict.outcome = CLV_INFEASIBLE;
    return CLV_OK;
}

clv_status clv_search(const clv_partition *p, const clv_judge *judge,
                      const clv_search_options *options, clv_arena *arena, clv_search_result *ret,
                      clv_error *err)
{
    assert(p && judge && judge->judge && options && arena && ret && p->n_devices > 0);
    search s = { .seat_work = SEAT_WORK };
    CLV_TRY(clv_partition_check_sums(p, err));
    if (options->kind == CLV_SEARCH_DEFAULT && !(judge->bounded_at > 0)) {
        CLV_TRY(clv_lessons_new(p, arena, &s.lessons, err));
        p = &s.lessons->corrected;
    }
    CLV_TRY(clv_desk_open(p, judge, options, arena, &s.desk, err));
    s.desk.asks_times = s.lessons != NULL;
    clv_search_result looked;
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
    bool fits = clv_desk_fits(&s.desk);
    clv_stop why;
    CLV_TRY(end_search(&s, &why, err));
    if (why == CLV_STOP_CANCELED && !fits)
        return clv_fail(err, CLV_ECANCELED, "stopped after %d plans, none of which fits",
                        s.desk.n_judged);
    *ret = (clv_search_result){ .found = fits,
                                .best = s.desk.tried[s.desk.best],
                                .n_judged = s.desk.n_judged,
                                .tried = s.desk.tried,
                                .stopped = s.desk.stopped,
                                .why = why,
                                .bound_ns = fits ? s.desk.bound_ns : 0 };
    return CLV_OK;
}
