#include "solver/partition/search_state.h"

clv_status clv_search_open(clv_search_state *s, const clv_partition_problem *p,
                           const clv_partition_judge *judge, const clv_partition_options *options,
                           clv_arena *arena, clv_error *err)
{
    int64_t most = 0;
    CLV_TRY(clv_candidates_open(p, judge, options, arena, &s->queue, err));
    s->queue.asks_times = s->calibration != NULL;
    s->order = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    s->device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    s->room_bytes = CLV_NEW_ARRAY(arena, int64_t, p->n_devices);
    s->alive_room_bytes = CLV_NEW_ARRAY(arena, int64_t, p->n_devices);
    s->bound.orders = CLV_NEW_ARRAY(arena, int32_t, CLV_BOUND_ORDERS * p->n_devices);
    s->bound.device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    if (!s->order || !s->device_of || !s->room_bytes || !s->alive_room_bytes || !s->bound.orders ||
        !s->bound.device_of)
        return clv_fail_nomem(err, "a search");
    /* most plans that keep to the room beside the unit that has most alive fit */
    for (int32_t u = 0; u < p->n_units && judge->live_bytes; u++) {
        int64_t live = judge->live_bytes[u] - (judge->held_bytes ? judge->held_bytes[u] : 0);
        most = live > most ? live : most;
    }
    for (int32_t d = 0; d < p->n_devices; d++)
        s->alive_room_bytes[d] = p->capacity_bytes[d] - most;
    return CLV_OK;
}

clv_status clv_search_open_default(clv_search_state *s, clv_error *err)
{
    clv_arena *arena = s->queue.arena;
    CLV_TRY(clv_unit_chain_new(s->queue.p, s->queue.judge->held_bytes, arena, &s->chain, err));
    return clv_iterated_search_new(&s->queue, arena, &s->local, err);
}

/* Times that new verdicts have measured become those of all sums. */
static clv_status calibrate(clv_search_state *s, bool *ret_changed, clv_error *err)
{
    *ret_changed = s->calibration && clv_time_calibration_update(s->calibration, &s->queue);
    if (!*ret_changed)
        return CLV_OK;
    clv_unit_chain_update_times(s->chain);
    s->local.goal_plan = -1;
    return clv_candidates_believe(&s->queue, err);
}

clv_status clv_search_judge(clv_search_state *s, clv_error *err)
{
    bool changed;
    CLV_TRY(clv_candidates_judge(&s->queue, err));
    return calibrate(s, &changed, err);
}

clv_status clv_search_take(clv_search_state *s, bool *ret_calibrated, clv_error *err)
{
    CLV_TRY(clv_candidates_settle(&s->queue, s->queue.n_judged + 1, err));
    return calibrate(s, ret_calibrated, err);
}

clv_status clv_search_add(clv_search_state *s, const char *label, clv_error *err)
{
    if (s->queue.repair && !clv_rule_repair_plan(s->queue.repair, s->order, s->device_of))
        return CLV_OK;
    return clv_candidates_add(&s->queue, s->device_of, 0, label, NULL, err);
}

bool clv_search_learned_room(clv_search_state *s, bool all)
{
    const clv_partition_problem *p = s->queue.p;
    int64_t most = 0;
    for (int32_t d = 0; d < p->n_devices; d++)
        most = s->local.reserve_bytes[d] > most ? s->local.reserve_bytes[d] : most;
    for (int32_t d = 0; d < p->n_devices; d++) {
        int64_t reserve = s->local.reserve_bytes[d];
        s->room_bytes[d] = p->capacity_bytes[d] - (reserve == 0 && all ? most : reserve);
    }
    return most > 0;
}
