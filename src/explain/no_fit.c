#include "explain/no_fit.h"

#include <stdio.h>

#include "base/units.h"
#include "plan/plan.h"

#define LIVE_SHOWN 3 /* tensors that are alive where memory is fullest */

clv_status clv_note_shortage(const clv_verdict *verdict, const clv_graph *g,
                             const clv_compile_report *report, clv_plan *plan, clv_arena *arena,
                             clv_error *err)
{
    char size[32];
    const clv_verdict *v = verdict;
    if (v->outcome == CLV_FAILED)
        return clv_plan_add_note(
            plan, clv_arena_printf(arena, "no candidate compiled: %s", v->reason), arena, err);
    CLV_TRY(clv_plan_add_note(
        plan,
        clv_arena_printf(arena, "device %d (%s) is out of memory by %s (%lld bytes)", v->device,
                         plan->devices[v->device].name, clv_show_bytes(size, v->short_bytes),
                         (long long)v->short_bytes),
        arena, err));
    const clv_device_report *d = report && report->devices ? &report->devices[v->device] : NULL;
    if (d && d->peak_op.i >= 0)
        CLV_TRY(
            clv_plan_add_note(plan,
                              clv_arena_printf(arena, "its memory is fullest at operator '%.*s'",
                                               CLV_STR_ARG(g->ops[d->peak_op.i].label)),
                              arena, err));
    for (int32_t i = 0; d && i < d->n_live && i < LIVE_SHOWN; i++)
        CLV_TRY(
            clv_plan_add_note(plan,
                              clv_arena_printf(arena, "alive there: '%.*s', %s",
                                               CLV_STR_ARG(g->tensors[d->live[i].tensor.i].name),
                                               clv_show_bytes(size, d->live[i].bytes)),
                              arena, err));
    return CLV_OK;
}

clv_status clv_note_shortages_tried(const clv_partition_result *result, clv_plan *plan,
                                    clv_arena *arena, clv_error *err)
{
    const clv_verdict *best = &result->best.verdict;
    if (best->outcome == CLV_OOM && best->reason[0])
        CLV_TRY(clv_plan_add_note(
            plan, clv_arena_printf(arena, "memory is missing at: %s", best->reason), arena, err));
    if (result->solve.found && !(result->best.proportion > 0))
        return CLV_OK;
    for (int32_t i = 0; i < result->n_judged; i++) {
        const clv_candidate *t = &result->tried[i];
        const clv_verdict *v = &t->verdict;
        char size[32];
        if (!(t->proportion > 0) || v->outcome == CLV_FITS)
            continue;
        const char *text = v->outcome == CLV_OOM
                               ? clv_arena_printf(arena, "%s: device %d lacks %s", t->move,
                                                  v->device, clv_show_bytes(size, v->short_bytes))
                               : clv_arena_printf(arena, "%s: %s", t->move, v->reason);
        CLV_TRY(clv_plan_add_note(plan, text, arena, err));
    }
    return CLV_OK;
}

clv_status clv_note_fit_bound(const clv_fit_bound *bound, bool by_hand, clv_str last_op,
                              clv_plan *plan, clv_arena *arena, clv_error *err)
{
    char weights[32], live[32], room[32];
    const char *text, *s = plan->n_devices == 1 ? "" : "s";
    bool weights_alone = bound->unit < 0 && bound->live_bytes == 0;
    if (!bound->impossible || (by_hand && !weights_alone))
        return CLV_OK;
    clv_show_bytes(weights, bound->weight_bytes);
    clv_show_bytes(live, bound->live_bytes);
    clv_show_bytes(room, bound->room_bytes);
    if (bound->unit >= 0)
        text = clv_arena_printf(
            arena,
            "no cut of the search can fit: the part that ends in operator '%.*s' takes %s of "
            "weights and %s besides, the largest device has %s",
            CLV_STR_ARG(last_op), weights, live, room);
    else if (weights_alone)
        text =
            clv_arena_printf(arena,
                             "no cut can fit: the weights alone take %s, the %d device%s of this "
                             "run have %s",
                             weights, plan->n_devices, s, room);
    else
        text = clv_arena_printf(
            arena,
            "no cut of the search can fit: besides what operators hold while they run, the %d "
            "device%s of this run can take %s of %s of weights at most",
            plan->n_devices, s, room, weights);
    return clv_plan_add_note(plan, text, arena, err);
}

const char *clv_show_late(const clv_plan *plan, char buf[static CLV_LATE_WORDS])
{
    char most[32], least[32], bound[32];
    bool is_bounded = plan->objective == CLV_LATENCY && plan->bound_ns > 0;
    snprintf(buf, CLV_LATE_WORDS,
             is_bounded ? "no plan within %s was found: the least latency is %s, and none of the "
                          "forms tried has less than %s"
                        : "no plan within %s was found: the least latency is %s",
             clv_show_time(most, plan->max_latency_ns), clv_show_time(least, plan->latency_ns),
             clv_show_time(bound, plan->bound_ns));
    return buf;
}
