/* spec_shards.c - a spec becomes loops over the axes of the tensor as it is split. */
#include "notation/spec_shards.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const clv_sharding_spec *spec;
    const clv_tensor_split *tensor;
    int32_t rank, n_loops;
    int64_t dims[CLV_RANK_MAX]; /* of the tensor as it is split */
    int32_t axis_of[CLV_RANK_MAX];
    int32_t first[CLV_RANK_MAX]; /* by axis: its first one among dims */
    struct {
        int32_t at; /* which of dims */
        int64_t count;
    } loops[CLV_RANK_MAX];
    bool uneven;
} split;

/* -- the tensor as it is split -- */

static clv_status fail_factors(const clv_sharding_spec *spec, const clv_sharded_dim *dim,
                               int64_t size, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT,
                    "sharding of '%.80s': the %" PRId32 " dim values of axis %" PRId64
                    " do not multiply to its size %" PRId64,
                    CLV_SPEC_NAME(spec), dim->n_simple, dim->axis, size);
}

/* The sizes of an axis's factors; at most one is open, and is what the others leave. */
static clv_status find_factors(const split *s, const clv_sharded_dim *dim, int64_t size,
                               int64_t *ret, clv_error *err)
{
    int64_t known = 1;
    int32_t open = -1;

    for (int32_t i = 0; i < dim->n_simple; i++) {
        ret[i] = dim->simple[i].dim;
        if (!clv_dim_is_number(ret[i]) && open >= 0)
            return clv_fail(err, CLV_EFORMAT,
                            "sharding of '%.80s': two dim values of axis %" PRId64
                            " are not numbers, expected at most one",
                            CLV_SPEC_NAME(s->spec), dim->axis);
        if (!clv_dim_is_number(ret[i]))
            open = i;
        else if (__builtin_mul_overflow(known, ret[i], &known))
            return fail_factors(s->spec, dim, size, err);
    }
    if (open >= 0 && (known == 0 ? size != 0 : size % known != 0))
        return fail_factors(s->spec, dim, size, err);
    if (open >= 0)
        ret[open] = known == 0 ? 0 : size / known;
    else if (known != size)
        return fail_factors(s->spec, dim, size, err);
    return CLV_OK;
}

static clv_status find_dims(split *s, clv_error *err)
{
    for (int32_t axis = 0; axis < s->tensor->rank; axis++) {
        const clv_sharded_dim *dim = NULL;                    /* NULL: not listed, not split */
        for (int32_t d = 0; d < s->spec->n_dims && !dim; d++) /* at most CLV_RANK_MAX */
            if (s->spec->dims[d].axis == axis || s->spec->dims[d].axis == axis - s->tensor->rank)
                dim = &s->spec->dims[d];
        s->first[axis] = s->rank;
        s->dims[s->rank] = s->tensor->dims[axis];
        if (dim)
            CLV_TRY(find_factors(s, dim, s->tensor->dims[axis], s->dims + s->rank, err));
        for (int32_t i = 0; i < (dim ? dim->n_simple : 1); i++)
            s->axis_of[s->rank++] = axis;
    }
    return CLV_OK;
}

/* In the order of the list, not of the axes. */
static clv_status find_loops(split *s, clv_error *err)
{
    for (int32_t d = 0; d < s->spec->n_dims; d++) {
        const clv_sharded_dim *dim = &s->spec->dims[d];
        int64_t axis = dim->axis < 0 ? dim->axis + s->tensor->rank : dim->axis;
        for (int32_t i = 0; i < dim->n_simple; i++) {
            int32_t at = s->first[axis] + i;
            int64_t count = dim->simple[i].num_shards;
            s->loops[s->n_loops].at = at;
            s->loops[s->n_loops++].count = count;
            if (s->dims[at] % count == 0)
                continue;
            s->uneven = true;
            if (s->tensor->policy == CLV_UNEVEN_REFUSE)
                return clv_fail(err, CLV_EFORMAT,
                                "sharding of '%.80s': size %" PRId64 " of axis %" PRId64
                                " does not divide into %" PRId64 " equal shards",
                                CLV_SPEC_NAME(s->spec), s->dims[at], dim->axis, count);
        }
    }
    return CLV_OK;
}

/* -- shards -- */

/* False when 64 bits cannot hold it. An empty tensor is empty, however long its other axes are. */
static bool count_elems(const int64_t *size, int32_t rank, int64_t *ret)
{
    bool empty = false, fits = true;

    *ret = 1;
    for (int32_t i = 0; i < rank; i++)
        empty |= size[i] == 0;
    for (int32_t i = 0; i < rank && fits && !empty; i++)
        fits = !__builtin_mul_overflow(*ret, size[i], ret);
    *ret = empty ? 0 : *ret;
    return fits;
}

