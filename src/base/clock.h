/* clock.h - the clock that never goes back. Only deadlines and what is told of time may look at it.
 */
#ifndef CLV_BASE_CLOCK_H
#define CLV_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLV_NS_PER_S  INT64_C(1000000000)
#define CLV_NS_PER_MS INT64_C(1000000)

int64_t clv_now_ns(void);

/* deadline_ns: of that clock; 0: none, never up. */
bool clv_time_is_up(int64_t deadline_ns);

/* Of a time on that clock, until now. */
double clv_seconds_since(int64_t start_ns);

#endif
