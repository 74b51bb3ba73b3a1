#include "stages/microbatches.h"

#include "problem/micro.h"

static void judge_memory_for(clv_stage_search *s, int32_t n, clv_micro_reason why)
{
    s->microbatches = n;
    s->why_microbatches = why;
    s->compiler->microbatches = n;
    if (s->overlay) /* what folded units hold is not known */
        return;
    s->judge.live_bytes = n > 1 ? s->compiler->piped_live_bytes : s->compiler->live_bytes;
    s->judge.held_bytes = n > 1 ? s->compiler->piped_held_bytes : s->compiler->held_bytes;
}

void clv_microbatches_begin(clv_stage_search *s)
{
    const clv_request *req = s->req;
    if (s->microbatches > 0) /* what an earlier search ended with */
        judge_memory_for(s, s->microbatches, s->why_microbatches);
    else if (req->microbatches > 0)
        judge_memory_for(s, req->microbatches, CLV_MICRO_GIVEN);
    else if (req->search.objective == CLV_THROUGHPUT)
        judge_memory_for(s, CLV_MICRO_FULL, CLV_MICRO_FILLED);
    else
        judge_memory_for(s, 1, CLV_MICRO_GIVEN);
}

static clv_status find_with(clv_stage_search *s, const clv_partition_options *options,
                            clv_stage_find *find, clv_partition_result *ret, clv_error *err)
{
    clv_partition_options o = *options;
    o.microbatches = s->microbatches < CLV_MICRO_FULL ? s->microbatches : 0;
    o.only_period_is_bounded = s->overlay != NULL;
    return find(s, &o, ret, err);
}

static clv_objval lesser(clv_objval a, clv_objval b) { return clv_objval_less(a, b) ? a : b; }

/* In place of a full pipeline, for which nothing was found; its bound counts where that is not
 * proven. What does not fit with some in flight does not fit with more. */
static clv_status find_with_fewer(clv_stage_search *s, const clv_partition_options *options,
                                  clv_stage_find *find, clv_partition_result *ret, clv_error *err)
{
    clv_objval bound = ret->solve.bound;
    int32_t best_n = 1;
    judge_memory_for(s, 1, CLV_MICRO_MEMORY); /* if not even one fits, the report is of that */
    CLV_TRY(find_with(s, options, find, ret, err));
    if (!ret->solve.found)
        return CLV_OK;
    bound = lesser(bound, ret->solve.bound);
    for (int32_t n = 2; n < s->cluster->n_devices; n *= 2) {
        clv_partition_result more = *ret;
        judge_memory_for(s, n, CLV_MICRO_MEMORY);
        CLV_TRY(find_with(s, options, find, &more, err));
        if (more.solve.end == CLV_END_INFEASIBLE)
            break;
        bound = lesser(bound, more.solve.bound);
        if (more.solve.found && clv_objval_less(more.solve.value, ret->solve.value)) {
            *ret = more;
            best_n = n;
        }
    }
    judge_memory_for(s, best_n, CLV_MICRO_MEMORY);
    ret->solve.bound = bound;
    if (ret->solve.end == CLV_END_OPTIMAL && clv_objval_less(bound, ret->solve.value))
        ret->solve.end = CLV_END_SEARCHED;
    return CLV_OK;
}

clv_status clv_microbatches_find(clv_stage_search *s, const clv_partition_options *options,
                                 clv_stage_find *find, clv_partition_result *ret, clv_error *err)
{
    CLV_TRY(find_with(s, options, find, ret, err));
    bool is_open = s->microbatches == CLV_MICRO_FULL;
    if (!is_open || ret->solve.found || ret->best.verdict.outcome != CLV_OOM)
        return CLV_OK;
    return find_with_fewer(s, options, find, ret, err);
}

void clv_microbatches_mark_plan(const clv_stage_search *s, const clv_compile_report *report,
                                clv_plan *plan)
{
    bool reported = report && report->devices;
    if (s->req->microbatches == 0 && s->req->search.objective == CLV_LATENCY)
        return;
    plan->why_microbatches = s->why_microbatches;
    plan->microbatches = s->microbatches;
    if (s->microbatches == CLV_MICRO_FULL)
        plan->microbatches = clv_micro_enough(plan->latency_ns, plan->period_ns, plan->n_stages);
    plan->fill_ns = reported ? report->fill_ns : CLV_PLAN_UNKNOWN;
    plan->drain_ns = reported ? report->drain_ns : CLV_PLAN_UNKNOWN;
}
