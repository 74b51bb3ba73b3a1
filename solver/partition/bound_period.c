#include "solver/partition/bound_period.h"

#include "solver/partition/bound_broadcast.h"
#include "solver/partition/bound_contraction.h"
#include "solver/partition/bound_load.h"
#include "solver/partition/ideal_dp.h"

typedef struct {
    clv_ideal_dp *dp;
    int64_t low_ns, high_ns; /* no period is below low; something may have high */
    int32_t *device_of;
    bool found;
} bisection;

static clv_status narrow(bisection *b, int64_t period_ns, clv_error *err)
{
    clv_ideal_dp_decision decision;
    int64_t reached = period_ns;
    CLV_TRY(clv_ideal_dp_decide(b->dp, period_ns, &decision, err));
    if (decision == CLV_IDEAL_DP_NO) {
        b->low_ns = period_ns + 1;
        return CLV_OK;
    }
    b->high_ns = period_ns;
    b->found = decision == CLV_IDEAL_DP_YES && clv_ideal_dp_plan(b->dp, b->device_of, &reached);
    if (b->found && reached >= b->low_ns && reached < period_ns)
        b->high_ns = reached; /* units left out may have made it longer */
    return CLV_OK;
}

/* Raises the bound by order and memory. */
static clv_status raise_by_order(const clv_partition_problem *p, const clv_bound_options *o,
                                 int64_t best_ns, clv_arena *scratch, clv_bound *bound,
                                 clv_error *err)
{
    clv_backbone backbone;
    bisection b = { .low_ns = bound->ns, .high_ns = best_ns, .device_of = bound->device_of };
    CLV_TRY(
        clv_backbone_new(p, o->near ? o->near : CLV_BACKBONE_WORD, true, scratch, &backbone, err));
    CLV_TRY(clv_ideal_dp_new(p, &backbone, o, scratch, &b.dp, err));
    CLV_TRY(narrow(&b, best_ns - 1, err)); /* mostly the answer, or the next one */
    if (b.low_ns < b.high_ns)
        CLV_TRY(narrow(&b, b.low_ns, err));
    while (b.low_ns < b.high_ns)
        CLV_TRY(narrow(&b, b.low_ns + (b.high_ns - b.low_ns) / 2, err));
    bound->ns = b.low_ns;
    bound->found = b.found;
    return CLV_OK;
}

clv_status clv_bound_period(const clv_partition_problem *p, const clv_bound_options *options,
                            int64_t best_ns, clv_arena *arena, clv_bound *ret, clv_error *err)
{
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_bound made = { .device_of = ret->device_of, .orders = ret->orders };
    int64_t sharing = 0;
    if (!scratch)
        return clv_fail_nomem(err, "a bound");
    clv_status status = clv_bound_work(p, scratch, &made.ns, err);
    if (status == CLV_OK)
        status = clv_bound_sharing(p, scratch, &sharing, err);
    made.ns = sharing > made.ns ? sharing : made.ns;
    if (status == CLV_OK && made.ns < best_ns)
        status = clv_bound_broadcast(p, made.ns, best_ns, scratch, &made.ns, err);
    if (status == CLV_OK && made.ns < best_ns)
        status = clv_bound_contraction(p, made.ns, best_ns, scratch, &made.ns, err);
    /* last: the plan behind it is better the higher the bound is already */
    if (status == CLV_OK && made.ns < best_ns)
        status = raise_by_order(p, options, best_ns, scratch, &made, err);
    clv_arena_free(scratch);
    CLV_TRY(status);
    *ret = made;
    return CLV_OK;
}
