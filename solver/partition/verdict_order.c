#include "solver/partition/verdict_order.h"

int64_t clv_verdict_ns(const clv_verdict *v, clv_objective objective)
{
    if (objective == CLV_LATENCY)
        return v->latency_ns;
    return v->share_ns > 0 ? v->share_ns : v->period_ns;
}

/* Bytes missing, whether the compiler reports them of one device or of all. */
static int64_t shortage_bytes(const clv_verdict *v)
{
    return v->total_short_bytes > v->short_bytes ? v->total_short_bytes : v->short_bytes;
}

bool clv_verdict_better(const clv_verdict *a, const clv_verdict *b, clv_objective objective)
{
    if (a->outcome != b->outcome)
        return a->outcome < b->outcome; /* fits, OOM, failed */
    if (a->outcome == CLV_OOM)
        return shortage_bytes(a) < shortage_bytes(b);
    if (a->outcome == CLV_FAILED)
        return false;
    int64_t ns_a = clv_verdict_ns(a, objective), ns_b = clv_verdict_ns(b, objective);
    if (ns_a != ns_b)
        return ns_a < ns_b;
    return objective == CLV_LATENCY ? a->period_ns < b->period_ns : a->latency_ns < b->latency_ns;
}
