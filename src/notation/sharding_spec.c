#include "notation/sharding_spec.h"

#include <inttypes.h>
#include <stdlib.h>

/* -- device groups -- */

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

/* -- check: each sentence starts with the tensor and names the field as the proto does -- */

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

/* -- show -- */

#define SPEC_TEXT     400 /* of one spec: a line or two of a report */
#define DEVICES_SHOWN 8   /* of a list, and of a group */

typedef struct {
    char at[SPEC_TEXT];
    size_t n;
} text;

#define ADD(t, ...) ((t)->n = clv_add_words((t)->at, SPEC_TEXT, (t)->n, __VA_ARGS__))

static void add_dim(text *t, const clv_sharded_dim *dim)
{
    ADD(t, "axis %" PRId64 " in ", dim->axis);
    for (int32_t i = 0; i < dim->n_simple; i++)
        ADD(t, "%s%" PRId64, i ? "*" : "", dim->simple[i].num_shards);
    if (dim->n_simple < 2)
        return;
    ADD(t, " of ");
    for (int32_t i = 0; i < dim->n_simple; i++) {
        const clv_simple_sharding *one = &dim->simple[i];
        if (one->dim_param)
            ADD(t, "%s%.40s", i ? "*" : "", one->dim_param);
        else if (one->dim >= 0)
            ADD(t, "%s%" PRId64, i ? "*" : "", one->dim);
        else
            ADD(t, "%srest", i ? "*" : "");
    }
}

/* "0-7", "0, 2" */
static void add_ids(text *t, const int64_t *id, int32_t n)
{
    int32_t shown = 0;

    for (int32_t i = 0, end = 0; i < n; i = end) {
        for (end = i + 1; end < n && id[end] == id[end - 1] + 1; end++)
            continue;
        if (shown++ == DEVICES_SHOWN) {
            ADD(t, ", ... (%" PRId32 ")", n);
            return;
        }
        ADD(t, "%s%" PRId64, i ? ", " : "", id[i]);
        if (end == i + 2)
            ADD(t, ", %" PRId64, id[end - 1]);
        else if (end > i + 2)
            ADD(t, "-%" PRId64, id[end - 1]);
    }
}

/* Plain ids, or groups in braces. A mixture is written one by one. */
static void add_devices(text *t, const clv_sharding_spec *spec)
{
    int32_t i = 0;

    if (spec->n_groups == 0) {
        add_ids(t, spec->device, spec->n_device);
        return;
    }
    for (; i < spec->n_device && i < DEVICES_SHOWN; i++) {
        const clv_device_group *group = NULL;
        for (int32_t g = 0; g < spec->n_groups && !group; g++)
            group = spec->groups[g].key == spec->device[i] ? &spec->groups[g] : NULL;
        ADD(t, i ? ", {" : "{");
        if (group)
            add_ids(t, group->devices, group->n_devices);
        else
            ADD(t, "%" PRId64, spec->device[i]);
        ADD(t, "}");
    }
    if (i < spec->n_device)
        ADD(t, ", ... (%" PRId32 ")", spec->n_device);
}

const char *clv_spec_show(const clv_sharding_spec *spec, clv_arena *arena)
{
    text t = { .n = 0 };
    int32_t n_split = 0;

    for (int32_t d = 0; d < spec->n_dims; d++) {
        bool split = false;
        for (int32_t i = 0; i < spec->dims[d].n_simple; i++)
            split |= spec->dims[d].simple[i].num_shards > 1;
        if (!split)
            continue;
        ADD(&t, n_split++ ? ", " : "");
        add_dim(&t, &spec->dims[d]);
    }
    ADD(&t, n_split ? " on " : "whole on ");
    add_devices(&t, spec);
    return clv_arena_printf(arena, "%s", t.at);
}
