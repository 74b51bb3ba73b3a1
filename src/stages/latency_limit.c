#include "stages/latency_limit.h"

#include "solver/partition/verdict_order.h"

/* What a verdict may take, which has nothing of the host in it. */
static int64_t limit_of(const clv_stage_search *s)
{
    return s->req->max_latency_ns - s->analysis.host_ns;
}

/* What fits first, then what is within the limit, then what leaves no device out. */
static bool is_better(const clv_stage_search *s, const clv_candidate *a, const clv_candidate *b)
{
    bool fits = a->verdict.outcome == CLV_FITS;
    bool a_late = a->verdict.latency_ns > limit_of(s), b_late = b->verdict.latency_ns > limit_of(s);
    if (!fits || b->verdict.outcome != CLV_FITS)
        return fits && b->verdict.outcome != CLV_FITS;
    if (a_late != b_late)
        return b_late;
    if (a_late)
        return clv_verdict_better(&a->verdict, &b->verdict, CLV_LATENCY);
    if (a->leaves_out != b->leaves_out)
        return b->leaves_out;
    return clv_verdict_better(&a->verdict, &b->verdict, s->req->search.objective);
}

/* What both have judged, and the best of it. */
static clv_status join(const clv_stage_search *s, const clv_partition_result *more,
                       clv_partition_result *io, clv_error *err)
{
    int32_t n = io->n_judged + more->n_judged;
    clv_candidate *all = CLV_NEW_ARRAY(s->arena, clv_candidate, n);
    if (!all)
        return clv_fail_nomem(err, "plans within a latency");
    for (int32_t i = 0; i < n; i++) {
        all[i] = i < io->n_judged ? io->tried[i] : more->tried[i - io->n_judged];
        if (is_better(s, &all[i], &io->best))
            io->best = all[i];
    }
    io->tried = all;
    io->n_judged = n;
    if (io->solve.end == CLV_END_OPTIMAL || io->solve.end == CLV_END_GAP)
        io->solve.end = CLV_END_SEARCHED;
    return CLV_OK;
}

clv_status clv_stage_limit_latency(clv_stage_search *s, const clv_partition_options *options,
                                   clv_partition_result *io, clv_error *err)
{
    clv_partition_options o = *options;
    clv_partition_result fastest = { .n_judged = 0 };
    if (s->req->max_latency_ns == 0 || !io->solve.found || s->req->sharding_nodes ||
        io->best.verdict.latency_ns <= limit_of(s))
        return CLV_OK;
    if (o.objective == CLV_LATENCY && !o.first_fit)
        return CLV_OK; /* nothing takes less */
    o.objective = CLV_LATENCY;
    o.first_fit = false;
    o.enough_ns = 0;
    CLV_TRY(clv_stage_search_run(s, &o, &fastest, err));
    return join(s, &fastest, io, err);
}
