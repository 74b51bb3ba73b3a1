/* halt.c - the clock, the caller, and what was told before. */
#include "solver/intra_op/halt.h"

#include "base/clock.h"

bool clv_halted(const clv_halt *h)
{
    if (atomic_load_explicit(h->told, memory_order_relaxed))
        return true;
    if (clv_time_is_up(h->deadline_ns) || (h->stop && h->stop(h->stop_ctx))) {
        atomic_store_explicit(h->told, true, memory_order_relaxed);
        return true;
    }
    return false;
}
