#include "base/clock.h"

#include <time.h>

int64_t clv_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * CLV_NS_PER_S + t.tv_nsec;
}

bool clv_time_is_up(int64_t deadline_ns) { return deadline_ns > 0 && clv_now_ns() >= deadline_ns; }

double clv_seconds_since(int64_t start_ns) { return (double)(clv_now_ns() - start_ns) * 1e-9; }
