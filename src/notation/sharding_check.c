#include <inttypes.h>
#include <stdlib.h>

#include "notation/sharding_split.h"

/* Is a spec legal, whatever the tensor's sizes are? Each sentence starts with the tensor and names
 * the field as the proto does.
 */

static int by_key(const void *a, const void *b)
{
    int64_t x = (*(const clv_device_group *const *)a)->key;
    int64_t y = (*(const clv_device_group *const *)b)->key;

    return (x > y) - (x < y);
}

clv_status clv_group_index_make(const clv_sharding_spec *spec, clv_arena *arena,
                                clv_group_index *ret, clv_error *err)
{
    const clv_device_group **at = CLV_NEW_ARRAY(arena, const clv_device_group *, spec->n_groups);

    if (!at)
        return clv_fail_nomem(err, "a sharding spec");
    for (int32_t i = 0; i < spec->n_groups; i++)
        at[i] = &spec->groups[i];
    if (spec->n_groups > 0)
        qsort(at, (size_t)spec->n_groups, sizeof *at, by_key);
    for (int32_t i = 1; i < spec->n_groups; i++)
        if (at[i]->key == at[i - 1]->key)
            return clv_fail(err, CLV_EFORMAT,
                            "sharding of '%.80s': index_to_device_group_map has the key %" PRId64
                            " twice, each key is there once",
                            CLV_SPEC_NAME(spec), at[i]->key);
    *ret = (clv_group_index){ at, spec->n_groups };
    return CLV_OK;
}

