/* search_cuts.c - plans made by cutting the list of units into runs, one a device. */
#include <string.h>

#include "solver/partition/reseat.h"
#include "solver/partition/seeker.h"

/* -- first plans -- */

/* What a device has room for beside the unit that has most alive: most plans that keep to it fit.
 */
void clv_seeker_find_alive_room(clv_seeker *s)
{
    const clv_partition_problem *p = s->desk.p;
    const clv_partition_judge *judge = s->desk.judge;
    int64_t most = 0;
    for (int32_t u = 0; u < p->n_units && judge->live_bytes; u++) {
        int64_t live = judge->live_bytes[u] - (judge->held_bytes ? judge->held_bytes[u] : 0);
        most = live > most ? live : most;
    }
    for (int32_t d = 0; d < p->n_devices; d++)
        s->alive_room[d] = p->capacity_bytes[d] - most;
}

clv_status clv_seeker_add(clv_seeker *s, const char *label, clv_error *err)
{
    if (s->desk.obey && !clv_obey_mend(s->desk.obey, s->order, s->device_of))
        return CLV_OK;
    return clv_desk_add(&s->desk, s->device_of, 0, label, NULL, err);
}

static bool cut(const clv_seeker *s, const clv_cut_options *o, clv_objective objective)
{
    return objective == CLV_LATENCY ? clv_cut_by_latency(s->line, o, s->device_of)
                                    : clv_cut_by_time(s->line, o, s->device_of);
}

/* Runs may be too simple for the rules: then runs that do not look at them, to be mended. */
bool clv_seeker_cut_by_rules(clv_seeker *s, const clv_cut_options *o, clv_objective objective)
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
clv_status clv_seeker_add_cut(clv_seeker *s, const int64_t *capacity, bool with_held,
                              const char *by_time, const char *by_latency, clv_error *err)
{
    const clv_partition_options *options = s->desk.options;
    clv_cut_options o = { .order = s->order,
                          .capacity_bytes = capacity,
                          .use_all = options->use_all_devices,
                          .with_held = with_held };
    const char *label = options->objective == CLV_LATENCY ? by_latency : by_time;
    const clv_rules *rules = s->desk.p->rules;
    if (rules && rules->stage_set_of && !o.use_all) { /* runs are stages if none is empty */
        o.use_all = true;
        if (clv_seeker_cut_by_rules(s, &o, options->objective))
            CLV_TRY(clv_seeker_add(s, label, err));
        o.use_all = false;
    }
    return clv_seeker_cut_by_rules(s, &o, options->objective) ? clv_seeker_add(s, label, err)
                                                              : CLV_OK;
}

bool clv_seeker_order(clv_seeker *s, clv_device_order how)
{
    if (how == CLV_SLOWEST_FIRST && s->desk.options->objective == CLV_LATENCY)
        return false; /* the bound tells a better order */
    return clv_order_devices(s->line, s->desk.obey, how, s->order);
}

clv_status clv_seeker_first_plans(clv_seeker *s, clv_error *err)
{
    static const char *const labels[CLV_FIRST_ORDERS][2] = {
        { "time balance", "least latency" },
        { "time balance, most memory first", "least latency, most memory first" },
        { "time balance, fastest first", "least latency, fastest first" },
        { "time balance, kinds mixed", "least latency, kinds mixed" },
        { "time balance, devices as the rules go", "least latency, devices as the rules go" },
        { "time balance, slowest first", "least latency, slowest first" },
    };
    clv_seeker_order(s, CLV_AS_GIVEN);
    clv_cut_by_weight(s->line, s->desk.options->use_all_devices, s->device_of);
    CLV_TRY(clv_seeker_add(s, "memory balance", err));
    for (int how = CLV_AS_GIVEN; how < CLV_FIRST_ORDERS; how++) {
        if (!clv_seeker_order(s, (clv_device_order)how) && how != CLV_AS_GIVEN)
            continue;
        CLV_TRY(clv_seeker_add_cut(s, s->desk.p->capacity_bytes, false, labels[how][0],
                                   labels[how][1], err));
        CLV_TRY(clv_seeker_add_cut(s, s->alive_room, true, labels[how][0], labels[how][1], err));
    }
    clv_seeker_order(s, CLV_AS_GIVEN);
    if (s->desk.n == 0 && clv_obey_find(s->desk.obey, s->device_of) == CLV_OBEY_FOUND)
        CLV_TRY(clv_seeker_add(s, "as the rules go", err));
    return clv_seeker_judge(s, err);
}

/* Room for weights by what verdicts taught. Devices that no verdict spoke of need as much as the
 * neediest one, if all is set. False when there is nothing to learn from. */
bool clv_seeker_leave_room(clv_seeker *s, bool all)
{
    const clv_partition_problem *p = s->desk.p;
    int64_t most = 0;
    for (int32_t d = 0; d < p->n_devices; d++)
        most = s->improver.reserve_bytes[d] > most ? s->improver.reserve_bytes[d] : most;
    for (int32_t d = 0; d < p->n_devices; d++) {
        int64_t reserve = s->improver.reserve_bytes[d];
        s->room_bytes[d] = p->capacity_bytes[d] - (reserve == 0 && all ? most : reserve);
    }
    return most > 0;
}

