/* offset_allocator.h - offsets in a device's arena, allocated and freed one after the other; there
 * is no real memory behind them.
 *
 * Two-level segregated fit (TLSF; Masmano, Ripoll, Crespo and Real 2004) on numbers: free blocks
 * lie in lists by size class, two bitmaps find the smallest class that surely fits, and a freed
 * block joins its free neighbours. Both calls are O(1). Same calls, same offsets.
 */
#ifndef CLV_COMPILE_OFFSET_ALLOCATOR_H
#define CLV_COMPILE_OFFSET_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Every tensor starts at a multiple of this many bytes; GPU allocators give the same. */
#define CLV_MEMORY_ALIGN 256

#define CLV_SIZE_GROUPS  64 /* powers of two */
#define CLV_SIZE_CLASSES 16 /* in each power of two */

typedef struct {
    int64_t offset, size;
    int32_t before, after; /* neighbours by address; -1 at the ends */
    int32_t next, prev;    /* in the free list of its class; next also links unused nodes */
    bool is_free;
} clv_offset_block;

typedef struct {
    clv_arena *arena; /* of the nodes below */
    clv_offset_block *at;
    int32_t n, cap, unused, last;
    int64_t top;  /* end of the last block; nothing lies above it */
    int64_t peak; /* the highest top so far: how big the arena has to be */
    uint64_t groups;
    uint16_t classes[CLV_SIZE_GROUPS];
    int32_t heads[CLV_SIZE_GROUPS][CLV_SIZE_CLASSES];
} clv_offset_allocator;

void clv_offset_allocator_init(clv_offset_allocator *a, clv_arena *arena);

/* bytes >= 1, rounded up to CLV_MEMORY_ALIGN. The block's index in at, or -1 when out of (real)
 * memory; what was allocated before stays as it is. */
int32_t clv_offset_alloc(clv_offset_allocator *a, int64_t bytes);
void clv_offset_free(clv_offset_allocator *a, int32_t block);

/* bytes <= INT64_MAX - CLV_MEMORY_ALIGN, not negative. */
static inline int64_t clv_align_bytes(int64_t bytes)
{
    return (bytes + (CLV_MEMORY_ALIGN - 1)) / CLV_MEMORY_ALIGN * CLV_MEMORY_ALIGN;
}

#endif
