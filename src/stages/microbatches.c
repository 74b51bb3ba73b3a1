#include "stages/microbatches.h"

#include "problem/micro.h"

/* A full pipeline has the smallest period, and what it holds does not grow with the number of
 * micro-batches once there are as many as stages. So memory is judged for a full one, and the
 * number, which only decides how much of the time goes into filling and draining, follows from the
 * plan that won. Only where memory is short, the number has to be small, and the best plan depends
 * on it.
 */

static void judge_with(clv_run *r, int32_t n, clv_micro_reason why)
{
    r->microbatches = n;
    r->why_microbatches = why;
    r->compiler->microbatches = n;
    if (r->overlay) /* what folded units hold is not known */
        return;
    r->judge.live_bytes = n > 1 ? r->compiler->piped_live_bytes : r->compiler->live_bytes;
    r->judge.held_bytes = n > 1 ? r->compiler->piped_held_bytes : r->compiler->held_bytes;
}

void clv_run_set_microbatches(clv_run *r)
{
    const clv_request *req = r->req;
    if (r->microbatches > 0) /* what an earlier search ended with */
        judge_with(r, r->microbatches, r->why_microbatches);
    else if (req->microbatches > 0)
        judge_with(r, req->microbatches, CLV_MICRO_GIVEN);
    else if (req->search.objective == CLV_THROUGHPUT)
        judge_with(r, CLV_MICRO_FULL, CLV_MICRO_FILLED);
    else
        judge_with(r, 1, CLV_MICRO_GIVEN);
}

static clv_status search_with(clv_run *r, const clv_search_options *options, clv_run_finder *find,
                              clv_search_result *ret)
{
    clv_search_options o = *options;
    o.microbatches = r->microbatches < CLV_MICRO_FULL ? r->microbatches : 0;
    o.only_period_is_bounded = r->overlay != NULL;
    return find(r, &o, ret);
}

/* The largest power of two below the number of devices, which no pipeline has more stages than. */
static int32_t most_in_flight(const clv_run *r)
{
    int32_t n = 1;
    while (n < r->cluster->n_devices / 2 + r->cluster->n_devices % 2)
        n *= 2;
    return n;
}

clv_status clv_run_find(clv_run *r, const clv_search_options *options, clv_run_finder *find,
                        clv_search_result *ret)
{
    CLV_TRY(search_with(r, options, find, ret));
    bool is_open = r->microbatches == CLV_MICRO_FULL;
    if (!is_open || ret->found || ret->best.verdict.outcome != CLV_OOM)
        return CLV_OK;
    judge_with(r, 1, CLV_MICRO_MEMORY); /* if not even one fits, the report is of that */
    CLV_TRY(search_with(r, options, find, ret));
    clv_search_result more = *ret;
    for (int32_t n = most_in_flight(r); ret->found && n > 1; n /= 2) {
        judge_with(r, n, CLV_MICRO_MEMORY);
        CLV_TRY(search_with(r, options, find, &more));
        if (more.found) {
            *ret = more;
            return CLV_OK;
        }
    }
    judge_with(r, 1, CLV_MICRO_MEMORY);
    return CLV_OK;
}

void clv_run_tell_microbatches(const clv_run *r, const clv_compile_report *report, clv_plan *plan)
{
    bool told = report && report->devices;
    if (r->req->microbatches == 0 && r->req->search.objective == CLV_LATENCY)
        return;
    plan->why_microbatches = r->why_microbatches;
    plan->microbatches = r->microbatches;
    if (r->microbatches == CLV_MICRO_FULL)
        plan->microbatches = clv_micro_enough(plan->latency_ns, plan->period_ns, plan->n_stages);
    plan->fill_ns = told ? report->fill_ns : CLV_PLAN_UNKNOWN;
    plan->drain_ns = told ? report->drain_ns : CLV_PLAN_UNKNOWN;
}
