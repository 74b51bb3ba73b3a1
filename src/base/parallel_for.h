/* parallel_for.h - so many threads that do one thing each and end: the other door to libuv's
 * threads. */
#ifndef CLV_BASE_PARALLEL_FOR_H
#define CLV_BASE_PARALLEL_FOR_H

#include <stdint.h>

/* Calls work(ctx, i) for i = 0 .. n - 1 at once, i = 0 on the calling thread, and returns when all
 * have returned. Where a thread cannot be started its share runs on the calling thread afterwards:
 * so calls must not wait for each other. */
void clv_parallel_threads(int32_t n, void (*work)(void *ctx, int32_t i), void *ctx);

/* Calls work(ctx, i) once for each i = 0 .. n - 1, on at most so many threads, whichever is free.
 */
void clv_parallel_for(int32_t n, int32_t threads, void (*work)(void *ctx, int32_t i), void *ctx);

#endif
