#include "notation/sharding.h"

#include <inttypes.h>

#include "notation/sharding_split.h"

/* A spec becomes loops over the axes of the tensor as it is split; the part number, written with
 * the shard counts as digits (the first loop the highest), says which block of each axis a part
 * has.
 */

typedef struct {
    int32_t at; /* which of dims */
    int64_t count;
} loop;

typedef struct {
    const clv_sharding_spec *spec;
    clv_uneven_policy policy;
    clv_arena *arena;
    clv_error *err;
    int32_t rank, n_loops;
    int64_t dims[CLV_RANK_MAX];
    int32_t axis_of[CLV_RANK_MAX];
    loop loops[CLV_RANK_MAX];
    bool uneven;
} split;

/* -- the tensor as it is split -- */

/* The listing of an axis; its loops are in the order of the list, not of the axes. NULL: not
 * listed, not split. */
static const clv_sharded_dim *find_listed(const clv_sharding_spec *spec, int32_t axis, int32_t rank)
{
    for (int32_t d = 0; d < spec->n_dims; d++) /* at most CLV_RANK_MAX */
        if (spec->dims[d].axis == axis || spec->dims[d].axis == axis - rank)
            return &spec->dims[d];
    return NULL;
}

static clv_status fail_factors(const split *s, const clv_sharded_dim *dim, int64_t size)
{
    return clv_fail(s->err, CLV_EFORMAT,
                    "sharding of '%.80s': the %" PRId32 " dim values of axis %" PRId64
                    " do not multiply to its size %" PRId64,
                    CLV_SPEC_NAME(s->spec), dim->n_simple, dim->axis, size);
}

/* The sizes of an axis's factors; at most one is open, and is what the others leave. */
static clv_status find_factors(const split *s, const clv_sharded_dim *dim, int64_t size,
                               int64_t *ret)
{
    int64_t known = 1;
    int32_t open = -1;

    for (int32_t i = 0; i < dim->n_simple; i++) {
        ret[i] = dim->simple[i].dim;
        if (!clv_dim_is_number(ret[i]) && open >= 0)
            return clv_fail(s->err, CLV_EFORMAT,
                            "sharding of '%.80s': two dim values of axis %" PRId64
                            " are not numbers, expected at most one",
                            CLV_SPEC_NAME(s->spec), dim->axis);
        if (!clv_dim_is_number(ret[i]))
            open = i;
        else if (__builtin_mul_overflow(known, ret[i], &known))
            return fail_factors(s, dim, size);
    }
    if (open >= 0 && (known == 0 ? size != 0 : size % known != 0))
        return fail_factors(s, dim, size);
    if (open >= 0)
        ret[open] = known == 0 ? 0 : size / known;
    else if (known != size)
        return fail_factors(s, dim, size);
    return CLV_OK;
}

static clv_status lay_out(split *s, const int64_t *dims, int32_t rank, int32_t *first)
{
    for (int32_t axis = 0; axis < rank; axis++) {
        const clv_sharded_dim *dim = find_listed(s->spec, axis, rank);
        int32_t n = dim ? dim->n_simple : 1;
        first[axis] = s->rank;
        s->dims[s->rank] = dims[axis];
        if (dim)
            CLV_TRY(find_factors(s, dim, dims[axis], s->dims + s->rank));
        for (int32_t i = 0; i < n; i++)
            s->axis_of[s->rank++] = axis;
    }
    return CLV_OK;
}

static clv_status add_loop(split *s, const clv_sharded_dim *dim, int32_t at, int64_t count)
{
    s->loops[s->n_loops++] = (loop){ at, count };
    if (s->dims[at] % count == 0)
        return CLV_OK;
    s->uneven = true;
    if (s->policy != CLV_UNEVEN_REFUSE)
        return CLV_OK;
    return clv_fail(s->err, CLV_EFORMAT,
                    "sharding of '%.80s': size %" PRId64 " of axis %" PRId64
                    " does not divide into %" PRId64 " equal shards",
                    CLV_SPEC_NAME(s->spec), s->dims[at], dim->axis, count);
}

static clv_status add_loops(split *s, int32_t rank, const int32_t *first)
{
    for (int32_t d = 0; d < s->spec->n_dims; d++) {
        const clv_sharded_dim *dim = &s->spec->dims[d];
        int32_t axis = (int32_t)(dim->axis < 0 ? dim->axis + rank : dim->axis);
        for (int32_t i = 0; i < dim->n_simple; i++)
            CLV_TRY(add_loop(s, dim, first[axis] + i, dim->simple[i].num_shards));
    }
    return CLV_OK;
}

/* -- parts -- */

static void place_part(const split *s, int64_t part, int64_t *offset, int64_t *size)
{
    for (int32_t i = 0; i < s->rank; i++) {
        offset[i] = 0;
        size[i] = s->dims[i];
    }
    for (int32_t i = s->n_loops - 1; i >= 0; i--) {
        const loop *l = &s->loops[i];
        clv_cut(s->dims[l->at], l->count, part % l->count, s->policy, &offset[l->at], &size[l->at]);
        part /= l->count;
    }
}

