#include "compile/offset_packing.h"

#include <stdlib.h>

#include "compile/offset_allocator.h"

/* A rectangle: a size in memory, and operators from first to last. */
typedef struct {
    int64_t offset, size;
    int32_t first, last, index;
} item;

static int largest_first(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* First fit: into the lowest gap that holds it. placed: the n items before, by offset; the new one
 * is inserted. Returns its end. */
static int64_t place_lowest(const item **placed, int32_t n, item *new)
{
    int64_t offset = 0;
    int32_t at = n;
    for (int32_t k = 0; k < n; k++) {
        const item *it = placed[k];
        if (it->last < new->first || it->first > new->last)
            continue;
        if (it->offset - offset >= new->size)
            break;
        if (it->offset + it->size > offset)
            offset = it->offset + it->size;
    }
    for (; at > 0 && placed[at - 1]->offset > offset; at--)
        placed[at] = placed[at - 1];
    placed[at] = new;
    new->offset = offset;
    return offset + new->size;
}

clv_status clv_pack_by_size(clv_placed_buffer *at, int32_t n, clv_arena *arena, int64_t *ret_bytes,
                            clv_error *err)
{
    int64_t height = 0;
    if (n > CLV_PACK_MAX)
        return CLV_OK;
    item *items = CLV_NEW_ARRAY(arena, item, n);
    const item **placed = CLV_NEW_ARRAY(arena, const item *, n);
    if (!items || !placed)
        return clv_fail_nomem(err, "a device's memory");
    for (int32_t k = 0; k < n; k++)
        items[k] = (item){ 0, clv_align_bytes(at[k].bytes), at[k].first, at[k].last, k };
    if (n > 0)
        qsort(items, (size_t)n, sizeof *items, largest_first);
    for (int32_t k = 0; k < n; k++) {
        int64_t end = place_lowest(placed, k, &items[k]);
        height = end > height ? end : height;
    }
    if (height >= *ret_bytes)
        return CLV_OK;
    for (int32_t k = 0; k < n; k++)
        at[items[k].index].offset = items[k].offset;
    *ret_bytes = height;
    return CLV_OK;
}
