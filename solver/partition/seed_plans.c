#include "solver/partition/seed_plans.h"

#include <string.h>

#include "solver/partition/chain_order_dp.h"
#include "solver/partition/device_swap.h"

bool clv_seed_use_order(clv_search_state *s, clv_device_order how)
{
    if (how == CLV_SLOWEST_FIRST && s->queue.options->objective == CLV_LATENCY)
        return false; /* the plan behind the bound has a better order */
    return clv_order_devices(s->chain, s->queue.repair, how, s->order) || how == CLV_AS_GIVEN;
}

bool clv_seed_cut(clv_search_state *s, const clv_cut_options *o, clv_objective objective)
{
    bool (*cut)(const clv_unit_chain *, const clv_cut_options *, int32_t *) =
        objective == CLV_LATENCY ? clv_cut_by_latency : clv_cut_by_period;
    const clv_rules *rules = s->chain->rules;
    bool found = cut(s->chain, o, s->device_of);
    if (!found && rules) {
        s->chain->rules = NULL;
        found = cut(s->chain, o, s->device_of);
        s->chain->rules = rules;
    }
    return found;
}

clv_status clv_seed_add_cut(clv_search_state *s, const int64_t *capacity_bytes, bool with_held,
                            const char *by_period, const char *by_latency, clv_error *err)
{
    const clv_partition_options *options = s->queue.options;
    clv_cut_options o = { .order = s->order,
                          .capacity_bytes = capacity_bytes,
                          .use_all = options->use_all_devices,
                          .with_held = with_held };
    const char *label = options->objective == CLV_LATENCY ? by_latency : by_period;
    const clv_rules *rules = s->queue.p->rules;
    if (rules && rules->stage_set_of && !o.use_all) { /* runs are stages if none is empty */
        o.use_all = true;
        if (clv_seed_cut(s, &o, options->objective))
            CLV_TRY(clv_search_add(s, label, err));
        o.use_all = false;
    }
    return clv_seed_cut(s, &o, options->objective) ? clv_search_add(s, label, err) : CLV_OK;
}

clv_status clv_seed_first_plans(clv_search_state *s, clv_error *err)
{
    static const char *const labels[CLV_FIRST_ORDERS][2] = {
        { "time balance", "least latency" },
        { "time balance, most memory first", "least latency, most memory first" },
        { "time balance, fastest first", "least latency, fastest first" },
        { "time balance, kinds mixed", "least latency, kinds mixed" },
        { "time balance, devices as the rules go", "least latency, devices as the rules go" },
        { "time balance, slowest first", "least latency, slowest first" },
    };
    clv_seed_use_order(s, CLV_AS_GIVEN);
    clv_cut_by_weight(s->chain, s->queue.options->use_all_devices, s->device_of);
    CLV_TRY(clv_search_add(s, "memory balance", err));
    for (int how = CLV_AS_GIVEN; how < CLV_FIRST_ORDERS; how++) {
        if (!clv_seed_use_order(s, (clv_device_order)how))
            continue;
        CLV_TRY(clv_seed_add_cut(s, s->queue.p->capacity_bytes, false, labels[how][0],
                                 labels[how][1], err));
        CLV_TRY(
            clv_seed_add_cut(s, s->alive_room_bytes, true, labels[how][0], labels[how][1], err));
    }
    clv_seed_use_order(s, CLV_AS_GIVEN);
    if (s->queue.n == 0 &&
        clv_rule_repair_find(s->queue.repair, s->device_of) == CLV_RULES_FEASIBLE)
        CLV_TRY(clv_search_add(s, "as the rules go", err));
    return clv_search_judge(s, err);
}

clv_status clv_seed_cut_again(clv_search_state *s, clv_error *err)
{
    for (int32_t i = 0, seen = 0; i < CLV_SEARCH_RECUTS && !clv_candidates_is_over(&s->queue);
         i++) {
        int32_t before = s->queue.n;
        for (; seen < s->queue.n_judged; seen++)
            clv_iterated_search_learn_reserve(&s->local, &s->queue.tried[seen]);
        for (int all = 0; all < 2; all++)
            if (clv_search_learned_room(s, all))
                CLV_TRY(clv_seed_add_cut(s, s->room_bytes, false, "time balance, with room left",
                                         "least latency, with room left", err));
        if (s->queue.n == before)
            return CLV_OK;
        CLV_TRY(clv_search_judge(s, err));
    }
    return CLV_OK;
}

