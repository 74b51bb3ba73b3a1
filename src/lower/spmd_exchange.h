/* spmd_exchange.h - steps that are one collective after which each device has a part: all-to-all
 * and reduce-scatter. Between the files of this folder.
 *
 * Take the axes of the step away, and what a group of devices is about is one tensor, which all of
 * them would have. It is seen as a row of factors, among them two for each axis: one that it has
 * split, and one that it shall split. A device has the tensor without the former, and thereafter
 * without the latter. Where there were parts of sums, none of the former are there.
 */
#ifndef CLV_LOWER_SPMD_EXCHANGE_H
#define CLV_LOWER_SPMD_EXCHANGE_H

#include "lower/spmd.h"

typedef struct {
    int64_t dims[CLV_VIEW_MAX];
    int32_t rank;
    int32_t had[CLV_MESH_AXES_MAX], gets[CLV_MESH_AXES_MAX]; /* by axis: their places; -1: none */
} clv_exchange_view;

/* Of a tensor that a step over these axes brings from one layout to another, as the group of the
 * device at a position sees it. false: two factors of a dimension do not nest, none of them is
 * within a block of the other. O(rank * axes). */
bool clv_spmd_exchange_view(const clv_spmd *s, clv_tensor t, const clv_layout *from,
                            const clv_layout *to, uint32_t axes, int32_t position,
                            clv_exchange_view *ret);

/* Is the step, of which axes and local are set, one such collective? Each of its axes splits before
 * (or has parts of a sum) and after, nothing else changes, and on every device nothing is empty,
 * parts of a group are equal and their factors nest. O(positions * rank * axes). */
bool clv_spmd_is_exchange(const clv_spmd *s, const clv_spmd_instr *step, clv_tensor t,
                          const clv_layout *from, const clv_layout *to);

#endif
