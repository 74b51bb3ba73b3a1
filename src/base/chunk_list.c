#include "base/chunk_list.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the first chunk; each next one is twice as large, up to CHUNK_MAX. So a short list stays
 * small, and a long one has few chunks, none of which counts beside the whole. */
#define CHUNK_MIN ((size_t)4 << 10)
#define CHUNK_MAX ((size_t)1 << 20)

typedef struct clv_chunk {
    struct clv_chunk *next;
    size_t cap, used; /* bytes */
    alignas(max_align_t) unsigned char data[];
} chunk;

void clv_chunk_list_init(clv_chunk_list *list, clv_arena *arena, size_t size)
{
    assert(size > 0);
    *list = (clv_chunk_list){ .arena = arena, .size = size };
}

static chunk *add_chunk(clv_chunk_list *list, size_t need)
{
    size_t cap = list->last ? list->last->cap * 2 : CHUNK_MIN;
    if (cap > CHUNK_MAX)
        cap = CHUNK_MAX;
    if (cap < need)
        cap = need;
    chunk *c = clv_arena_take_large(list->arena, sizeof *c + cap);
    if (!c)
        return NULL;
    *c = (chunk){ .cap = cap };
    *(list->last ? &list->last->next : &list->first) = c;
    list->last = c;
    return c;
}

void *clv_chunk_list_add(clv_chunk_list *list, size_t n)
{
    if (n > SIZE_MAX / 4 / list->size)
        return NULL;
    size_t need = n * list->size;
    chunk *c = list->last;
    if (!c || c->cap - c->used < need)
        c = add_chunk(list, need);
    if (!c)
        return NULL;
    void *p = c->data + c->used;
    c->used += need;
    list->n += n;
    return p;
}

void *clv_chunk_list_last(const clv_chunk_list *list)
{
    assert(list->n > 0 && list->last->used >= list->size);
    return list->last->data + (list->last->used - list->size);
}

void *clv_chunk_list_join(clv_chunk_list *list, size_t extra)
{
    if (extra > SIZE_MAX / 4 / list->size - list->n)
        return NULL;
    unsigned char *all = clv_arena_take_large(list->arena, (list->n + extra) * list->size);
    size_t at = 0;
    if (!all)
        return NULL;
    for (chunk *c = list->first, *next; c; c = next) {
        next = c->next;
        memcpy(all + at, c->data, c->used);
        at += c->used;
        clv_arena_drop_large(list->arena, c);
    }
    clv_chunk_list_init(list, list->arena, list->size);
    return all;
}
