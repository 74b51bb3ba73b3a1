/* failing_alloc.h - an allocator that counts what is live, and refuses the fail_at-th request. From
 * any thread. */
#ifndef CLV_TESTS_SUPPORT_FAILING_ALLOC_H
#define CLV_TESTS_SUPPORT_FAILING_ALLOC_H

#include <stdlib.h>

#include "base/arena.h"

typedef struct {
    long calls, fail_at, live; /* fail_at 0: never */
} failing;

static inline void *failing_resize(void *ctx, void *p, size_t size)
{
    failing *f = ctx;
    if (size == 0) {
        __atomic_fetch_sub(&f->live, p != NULL, __ATOMIC_RELAXED);
        free(p);
        return NULL;
    }
    if (__atomic_add_fetch(&f->calls, 1, __ATOMIC_RELAXED) == f->fail_at)
        return NULL;
    __atomic_fetch_add(&f->live, p == NULL, __ATOMIC_RELAXED);
    return realloc(p, size);
}

static inline clv_alloc failing_alloc(failing *f) { return (clv_alloc){ failing_resize, f }; }

#endif
