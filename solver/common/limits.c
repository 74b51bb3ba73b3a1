#include "solver/common/limits.h"

#include <stddef.h>

#include "base/clock.h"

#define END_NAMES(X)                                                                               \
    X(SEARCHED, "searched", "searched to the end of the budget")                                   \
    X(OPTIMAL, "optimal", "proven optimal")                                                        \
    X(GAP, "gap", "near enough, as asked")                                                         \
    X(INFEASIBLE, "infeasible", "proven infeasible")                                               \
    X(DEADLINE, "deadline", "stopped at the deadline")                                             \
    X(STOPPED, "stopped", "stopped")                                                               \
    X(CANDIDATES, "limit", "as many candidates as allowed were judged")                            \
    X(FIRST_FIT, "first fit", "the first that fits")                                               \
    X(BOUND, "bound", "the bound is as high as asked")                                             \
    X(GIVEN, NULL, "given")

const char *clv_end_name(clv_end end)
{
#define X(end, name, words) [CLV_END_##end] = name,
    static const char *const names[] = { END_NAMES(X) };
#undef X
    return names[end];
}

const char *clv_end_words(clv_end end)
{
#define X(end, name, words) [CLV_END_##end] = words,
    static const char *const words_of[] = { END_NAMES(X) };
#undef X
    return words_of[end];
}

int64_t clv_deadline_in(double seconds)
{
    return seconds > 0 ? clv_now_ns() + (int64_t)(seconds * (double)CLV_NS_PER_S) : 0;
}

double clv_seconds_until(int64_t deadline_ns, int64_t from_ns)
{
    return deadline_ns > 0 ? (double)(deadline_ns - from_ns) / (double)CLV_NS_PER_S : 0;
}

bool clv_limits_over(const clv_limits *limits)
{
    if (atomic_load_explicit(limits->ended, memory_order_relaxed))
        return true;
    clv_end end = CLV_END_SEARCHED;
    if (limits->stop && limits->stop(limits->stop_ctx))
        end = CLV_END_STOPPED;
    else if (clv_time_is_up(limits->deadline_ns))
        end = CLV_END_DEADLINE;
    if (end == CLV_END_SEARCHED)
        return false;
    int before = 0;
    atomic_compare_exchange_strong(limits->ended, &before, 1 + (int)end);
    return true;
}

clv_end clv_limits_end(const clv_limits *limits)
{
    int ended = atomic_load(limits->ended);
    return ended ? (clv_end)(ended - 1) : CLV_END_SEARCHED;
}
