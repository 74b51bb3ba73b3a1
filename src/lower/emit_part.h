/* emit_part.h - parts of tensors: taken out of what a device has, and put together again. */
#ifndef CLV_LOWER_EMIT_PART_H
#define CLV_LOWER_EMIT_PART_H

#include "lower/emit_tensor.h"

/* *io: what the device at a position has of the tensor of a value in the layout `from`, which
 * includes that of the value; then what it has of the value. */
clv_status clv_emit_part(clv_emit *e, const clv_layout *from, const clv_spmd_value *to,
                         int32_t position, clv_str *io, clv_error *err);
/* Devices that differ in one axis put together what it splits. *io: what all of them have, names by
 * position; *layout: how it lies. */
clv_status clv_emit_gather(clv_emit *e, clv_tensor t, clv_layout *layout, int32_t axis, clv_str *io,
                           clv_error *err);

#endif