clv_status clv_seeker_cut_again(clv_seeker *s, clv_error *err)
{
    for (int32_t i = 0, seen = 0; i < CLV_SEEKER_RECUTS && !clv_desk_over(&s->desk); i++) {
        int32_t before = s->desk.n;
        for (; seen < s->desk.n_judged; seen++)
            clv_improver_learn(&s->improver, &s->desk.tried[seen]);
        for (int all = 0; all < 2; all++)
            if (clv_seeker_leave_room(s, all))
                CLV_TRY(clv_seeker_add_cut(s, s->room_bytes, false, "time balance, with room left",
                                           "least latency, with room left", err));
        if (s->desk.n == before)
            return CLV_OK;
        CLV_TRY(clv_seeker_judge(s, err));
    }
    return CLV_OK;
}

/* Cuts by the times that verdicts taught, until the best of them are plans judged before. */
clv_status clv_seeker_cut_by_lessons(clv_seeker *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    for (int32_t stale = 0; s->lessons && s->lessons->differs && stale < CLV_SEEKER_PATIENCE;) {
        static const char by_time[] = "time balance, by times told";
        static const char by_latency[] = "least latency, by times told";
        int32_t before = desk->n, best = desk->best;
        for (int how = CLV_AS_GIVEN; how < CLV_FIRST_ORDERS && !clv_desk_over(desk); how++) {
            if (!clv_seeker_order(s, (clv_device_order)how) && how != CLV_AS_GIVEN)
                continue;
            CLV_TRY(
                clv_seeker_add_cut(s, desk->p->capacity_bytes, false, by_time, by_latency, err));
            if (clv_seeker_leave_room(s, true))
                CLV_TRY(clv_seeker_add_cut(s, s->room_bytes, false, by_time, by_latency, err));
        }
        clv_seeker_order(s, CLV_AS_GIVEN);
        if (desk->n == before)
            return CLV_OK;
        CLV_TRY(clv_seeker_judge(s, err));
        stale = desk->best != best ? 0 : stale + desk->n - before;
    }
    return CLV_OK;
}

/* A cut that is free to choose which kind of device comes next, and where parts of the cluster are
 * left. */
clv_status clv_seeker_cut_by_kinds(clv_seeker *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    clv_cut_options o = { .capacity_bytes = s->alive_room,
                          .use_all = desk->options->use_all_devices,
                          .with_held = true };
    bool found = false;
    if (desk->options->objective != CLV_LATENCY || desk->p->rules || clv_desk_over(desk))
        return CLV_OK;
    CLV_TRY(clv_cut_by_kinds(s->line, &o, desk->arena, s->device_of, &found, err));
    if (found)
        CLV_TRY(clv_seeker_add(s, "least latency, any kind next", err));
    return clv_seeker_judge(s, err);
}

/* -- what many devices read -- */

/* Is a port busier than any device, by sums? */
static bool is_port_bound(clv_seeker *s, const clv_tried *plan)
{
    clv_groups *g = s->improver.g;
    int64_t busiest = 0;
    clv_groups_load(g, plan->device_of);
    for (int32_t d = 0; d < g->p->n_devices; d++)
        busiest = g->time_ns[d] > busiest ? g->time_ns[d] : busiest;
    return clv_groups_period_ns(g) > busiest;
}

/* Cuts that share what one device sends to many with others. */
static clv_status cut_by_fans(clv_seeker *s, clv_error *err)
{
    static const char label[] = "time balance, senders apart";
    clv_desk *desk = &s->desk;
    CLV_TRY(clv_line_learn_fans(s->line, desk->tried[desk->best].device_of, desk->arena, err));
    for (int how = CLV_AS_GIVEN; how < CLV_N_ORDERS; how++) {
        if (!clv_seeker_order(s, (clv_device_order)how) && how != CLV_AS_GIVEN)
            continue;
        CLV_TRY(clv_seeker_add_cut(s, desk->p->capacity_bytes, false, label, label, err));
        CLV_TRY(clv_seeker_add_cut(s, s->alive_room, true, label, label, err));
        clv_cut_options o = { .order = s->order,
                              .capacity_bytes = s->alive_room,
                              .use_all = desk->options->use_all_devices,
                              .with_held = true,
                              .short_runs = true };
        if (clv_seeker_cut_by_rules(s, &o, CLV_THROUGHPUT))
            CLV_TRY(clv_seeker_add(s, "time balance, senders apart, short runs", err));
    }
    clv_seeker_order(s, CLV_AS_GIVEN);
    return clv_seeker_judge(s, err);
}

/* Of the plans judged from this one on, the one that is best with its groups on other devices of
 * their kind. The last ones first, which are cut for this, while there is work left. */
static clv_status try_other_seats(clv_seeker *s, int32_t from, clv_error *err)
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
    return clv_seeker_judge(s, err);
}

/* Where one device is busy sending to many: several share in that, and readers sit near. */
clv_status clv_seeker_spread_senders(clv_seeker *s, clv_error *err)
{
    clv_desk *desk = &s->desk;
    for (int32_t i = 0, from = 0;
         i < CLV_SEEKER_RECUTS && clv_desk_fits(desk) && !clv_desk_over(desk); i++) {
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
