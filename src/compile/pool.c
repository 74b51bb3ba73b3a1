#include "compile/pool.h"

#include <assert.h>
#include <string.h>
#include <uv.h>

/* Threads of its own, not libuv's work queue: that one is shared by the whole process and its size
 * is the host's business. A batch is a row of numbers that workers take in ascending order under
 * one lock; the caller is one of the workers. After a failure no further number is given out;
 * whatever has a lower number was given out before and is finished, so the failure with the lowest
 * number is the same on any number of threads.
 */
typedef struct {
    clv_pool *pool;
    clv_compile_worker self;
    uv_thread_t thread;
} worker;

struct clv_pool {
    clv_compiler *compiler;
    clv_arena *arena;
    int32_t batch, n_workers, n_threads;
    worker *workers;   /* the caller, then a thread each */
    clv_verdict *made; /* of the batch; handed over when all is well */
    int32_t room;
    uv_mutex_t lock;
    uv_cond_t work, done; /* something to take or to end; all taken is finished */
    /* under the lock */
    const clv_assignment *assignments;
    int32_t n, next, running, failed_at; /* failed_at: lowest index, n when none */
    clv_status status;
    clv_error error;
    bool closing;
};

/* Holding the lock. Judges one; the lock is open meanwhile. */
static void judge_next(clv_pool *pool, worker *w)
{
    int32_t k = pool->next++;
    pool->running++;
    uv_mutex_unlock(&pool->lock);

    clv_error error = { CLV_OK, "" };
    clv_verdict verdict = { 0 };
    clv_mark mark = clv_arena_mark(w->self.arena);
    clv_status status = pool->compiler->compile(pool->compiler, &w->self, &pool->assignments[k],
                                                &verdict, NULL, &error);
    clv_arena_rewind(w->self.arena, mark);

    uv_mutex_lock(&pool->lock);
    pool->running--;
    pool->made[k] = verdict;
    if (status != CLV_OK && k < pool->failed_at) {
        pool->failed_at = k;
        pool->status = status;
        pool->error = error;
    }
}

static bool has_work(const clv_pool *pool)
{
    return pool->next < pool->n && pool->failed_at == pool->n;
}

static void work_on(void *arg)
{
    worker *w = arg;
    clv_pool *pool = w->pool;
    uv_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->closing && !has_work(pool))
            uv_cond_wait(&pool->work, &pool->lock);
        if (pool->closing)
            break;
        judge_next(pool, w);
        if (!has_work(pool) && pool->running == 0)
            uv_cond_signal(&pool->done);
    }
    uv_mutex_unlock(&pool->lock);
}

static void run_batch(clv_pool *pool, const clv_assignment *assignments, int32_t n)
{
    uv_mutex_lock(&pool->lock);
    assert(pool->running == 0 && pool->next >= pool->n);
    pool->assignments = assignments;
    pool->next = 0;
    pool->n = pool->failed_at = n;
    pool->status = CLV_OK;
    uv_cond_broadcast(&pool->work);
    while (has_work(pool) || pool->running > 0) {
        if (has_work(pool))
            judge_next(pool, &pool->workers[0]);
        else
            uv_cond_wait(&pool->done, &pool->lock);
    }
    pool->next = pool->n; /* what a failure left over is not for the next batch */
    uv_mutex_unlock(&pool->lock);
}

static clv_status judge(void *ctx, const clv_assignment *assignments, int32_t n,
                        clv_verdict *verdicts, clv_error *err)
{
    clv_pool *pool = ctx;
    assert(n >= 0);
    if (n == 0)
        return CLV_OK;
    if (n > pool->room) {
        int32_t room = n / 2 < pool->room && pool->room <= INT32_MAX / 2 ? pool->room * 2 : n;
        clv_verdict *made = CLV_NEW_ARRAY(pool->arena, clv_verdict, room);
        if (!made)
            return clv_fail_nomem(err, "a batch of verdicts");
        pool->made = made;
        pool->room = room;
    }
    run_batch(pool, assignments, n);
    if (pool->status != CLV_OK) {
        if (err)
            *err = pool->error;
        return pool->status;
    }
    memcpy(verdicts, pool->made, (size_t)n * sizeof *verdicts);
    return CLV_OK;
}

static bool make_workers(clv_pool *pool, int32_t jobs)
{
    pool->workers = CLV_NEW_ARRAY(pool->arena, worker, jobs);
    for (int32_t k = 0; pool->workers && k < jobs; k++) {
        clv_arena *arena = clv_arena_new(clv_arena_alloc(pool->arena), 0);
        if (!arena)
            return false;
        pool->workers[k] = (worker){ .pool = pool, .self = { k, arena } };
        pool->n_workers++;
    }
    return pool->workers != NULL;
}

static void free_memory(clv_pool *pool)
{
    for (int32_t k = 0; k < pool->n_workers; k++)
        clv_arena_free(pool->workers[k].self.arena);
    clv_arena_free(pool->arena);
}

static bool make_locks(clv_pool *pool)
{
    if (uv_mutex_init(&pool->lock) != 0)
        return false;
    if (uv_cond_init(&pool->work) == 0) {
        if (uv_cond_init(&pool->done) == 0)
            return true;
        uv_cond_destroy(&pool->work);
    }
    uv_mutex_destroy(&pool->lock);
    return false;
}

clv_status clv_pool_open(clv_compiler *compiler, int32_t jobs, int32_t batch,
                         const clv_alloc *alloc, clv_pool **ret, clv_error *err)
{
    assert(compiler && jobs >= 1 && batch >= 1 && ret);
    clv_arena *arena = clv_arena_new(alloc, 0);
    clv_pool *pool = arena ? CLV_NEW(arena, clv_pool) : NULL;
    if (!pool) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "the pool");
    }
    pool->compiler = compiler;
    pool->arena = arena;
    pool->batch = batch;
    if (!make_workers(pool, jobs)) {
        free_memory(pool);
        return clv_fail_nomem(err, "the pool's workers");
    }
    if (!make_locks(pool)) {
        free_memory(pool);
        return clv_fail(err, CLV_EINTERNAL, "the system has no lock left for the pool");
    }
    for (worker *w = pool->workers + 1;
         w < pool->workers + jobs && uv_thread_create(&w->thread, work_on, w) == 0; w++)
        pool->n_threads++;
    *ret = pool;
    return CLV_OK;
}

void clv_pool_close(clv_pool *pool)
{
    if (!pool)
        return;
    uv_mutex_lock(&pool->lock);
    pool->closing = true;
    uv_cond_broadcast(&pool->work);
    uv_mutex_unlock(&pool->lock);
    for (int32_t k = 1; k <= pool->n_threads; k++)
        uv_thread_join(&pool->workers[k].thread);
    uv_cond_destroy(&pool->done);
    uv_cond_destroy(&pool->work);
    uv_mutex_destroy(&pool->lock);
    free_memory(pool);
}

clv_partition_judge clv_pool_judge(clv_pool *pool)
{
    return (clv_partition_judge){ judge,
                                  pool,
                                  pool->batch,
                                  pool->compiler->live_bytes,
                                  pool->compiler->held_bytes,
                                  pool->compiler->bounded_at };
}
