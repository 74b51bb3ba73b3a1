/* placement_parts.h - the parts into which a placement spec cuts one tensor.
 *
 * A dimension of size s in n shards without shard_sizes is cut as torch.chunk does: shards of
 * ceil(s / n) as far as they go, then one with the rest, then empty ones, so that there are always
 * n. A mesh cuts each dimension so. A dimension may be smaller than its shards are many.
 */
#ifndef CLV_NOTATION_PLACEMENT_PARTS_H
#define CLV_NOTATION_PLACEMENT_PARTS_H

#include "notation/placement_spec.h"

/* The devices that specs name, each once, with a number each. */
typedef struct {
    const clv_remote_device *at;
    const int32_t *sorted; /* numbers in the order of clv_remote_device_cmp() */
    int32_t n;
} clv_placement_devices;

/* Those of a spec, in the order of clv_remote_device_cmp(). O(devices named * log). */
clv_status clv_placement_devices_of(const clv_placement_spec *spec, clv_arena *arena,
                                    clv_placement_devices *ret, clv_error *err);
/* Those of a list, numbered as they stand there. CLV_EFORMAT where one is listed twice. */
clv_status clv_placement_devices_list(const clv_remote_device *at, int32_t n, clv_arena *arena,
                                      clv_placement_devices *ret, clv_error *err);
/* The number of a device; -1: there is no such. O(log n). */
int32_t clv_placement_devices_find(const clv_placement_devices *devices,
                                   const clv_remote_device *device);

typedef struct {
    const char *name; /* for messages: "weight 'net1.bias'" */
    int32_t rank;
    const int64_t *dims;
    const char *const *dim_names; /* rank of them; NULL: they have none */
} clv_placement_tensor;

/* What PyTorch calls ShardMetadata. */
typedef struct {
    int32_t device;        /* of the devices given */
    const int64_t *offset; /* rank entries, in the whole tensor */
    const int64_t *size;
} clv_placement_part;

/* A device may have several parts, and a part may be empty. They never overlap, and they cover the
 * tensor. */
typedef struct {
    clv_placement_part *at; /* in the order of the spec: shard by shard, a mesh row-major */
    int32_t n, rank;
    bool uneven; /* parts differ in size though no shard_sizes ask for it */
} clv_placement_parts;

/* All devices of the spec are among devices; dims are not negative. CLV_EFORMAT: the spec cannot
 * apply to the tensor: a dimension that it has not, a name among no names, a mesh of another rank,
 * sizes that do not add up, a composite. O(parts * rank).
 */
clv_status clv_placement_parts_of(const clv_placement_spec *spec,
                                  const clv_placement_tensor *tensor,
                                  const clv_placement_devices *devices, clv_arena *arena,
                                  clv_placement_parts *ret, clv_error *err);

#endif
