/* box_cover.h - do boxes fill a tensor, each element once? */
#ifndef CLV_WEIGHTS_BOX_COVER_H
#define CLV_WEIGHTS_BOX_COVER_H

#include "weights/box.h"

/* boxes: distinct ones of one tensor of elems elements, all checked; copies of a box are listed
 * once. CLV_EFORMAT names the first element that no box has, or that two have. what: "weight 'w'".
 *
 * Boxes of one view: O(n 2^d log n), d the dims in which any box is not full, however large the
 * tensor is. Boxes of different views, or where 2^d is absurd: O(r log n), r runs. */
clv_status clv_boxes_cover(const clv_box *const *boxes, int32_t n, int64_t elems, const char *what,
                           clv_arena *arena, clv_error *err);

/* Which boxes are copies of each other: group_of[i] from 0 to *ret_groups - 1, numbered by the
 * first box of each. Boxes of one tensor, checked. O(n log n), and a look at each of those that
 * begin at one element where they differ, which boxes that cover do not. */
clv_status clv_boxes_group(const clv_box *const *boxes, int32_t n, clv_arena *arena,
                           int32_t *group_of, int32_t *ret_groups, clv_error *err);

#endif
