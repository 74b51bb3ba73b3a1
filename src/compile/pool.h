/* pool.h - worker threads that judge batches of candidates with a compiler. */
#ifndef CLV_COMPILE_POOL_H
#define CLV_COMPILE_POOL_H

#include "compile/compiler.h"

typedef struct clv_pool clv_pool;

/* jobs workers (at least 1): the caller of the judge and as many libuv threads as the system has
 * for the others. batch is what the judge asks for. Close it before the compiler. CLV_ENOMEM,
 * CLV_EINTERNAL. */
clv_status clv_pool_open(clv_compiler *compiler, int32_t jobs, int32_t batch,
                         const clv_alloc *alloc, clv_pool **ret, clv_error *err);
void clv_pool_close(clv_pool *pool); /* NULL is fine; waits for what runs */

/* Verdict k belongs to assignment k, whichever was judged first; of several failures the one of the
 * lowest k is returned. To be used from one thread, as long as the pool is open. */
clv_partition_judge clv_pool_judge(clv_pool *pool);

#endif
