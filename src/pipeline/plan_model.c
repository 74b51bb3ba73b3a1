#include "pipeline/plan_model.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/units.h"
#include "graph/states.h"
#include "joint/joint.h"
#include "pipeline/profile.h"
#include "proto/fingerprint.h"
#include "request/analysis.h"
#include "stages/stages.h"

/* For the devices that are asked for. */
static clv_status plan_devices(const clv_request *req, const clv_analysis *analysis,
                               clv_arena *arena, clv_plan **ret, clv_error *err)
{
    /* shards inside operators and stages together: the default */
    if (clv_request_asks_mesh(req) || clv_joint_may(req))
        return clv_joint_plan(req, analysis, arena, ret, err);
    if (req->data_parallel)
        return clv_fail(err, CLV_EUSAGE, "data parallel over which devices? %s",
                        req->max_share == 1
                            ? "--max-tp 1 keeps operators whole: expected 2 or more, or none"
                            : "--data-parallel goes with --mesh, --max-tp or --stages");
    /* whole operators in stages */
    return clv_stages_plan(req, analysis, arena, ret, err);
}

/* Devices whose memory together holds the weights, in their order: no fewer hold the model. */
static int32_t least_devices(const clv_request *req, const clv_analysis *analysis, int32_t most)
{
    int64_t left_bytes = analysis->costs->total.weight_bytes;
    int32_t n = 1;
    for (; n < most; n++) {
        clv_device_kind k =
            clv_device_resized(clv_device_kind_of(req->cluster, n - 1), req->memory_bytes);
        left_bytes -= clv_device_capacity(&k) + k.buffer_bytes; /* one alone has no buffers */
        if (left_bytes <= 0)
            break;
    }
    return n;
}

/* Why one device less is not enough. */
static clv_status note_fewer(const clv_plan *fewer, clv_plan *plan, clv_arena *arena,
                             clv_error *err)
{
    char least[32];
    if (!fewer || fewer->outcome != CLV_LATE || plan->outcome != CLV_FITS)
        return CLV_OK;
    return clv_plan_add_note(
        plan,
        clv_arena_printf(arena, "with %d device%s the least latency is %s", (int)fewer->n_devices,
                         fewer->n_devices == 1 ? "" : "s", clv_show_time(least, fewer->latency_ns)),
        arena, err);
}

/* For one device more each time, until a plan fits; numbers that what is asked for does not go into
 * are passed over. */
static clv_status plan_more_devices(const clv_request *req, int32_t most,
                                    const clv_analysis *analysis, clv_arena *arena, clv_plan **ret,
                                    clv_error *err)
{
    clv_request part = *req;
    clv_plan *fewer = NULL, *last = NULL;
    clv_status status = CLV_OK;
    for (part.devices = least_devices(req, analysis, most); part.devices <= most; part.devices++) {
        clv_plan *plan;
        part.terse = req->terse || part.devices < most; /* advice on what would fit: for the last */
        status = plan_devices(&part, analysis, arena, &plan, err);
        if (status != CLV_OK && status != CLV_EUSAGE)
            return status;
        if (status != CLV_OK)
            continue;
        fewer = last;
        last = plan;
        if (plan->outcome == CLV_FITS)
            break;
    }
    *ret = last;
    return last ? note_fewer(fewer, last, arena, err) : status;
}

/* Within a latency the fastest plan of up to so many devices comes first: where that is too slow
 * fewer are not looked for, and else no more than it has. */
static clv_status plan_fewest_devices(const clv_request *req, const clv_analysis *analysis,
                                      clv_arena *arena, clv_plan **ret, clv_error *err)
{
    clv_request part = *req;
    clv_cluster *cluster;
    clv_plan *fastest = NULL;
    int32_t most = req->devices > 0 ? req->devices : req->cluster->n_devices;
    part.fewest = false;
    if (req->max_latency_ns == 0)
        return plan_more_devices(&part, most, analysis, arena, ret, err);
    CLV_TRY(clv_cluster_subset(req->cluster, most, 0, arena, &cluster, err));
    part.cluster = cluster;
    part.devices = 0;
    CLV_TRY(plan_devices(&part, analysis, arena, &fastest, err));
    *ret = fastest;
    if (fastest->outcome == CLV_LATE)
        return CLV_OK;
    if (fastest->outcome == CLV_FITS)
        most = clv_plan_devices_used(fastest);
    CLV_TRY(plan_more_devices(&part, most, analysis, arena, ret, err));
    if (fastest->outcome == CLV_FITS && (*ret)->outcome != CLV_FITS)
        *ret = fastest; /* on other devices than the first so many */
    return CLV_OK;
}

