#include "no_fit.h"

#include <string.h>

#include "base/units.h"
#include "problem/fit.h"
#include "training.h"

#define MAX_MORE_DEVICES 8  /* device counts tried, and all of the cluster */
#define MEMORY_TRIES     12 /* memory sizes tried upwards, until one fits */
#define MEMORY_CLOSE     64 /* then halved until less than this part of it is open */

clv_status clv_run_note(clv_run *r, clv_plan *plan, const char *text)
{
    const char **notes = clv_arena_grow(r->arena, plan->notes, (size_t)plan->n_notes,
                                        (size_t)plan->n_notes + 1, sizeof *notes);
    if (!text || !notes)
        return clv_fail_nomem(r->err, "notes of a plan");
    plan->notes = notes;
    plan->notes[plan->n_notes++] = text;
    return CLV_OK;
}

/* How the same request would end on so many devices with so much memory each: what is said to fit
 * is tried out first, by the very search that the user would start. same: the plan of manual mode,
 * which is not searched for; else NULL. */
static clv_status try_with(const clv_run *r, int32_t devices, int64_t memory_bytes,
                           const clv_tried *same, clv_verdict *ret)
{
    clv_run more = { .req = r->req,
                     .arena = r->arena,
                     .err = r->err,
                     .analysis = r->analysis,
                     .skip = r->skip,
                     .by_ops = r->by_ops,
                     .microbatches = r->microbatches,
                     .why_microbatches = r->why_microbatches };
    clv_search_options options = r->req->search;
    clv_search_result result = { .found = false };
    clv_mark scratch = clv_arena_mark(r->arena);
    options.first_fit = true;
    options.use_all_devices = r->req->devices > 0 || devices != r->cluster->n_devices;
    options.progress = NULL;
    clv_status status = clv_run_open(&more, devices, memory_bytes);
    if (status == CLV_OK && same) {
        clv_assignment plan = { .device_of = same->device_of, .proportion = same->proportion };
        status = more.judge.judge(more.judge.ctx, &plan, 1, &result.best.verdict, r->err);
    } else if (status == CLV_OK) {
        status = clv_search(more.problem, &more.judge, &options, r->arena, &result, r->err);
    }
    clv_run_close(&more);
    clv_arena_rewind(r->arena, scratch);
    *ret = result.best.verdict;
    return status;
}

/* From what the nearest plan needs upwards, by what is missing then, until a plan is found;
 * *ret_need is 0 when none is. */
static clv_status find_enough(const clv_run *r, const clv_plan *plan, const clv_tried *same,
                              int64_t *low, int64_t *ret_need)
{
    clv_verdict verdict = { .outcome = CLV_OOM };
    int64_t need = 0; /* a size that is given is all for tensors: nothing of it is reserved */
    *ret_need = 0;
    for (int32_t d = 0; d < plan->n_devices; d++)
        if (plan->devices[d].peak_bytes > need)
            need = plan->devices[d].peak_bytes;
    for (int32_t i = 0; i < MEMORY_TRIES && need < INT64_MAX / 4; i++) {
        CLV_TRY(try_with(r, r->cluster->n_devices, need, same, &verdict));
        if (verdict.outcome == CLV_FITS)
            *ret_need = need;
        if (verdict.outcome != CLV_OOM)
            return CLV_OK;
        *low = need;
        need += verdict.short_bytes > need / 16 ? verdict.short_bytes : need / 16;
    }
    return CLV_OK;
}

/* The least memory with which a plan is found, to one part in MEMORY_CLOSE; below least_bytes none
 * can be. */
static clv_status note_memory(clv_run *r, clv_plan *plan, const clv_tried *best,
                              int64_t least_bytes)
{
    char size[32], too_small[32];
    const clv_tried *same = r->req->sharding_nodes ? best : NULL;
    int64_t need, low = plan->devices[0].capacity_bytes;
    for (int32_t d = 1; d < plan->n_devices; d++)
        if (plan->devices[d].capacity_bytes < low)
            low = plan->devices[d].capacity_bytes;
    if (low < least_bytes - 1)
        low = least_bytes - 1;
    CLV_TRY(find_enough(r, plan, same, &low, &need));
    if (need == 0)
        return CLV_OK;
    while (need > low && need - low > need / MEMORY_CLOSE) {
        clv_verdict verdict;
        int64_t middle = low + (need - low) / 2;
        CLV_TRY(try_with(r, r->cluster->n_devices, middle, same, &verdict));
        *(verdict.outcome == CLV_FITS ? &need : &low) = middle;
    }
    clv_show_bytes(size, need);
    clv_show_bytes(too_small, low);
    bool equal = strcmp(size, too_small) == 0;
    return clv_run_note(
        r, plan,
        clv_arena_printf(r->arena,
                         "it would fit with %s on each device, and no plan is found with %s: "
                         "--memory %lldB",
                         size, equal ? "less" : too_small, (long long)need));
}

