/* offset_packing.h - offsets for buffers whose lifetimes are all known, closer than an allocator
 * that sees one after the other gives them: dynamic storage allocation, which is NP-hard (Garey and
 * Johnson 1979, SR2), by a heuristic.
 *
 * Greedy by size for offset calculation (Pisarchyk and Lee 2020): the largest first; but each at
 * the lowest offset where nothing lies that lives at the same time, not in the smallest gap.
 */
#ifndef CLV_COMPILE_OFFSET_PACKING_H
#define CLV_COMPILE_OFFSET_PACKING_H

#include <stdint.h>

#include "base/arena.h"

#define CLV_SLOT_WORKSPACE (-1)

/* A tensor (or an operator's workspace) in a device's arena, from its first to its last operator;
 * both count the group's own operators from 0. */
typedef struct {
    int32_t slot, first, last;
    int64_t offset, bytes;
} clv_placed_buffer;

/* More buffers than this are left as they are: a pass over pairs. */
#define CLV_PACK_MAX 4096

/* Gives n buffers new offsets and *ret_bytes the end of the highest one; both are left alone where
 * the old end, *ret_bytes, is no higher or n is above CLV_PACK_MAX. CLV_ENOMEM. O(n^2), a ns or two
 * each. */
clv_status clv_pack_by_size(clv_placed_buffer *at, int32_t n, clv_arena *arena, int64_t *ret_bytes,
                            clv_error *err);

#endif
