/* chunk_list.h - a long array that grows without being copied, and becomes one piece at the end.
 *
 * Elements are added in runs; a run stays where it is, in one piece, until the list is joined. An
 * array that doubles holds three times its size while it is copied; joining a list holds its size
 * and one chunk, for each chunk is given back as soon as it is copied.
 */
#ifndef CLV_BASE_CHUNK_LIST_H
#define CLV_BASE_CHUNK_LIST_H

#include "base/arena.h"

typedef struct {
    clv_arena *arena;
    size_t size; /* of an element */
    size_t n;    /* elements so far */
    struct clv_chunk *first, *last;
} clv_chunk_list;

/* size: bytes of an element, above 0. The chunks live in the arena. */
void clv_chunk_list_init(clv_chunk_list *list, clv_arena *arena, size_t size);
/* Room for n more elements side by side, to be filled by the caller: not zeroed. NULL: no memory.
 * O(1). */
void *clv_chunk_list_add(clv_chunk_list *list, size_t n);
/* The last element; there must be one. */
void *clv_chunk_list_last(const clv_chunk_list *list);
/* All elements in the order in which they were added, as one array with room for extra more at its
 * end, not zeroed. The list is empty then, and its runs are gone. NULL: no memory, and the list is
 * as it was. O(elements). */
void *clv_chunk_list_join(clv_chunk_list *list, size_t extra);

#endif
