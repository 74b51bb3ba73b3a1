#include "compile/pool.h"

#include <assert.h>
#include <string.h>
#include <uv.h>

/* Threads of its own, not libuv's work queue: that one is shared by the whole process and its size
 * is the host's business. Candidates are numbered from the opening on; workers take them in
 * ascending order under one lock. Those from `taken` to `offered` lie in a ring; the first ones
 * have the lowest numbers, and nothing else is taken before them. After a failure no further number
 * is given out; whatever has a lower number was given out before and is finished, so the failure
 * with the lowest number is the same on any number of threads.
 */
typedef struct {
    clv_pool *pool;
    clv_compile_worker self;
    uv_thread_t thread;
    int64_t number;         /* of what it judges; -1: nothing; under the lock */
    atomic_bool is_dropped; /* that is not wanted any more */
} worker;

typedef struct {
    clv_assignment candidate;
    clv_verdict verdict;
    bool is_done; /* judged, or failed */
} item;

#define NO_FAILURE INT64_MAX

struct clv_pool {
    clv_compiler *compiler;
    clv_arena *arena;
    clv_pool_options options;
    int32_t n_workers, n_threads;
    worker *workers;
    bool caller_works; /* as the first worker */
    item *ring;        /* number k at k modulo room */
    int32_t room;
    uv_mutex_t lock;
    uv_cond_t work, done; /* something to begin or to end; something is finished */
    /* under the lock */
    int64_t taken, next, offered; /* [taken .. next) begun, [next .. offered) wait */
    int64_t failed_at;            /* the lowest number that failed, and how */
    clv_status status;
    clv_error error;
    bool closing;
};

static int32_t n_first(const clv_pool *pool)
{
    return pool->options.first ? pool->options.first->n : 0;
}

static item *item_at(const clv_pool *pool, int64_t k) { return &pool->ring[k % pool->room]; }

/* Holding the lock. Judges one; the lock is open meanwhile. */
static void judge_next(clv_pool *pool, worker *w)
{
    int64_t k = pool->next++;
    clv_assignment candidate = item_at(pool, k)->candidate;
    clv_compiler *compiler = k < n_first(pool) ? pool->options.first->compiler : pool->compiler;
    w->number = k;
    uv_mutex_unlock(&pool->lock);

    clv_error error = { CLV_OK, "" };
    clv_verdict verdict = { 0 };
    clv_mark mark = clv_arena_mark(w->self.arena);
    clv_status status = compiler->compile(compiler, &w->self, &candidate, &verdict, NULL, &error);
    clv_arena_rewind(w->self.arena, mark);

    uv_mutex_lock(&pool->lock);
    w->number = -1;
    item_at(pool, k)->verdict = verdict;
    item_at(pool, k)->is_done = true;
    if (status != CLV_OK && k < pool->failed_at) {
        pool->failed_at = k;
        pool->status = status;
        pool->error = error;
    }
}

static bool has_work(const clv_pool *pool)
{
    return pool->next < pool->offered && pool->failed_at == NO_FAILURE;
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
        uv_cond_signal(&pool->done);
    }
    uv_mutex_unlock(&pool->lock);
}

/* -- holding the lock, on the caller's thread -- */

static void offer(clv_pool *pool, const clv_assignment *candidate)
{
    assert(pool->offered - pool->taken < pool->room);
    *item_at(pool, pool->offered++) = (item){ .candidate = *candidate };
}

static clv_status pass_failure(const clv_pool *pool, clv_error *err)
{
    if (err)
        *err = pool->error;
    return pool->status;
}

static void wait_for(clv_pool *pool, int64_t k)
{
    while (!item_at(pool, k)->is_done) {
        if (pool->caller_works && has_work(pool))
            judge_next(pool, &pool->workers[0]);
        else
            uv_cond_wait(&pool->done, &pool->lock);
    }
}

