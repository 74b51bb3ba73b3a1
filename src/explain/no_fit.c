#include "explain/no_fit.h"

#include <string.h>

#include "base/units.h"
#include "explain/advice.h"
#include "plan/plan_note.h"
#include "problem/fit.h"
#include "stages/training.h"

static clv_status note(const clv_run *r, clv_plan *plan, const char *text)
{
    return clv_plan_note(plan, text, r->arena, r->err);
}

/* same: the plan of manual mode, which is not searched for; else NULL. */
typedef struct {
    const clv_run *r;
    const clv_tried *same;
} retrial;

/* By the very search that the user would start. */
static clv_status try_with(void *ctx, const clv_room *room, clv_verdict *ret)
{
    const retrial *again = ctx;
    const clv_run *r = again->r;
    clv_run more = { .req = r->req,
                     .arena = r->arena,
                     .err = r->err,
                     .analysis = r->analysis,
                     .skip = r->skip,
                     .by_ops = r->by_ops,
                     .microbatches = room->microbatches,
                     .why_microbatches = r->why_microbatches };
    clv_search_options options = r->req->search;
    clv_search_result result = { .found = false };
    clv_mark scratch = clv_arena_mark(r->arena);
    options.first_fit = true;
    options.use_all_devices = r->req->devices > 0 || room->devices != r->cluster->n_devices;
    options.progress = NULL;
    clv_status status = clv_run_open(&more, room->devices, room->memory_bytes);
    if (status == CLV_OK && again->same) {
        clv_assignment plan = { .device_of = again->same->device_of,
                                .proportion = again->same->proportion };
        status = more.judge.judge(more.judge.ctx, &plan, 1, &result.best.verdict, r->err);
    } else if (status == CLV_OK) {
        status = clv_search(more.problem, &more.judge, &options, r->arena, &result, r->err);
    }
    clv_run_close(&more);
    clv_arena_rewind(r->arena, scratch);
    *ret = result.best.verdict;
    return status;
}

/* Why no cut can help, if that is proven: none at all where the weights alone are too much, else
 * none of the search, whose parts a cut by hand may divide. */
static clv_status note_proof(clv_run *r, clv_plan *plan, const clv_fit_bound *bound)
{
    char weights[32], live[32], room[32];
    const clv_graph *g = r->req->model->main;
    bool weights_alone = bound->unit < 0 && bound->live_bytes == 0;
    if (!bound->impossible || (r->req->sharding_nodes && !weights_alone))
        return CLV_OK;
    clv_show_bytes(weights, bound->weight_bytes);
    clv_show_bytes(live, bound->live_bytes);
    clv_show_bytes(room, bound->room_bytes);
    if (bound->unit >= 0) {
        const clv_subgraph *part = &r->analysis.units->at[clv_run_unit(r, bound->unit)];
        clv_op last = r->analysis.units->order[part->first + part->n - 1];
        return note(
            r, plan,
            clv_arena_printf(
                r->arena,
                "no cut of the search can fit: the part that ends in operator '%.*s' takes %s of "
                "weights and %s besides, the largest device has %s",
                CLV_STR_ARG(g->ops[last.i].label), weights, live, room));
    }
    if (weights_alone)
        return note(
            r, plan,
            clv_arena_printf(r->arena,
                             "no cut can fit: the weights alone take %s, the %d device%s of this "
                             "run have %s",
                             weights, plan->n_devices, plan->n_devices == 1 ? "" : "s", room));
    return note(
        r, plan,
        clv_arena_printf(
            r->arena,
            "no cut of the search can fit: besides what operators hold while they run, the %d "
            "device%s of this run can take %s of %s of weights at most",
            plan->n_devices, plan->n_devices == 1 ? "" : "s", room, weights));
}

static clv_status advise(clv_run *r, clv_plan *plan, const clv_tried *best)
{
    retrial again = { r, r->req->sharding_nodes ? best : NULL };
    clv_adviser a = { .asked = { r->cluster->n_devices, r->req->memory_bytes, r->microbatches },
                      .devices_most = r->req->cluster->n_devices,
                      .try_with = try_with,
                      .ctx = &again,
                      .plan = plan,
                      .arena = r->arena,
                      .err = r->err };
    clv_fit_bound bound;
    CLV_TRY(clv_partition_fit_bound(r->problem, r->judge.live_bytes, r->arena, &bound, r->err));
    CLV_TRY(note_proof(r, plan, &bound));
    CLV_TRY(clv_advise_microbatches(&a));
    CLV_TRY(clv_advise_memory(&a, bound.least_bytes));
    /* more devices would not change cuts given by hand */
    return again.same ? CLV_OK : clv_advise_devices(&a);
}

clv_status clv_explain_no_fit(clv_run *r, clv_plan *plan, const clv_tried *best,
                              const clv_compile_report *report)
{
    char size[32];
    const clv_verdict *v = &best->verdict;
    if (v->outcome == CLV_FAILED)
        return note(r, plan, clv_arena_printf(r->arena, "no candidate compiled: %s", v->reason));
    CLV_TRY(
        note(r, plan,
             clv_arena_printf(r->arena, "device %d (%s) is out of memory by %s (%lld bytes)",
                              v->device, plan->devices[v->device].name,
                              clv_show_bytes(size, v->short_bytes), (long long)v->short_bytes)));
    const clv_device_report *d = report && report->devices ? &report->devices[v->device] : NULL;
    const clv_graph *g = r->req->model->main;
    if (d && d->peak_op.i >= 0)
        CLV_TRY(note(r, plan,
                     clv_arena_printf(r->arena, "its memory is fullest at operator '%.*s'",
                                      CLV_STR_ARG(g->ops[d->peak_op.i].label))));
    for (int32_t i = 0; d && i < d->n_live && i < 3; i++)
        CLV_TRY(note(r, plan,
                     clv_arena_printf(r->arena, "alive there: '%.*s', %s",
                                      CLV_STR_ARG(g->tensors[d->live[i].tensor.i].name),
                                      clv_show_bytes(size, d->live[i].bytes))));
    if (r->req->terse || r->req->compiler) /* what that one would say takes it minutes */
        return CLV_OK;
    return advise(r, plan, best);
}

clv_status clv_tell_shortages(clv_run *r, clv_plan *plan, const clv_search_result *result)
{
    const clv_verdict *best = &result->best.verdict;
    if (best->outcome == CLV_OOM && best->reason[0])
        CLV_TRY(
            note(r, plan, clv_arena_printf(r->arena, "memory is missing at: %s", best->reason)));
    if (result->found && !(result->best.proportion > 0))
        return CLV_OK;
    for (int32_t i = 0; i < result->n_judged; i++) {
        const clv_tried *t = &result->tried[i];
        const clv_verdict *v = &t->verdict;
        char size[32];
        if (!(t->proportion > 0) || v->outcome == CLV_FITS)
            continue;
        const char *text = v->outcome == CLV_OOM
                               ? clv_arena_printf(r->arena, "%s: device %d lacks %s", t->move,
                                                  v->device, clv_show_bytes(size, v->short_bytes))
                               : clv_arena_printf(r->arena, "%s: %s", t->move, v->reason);
        CLV_TRY(note(r, plan, text));
    }
    return CLV_OK;
}
