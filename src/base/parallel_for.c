#include "base/parallel_for.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <uv.h>

typedef struct {
    void (*work)(void *ctx, int32_t i);
    void *ctx;
    int32_t i;
    bool started;
    uv_thread_t handle;
} thread;

static void run_thread(void *arg)
{
    const thread *t = arg;
    t->work(t->ctx, t->i);
}

void clv_parallel_threads(int32_t n, void (*work)(void *ctx, int32_t i), void *ctx)
{
    thread *threads = n > 1 ? calloc((size_t)n, sizeof *threads) : NULL;

    for (int32_t i = 1; threads && i < n; i++) {
        threads[i] = (thread){ .work = work, .ctx = ctx, .i = i };
        threads[i].started = uv_thread_create(&threads[i].handle, run_thread, &threads[i]) == 0;
    }
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || !threads || !threads[i].started)
            work(ctx, i);
    for (int32_t i = 1; threads && i < n; i++)
        if (threads[i].started)
            uv_thread_join(&threads[i].handle);
    free(threads);
}

/* Iterations that threads take from, one at a time. */
typedef struct {
    void (*work)(void *ctx, int32_t i);
    void *ctx;
    int32_t n;
    atomic_int next;
} loop;

static void run_iterations(void *ctx, int32_t i)
{
    loop *l = ctx;
    (void)i;
    for (int32_t k; (k = atomic_fetch_add(&l->next, 1)) < l->n;)
        l->work(l->ctx, k);
}

void clv_parallel_for(int32_t n, int32_t threads, void (*work)(void *ctx, int32_t i), void *ctx)
{
    loop l = { .work = work, .ctx = ctx, .n = n };
    atomic_init(&l.next, 0);
    clv_parallel_threads(threads < n ? threads : n, run_iterations, &l);
}