/* False when 64 bits cannot hold it. An empty tensor is empty, however long its other axes are. */
static bool count_elems(const int64_t *size, int32_t rank, int64_t *ret)
{
    for (int32_t i = 0; i < rank; i++)
        if (size[i] == 0) {
            *ret = 0;
            return true;
        }
    *ret = 1;
    for (int32_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(*ret, size[i], ret))
            return false;
    return true;
}

static clv_status count_bytes(const split *s, clv_dtype dtype, const int64_t *size, int64_t *ret)
{
    int64_t elems = 0;

    if (count_elems(size, s->rank, &elems) && clv_dtype_bytes(dtype, elems, ret))
        return CLV_OK;
    return clv_fail(s->err, CLV_ELIMIT, "sharding of '%.80s': a shard has over 2^63 bytes",
                    CLV_SPEC_NAME(s->spec));
}

/* -- shards -- */

static clv_status count_shards(const split *s, const clv_group_index *groups, int64_t *ret)
{
    int64_t n = 0;

    for (int32_t i = 0; i < s->spec->n_device && n <= CLV_SHARDS_MAX; i++) {
        const clv_device_group *group = clv_group_find(groups, s->spec->device[i]);
        n += group ? group->n_devices : 1;
    }
    if (n > CLV_SHARDS_MAX)
        return clv_fail(s->err, CLV_ELIMIT,
                        "sharding of '%.80s': has over %d shards, copies counted",
                        CLV_SPEC_NAME(s->spec), CLV_SHARDS_MAX);
    *ret = n;
    return CLV_OK;
}

/* One entry of the device list: a shard, or one for each member of the group. */
static void put_shards(const clv_shard *shard, const clv_device_group *group, clv_shards *ret)
{
    int32_t n = group ? group->n_devices : 1;

    for (int32_t i = 0; i < n; i++) {
        ret->at[ret->n] = *shard;
        if (group)
            ret->at[ret->n].device = group->devices[i];
        ret->n++;
    }
}

static clv_status make_shards(split *s, clv_dtype dtype, const clv_group_index *groups,
                              clv_shards *ret)
{
    int64_t parts = clv_spec_parts(s->spec), *offset = NULL, *size = NULL, bytes = 0;

    for (int32_t i = 0; i < s->spec->n_device; i++) {
        if (i < parts) { /* nothing split: every entry has part 0 */
            offset = CLV_NEW_ARRAY(s->arena, int64_t, s->rank);
            size = CLV_NEW_ARRAY(s->arena, int64_t, s->rank);
            if (!offset || !size)
                return clv_fail_nomem(s->err, "shards");
            place_part(s, i, offset, size);
            CLV_TRY(count_bytes(s, dtype, size, &bytes));
        }
        clv_shard shard = { .device = s->spec->device[i],
                            .part = parts > 1 ? i : 0,
                            .offset = offset,
                            .size = size,
                            .bytes = bytes };
        put_shards(&shard, clv_group_find(groups, shard.device), ret);
    }
    return CLV_OK;
}

static clv_status give_shards(split *s, clv_dtype dtype, clv_shards *ret)
{
    clv_group_index groups;
    int64_t n = 0;
    int64_t *dims = CLV_NEW_ARRAY(s->arena, int64_t, s->rank);
    int32_t *axis_of = CLV_NEW_ARRAY(s->arena, int32_t, s->rank);

    CLV_TRY(clv_group_index_make(s->spec, s->arena, &groups, s->err));
    CLV_TRY(count_shards(s, &groups, &n));
    clv_shards shards = { .at = CLV_NEW_ARRAY(s->arena, clv_shard, n),
                          .rank = s->rank,
                          .dims = dims,
                          .axis_of = axis_of,
                          .uneven = s->uneven };
    if (!dims || !axis_of || !shards.at)
        return clv_fail_nomem(s->err, "shards");
    for (int32_t i = 0; i < s->rank; i++) {
        dims[i] = s->dims[i];
        axis_of[i] = s->axis_of[i];
    }
    CLV_TRY(make_shards(s, dtype, &groups, &shards));
    *ret = shards;
    return CLV_OK;
}

clv_status clv_spec_shards(const clv_sharding_spec *spec, clv_dtype dtype, int32_t rank,
                           const int64_t *dims, clv_uneven_policy policy, clv_arena *arena,
                           clv_shards *ret, clv_error *err)
{
    split s = { .spec = spec, .policy = policy, .arena = arena, .err = err };
    int32_t first[CLV_RANK_MAX] = { 0 };

    CLV_TRY(clv_spec_check(spec, rank, 0, arena, err));
    CLV_TRY(lay_out(&s, dims, rank, first));
    CLV_TRY(add_loops(&s, rank, first));
    return give_shards(&s, dtype, ret);
}
