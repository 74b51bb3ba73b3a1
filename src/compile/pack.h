/* pack.h - addresses for tensors whose lifetimes are all known, closer than one after the other.
 *
 * The largest first, each at the lowest address where nothing lies that lives at the same time.
 */
#ifndef CLV_COMPILE_PACK_H
#define CLV_COMPILE_PACK_H

#include "compile/layout.h"

/* More tensors than this are left as they are: a pass over pairs. */
#define CLV_PACK_MAX 4096

/* Gives n placements new offsets and *ret_bytes the end of the highest one; both are left alone
 * where the old end, *ret_bytes, is no higher or n is above CLV_PACK_MAX. CLV_ENOMEM. O(n^2), a ns
 * or two each. */
clv_status clv_pack(clv_place_problem *at, int32_t n, clv_arena *arena, int64_t *ret_bytes,
                    clv_error *err);

#endif
