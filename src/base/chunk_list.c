#include "base/chunk_list.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

/* Chunks double: a small pile stays small. The largest is small beside what makes memory scarce,
 * and large enough that there are not many. */
#define CHUNK_MIN ((size_t)4 << 10)
#define CHUNK_MAX ((size_t)1 << 20)

typedef struct clv_chunk {
    struct clv_chunk *next;
    size_t cap, used; /* bytes */
    alignas(max_align_t) unsigned char data[];
} chunk;

void clv_chunk_list_init(clv_chunk_list *pile, clv_arena *arena, size_t size)
{
    assert(size > 0);
    *pile = (clv_chunk_list){ .arena = arena, .size = size };
}

static chunk *add_chunk(clv_chunk_list *pile, size_t need)
{
    size_t cap = pile->last ? pile->last->cap * 2 : CHUNK_MIN;
    if (cap > CHUNK_MAX)
        cap = CHUNK_MAX;
    if (cap < need)
        cap = need;
    chunk *c = clv_arena_take_large(pile->arena, sizeof *c + cap);
    if (!c)
        return NULL;
    *c = (chunk){ .cap = cap };
    *(pile->last ? &pile->last->next : &pile->first) = c;
    pile->last = c;
    return c;
}

void *clv_chunk_list_add(clv_chunk_list *pile, size_t n)
{
    if (n > SIZE_MAX / 4 / pile->size)
        return NULL;
    size_t need = n * pile->size;
    chunk *c = pile->last;
    if (!c || c->cap - c->used < need)
        c = add_chunk(pile, need);
    if (!c)
        return NULL;
    void *p = c->data + c->used;
    c->used += need;
    pile->n += n;
    return p;
}

void *clv_chunk_list_last(const clv_chunk_list *pile)
{
    assert(pile->n > 0 && pile->last->used >= pile->size);
    return pile->last->data + (pile->last->used - pile->size);
}

void *clv_chunk_list_join(clv_chunk_list *pile, size_t extra)
{
    if (extra > SIZE_MAX / 4 / pile->size - pile->n)
        return NULL;
    unsigned char *all = clv_arena_take_large(pile->arena, (pile->n + extra) * pile->size);
    size_t at = 0;
    if (!all)
        return NULL;
    for (chunk *c = pile->first, *next; c; c = next) {
        next = c->next;
        memcpy(all + at, c->data, c->used);
        at += c->used;
        clv_arena_drop_large(pile->arena, c);
    }
    clv_chunk_list_init(pile, pile->arena, pile->size);
    return all;
}