/* The verdict of the oldest. */
static clv_status take_oldest(clv_pool *pool, clv_verdict *ret, clv_error *err)
{
    assert(pool->taken < pool->offered);
    wait_for(pool, pool->taken);
    if (pool->failed_at == pool->taken)
        return pass_failure(pool, err);
    *ret = item_at(pool, pool->taken++)->verdict;
    return CLV_OK;
}

static clv_status take_first(clv_pool *pool, clv_error *err)
{
    while (pool->taken < n_first(pool))
        CLV_TRY(take_oldest(pool, &pool->options.first->verdicts[pool->taken], err));
    return CLV_OK;
}

/* Forgets what was offered from number k on. */
static void drop_from(clv_pool *pool, int64_t k)
{
    if (k >= pool->offered)
        return;
    pool->offered = k;
    for (int32_t i = 0; i < pool->n_workers; i++)
        atomic_store(&pool->workers[i].is_dropped, pool->workers[i].number >= k);
    for (int32_t i = 0; i < pool->n_workers; i++) {
        while (pool->workers[i].number >= k)
            uv_cond_wait(&pool->done, &pool->lock);
        atomic_store(&pool->workers[i].is_dropped, false);
    }
    if (pool->next > k)
        pool->next = k;
    if (pool->failed_at >= k)
        pool->failed_at = NO_FAILURE;
}

clv_status clv_pool_finish_first(clv_pool *pool, clv_error *err)
{
    uv_mutex_lock(&pool->lock);
    clv_status status = take_first(pool, err);
    uv_mutex_unlock(&pool->lock);
    return status;
}

/* -- the judge -- */

/* Nothing is under way. */
static clv_status make_room(clv_pool *pool, int32_t n, clv_error *err)
{
    if (n <= pool->room)
        return CLV_OK;
    int32_t room = n / 2 < pool->room && pool->room <= INT32_MAX / 2 ? pool->room * 2 : n;
    item *ring = CLV_NEW_ARRAY(pool->arena, item, room);
    if (!ring)
        return clv_fail_nomem(err, "a batch of verdicts");
    uv_mutex_lock(&pool->lock);
    pool->ring = ring;
    pool->room = room;
    uv_mutex_unlock(&pool->lock);
    return CLV_OK;
}

static clv_status judge(void *ctx, const clv_assignment *assignments, int32_t n,
                        clv_verdict *verdicts, clv_error *err)
{
    clv_pool *pool = ctx;
    CLV_TRY(clv_pool_finish_first(pool, err));
    assert(n >= 0 && pool->taken == pool->offered);
    CLV_TRY(make_room(pool, n, err));
    uv_mutex_lock(&pool->lock);
    int64_t first = pool->taken;
    for (int32_t k = 0; k < n; k++)
        offer(pool, &assignments[k]);
    uv_cond_broadcast(&pool->work);
    for (int64_t k = first; k < pool->offered && k < pool->failed_at; k++)
        wait_for(pool, k);
    clv_status status = pool->failed_at == NO_FAILURE ? CLV_OK : pass_failure(pool, err);
    for (int32_t k = 0; k < n && status == CLV_OK; k++)
        verdicts[k] = item_at(pool, first + k)->verdict;
    drop_from(pool, first);
    uv_mutex_unlock(&pool->lock);
    return status;
}

static clv_status start(void *ctx, const clv_assignment *candidate, clv_error *err)
{
    (void)err;
    clv_pool *pool = ctx;
    uv_mutex_lock(&pool->lock);
    offer(pool, candidate);
    uv_cond_signal(&pool->work);
    uv_mutex_unlock(&pool->lock);
    return CLV_OK;
}

static clv_status take(void *ctx, clv_verdict *verdict, clv_error *err)
{
    clv_pool *pool = ctx;
    uv_mutex_lock(&pool->lock);
    clv_status status = take_first(pool, err);
    if (status == CLV_OK)
        status = take_oldest(pool, verdict, err);
    uv_mutex_unlock(&pool->lock);
    return status;
}

