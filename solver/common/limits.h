/* limits.h - when a search has to end, and why one ended: the same for all solvers.
 *
 * This is the one place of the solvers that knows the clock. What a search does until then depends
 * on its problem and seed alone.
 */
#ifndef CLV_SOLVER_COMMON_LIMITS_H
#define CLV_SOLVER_COMMON_LIMITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
    CLV_END_SEARCHED,   /* there was nothing more to try, or the work allowed was done */
    CLV_END_OPTIMAL,    /* the bound meets the value: proven */
    CLV_END_GAP,        /* the bound is as near as was asked */
    CLV_END_INFEASIBLE, /* proven: there is no solution */
    CLV_END_DEADLINE,
    CLV_END_STOPPED,    /* the caller said stop */
    CLV_END_CANDIDATES, /* as many candidates were judged as were allowed */
    CLV_END_FIRST_FIT,  /* the first that fits was asked for */
    CLV_END_BOUND,      /* the bound is as high as was asked */
    CLV_END_GIVEN       /* no search: the solution was given */
} clv_end;

/* "searched", "optimal", ...: what the command, JSON and the API say; NULL for CLV_END_GIVEN. */
const char *clv_end_name(clv_end end);
/* The same for people: "proven optimal", "stopped at the deadline", ... */
const char *clv_end_words(clv_end end);

/* A deadline so many seconds from now; 0: none. */
int64_t clv_deadline_in(double seconds);
/* Seconds from a time on that clock until the deadline; 0: there is none. */
double clv_seconds_until(int64_t deadline_ns, int64_t from_ns);

/* Of one search; each thread has its own, and `ended` is one for all of them. The caller's stop()
 * is asked on its own thread alone: it is NULL in those of others. */
typedef struct {
    atomic_int *ended;   /* 0: goes on; else 1 + the clv_end that ended it */
    int64_t deadline_ns; /* of clv_now_ns(); 0: none */
    bool (*stop)(void *ctx);
    void *stop_ctx;
} clv_limits;

/* True once the deadline has passed or stop() said so, on this thread or another; then for all.
 * Looks at the clock: some 30 ns. */
bool clv_limits_over(const clv_limits *limits);

/* CLV_END_DEADLINE or CLV_END_STOPPED, once it is over; CLV_END_SEARCHED before. */
clv_end clv_limits_end(const clv_limits *limits);

#endif
