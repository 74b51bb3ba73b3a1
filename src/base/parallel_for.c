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
    uv_thread_t thread;
} member;

static void run_member(void *arg)
{
    const member *m = arg;
    m->work(m->ctx, m->i);
}

void clv_parallel_threads(int32_t n, void (*work)(void *ctx, int32_t i), void *ctx)
{
    member *crew = n > 1 ? calloc((size_t)n, sizeof *crew) : NULL;

    for (int32_t i = 1; crew && i < n; i++) {
        crew[i] = (member){ .work = work, .ctx = ctx, .i = i };
        crew[i].started = uv_thread_create(&crew[i].thread, run_member, &crew[i]) == 0;
    }
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || !crew || !crew[i].started)
            work(ctx, i);
    for (int32_t i = 1; crew && i < n; i++)
        if (crew[i].started)
            uv_thread_join(&crew[i].thread);
    free(crew);
}

typedef struct {
    void (*work)(void *ctx, int32_t i);
    void *ctx;
    int32_t n;
    atomic_int next;
} pile;

static void take_shares(void *ctx, int32_t i)
{
    pile *p = ctx;
    (void)i;
    for (int32_t k; (k = atomic_fetch_add(&p->next, 1)) < p->n;)
        p->work(p->ctx, k);
}

void clv_parallel_for(int32_t n, int32_t threads, void (*work)(void *ctx, int32_t i), void *ctx)
{
    pile p = { .work = work, .ctx = ctx, .n = n };
    atomic_init(&p.next, 0);
    clv_parallel_threads(threads < n ? threads : n, take_shares, &p);
}
