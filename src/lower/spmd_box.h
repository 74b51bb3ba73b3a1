/* spmd_box.h - the part that a device has of a tensor, as shards of weights are told. */
#ifndef CLV_LOWER_SPMD_BOX_H
#define CLV_LOWER_SPMD_BOX_H

#include "lower/spmd.h"
#include "weights/box.h"

/* Of a weight of the model; one that can only be copied is whole. In the arena. O(rank). */
clv_status clv_spmd_box(const clv_spmd *s, clv_tensor weight, const clv_layout *layout,
                        int32_t position, clv_arena *arena, clv_box *ret, clv_error *err);

#endif
