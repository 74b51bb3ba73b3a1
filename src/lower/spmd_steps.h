/* spmd_steps.h - what a step between two layouts comes to: nothing that is sent, one collective
 * after which each device has a part (all-to-all, reduce-scatter), or several.
 *
 * Take the axes of the step away, and what a group of devices is about is one tensor, which all of
 * them would have. It is seen as a row of factors, among them two for each axis: one that it has
 * split, and one that it shall split. A device has the tensor without the former, and thereafter
 * without the latter. Where there were parts of sums, none of the former are there.
 */
#ifndef CLV_LOWER_SPMD_STEPS_H
#define CLV_LOWER_SPMD_STEPS_H

#include "lower/spmd.h"

/* A tensor that a step over some axes brings from one layout to another. */
typedef struct {
    clv_tensor tensor;
    const clv_layout *from, *to;
    uint32_t axes;
} clv_spmd_reshard;

/* Does every device have of one layout what it needs of the other? Scratch is given back.
 * CLV_ENOMEM. O(positions * (spans + rank)). */
clv_status clv_spmd_is_local(const clv_spmd *s, const clv_spmd_reshard *r, clv_arena *arena,
                             bool *ret, clv_error *err);

/* Is the step one such collective? local: as clv_spmd_is_local() says. Each of its axes splits
 * before (or has parts of a sum) and after, nothing else changes, and on every device nothing is
 * empty, parts of a group are equal and their factors nest. O(positions * rank * axes). */
bool clv_spmd_is_exchange(const clv_spmd *s, const clv_spmd_reshard *r, bool local);

typedef struct {
    int64_t dims[CLV_VIEW_MAX];
    int32_t rank;
    int32_t had[CLV_MESH_AXES_MAX], gets[CLV_MESH_AXES_MAX]; /* by axis: their places; -1: none */
} clv_exchange_view;

/* The tensor as the group of the device at a position sees it. false: two factors of a dimension do
 * not nest, none of them is within a block of the other. O(rank * axes). */
bool clv_spmd_exchange_view(const clv_spmd *s, const clv_spmd_reshard *r, int32_t position,
                            clv_exchange_view *ret);

#endif
