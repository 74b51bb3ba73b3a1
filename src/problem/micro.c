#include "problem/micro.h"

#include <assert.h>
#include <math.h>

int64_t clv_micro_total_ns(int64_t latency_ns, int64_t period_ns, int32_t n)
{
    int64_t more, total;
    assert(n >= 1 && latency_ns >= 0 && period_ns >= 0);
    if (__builtin_mul_overflow(period_ns, (int64_t)n - 1, &more) ||
        __builtin_add_overflow(latency_ns, more, &total))
        return INT64_MAX;
    return total;
}

int64_t clv_micro_share_ns(int64_t latency_ns, int64_t period_ns, int32_t n)
{
    int64_t total = clv_micro_total_ns(latency_ns, period_ns, n);
    return total / n + (total % n != 0);
}

double clv_micro_bubble(int64_t latency_ns, int64_t period_ns, int32_t n)
{
    if (period_ns <= 0 || latency_ns <= period_ns)
        return 0;
    double lost = (double)(latency_ns - period_ns);
    return lost / (lost + (double)period_ns * (double)n);
}

/* bubble(n) <= loss  <=>  n >= (1 - loss) / loss * (latency - period) / period */
int32_t clv_micro_enough(int64_t latency_ns, int64_t period_ns, int32_t n_stages)
{
    int32_t least = n_stages > 1 ? n_stages : 1;
    if (period_ns <= 0)
        return 1;
    if (latency_ns <= period_ns)
        return least;
    double n = ceil((1 - CLV_MICRO_LOSS) / CLV_MICRO_LOSS * (double)(latency_ns - period_ns) /
                    (double)period_ns);
    if (n >= CLV_MICRO_MAX)
        return CLV_MICRO_MAX;
    int32_t enough = (int32_t)n;
    while (enough > 1 && clv_micro_bubble(latency_ns, period_ns, enough - 1) <= CLV_MICRO_LOSS)
        enough--; /* what rounding of the division above added */
    while (enough < CLV_MICRO_MAX &&
           (enough < 1 || clv_micro_bubble(latency_ns, period_ns, enough) > CLV_MICRO_LOSS))
        enough++;
    return enough > least ? enough : least;
}

int32_t clv_micro_copies(int32_t n, int32_t ahead)
{
    assert(n >= 1 && ahead >= 1);
    return n - 1 < ahead ? n : ahead + 1;
}

int32_t clv_micro_stashed(int32_t n, int32_t n_stages, int32_t stage)
{
    assert(n >= 1 && stage >= 0 && stage < n_stages);
    return n < n_stages - stage ? n : n_stages - stage;
}

int32_t clv_micro_states(int32_t n, int32_t n_stages)
{
    assert(n >= 1 && n_stages >= 1);
    return n < n_stages ? n : n_stages;
}
