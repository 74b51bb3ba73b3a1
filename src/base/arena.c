#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks are chained, newest first, and double in size up to BLOCK_MAX so that a small job stays
 * small and a big one makes few calls. What is larger than a block gets one of its own size.
 */
#define ALIGN     alignof(max_align_t)
#define BLOCK_MIN ((size_t)8 << 10)
#define BLOCK_MAX ((size_t)4 << 20)

typedef struct block {
    struct block *next;
    size_t size; /* of data */
    size_t used;
    alignas(max_align_t) unsigned char data[];
} block;

struct clv_arena {
    clv_alloc alloc;
    block *top;
    size_t limit, bytes, peak;
};

static void *heap_resize(void *ctx, void *p, size_t size)
{
    (void)ctx;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}

static const clv_alloc heap = { heap_resize, NULL };

clv_arena *clv_arena_new(const clv_alloc *alloc, size_t limit)
{
    const clv_alloc *from = alloc && alloc->resize ? alloc : &heap;
    clv_arena *arena = from->resize(from->ctx, NULL, sizeof *arena);
    if (arena)
        *arena = (clv_arena){
            .alloc = *from, .limit = limit, .bytes = sizeof *arena, .peak = sizeof *arena
        };
    return arena;
}

static void drop_top(clv_arena *arena)
{
    block *b = arena->top;
    arena->top = b->next;
    arena->bytes -= sizeof *b + b->size;
    arena->alloc.resize(arena->alloc.ctx, b, 0);
}

void clv_arena_free(clv_arena *arena)
{
    if (!arena)
        return;
    while (arena->top)
        drop_top(arena);
    clv_alloc alloc = arena->alloc;
    alloc.resize(alloc.ctx, arena, 0);
}

/* Whether a block with size bytes of data stays below the limit. */
static bool allowed(const clv_arena *arena, size_t size)
{
    size_t most = arena->limit ? arena->limit : SIZE_MAX;
    return arena->bytes <= most && sizeof(block) <= most - arena->bytes &&
           size <= most - arena->bytes - sizeof(block);
}

static block *add_block(clv_arena *arena, size_t size)
{
    if (!allowed(arena, size))
        return NULL;
    block *b = arena->alloc.resize(arena->alloc.ctx, NULL, sizeof *b + size);
    if (!b)
        return NULL;
    b->next = arena->top;
    b->size = size;
    b->used = 0;
    arena->top = b;
    arena->bytes += sizeof *b + size;
    if (arena->bytes > arena->peak)
        arena->peak = arena->bytes;
    return b;
}

static size_t aligned(size_t size)
{
    size_t need = (size + (ALIGN - 1)) / ALIGN * ALIGN;
    return need ? need : ALIGN;
}

static void *take(clv_arena *arena, size_t size)
{
    assert(arena);
    if (size > SIZE_MAX / 2)
        return NULL;
    size_t need = aligned(size);
    block *b = arena->top;
    if (!b || b->size - b->used < need) {
        size_t bytes = BLOCK_MIN;
        if (b && b->size > BLOCK_MIN / 2) /* it may be a small one of its own */
            bytes = b->size < BLOCK_MAX / 2 ? b->size * 2 : BLOCK_MAX;
        if (need > bytes || !allowed(arena, bytes))
            bytes = need; /* so the last bytes below a limit are usable too */
        b = add_block(arena, bytes);
    }
    if (!b)
        return NULL;
    void *p = b->data + b->used;
    b->used += need;
    return p;
}

void *clv_arena_take(clv_arena *arena, size_t size)
{
    void *p = take(arena, size);
    return p ? memset(p, 0, aligned(size)) : NULL;
}

void *clv_arena_take_array(clv_arena *arena, size_t n, size_t size)
{
    return size && n > SIZE_MAX / size ? NULL : clv_arena_take(arena, n * size);
}

void *clv_arena_take_room(clv_arena *arena, size_t n, size_t size)
{
    return size && n > SIZE_MAX / size ? NULL : take(arena, n * size);
}

void *clv_arena_take_large(clv_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    block *b = add_block(arena, size);
    if (!b)
        return NULL;
    b->used = size;
    return b->data;
}

void clv_arena_drop_large(clv_arena *arena, void *p)
{
    block **at = &arena->top;
    while (*at && (*at)->data != p)
        at = &(*at)->next;
    block *b = *at;
    assert(b && b->used == b->size);
    *at = b->next;
    arena->bytes -= sizeof *b + b->size;
    arena->alloc.resize(arena->alloc.ctx, b, 0);
}

void *clv_arena_grow(clv_arena *arena, void *p, size_t old_n, size_t new_n, size_t size)
{
    assert(new_n >= old_n);
    if (size && new_n > SIZE_MAX / 2 / size)
        return NULL;
    block *b = arena->top;
    size_t old_need = (old_n * size + (ALIGN - 1)) / ALIGN * ALIGN;
    size_t new_need = (new_n * size + (ALIGN - 1)) / ALIGN * ALIGN;
    if (p && b && old_need && (unsigned char *)p + old_need == b->data + b->used &&
        b->size - b->used >= new_need - old_need) {
        memset((unsigned char *)p + old_n * size, 0, new_need - old_n * size);
        b->used += new_need - old_need;
        return p;
    }
    void *q = clv_arena_take(arena, new_n * size);
    if (q && p && old_n)
        memcpy(q, p, old_n * size);
    return q;
}

int clv_arena_push_room(clv_arena *arena, void **ptr, size_t n, int32_t *cap, size_t size)
{
    if (*cap > INT32_MAX / 2)
        return 0;
    int32_t bigger = *cap ? *cap * 2 : 8;
    void *p; /* *ptr is a T * of the caller's, not a void *: read and written as bytes */
    memcpy(&p, ptr, sizeof p);
    p = clv_arena_grow(arena, p, n, (size_t)bigger, size);
    if (!p)
        return 0;
    memcpy(ptr, &p, sizeof p);
    *cap = bigger;
    return 1;
}

char *clv_arena_printf(clv_arena *arena, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return NULL;
    char *s = clv_arena_take(arena, (size_t)n + 1);
    if (!s)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return s;
}

char *clv_arena_str(clv_arena *arena, clv_str s)
{
    char *copy = clv_arena_take(arena, (size_t)s.n + 1);
    if (copy && s.n > 0)
        memcpy(copy, s.at, (size_t)s.n);
    return copy;
}

clv_mark clv_arena_mark(clv_arena *arena)
{
    return (clv_mark){ arena->top, arena->top ? arena->top->used : 0 };
}

void clv_arena_rewind(clv_arena *arena, clv_mark mark)
{
    while (arena->top != mark.block)
        drop_top(arena);
    if (arena->top)
        arena->top->used = mark.used;
}

/* At the bottom, where no mark leads. */
void clv_arena_adopt(clv_arena *arena, clv_arena *other)
{
    block **at = &arena->top;
    while (*at)
        at = &(*at)->next;
    *at = other->top;
    arena->bytes += other->bytes - sizeof *other;
    if (arena->bytes > arena->peak)
        arena->peak = arena->bytes;
    other->top = NULL;
    clv_arena_free(other);
}

size_t clv_arena_bytes(const clv_arena *arena) { return arena->bytes; }
size_t clv_arena_peak(const clv_arena *arena) { return arena->peak; }
const clv_alloc *clv_arena_alloc(const clv_arena *arena) { return &arena->alloc; }
