#include "stages/microbatches.h"

#include "problem/micro.h"
#include "solver/partition/bound_latency.h"
#include "solver/partition/bound_load.h"

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

/* No plan takes less of a sample, whatever memory it needs. */
typedef struct {
    int64_t latency_ns, period_ns;
} floors;

/* Could n micro-batches give less than a full pipeline? */
static bool may_give_less(const floors *least, int32_t n, clv_objval full)
{
    return clv_objval_less(
        clv_objval_whole(clv_micro_share_ns(least->latency_ns, least->period_ns, n)), full);
}

static bool may_any_give_less(const floors *least, int32_t n_devices, clv_objval full)
{
    for (int32_t n = 1; n == 1 || n < n_devices; n *= 2)
        if (may_give_less(least, n, full))
            return true;
    return false;
}

/* The costly bound of the latency only where the critical path does not rule all numbers out. */
static clv_status find_floors(const clv_stage_search *s, clv_objval full, floors *ret,
                              clv_error *err)
{
    const clv_partition_problem *p = s->overlay ? s->overlay->whole : s->problem;
    CLV_TRY(clv_bound_work(p, s->arena, &ret->period_ns, err));
    CLV_TRY(clv_bound_critical_path(p, s->arena, &ret->latency_ns, err));
    if (!may_any_give_less(ret, s->cluster->n_devices, full))
        return CLV_OK;
    clv_bound latency = { .device_of = CLV_NEW_ARRAY(s->arena, int32_t, p->n_units),
                          .orders = CLV_NEW_ARRAY(s->arena, int32_t,
                                                  CLV_BOUND_ORDERS * (size_t)p->n_devices) };
    if (!latency.device_of || !latency.orders)
        return clv_fail_nomem(err, "a number of micro-batches");
    CLV_TRY(clv_bound_latency(p, &(clv_bound_options){ .near = 0 }, s->arena, &latency, err));
    ret->latency_ns = latency.ns;
    return CLV_OK;
}

/* Of several searches: the best plan, and what holds for all of them. */
typedef struct {
    clv_partition_result best;
    int32_t n; /* micro-batches of the best plan */
    clv_objval bound;
    clv_end end; /* of the last search */
    floors least;
    bool has_floors;
} found;

/* Adds a search with n micro-batches. */
static void take(found *f, const clv_partition_result *r, int32_t n)
{
    if (clv_objval_less(r->solve.bound, f->bound))
        f->bound = r->solve.bound;
    bool is_better = r->solve.found &&
                     (!f->best.solve.found || clv_objval_less(r->solve.value, f->best.solve.value));
    /* where nothing fits, the report is of one micro-batch: that lacks least */
    if (!is_better && (f->best.solve.found || n > 1))
        return;
    f->best = *r;
    f->n = n;
}

/* What a number has to give less than: the best plan so far, or one that is known already; false:
 * anything. */
static bool has_limit(const clv_stage_search *s, const clv_partition_options *options,
                      const found *f, clv_objval *ret)
{
    int64_t no_use_ns = options->enough_ns > 0 ? options->enough_ns : s->req->no_use_ns;
    *ret = f->best.solve.found ? f->best.solve.value : clv_objval_whole(no_use_ns);
    return f->best.solve.found || no_use_ns > 0;
}

static clv_status try_number(clv_stage_search *s, const clv_partition_options *options,
                             clv_stage_find *find, int32_t n, found *f, clv_error *err)
{
    clv_partition_result more = { .n_judged = 0 };
    clv_objval limit;
    if (has_limit(s, options, f, &limit)) {
        if (!f->has_floors)
            CLV_TRY(find_floors(s, limit, &f->least, err));
        f->has_floors = true;
        if (!may_give_less(&f->least, n, limit)) {
            f->end = f->best.solve.found ? f->end : CLV_END_BOUND;
            f->bound = clv_objval_less(limit, f->bound) ? limit : f->bound;
            return CLV_OK;
        }
    }
    judge_memory_for(s, n, CLV_MICRO_MEMORY);
    CLV_TRY(find_with(s, options, find, &more, err));
    take(f, &more, n);
    f->end = more.solve.end;
    return CLV_OK;
}

/* Beside a full pipeline, or in place of one. Where that does not fit, one comes first, as what
 * does not fit then does not fit with more; else the most, as a run of more takes less of a sample
 * by the same plan. Numbers are left out that cannot give less. */
static clv_status find_with_fewer(clv_stage_search *s, const clv_partition_options *options,
                                  clv_stage_find *find, found *f, clv_error *err)
{
    bool is_full = f->best.solve.found;
    int32_t most = 1;
    while (most * 2 < s->cluster->n_devices)
        most *= 2;
    if (!is_full) {
        CLV_TRY(try_number(s, options, find, 1, f, err));
        if (f->end == CLV_END_INFEASIBLE)
            return CLV_OK;
    }
    for (int32_t n = most; n > !is_full; n /= 2)
        CLV_TRY(try_number(s, options, find, n, f, err));
    return CLV_OK;
}

/* May fewer in flight give more than a full pipeline? They may where memory is short, if the search
 * is to the end; what another compiler holds in flight is not known. */
static bool may_be_fewer(const clv_stage_search *s, const clv_partition_options *options,
                         const clv_partition_result *full)
{
    if (!full->solve.found)
        return full->best.verdict.outcome == CLV_OOM;
    return !options->first_fit && options->kind == CLV_SEARCH_DEFAULT && !s->req->compiler &&
           !s->req->sharding_nodes;
}

clv_status clv_microbatches_find(clv_stage_search *s, const clv_partition_options *options,
                                 clv_stage_find *find, clv_partition_result *ret, clv_error *err)
{
    CLV_TRY(find_with(s, options, find, ret, err));
    if (s->microbatches != CLV_MICRO_FULL || !may_be_fewer(s, options, ret))
        return CLV_OK;
    found f = { .best = *ret, .n = CLV_MICRO_FULL, .bound = ret->solve.bound };
    CLV_TRY(find_with_fewer(s, options, find, &f, err));
    judge_memory_for(s, f.n, f.n == CLV_MICRO_FULL ? CLV_MICRO_FILLED : CLV_MICRO_MEMORY);
    *ret = f.best;
    ret->solve.bound = f.bound;
    if (!ret->solve.found && f.end == CLV_END_BOUND)
        ret->solve.end = f.end;
    if (ret->solve.end == CLV_END_OPTIMAL && clv_objval_less(f.bound, ret->solve.value))
        ret->solve.end = CLV_END_SEARCHED;
    return CLV_OK;
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
