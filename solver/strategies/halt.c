/* halt.c - the clock, the caller, and what was told before. */
#include "solver/strategies/halt.h"

#include <time.h>

int64_t clv_halt_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool clv_halted(const clv_halt *h)
{
    if (atomic_load_explicit(h->told, memory_order_relaxed))
        return true;
    if ((h->deadline_ns > 0 && clv_halt_now_ns() >= h->deadline_ns) ||
        (h->stop && h->stop(h->stop_ctx))) {
        atomic_store_explicit(h->told, true, memory_order_relaxed);
        return true;
    }
    return false;
}