clv_status clv_seed_cut_by_measured_times(clv_search_state *s, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    for (int32_t stale = 0;
         s->calibration && s->calibration->differs && stale < CLV_SEARCH_PATIENCE;) {
        static const char by_period[] = "time balance, by measured times";
        static const char by_latency[] = "least latency, by measured times";
        int32_t before = queue->n, best = queue->best;
        for (int how = CLV_AS_GIVEN; how < CLV_FIRST_ORDERS && !clv_candidates_is_over(queue);
             how++) {
            if (!clv_seed_use_order(s, (clv_device_order)how))
                continue;
            CLV_TRY(
                clv_seed_add_cut(s, queue->p->capacity_bytes, false, by_period, by_latency, err));
            if (clv_search_learned_room(s, true))
                CLV_TRY(clv_seed_add_cut(s, s->room_bytes, false, by_period, by_latency, err));
        }
        clv_seed_use_order(s, CLV_AS_GIVEN);
        if (queue->n == before)
            return CLV_OK;
        CLV_TRY(clv_search_judge(s, err));
        stale = queue->best != best ? 0 : stale + queue->n - before;
    }
    return CLV_OK;
}

clv_status clv_seed_cut_any_order(clv_search_state *s, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    clv_cut_options o = { .capacity_bytes = s->alive_room_bytes,
                          .use_all = queue->options->use_all_devices,
                          .with_held = true };
    bool found = false;
    if (queue->options->objective != CLV_LATENCY || queue->p->rules ||
        clv_candidates_is_over(queue))
        return CLV_OK;
    CLV_TRY(clv_cut_any_order(s->chain, &o, queue->arena, s->device_of, &found, err));
    if (found)
        CLV_TRY(clv_search_add(s, "least latency, any kind next", err));
    return clv_search_judge(s, err);
}

/* -- what many devices read -- */

/* Is a port busier than any device, by sums? */
static bool is_port_bound(clv_search_state *s, const clv_candidate *plan)
{
    clv_groups *g = s->local.g;
    int64_t busiest = 0;
    clv_groups_load(g, plan->device_of);
    for (int32_t d = 0; d < g->p->n_devices; d++)
        busiest = g->time_ns[d] > busiest ? g->time_ns[d] : busiest;
    return clv_groups_period_ns(g) > busiest;
}

/* Cuts that share what one device sends to many with others. */
static clv_status cut_by_fanout(clv_search_state *s, clv_error *err)
{
    static const char label[] = "time balance, senders apart";
    clv_candidate_queue *queue = &s->queue;
    CLV_TRY(clv_unit_chain_measure_fanout(s->chain, queue->tried[queue->best].device_of,
                                          queue->arena, err));
    for (int how = CLV_AS_GIVEN; how < CLV_N_ORDERS; how++) {
        if (!clv_seed_use_order(s, (clv_device_order)how))
            continue;
        CLV_TRY(clv_seed_add_cut(s, queue->p->capacity_bytes, false, label, label, err));
        CLV_TRY(clv_seed_add_cut(s, s->alive_room_bytes, true, label, label, err));
        clv_cut_options o = { .order = s->order,
                              .capacity_bytes = s->alive_room_bytes,
                              .use_all = queue->options->use_all_devices,
                              .with_held = true,
                              .short_runs = true };
        if (clv_seed_cut(s, &o, CLV_THROUGHPUT))
            CLV_TRY(clv_search_add(s, "time balance, senders apart, short runs", err));
    }
    clv_seed_use_order(s, CLV_AS_GIVEN);
    return clv_search_judge(s, err);
}

/* Swaps devices in each plan judged from this one on, and adds the best that comes out. The last
 * plans come first, as they are cut for this, while there is work left. */
static clv_status swap_devices(clv_search_state *s, int32_t from, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    int64_t best_ns = queue->tried[queue->best].verdict.period_ns;
    int32_t *best = NULL;
    for (int32_t i = queue->n_known - 1; i >= from && !clv_candidates_is_over(queue); i--) {
        const clv_candidate *plan = &queue->tried[i];
        int64_t ns;
        if (plan->verdict.outcome != CLV_FITS || !is_port_bound(s, plan))
            continue;
        memcpy(s->bound.device_of, plan->device_of,
               (size_t)queue->p->n_units * sizeof *s->bound.device_of);
        CLV_TRY(
            clv_device_swap(queue->p, s->bound.device_of, queue->arena, &s->swap_work, &ns, err));
        if (ns >= best_ns)
            continue;
        best_ns = ns;
        best = s->device_of;
        memcpy(best, s->bound.device_of, (size_t)queue->p->n_units * sizeof *best);
    }
    if (!best)
        return CLV_OK;
    CLV_TRY(clv_candidates_add(queue, best, 0, "readers beside their sender", NULL, err));
    return clv_search_judge(s, err);
}

clv_status clv_seed_spread_senders(clv_search_state *s, clv_error *err)
{
    clv_candidate_queue *queue = &s->queue;
    for (int32_t i = 0, from = 0;
         i < CLV_SEARCH_RECUTS && clv_candidates_has_fit(queue) && !clv_candidates_is_over(queue);
         i++) {
        int32_t was = queue->best;
        if (queue->options->objective != CLV_THROUGHPUT || !is_port_bound(s, &queue->tried[was]))
            return CLV_OK;
        CLV_TRY(cut_by_fanout(s, err));
        CLV_TRY(swap_devices(s, from, err));
        if (queue->best == was)
            return CLV_OK;
        from = queue->n_known;
    }
    return CLV_OK;
}
