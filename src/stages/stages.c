#include "stages/stages.h"

#include "stages/finish.h"
#include "stages/judge_open.h"
#include "stages/latency_limit.h"
#include "stages/manual.h"
#include "stages/microbatches.h"
#include "stages/relax.h"

static clv_status find_plan(clv_stage_search *s, const clv_partition_options *options,
                            clv_partition_result *ret, clv_error *err)
{
    return s->req->sharding_nodes ? clv_manual_judge(s, ret, err)
                                  : clv_stage_search_run(s, options, ret, err);
}

static clv_status plan_with(clv_stage_search *s, clv_plan **ret, clv_error *err)
{
    const clv_request *req = s->req;
    clv_partition_options options = req->search;
    clv_partition_result result = { .solve = { .found = false } };
    options.use_all_devices = req->devices > 0;
    /* cluster -> problem and judge */
    CLV_TRY(clv_stage_search_open(s, req->devices, req->memory_bytes, err));
    /* problem -> assignment */
    CLV_TRY(clv_microbatches_find(s, &options, find_plan, &result, err));
    CLV_TRY(clv_stage_judge_finish_first(s, err));
    CLV_TRY(clv_stage_limit_latency(s, &options, &result, err));
    if (result.rules_unmet)
        CLV_TRY(clv_relax_conflict(s, &options, result.proven, &result, err));
    else if (!result.solve.found && result.solve.end != CLV_END_BOUND && s->rules.rules.n > 0)
        CLV_TRY(clv_relax_memory(s, &options, err));
    /* assignment -> plan, checked by code that did not make it */
    CLV_TRY(clv_stage_finish(s, &result, ret, err));
    clv_plan_add_host(*ret, s->analysis.host_ns);
    clv_plan_limit_latency(*ret, req->max_latency_ns);
    return CLV_OK;
}

clv_status clv_stages_plan_after(const clv_request *req, const clv_analysis *analysis,
                                 const clv_pool_first *first, clv_arena *arena, clv_plan **ret,
                                 clv_error *err)
{
    clv_stage_search s = { .req = req,
                           .arena = arena,
                           .analysis = *analysis,
                           .plain_units = analysis->units,
                           .first = first };
    clv_status status = plan_with(&s, ret, err);
    clv_stage_search_close(&s);
    return status;
}

clv_status clv_stages_plan(const clv_request *req, const clv_analysis *analysis, clv_arena *arena,
                           clv_plan **ret, clv_error *err)
{
    return clv_stages_plan_after(req, analysis, NULL, arena, ret, err);
}