const clv_device_group *clv_group_find(const clv_group_index *index, int64_t key)
{
    int32_t low = 0, high = index->n;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (index->at[middle]->key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->n && index->at[low]->key == key ? index->at[low] : NULL;
}

int64_t clv_spec_parts(const clv_sharding_spec *spec)
{
    int64_t parts = 1;

    for (int32_t d = 0; d < spec->n_dims; d++)
        for (int32_t i = 0; i < spec->dims[d].n_simple; i++)
            if (__builtin_mul_overflow(parts, spec->dims[d].simple[i].num_shards, &parts))
                return INT64_MAX;
    return parts;
}

static clv_status check_id(const clv_sharding_spec *spec, const char *field, int64_t id,
                           int64_t n_devices, clv_error *err)
{
    if (id < 0)
        return clv_fail(err, CLV_EFORMAT,
                        "sharding of '%.80s': %s has %" PRId64
                        ", which is neither a device nor a key of index_to_device_group_map",
                        CLV_SPEC_NAME(spec), field, id);
    if (n_devices > 0 && id >= n_devices)
        return clv_fail(err, CLV_EFORMAT,
                        "sharding of '%.80s': %s has %" PRId64 ", the configuration has devices 0 "
                        "to %" PRId64,
                        CLV_SPEC_NAME(spec), field, id, n_devices - 1);
    return CLV_OK;
}

static clv_status check_groups(const clv_sharding_spec *spec, int64_t n_devices, clv_error *err)
{
    for (int32_t i = 0; i < spec->n_groups; i++) {
        const clv_device_group *group = &spec->groups[i];
        if (group->n_devices < 1)
            return clv_fail(err, CLV_EFORMAT,
                            "sharding of '%.80s': index_to_device_group_map has no device for the "
                            "key %" PRId64 ", expected at least one",
                            CLV_SPEC_NAME(spec), group->key);
        for (int32_t k = 0; k < group->n_devices; k++)
            CLV_TRY(check_id(spec, "index_to_device_group_map", group->devices[k], n_devices, err));
    }
    return CLV_OK;
}

static clv_status check_devices(const clv_sharding_spec *spec, int64_t n_devices, clv_arena *arena,
                                clv_error *err)
{
    int64_t parts = clv_spec_parts(spec);
    clv_group_index index;

    CLV_TRY(check_groups(spec, n_devices, err));
    CLV_TRY(clv_group_index_make(spec, arena, &index, err));
    for (int32_t i = 0; i < spec->n_device; i++)
        if (!clv_group_find(&index, spec->device[i]))
            CLV_TRY(check_id(spec, "device", spec->device[i], n_devices, err));
    if (spec->n_device < 1)
        return clv_fail(err, CLV_EFORMAT,
                        "sharding of '%.80s': device is empty, expected at least one device or "
                        "group",
                        CLV_SPEC_NAME(spec));
    if (parts > 1 && spec->n_device != parts)
        return clv_fail(err, CLV_EFORMAT,
                        "sharding of '%.80s': device has %" PRId32 " entries for %" PRId64
                        " parts, expected one a part",
                        CLV_SPEC_NAME(spec), spec->n_device, parts);
    return CLV_OK;
}

static clv_status check_factor(const clv_sharding_spec *spec, const clv_sharded_dim *dim,
                               const clv_simple_sharding *factor, clv_error *err)
{
    if (factor->num_shards < 1)
        return clv_fail(err, CLV_EFORMAT,
                        "sharding of '%.80s': num_shards of axis %" PRId64 " is %" PRId64
                        ", expected at least 1",
                        CLV_SPEC_NAME(spec), dim->axis, factor->num_shards);
    if (clv_dim_is_number(factor->dim) && factor->dim < 0)
        return clv_fail(err, CLV_EFORMAT,
                        "sharding of '%.80s': dim_value of axis %" PRId64 " is %" PRId64
                        ", expected at least 0",
                        CLV_SPEC_NAME(spec), dim->axis, factor->dim);
    return CLV_OK;
}

static clv_status check_axis(const clv_sharding_spec *spec, const clv_sharded_dim *dim,
                             int32_t rank, bool seen[2 * CLV_RANK_MAX], clv_error *err)
{
    int64_t most = rank == CLV_RANK_UNKNOWN ? CLV_RANK_MAX : rank;

    if (rank == 0)
        return clv_fail(err, CLV_EFORMAT,
                        "sharding of '%.80s': axis %" PRId64 " of a scalar, which has none",
                        CLV_SPEC_NAME(spec), dim->axis);
    if (dim->axis < -most || dim->axis >= most)
        return clv_fail(err, CLV_EFORMAT,
                        "sharding of '%.80s': axis %" PRId64 " is not in [%" PRId64 ", %" PRId64
                        "]",
                        CLV_SPEC_NAME(spec), dim->axis, -most, most - 1);
    /* Of an unknown rank, -1 may be any axis: only the same number twice is certain. */
    int64_t axis = dim->axis < 0 && rank != CLV_RANK_UNKNOWN ? dim->axis + rank : dim->axis;
    if (seen[axis + CLV_RANK_MAX])
        return clv_fail(err, CLV_EFORMAT,
                        "sharding of '%.80s': axis %" PRId64
                        " is in sharded_dim twice, expected once: factors of one axis go into its "
                        "simple_sharding",
                        CLV_SPEC_NAME(spec), dim->axis);
    seen[axis + CLV_RANK_MAX] = true;
    return CLV_OK;
}

static clv_status check_dim(const clv_sharding_spec *spec, const clv_sharded_dim *dim, int32_t rank,
                            bool seen[2 * CLV_RANK_MAX], int32_t *factors, clv_error *err)
{
    CLV_TRY(check_axis(spec, dim, rank, seen, err));
    if (dim->n_simple < 1)
        return clv_fail(err, CLV_EFORMAT,
                        "sharding of '%.80s': axis %" PRId64
                        " has no simple_sharding, expected at least one",
                        CLV_SPEC_NAME(spec), dim->axis);
    if (dim->n_simple > CLV_RANK_MAX - *factors)
        return clv_fail(err, CLV_ELIMIT,
                        "sharding of '%.80s': axis %" PRId64 " has %" PRId32
                        " factors, all axes together may have %d",
                        CLV_SPEC_NAME(spec), dim->axis, dim->n_simple, CLV_RANK_MAX);
    *factors += dim->n_simple;
    for (int32_t i = 0; i < dim->n_simple; i++)
        CLV_TRY(check_factor(spec, dim, &dim->simple[i], err));
    return CLV_OK;
}

clv_status clv_spec_check(const clv_sharding_spec *spec, int32_t rank, int64_t n_devices,
                          clv_arena *arena, clv_error *err)
{
    bool seen[2 * CLV_RANK_MAX] = { false };
    int32_t factors = 0;

    /* An unlisted axis is a factor of its own. */
    if (rank != CLV_RANK_UNKNOWN && rank > spec->n_dims)
        factors = rank - spec->n_dims;
    for (int32_t d = 0; d < spec->n_dims; d++)
        CLV_TRY(check_dim(spec, &spec->dims[d], rank, seen, &factors, err));
    clv_mark mark = clv_arena_mark(arena);
    clv_status status = check_devices(spec, n_devices, arena, err);
    clv_arena_rewind(arena, mark);
    return status;
}
