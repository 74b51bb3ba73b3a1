/* failing_alloc.h - an allocator that counts what is live, and refuses the fail_at-th request. */
#ifndef CLV_TESTS_PROTO_FAILING_ALLOC_H
#define CLV_TESTS_PROTO_FAILING_ALLOC_H

#include <stdlib.h>

#include "base/arena.h"

typedef struct {
    long calls, fail_at, live; /* fail_at 0: never */
} failing;

static inline void *failing_resize(void *ctx, void *p, size_t size)
{
    failing *f = ctx;
    if (size == 0) {
        f->live -= p != NULL;
        free(p);
        return NULL;
    }
    if (++f->calls == f->fail_at)
        return NULL;
    f->live += p == NULL;
    return realloc(p, size);
}

static inline clv_alloc failing_alloc(failing *f) { return (clv_alloc){ failing_resize, f }; }

#endif