static void drop(void *ctx, int32_t n_kept)
{
    clv_pool *pool = ctx;
    uv_mutex_lock(&pool->lock);
    int64_t oldest = pool->taken > n_first(pool) ? pool->taken : n_first(pool);
    drop_from(pool, oldest + n_kept);
    uv_mutex_unlock(&pool->lock);
}

clv_partition_judge clv_pool_judge(clv_pool *pool)
{
    return (clv_partition_judge){ .judge = judge,
                                  .start = start,
                                  .take = take,
                                  .drop = drop,
                                  .ctx = pool,
                                  .batch = pool->options.batch,
                                  .n_before = n_first(pool),
                                  .lookahead = pool->options.lookahead,
                                  .live_bytes = pool->compiler->live_bytes,
                                  .held_bytes = pool->compiler->held_bytes,
                                  .bounded_at = pool->compiler->bounded_at };
}

/* -- opening and closing -- */

static bool make_workers(clv_pool *pool)
{
    int32_t jobs = pool->options.jobs;
    pool->workers = CLV_NEW_ARRAY(pool->arena, worker, jobs);
    for (int32_t k = 0; pool->workers && k < jobs; k++) {
        clv_arena *arena = clv_arena_new(clv_arena_alloc(pool->arena), 0);
        if (!arena)
            return false;
        worker *w = &pool->workers[k];
        *w = (worker){ .pool = pool, .self = { k, arena, &w->is_dropped }, .number = -1 };
        pool->n_workers++;
    }
    pool->room = pool->options.batch > pool->options.lookahead ? pool->options.batch
                                                               : pool->options.lookahead;
    pool->room += n_first(pool);
    pool->ring = CLV_NEW_ARRAY(pool->arena, item, pool->room);
    return pool->workers && pool->ring;
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

/* Where the caller does not look ahead, the first worker is its own. */
static worker *first_of_threads(const clv_pool *pool)
{
    return pool->workers + (pool->options.lookahead > 0 ? 0 : 1);
}

static void start_threads(clv_pool *pool)
{
    worker *first = first_of_threads(pool), *end = pool->workers + pool->n_workers;
    for (worker *w = first; w < end && uv_thread_create(&w->thread, work_on, w) == 0; w++)
        pool->n_threads++;
    pool->caller_works = pool->options.lookahead == 0 || pool->n_threads == 0;
}

clv_status clv_pool_open(clv_compiler *compiler, const clv_pool_options *options,
                         const clv_alloc *alloc, clv_pool **ret, clv_error *err)
{
    assert(compiler && options->jobs >= 1 && options->batch >= 1 && options->lookahead >= 0 && ret);
    clv_arena *arena = clv_arena_new(alloc, 0);
    clv_pool *pool = arena ? CLV_NEW(arena, clv_pool) : NULL;
    if (!pool) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "the pool");
    }
    pool->compiler = compiler;
    pool->arena = arena;
    pool->options = *options;
    pool->failed_at = NO_FAILURE;
    if (!make_workers(pool)) {
        free_memory(pool);
        return clv_fail_nomem(err, "the pool's workers");
    }
    if (!make_locks(pool)) {
        free_memory(pool);
        return clv_fail(err, CLV_EINTERNAL, "the system has no lock left for the pool");
    }
    for (int32_t k = 0; k < n_first(pool); k++)
        offer(pool, &options->first->candidates[k]);
    start_threads(pool);
    *ret = pool;
    return CLV_OK;
}

void clv_pool_close(clv_pool *pool)
{
    if (!pool)
        return;
    uv_mutex_lock(&pool->lock);
    drop_from(pool, pool->taken);
    pool->closing = true;
    uv_cond_broadcast(&pool->work);
    uv_mutex_unlock(&pool->lock);
    for (worker *w = first_of_threads(pool); pool->n_threads > 0; w++, pool->n_threads--)
        uv_thread_join(&w->thread);
    uv_cond_destroy(&pool->done);
    uv_cond_destroy(&pool->work);
    uv_mutex_destroy(&pool->lock);
    free_memory(pool);
}
