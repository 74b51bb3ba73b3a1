/* spec_shards.h - the shards of a tensor under a sharding spec: offsets and sizes, device by
 * device. */
#ifndef CLV_NOTATION_SPEC_SHARDS_H
#define CLV_NOTATION_SPEC_SHARDS_H

#include "notation/sharding_spec.h"
#include "sharding/layout.h"

/* One part on one device; a replicated part gives one entry a device. */
typedef struct {
    int64_t device;
    int64_t part;          /* position among the parts, row-major over the listed axes */
    const int64_t *offset; /* rank entries */
    const int64_t *size;
    int64_t bytes; /* packed */
} clv_shard;

/* A fused axis is taken apart into its factors, for a part of it need not lie in one run: dims are
 * those of the tensor as it is split, equal to its own unless some axis has several factors. */
typedef struct {
    clv_shard *at; /* by part, then in the order of the spec's devices */
    int32_t n;
    int32_t rank;
    const int64_t *dims;
    const int32_t *axis_of; /* the tensor's axis that each of dims is of */
    bool uneven;            /* the policy was needed */
} clv_shards;

/* At most so many shards of one tensor, copies counted. */
#define CLV_SHARDS_MAX (1 << 20)

/* The parts of a tensor; its shares are not looked at. Checks the spec first. A part is a block of
 * each axis: the part number, written with the shard counts as digits (the first listed axis the
 * highest), says which one. Fails (CLV_EFORMAT) for an uneven axis under CLV_UNEVEN_REFUSE and
 * where the factors of an axis do not multiply to it (one that is absent or symbolic is what the
 * others leave). CLV_ELIMIT beyond CLV_SHARDS_MAX. Copies of a part share offset and size. O(parts
 * * rank + shards). */
clv_status clv_spec_shards(const clv_sharding_spec *spec, const clv_tensor_split *tensor,
                           clv_arena *arena, clv_shards *ret, clv_error *err);

/* Do both specs give each device the same part of the tensor, however they are written? One that
 * clv_spec_shards() does not take is like no other. Scratch is the caller's. CLV_ENOMEM. */
clv_status clv_specs_same_parts(const clv_sharding_spec *a, const clv_sharding_spec *b,
                                const clv_tensor_split *tensor, clv_arena *scratch, bool *ret,
                                clv_error *err);

#endif
