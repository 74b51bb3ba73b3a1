/* clock.h - the monotonic clock: the one place that reads it. Only deadlines and reported times may
 * depend on it, never a result. */
#ifndef CLV_BASE_CLOCK_H
#define CLV_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLV_NS_PER_S  INT64_C(1000000000)
#define CLV_NS_PER_MS INT64_C(1000000)

/* CLOCK_MONOTONIC. */
int64_t clv_now_ns(void);

/* Has the clock reached deadline_ns? 0 is no deadline: false. */
bool clv_time_is_up(int64_t deadline_ns);

/* From a time on that clock until now. */
double clv_seconds_since(int64_t start_ns);

#endif