/* For the devices that are asked for, or the fewest. */
static clv_status plan_asked(const clv_request *req, const clv_analysis *analysis, clv_arena *arena,
                             clv_plan **ret, clv_error *err)
{
    return req->fewest ? plan_fewest_devices(req, analysis, arena, ret, err)
                       : plan_devices(req, analysis, arena, ret, err);
}

/* What the same search finds for anyone; not when time is up, as it would be no fair price, nor
 * when it is stopped before it finds any. */
static clv_status add_profile(const clv_request *req, const clv_analysis *analysis,
                              clv_arena *arena, clv_plan *plan, clv_error *err)
{
    const clv_request free = clv_profile_left_out(req);
    clv_plan *without = NULL;
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_status status = scratch ? CLV_OK : clv_fail_nomem(err, "the price of a profile");
    bool stopped = req->stop && req->stop(req->stop_ctx);
    if (status == CLV_OK && !stopped && !clv_time_is_up(req->search.solve.deadline_ns))
        status = plan_asked(&free, analysis, scratch, &without, err);
    if (status == CLV_OK || status == CLV_ECANCELED)
        status = clv_profile_add(req, analysis, without, plan, arena, err);
    clv_arena_free(scratch);
    return status;
}

/* Models that are written from the plan compute what the file says. */
static clv_status note_last_token(clv_plan *plan, clv_arena *arena, clv_error *err)
{
    return clv_plan_add_note(
        plan,
        clv_arena_printf(arena,
                         "logits of the last token of each sequence only, as runtime '%s' computes "
                         "them; the file returns those of all tokens",
                         plan->runtime),
        arena, err);
}

/* Sizes of inputs that nobody gave. */
static clv_status note_sizes(clv_plan *plan, const clv_model *model, const clv_bindings *bound,
                             clv_arena *arena, clv_error *err)
{
    const bool *in_inputs = clv_input_symbols(model, arena);
    if (!in_inputs)
        return clv_fail_nomem(err, "notes of a plan");
    for (int32_t i = bound->n_given, symbol = 0; i < bound->n; i++) { /* both by symbol */
        while (!clv_str_eq(model->symbols[symbol], bound->at[i].symbol))
            symbol++;
        if (bound->follows_from[i] && in_inputs[symbol])
            CLV_TRY(clv_plan_add_note(plan,
                                      clv_arena_printf(arena, "%.*s=%" PRId64 " follows from %s",
                                                       CLV_STR_ARG(bound->at[i].symbol),
                                                       bound->at[i].value, bound->follows_from[i]),
                                      arena, err));
    }
    return CLV_OK;
}

clv_status clv_plan_model(const clv_request *req, clv_arena *arena, clv_plan **ret, clv_error *err)
{
    clv_analysis analysis;
    CLV_TRY(clv_profile_check(req, arena, err));
    /* model -> types, costs, units */
    CLV_TRY(clv_analyse(&(clv_analysed){ req->model, req->bindings, req->n_bindings, req->runtime,
                                         req->activations, req->kv,
                                         req->constraints || req->sharding_nodes },
                        arena, &analysis, err));
    CLV_TRY(clv_analysis_require_numbers(req->model, &analysis, arena, err));
    /* types, costs, units -> plan */
    CLV_TRY(plan_asked(req, &analysis, arena, ret, err));
    if (req->backend)
        CLV_TRY(add_profile(req, &analysis, arena, *ret, err));
    clv_states states;
    CLV_TRY(clv_states_find(analysis.inference->main, arena, &states, err));
    (*ret)->state_tokens = clv_states_tokens(analysis.inference->main, &states);
    (*ret)->fingerprint = clv_onnx_fingerprint(req->model);
    (*ret)->runtime = req->runtime ? req->runtime->name : "none";
    CLV_TRY(note_sizes(*ret, req->model, &analysis.inference->bound, arena, err));
    clv_plan_add_front_end(*ret, analysis.front_end_ns);
    return analysis.last_token ? note_last_token(*ret, arena, err) : CLV_OK;
}