/* The smallest larger number of the cluster's devices with which a plan is found. */
static clv_status note_devices(clv_run *r, clv_plan *plan)
{
    int32_t have = r->cluster->n_devices, most = r->req->cluster->n_devices;
    for (int32_t n = have + 1; n <= most;
         n = n == have + MAX_MORE_DEVICES && n < most ? most : n + 1) {
        clv_verdict verdict;
        CLV_TRY(try_with(r, n, r->req->memory_bytes, NULL, &verdict));
        if (verdict.outcome == CLV_FITS)
            return clv_run_note(
                r, plan,
                clv_arena_printf(r->arena, "it would fit on %d devices: --devices %d", n, n));
    }
    return CLV_OK;
}

/* With fewer micro-batches than were asked for less is in flight. */
static clv_status note_microbatches(const clv_run *r, clv_run *to, clv_plan *plan,
                                    const clv_tried *same)
{
    clv_run fewer = *r;
    for (int32_t n = r->microbatches; n > 1;) {
        clv_verdict verdict;
        n = n > r->cluster->n_devices ? r->cluster->n_devices : n / 2;
        fewer.microbatches = n;
        CLV_TRY(try_with(&fewer, r->cluster->n_devices, r->req->memory_bytes, same, &verdict));
        if (verdict.outcome == CLV_FITS)
            return clv_run_note(to, plan,
                                clv_arena_printf(r->arena,
                                                 "it would fit with %d micro-batch%s: "
                                                 "--microbatches %d",
                                                 n, n == 1 ? " at a time" : "es", n));
    }
    return CLV_OK;
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
        return clv_run_note(
            r, plan,
            clv_arena_printf(
                r->arena,
                "no cut of the search can fit: the part that ends in operator '%.*s' takes %s of "
                "weights and %s besides, the largest device has %s",
                CLV_STR_ARG(g->ops[last.i].label), weights, live, room));
    }
    if (weights_alone)
        return clv_run_note(
            r, plan,
            clv_arena_printf(r->arena,
                             "no cut can fit: the weights alone take %s, the %d device%s of this "
                             "run have %s",
                             weights, plan->n_devices, plan->n_devices == 1 ? "" : "s", room));
    return clv_run_note(
        r, plan,
        clv_arena_printf(
            r->arena,
            "no cut of the search can fit: besides what operators hold while they run, the %d "
            "device%s of this run can take %s of %s of weights at most",
            plan->n_devices, plan->n_devices == 1 ? "" : "s", room, weights));
}

clv_status clv_explain_no_fit(clv_run *r, clv_plan *plan, const clv_tried *best,
                              const clv_compile_report *report)
{
    char size[32];
    const clv_verdict *v = &best->verdict;
    if (v->outcome == CLV_FAILED)
        return clv_run_note(r, plan,
                            clv_arena_printf(r->arena, "no candidate compiled: %s", v->reason));
    CLV_TRY(clv_run_note(
        r, plan,
        clv_arena_printf(r->arena, "device %d (%s) is out of memory by %s (%lld bytes)", v->device,
                         plan->devices[v->device].name, clv_show_bytes(size, v->short_bytes),
                         (long long)v->short_bytes)));
    const clv_device_report *d = report && report->devices ? &report->devices[v->device] : NULL;
    const clv_graph *g = r->req->model->main;
    if (d && d->peak_op.i >= 0)
        CLV_TRY(clv_run_note(r, plan,
                             clv_arena_printf(r->arena, "its memory is fullest at operator '%.*s'",
                                              CLV_STR_ARG(g->ops[d->peak_op.i].label))));
    for (int32_t i = 0; d && i < d->n_live && i < 3; i++)
        CLV_TRY(clv_run_note(r, plan,
                             clv_arena_printf(r->arena, "alive there: '%.*s', %s",
                                              CLV_STR_ARG(g->tensors[d->live[i].tensor.i].name),
                                              clv_show_bytes(size, d->live[i].bytes))));
    if (r->req->compiler) /* what it would say is not known, and asking takes it minutes */
        return CLV_OK;
    clv_fit_bound bound;
    CLV_TRY(clv_partition_fit_bound(r->problem, r->judge.live_bytes, r->arena, &bound, r->err));
    CLV_TRY(note_proof(r, plan, &bound));
    CLV_TRY(note_microbatches(r, r, plan, r->req->sharding_nodes ? best : NULL));
    CLV_TRY(note_memory(r, plan, best, bound.least_bytes));
    /* more devices would not change cuts given by hand */
    return r->req->sharding_nodes ? CLV_OK : note_devices(r, plan);
}

clv_status clv_tell_shortages(clv_run *r, clv_plan *plan, const clv_search_result *result)
{
    const clv_verdict *best = &result->best.verdict;
    if (best->outcome == CLV_OOM && best->reason[0])
        CLV_TRY(clv_run_note(r, plan,
                             clv_arena_printf(r->arena, "memory is missing at: %s", best->reason)));
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
        CLV_TRY(clv_run_note(r, plan, text));
    }
    return CLV_OK;
}
