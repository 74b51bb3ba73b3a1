/* sharded_tensor.h - a new tensor that is sharded from the start: what each device is to make, and
 * no tensor as a whole anywhere. What PyTorch's RFC calls sharded_tensor.empty, zeros and ones.
 *
 * It is a description (sizes, places, bytes); the elements of a part are made by whoever has it,
 * one part at a time.
 */
#ifndef CLV_WEIGHTS_SHARDED_TENSOR_H
#define CLV_WEIGHTS_SHARDED_TENSOR_H

#include "graph/dtype.h"
#include "notation/placement_parts.h"
#include "weights/fill_source.h"

/* "empty" for CLV_FILL_NOT, which is whatever is there; "zeros", "ones". */
const char *clv_fill_name(clv_weight_fill fill);

typedef struct {
    clv_placement_tensor tensor; /* name, sizes, names of dimensions */
    clv_dtype dtype;
    clv_weight_fill fill;
    bool requires_grad, pin_memory; /* for whoever makes the parts */
} clv_sharded_options;

typedef struct {
    clv_sharded_options options;
    const clv_placement_devices *devices;
    clv_placement_parts parts;
    const int64_t *bytes; /* of each part, packed */
} clv_sharded_tensor;

/* What options point to must outlive it, and so must devices, which have all of the spec's.
 * CLV_EFORMAT: the spec cannot apply, or the type has no size; CLV_ELIMIT: 64 bits do not hold the
 * bytes of a part. O(parts * rank). */
clv_status clv_sharded_tensor_new(const clv_placement_spec *spec,
                                  const clv_placement_devices *devices,
                                  const clv_sharded_options *options, clv_arena *arena,
                                  clv_sharded_tensor *ret, clv_error *err);
/* Makes the elements of a part in bytes[part] bytes of memory; nothing for CLV_FILL_NOT. */
void clv_sharded_tensor_fill(const clv_sharded_tensor *tensor, int32_t part, void *ret);
/* {"name", "dtype", "dims", "fill", "requires_grad", "pin_memory", "shards": [{"device", "offsets",
 * "dims", "bytes"}, ...]}; "names" where dimensions have them. CLV_ENOMEM. */
clv_status clv_sharded_tensor_json(const clv_sharded_tensor *tensor, clv_arena *arena,
                                   const char **ret, clv_error *err);

#endif