/* Offset, size and bytes of a part. */
static clv_status place_part(const split *s, int64_t part, clv_arena *arena, clv_shard *ret,
                             clv_error *err)
{
    int64_t *offset = CLV_NEW_ARRAY(arena, int64_t, s->rank), elems = 0;
    int64_t *size = CLV_NEW_ARRAY(arena, int64_t, s->rank);

    if (!offset || !size)
        return clv_fail_nomem(err, "shards");
    for (int32_t i = 0; i < s->rank; i++) {
        offset[i] = 0;
        size[i] = s->dims[i];
    }
    for (int32_t i = s->n_loops - 1; i >= 0; i--) {
        int32_t at = s->loops[i].at;
        int64_t count = s->loops[i].count;
        clv_cut(s->dims[at], count, part % count, s->tensor->policy, &offset[at], &size[at]);
        part /= count;
    }
    ret->offset = offset;
    ret->size = size;
    if (count_elems(size, s->rank, &elems) && clv_dtype_bytes(s->tensor->dtype, elems, &ret->bytes))
        return CLV_OK;
    return clv_fail(err, CLV_ELIMIT, "sharding of '%.80s': a shard has over 2^63 bytes",
                    CLV_SPEC_NAME(s->spec));
}

/* The entries of the device list: a shard each, or one for each member of the group. */
static clv_status make_shards(const split *s, const clv_group_index *groups, clv_arena *arena,
                              clv_shards *ret, clv_error *err)
{
    int64_t parts = clv_spec_parts(s->spec);
    clv_shard shard = { 0 };

    for (int32_t i = 0; i < s->spec->n_device; i++) {
        if (i < parts) /* nothing split: every entry has part 0 */
            CLV_TRY(place_part(s, i, arena, &shard, err));
        shard.part = parts > 1 ? i : 0;
        const clv_device_group *group = clv_group_find(groups, s->spec->device[i]);
        for (int32_t k = 0; k < (group ? group->n_devices : 1); k++) {
            shard.device = group ? group->devices[k] : s->spec->device[i];
            ret->at[ret->n++] = shard;
        }
    }
    return CLV_OK;
}

clv_status clv_spec_shards(const clv_sharding_spec *spec, const clv_tensor_split *tensor,
                           clv_arena *arena, clv_shards *ret, clv_error *err)
{
    split s = { .spec = spec, .tensor = tensor };
    clv_group_index groups;
    int64_t n = 0;

    CLV_TRY(clv_spec_check(spec, tensor->rank, 0, arena, err));
    CLV_TRY(find_dims(&s, err));
    CLV_TRY(find_loops(&s, err));
    int64_t *dims = CLV_NEW_ARRAY(arena, int64_t, s.rank);
    int32_t *axis_of = CLV_NEW_ARRAY(arena, int32_t, s.rank);
    CLV_TRY(clv_group_index_make(spec, arena, &groups, err));
    for (int32_t i = 0; i < spec->n_device && n <= CLV_SHARDS_MAX; i++) {
        const clv_device_group *group = clv_group_find(&groups, spec->device[i]);
        n += group ? group->n_devices : 1;
    }
    if (n > CLV_SHARDS_MAX)
        return clv_fail(err, CLV_ELIMIT, "sharding of '%.80s': has over %d shards, copies counted",
                        CLV_SPEC_NAME(spec), CLV_SHARDS_MAX);
    clv_shards shards = { .at = CLV_NEW_ARRAY(arena, clv_shard, n),
                          .rank = s.rank,
                          .dims = dims,
                          .axis_of = axis_of,
                          .uneven = s.uneven };
    if (!dims || !axis_of || !shards.at)
        return clv_fail_nomem(err, "shards");
    for (int32_t i = 0; i < s.rank; i++) {
        dims[i] = s.dims[i];
        axis_of[i] = s.axis_of[i];
    }
    CLV_TRY(make_shards(&s, &groups, arena, &shards, err));
    *ret = shards;
    return CLV_OK;
}

/* -- two specs -- */

static int by_device(const void *a, const void *b)
{
    const clv_shard *x = a, *y = b;
    return (x->device > y->device) - (x->device < y->device);
}

clv_status clv_specs_same_parts(const clv_sharding_spec *a, const clv_sharding_spec *b,
                                const clv_tensor_split *tensor, clv_arena *scratch, bool *ret,
                                clv_error *err)
{
    clv_shards x, y;
    clv_error inner;
    *ret = false;
    clv_status status = clv_spec_shards(a, tensor, scratch, &x, &inner);
    if (status == CLV_OK)
        status = clv_spec_shards(b, tensor, scratch, &y, &inner);
    if (status == CLV_ENOMEM)
        return clv_fail_nomem(err, "the parts of a tensor");
    if (status != CLV_OK || x.n != y.n || x.rank != y.rank)
        return CLV_OK;
    qsort(x.at, (size_t)x.n, sizeof *x.at, by_device);
    qsort(y.at, (size_t)y.n, sizeof *y.at, by_device);
    size_t size = (size_t)x.rank * sizeof(int64_t);
    bool same = memcmp(x.dims, y.dims, size) == 0;
    for (int32_t i = 0; same && i < x.n; i++)
        same = x.at[i].device == y.at[i].device &&
               memcmp(x.at[i].offset, y.at[i].offset, size) == 0 &&
               memcmp(x.at[i].size, y.at[i].size, size) == 0;
    *ret = same;
    return CLV_OK;
}
