/* arena.h - memory with one owner and one end.
 *
 * A job has an arena; all it makes lives there and goes with it. Memory is zeroed. Nothing is freed
 * one by one, except that scratch may be given back by mark and rewind. An arena belongs to one
 * thread at a time.
 *
 * All bytes come from the host's allocator (clv_alloc), so a host can count or limit them, and a
 * test can make any allocation fail.
 */
#ifndef CLV_BASE_ARENA_H
#define CLV_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

/* realloc-shaped: p NULL allocates, size 0 frees and returns NULL, NULL otherwise means no memory.
 * Must be callable from any thread when jobs > 1.
 */
typedef struct {
    void *(*resize)(void *ctx, void *p, size_t size);
    void *ctx;
} clv_alloc;

typedef struct clv_arena clv_arena;

/* A place to rewind to. */
typedef struct {
    void *block;
    size_t used;
} clv_mark;

/* alloc NULL: malloc. limit in bytes, 0 for none. NULL when there is no memory. */
clv_arena *clv_arena_new(const clv_alloc *alloc, size_t limit);
void clv_arena_free(clv_arena *arena); /* NULL is fine */

/* Zeroed, aligned to max_align_t; never NULL for size 0; NULL when out of memory or over limit. */
void *clv_arena_take(clv_arena *arena, size_t size);
/* n * size with the product checked. */
void *clv_arena_take_array(clv_arena *arena, size_t n, size_t size);
/* The same, not zeroed: room of which each element is written before it is read, and some are
 * perhaps never. What is not touched costs no memory. */
void *clv_arena_take_room(clv_arena *arena, size_t n, size_t size);
/* Like realloc for the caller: old_n elements are kept, the rest is zero. In place where *p was the
 * last thing taken. */
void *clv_arena_grow(clv_arena *arena, void *p, size_t old_n, size_t new_n, size_t size);
/* Memory of its own, not zeroed, that may be given back one by one and in any order: for what is
 * large and short-lived. Not to be dropped while a mark made after it is to be rewound to. */
void *clv_arena_take_large(clv_arena *arena, size_t size);
void clv_arena_drop_large(clv_arena *arena, void *p); /* O(blocks of the arena) */
char *clv_arena_printf(clv_arena *arena, const char *fmt, ...) CLV_PRINTF(2, 3);
char *clv_arena_str(clv_arena *arena, clv_str s); /* a copy with a NUL behind it */

/* Everything taken after the mark is given back. Marks nest like a stack. */
clv_mark clv_arena_mark(clv_arena *arena);
void clv_arena_rewind(clv_arena *arena, clv_mark mark);

/* All that another arena with the same allocator holds becomes a part of this one; the other is
 * gone. Marks stay, but for one of an empty arena. O(blocks of both). */
void clv_arena_adopt(clv_arena *arena, clv_arena *other);

/* Bytes held from the allocator now, and the most so far. */
size_t clv_arena_bytes(const clv_arena *arena);
size_t clv_arena_peak(const clv_arena *arena);
/* The allocator the arena was made with; for child arenas and third parties that take one. */
const clv_alloc *clv_arena_alloc(const clv_arena *arena);

#define CLV_NEW(arena, T)          ((T *)clv_arena_take((arena), sizeof(T)))
#define CLV_NEW_ARRAY(arena, T, n) ((T *)clv_arena_take_array((arena), (size_t)(n), sizeof(T)))
#define CLV_NEW_ROOM(arena, T, n)  ((T *)clv_arena_take_room((arena), (size_t)(n), sizeof(T)))

/* Appends room for one more to an array kept as (ptr, n, cap) in the arena, doubling. Evaluates to
 * 0 when there is no memory: `if (!CLV_PUSH_ROOM(arena, a.at, a.n, a.cap)) ...; a.at[a.n++] = x;`
 */
#define CLV_PUSH_ROOM(arena, ptr, n, cap)                                                          \
    ((size_t)(n) < (size_t)(cap) ||                                                                \
     clv_arena_push_room((arena), (void **)&(ptr), (size_t)(n), &(cap), sizeof *(ptr)))
int clv_arena_push_room(clv_arena *arena, void **ptr, size_t n, int32_t *cap, size_t size);

#endif
