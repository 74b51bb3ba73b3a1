/* pool.h - worker threads that judge candidates with a compiler: one queue, no barrier.
 *
 * Candidates begin in the order in which they come, each as soon as a worker is free, and verdicts
 * are handed out in that order too, whatever was finished first. So what a search does with them
 * does not depend on the number of workers.
 */
#ifndef CLV_COMPILE_POOL_H
#define CLV_COMPILE_POOL_H

#include "compile/compiler.h"

typedef struct clv_pool clv_pool;

/* Candidates of another compiler; they stay where they are until the pool is closed. */
typedef struct {
    clv_compiler *compiler;
    const clv_assignment *candidates; /* n */
    int32_t n;
    clv_verdict *verdicts; /* n, of clv_pool_finish_first() */
} clv_pool_first;

/* batch and lookahead are what the judge says of itself. */
typedef struct {
    int32_t jobs;      /* workers, at least 1 */
    int32_t batch;     /* at least 1 */
    int32_t lookahead; /* 0: none, then the caller of the judge is one of the workers; else it is
                          none, and may search while all of them compile */
    const clv_pool_first *first; /* begun at once, before any of the judge; NULL: none are */
} clv_pool_options;

/* As many libuv threads as the system has for the workers; without any the caller does the work.
 * Close it before the compiler. CLV_ENOMEM, CLV_EINTERNAL. */
clv_status clv_pool_open(clv_compiler *compiler, const clv_pool_options *options,
                         const clv_alloc *alloc, clv_pool **ret, clv_error *err);
/* NULL is fine; drops what was begun and not taken. */
void clv_pool_close(clv_pool *pool);

/* Waits for the first candidates. Their failure is that of the judge as well. No effect once they
 * have verdicts. */
clv_status clv_pool_finish_first(clv_pool *pool, clv_error *err);

/* Verdict k belongs to candidate k; of several failures the one of the lowest k is returned, and
 * nothing behind a failure begins. What is dropped sees is_dropped of its worker, and is waited
 * for. To be used from one thread, as long as the pool is open. */
clv_partition_judge clv_pool_judge(clv_pool *pool);

#endif
