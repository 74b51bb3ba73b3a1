#include "compile/offset_allocator.h"

#include <assert.h>
#include <string.h>

/* A size in units of the alignment has a group (its power of two) and one of 16 classes inside it.
 * Any block of a higher class than the wanted one fits; a few blocks of the wanted class itself are
 * tried first, because repeated layers free and want the very same sizes. What is free at the end
 * is cut off, so the arena grows only where no hole was found.
 */
#define CLASS_BITS      4 /* 2^4 == CLV_SIZE_CLASSES */
#define SAME_CLASS_MOST 8 /* blocks of the wanted class that are tried */

typedef struct {
    int32_t group, in_group;
} size_class;

static size_class class_of(int64_t size)
{
    uint64_t units = (uint64_t)size / CLV_MEMORY_ALIGN;
    if (units < CLV_SIZE_CLASSES)
        return (size_class){ 0, (int32_t)units };
    int32_t log2 = 63 - __builtin_clzll(units);
    return (size_class){ log2 - CLASS_BITS + 1,
                         (int32_t)((units >> (log2 - CLASS_BITS)) & (CLV_SIZE_CLASSES - 1)) };
}

static void list_push(clv_offset_allocator *a, int32_t id)
{
    clv_offset_block *b = &a->at[id];
    size_class c = class_of(b->size);
    int32_t *head = &a->heads[c.group][c.in_group];
    b->is_free = true;
    b->prev = -1;
    b->next = *head;
    if (*head >= 0)
        a->at[*head].prev = id;
    *head = id;
    a->groups |= UINT64_C(1) << c.group;
    a->classes[c.group] = (uint16_t)(a->classes[c.group] | 1u << c.in_group);
}

static void list_remove(clv_offset_allocator *a, int32_t id)
{
    clv_offset_block *b = &a->at[id];
    size_class c = class_of(b->size);
    if (b->next >= 0)
        a->at[b->next].prev = b->prev;
    if (b->prev >= 0)
        a->at[b->prev].next = b->next;
    else
        a->heads[c.group][c.in_group] = b->next;
    b->is_free = false;
    if (a->heads[c.group][c.in_group] >= 0)
        return;
    a->classes[c.group] = (uint16_t)(a->classes[c.group] & ~(1u << c.in_group));
    if (!a->classes[c.group])
        a->groups &= ~(UINT64_C(1) << c.group);
}

/* The tightest of the first few of the wanted class, else the first of the next class that has any,
 * or -1. */
static int32_t find_free(const clv_offset_allocator *a, int64_t size)
{
    size_class c = class_of(size);
    int32_t best = -1, id = a->heads[c.group][c.in_group];
    for (int tried = 0; id >= 0 && tried < SAME_CLASS_MOST; tried++, id = a->at[id].next)
        if (a->at[id].size >= size && (best < 0 || a->at[id].size < a->at[best].size))
            best = id;
    if (best >= 0)
        return best;
    unsigned classes = a->classes[c.group] & ~((2u << c.in_group) - 1);
    if (classes)
        return a->heads[c.group][__builtin_ctz(classes)];
    uint64_t groups = c.group == 63 ? 0 : a->groups & ~((UINT64_C(2) << c.group) - 1);
    if (!groups)
        return -1;
    int group = __builtin_ctzll(groups);
    return a->heads[group][__builtin_ctz(a->classes[group])];
}

static int32_t new_node(clv_offset_allocator *a)
{
    int32_t id = a->unused;
    if (id >= 0) {
        a->unused = a->at[id].next;
        return id;
    }
    if (!CLV_PUSH_ROOM(a->arena, a->at, a->n, a->cap))
        return -1;
    return a->n++;
}

static void drop_node(clv_offset_allocator *a, int32_t id)
{
    a->at[id].next = a->unused;
    a->unused = id;
}

static int32_t append_block(clv_offset_allocator *a, int64_t size)
{
    int32_t id = new_node(a);
    if (id < 0)
        return -1;
    a->at[id] =
        (clv_offset_block){ .offset = a->top, .size = size, .before = a->last, .after = -1 };
    if (a->last >= 0)
        a->at[a->last].after = id;
    a->last = id;
    a->top += size;
    if (a->top > a->peak)
        a->peak = a->top;
    return id;
}

/* Leaves size bytes in block id, which is in no list; the rest becomes a free block behind it. What
 * was free is never the last block, so there is one after it. */
static bool split(clv_offset_allocator *a, int32_t id, int64_t size)
{
    if (a->at[id].size == size)
        return true;
    int32_t rest = new_node(a);
    if (rest < 0)
        return false;
    clv_offset_block *b = &a->at[id];
    a->at[rest] = (clv_offset_block){
        .offset = b->offset + size, .size = b->size - size, .before = id, .after = b->after
    };
    a->at[b->after].before = rest;
    b->after = rest;
    b->size = size;
    list_push(a, rest);
    return true;
}

/* Block b, not in a list, takes over its neighbour after, which is not in a list either. */
static void join(clv_offset_allocator *a, int32_t id, int32_t after)
{
    clv_offset_block *b = &a->at[id];
    b->size += a->at[after].size;
    b->after = a->at[after].after;
    if (b->after >= 0)
        a->at[b->after].before = id;
    else
        a->last = id;
    drop_node(a, after);
}

void clv_offset_allocator_init(clv_offset_allocator *a, clv_arena *arena)
{
    *a = (clv_offset_allocator){ .arena = arena, .unused = -1, .last = -1 };
    memset(a->heads, -1, sizeof a->heads);
}

int32_t clv_offset_alloc(clv_offset_allocator *a, int64_t bytes)
{
    assert(bytes >= 1);
    int64_t size = clv_align_bytes(bytes);
    int32_t id = find_free(a, size);
    if (id < 0)
        return append_block(a, size);
    list_remove(a, id);
    if (split(a, id, size))
        return id;
    list_push(a, id); /* without memory it stays free as it was */
    return -1;
}

void clv_offset_free(clv_offset_allocator *a, int32_t block)
{
    int32_t id = block;
    assert(!a->at[id].is_free);
    int32_t after = a->at[id].after;
    if (after >= 0 && a->at[after].is_free) {
        list_remove(a, after);
        join(a, id, after);
    }
    int32_t before = a->at[id].before;
    if (before >= 0 && a->at[before].is_free) {
        list_remove(a, before);
        join(a, before, id);
        id = before;
    }
    if (a->at[id].after >= 0) {
        list_push(a, id);
        return;
    }
    a->top = a->at[id].offset; /* nothing lives behind it: the arena ends before it */
    a->last = a->at[id].before;
    if (a->last >= 0)
        a->at[a->last].after = -1;
    drop_node(a, id);
}
