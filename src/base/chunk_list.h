/* chunk_list.h - a long array that grows without being copied, and becomes one piece at the end.
 *
 * Elements are put on in runs; a run stays where it is, in one piece, until the pile is joined. An
 * array that doubles holds three times its size at its worst moment; joining a pile holds its size
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

void clv_chunk_list_init(clv_chunk_list *pile, clv_arena *arena, size_t size);
/* Room for n more elements side by side, to be filled by the caller: not zeroed. NULL: no memory.
 * O(1). */
void *clv_chunk_list_add(clv_chunk_list *pile, size_t n);
/* The last element; there must be one. */
void *clv_chunk_list_last(const clv_chunk_list *pile);
/* All elements in the order they were put on, and room for extra more behind them, not zeroed. The
 * pile is empty then, and runs are where they are no longer. NULL: no memory, and the pile is as it
 * was. */
void *clv_chunk_list_join(clv_chunk_list *pile, size_t extra);

#endif
