/* parallel_for.h - fork and join: threads that run one function and end. Beside the pool of
 * src/compile the only place that starts threads. */
#ifndef CLV_BASE_PARALLEL_FOR_H
#define CLV_BASE_PARALLEL_FOR_H

#include <stdint.h>

/* Calls work(ctx, i) for i = 0 .. n - 1, each on a thread of its own, i = 0 on the calling one, and
 * returns when all have returned. Where a thread cannot be started its call runs on the calling
 * thread, so calls must not wait for each other. */
void clv_parallel_threads(int32_t n, void (*work)(void *ctx, int32_t i), void *ctx);

/* Calls work(ctx, i) once for each i = 0 .. n - 1, on at most so many threads: each takes the next
 * i when it is free. Returns when all have returned. */
void clv_parallel_for(int32_t n, int32_t threads, void (*work)(void *ctx, int32_t i), void *ctx);

#endif
