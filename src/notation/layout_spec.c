#include "notation/layout_spec.h"

#include <inttypes.h>

#include "notation/spec_shards.h"

/* -- from a layout -- */

typedef struct {
    clv_layout layout; /* plain */
    const clv_mesh *mesh;
    const clv_tensor_split *tensor;
    clv_arena *arena;
    clv_split_dims split;
} writing;

/* The axes of factor i of the split dims, outermost first, and into how many parts they cut it. */
static int32_t axes_of_factor(const writing *w, int32_t i, int32_t *ret, int32_t *ret_parts)
{
    int32_t axes[CLV_MESH_AXES_MAX], n = 0;
    int32_t n_all = clv_layout_axes_of(&w->layout, w->split.axis_of[i], axes);

    *ret_parts = 1;
    for (int32_t k = 0; k < n_all; k++)
        if (w->layout.outer[axes[k]] == w->split.outer[i]) {
            *ret_parts *= w->mesh->size[axes[k]];
            ret[n++] = axes[k];
        }
    return n;
}

/* Does a reader of the spec get other parts? He cuts a factor into its number of parts at once; or
 * by one axis behind the other, nested. */
static bool is_cut_otherwise(const writing *w, int32_t factor, bool nested)
{
    int32_t axes[CLV_MESH_AXES_MAX], parts, n = axes_of_factor(w, factor, axes, &parts);
    int64_t size = w->split.dims[factor];
    clv_part part;

    if (w->tensor->policy == CLV_UNEVEN_REFUSE && size % parts != 0)
        return true;
    for (int32_t p = 0; p < w->mesh->n_devices; p++) {
        int64_t at = 0, offset = 0, length = size;
        int32_t k = 0;
        for (int32_t i = 0; i < n; i++) {
            int32_t coord = clv_mesh_coord(w->mesh, p, axes[i]);
            k = k * w->mesh->size[axes[i]] + coord;
            if (nested)
                clv_cut(length, w->mesh->size[axes[i]], coord, w->tensor->policy, &offset, &length);
            at += offset;
        }
        if (!nested)
            clv_cut(size, parts, k, w->tensor->policy, &at, &length);
        clv_layout_part(&w->layout, w->mesh, w->tensor, &w->split, p, &part);
        if (part.size[factor] != length || (length > 0 && part.offset[factor] != at))
            return true;
    }
    return false;
}

/* Are axes that cut one factor written one behind the other? All but the last have to divide it: 16
 * over 2 and 3 is 2*8, of which 8 has parts of 3, 3 and 2; at once 6 parts were 3, 3, 3, 3, 3 and
 * 1. */
static bool is_nested(const writing *w, int32_t factor)
{
    int32_t axes[CLV_MESH_AXES_MAX], parts, n = axes_of_factor(w, factor, axes, &parts);
    return n > 1 && w->split.dims[factor] % (parts / w->mesh->size[axes[n - 1]]) == 0 &&
           is_cut_otherwise(w, factor, false) && !is_cut_otherwise(w, factor, true);
}

/* The simple shardings of a factor, the last of the dimension or not; how many. */
static int32_t make_factor(const writing *w, int32_t factor, bool is_last, clv_simple_sharding *ret)
{
    int32_t axes[CLV_MESH_AXES_MAX], parts, n = axes_of_factor(w, factor, axes, &parts), made = 0;
    int64_t size = w->split.dims[factor];
    for (int32_t k = 0; k + 1 < n && is_nested(w, factor); k++) {
        int32_t cut = w->mesh->size[axes[k]];
        ret[made++] = (clv_simple_sharding){ .dim = cut, .num_shards = cut };
        size /= cut;
        parts /= cut;
    }
    ret[made++] =
        (clv_simple_sharding){ .dim = is_last ? CLV_DIM_UNKNOWN : size, .num_shards = parts };
    return made;
}

/* The split dimensions, each with a simple sharding for each of its factors. */
static clv_status make_dims(const writing *w, clv_sharding_spec *spec, clv_error *err)
{
    clv_sharded_dim *dims = CLV_NEW_ARRAY(w->arena, clv_sharded_dim, CLV_MESH_AXES_MAX);
    int32_t axes[CLV_MESH_AXES_MAX];

    if (!dims)
        return clv_fail_nomem(err, "a sharding spec");
    for (int32_t first = 0, end; first < w->split.rank; first = end) {
        int32_t dim = w->split.axis_of[first];
        for (end = first; end < w->split.rank && w->split.axis_of[end] == dim; end++)
            continue;
        if (clv_layout_axes_of(&w->layout, dim, axes) == 0)
            continue;
        int32_t n = 0, most = end - first + CLV_MESH_AXES_MAX;
        clv_simple_sharding *simple = CLV_NEW_ARRAY(w->arena, clv_simple_sharding, most);
        if (!simple)
            return clv_fail_nomem(err, "a sharding spec");
        for (int32_t i = first; i < end; i++)
            n += make_factor(w, i, i + 1 == end, simple + n);
        dims[spec->n_dims++] = (clv_sharded_dim){ dim, simple, n };
    }
    spec->dims = dims;
    return CLV_OK;
}

/* Counted in the layout's order, the devices of one part are side by side. */
static clv_status make_devices(const writing *w, clv_sharding_spec *spec, clv_error *err)
{
    uint32_t splitting = clv_mesh_long_axes(w->mesh) & ~clv_layout_partial_axes(&w->layout) &
                         ~clv_layout_copy_axes(&w->layout, w->mesh);
    int32_t n = w->mesh->n_devices, parts = clv_mesh_count(w->mesh, splitting);
    int32_t copies = n / parts, order[CLV_MESH_AXES_MAX];
    int64_t *member = CLV_NEW_ARRAY(w->arena, int64_t, n);
    int64_t *device = CLV_NEW_ARRAY(w->arena, int64_t, parts);
    clv_device_group *groups = CLV_NEW_ARRAY(w->arena, clv_device_group, copies > 1 ? parts : 0);

    if (!member || !device || !groups)
        return clv_fail_nomem(err, "a sharding spec");
    clv_layout_order(&w->layout, order);
    for (int32_t p = 0; p < n; p++)
        member[clv_mesh_count_of(w->mesh, order, p)] = w->mesh->device[p];
    for (int32_t k = 0; k < parts; k++) {
        device[k] = copies > 1 ? -(int64_t)(k + 1) : member[k];
        if (copies > 1)
            groups[k] = (clv_device_group){ device[k], member + (int64_t)k * copies, copies };
    }
    spec->device = device;
    spec->n_device = parts;
    spec->groups = groups;
    spec->n_groups = copies > 1 ? parts : 0;
    return CLV_OK;
}

/* -- what the spec omits -- */

static clv_status list_omitted(const writing *w, clv_layout_spec *ret, clv_error *err)
{
    clv_omission *list = CLV_NEW_ARRAY(w->arena, clv_omission, CLV_MESH_AXES_MAX); /* one an axis */
    int32_t axes[CLV_MESH_AXES_MAX], parts, n = 0;
    char sizes[CLV_UNEVEN_TEXT];

    if (!list)
        return clv_fail_nomem(err, "a sharding spec");
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (w->layout.dim[a] == CLV_AXIS_PARTIAL)
            list[n++] =
                (clv_omission){ CLV_OMITTED_PARTIAL, a, -1, false,
                                clv_arena_printf(w->arena, "partial results by %s over axis %s",
                                                 clv_reduce_name((clv_reduce)w->layout.reduce[a]),
                                                 w->mesh->name[a]) };
    for (int32_t i = 0; i < w->split.rank; i++) {
        int32_t dim = w->split.axis_of[i];
        bool innermost =
            i + 1 == w->split.rank || w->split.axis_of[i + 1] != dim || w->split.outer[i + 1] == 0;
        /* only the innermost factor that is split may be uneven */
        if (!innermost || axes_of_factor(w, i, axes, &parts) == 0 ||
            !clv_layout_uneven(sizes, &w->layout, w->mesh, w->tensor, dim)[0])
            continue;
        list[n++] = (clv_omission){ CLV_OMITTED_SIZES, -1, dim,
                                    is_cut_otherwise(w, i, false) && !is_nested(w, i),
                                    clv_arena_printf(w->arena,
                                                     "dimension %" PRId32 " of %" PRId64
                                                     " elements has parts of %s",
                                                     dim, w->tensor->dims[dim], sizes) };
    }
    for (int32_t i = 0; i < n; i++)
        if (!list[i].text)
            return clv_fail_nomem(err, "a sharding spec");
    ret->omitted = list;
    ret->n_omitted = n;
    return CLV_OK;
}

clv_status clv_layout_to_spec(const clv_layout *layout, const clv_mesh *mesh,
                              const clv_tensor_split *tensor, clv_arena *arena,
                              clv_layout_spec *ret, clv_error *err)
{
    clv_layout_spec made = { .n_omitted = 0 };
    writing w = {
        .layout = clv_layout_plain(layout, mesh), .mesh = mesh, .tensor = tensor, .arena = arena
    };

    clv_split_dims_of(&w.layout, tensor, &w.split);
    CLV_TRY(make_dims(&w, &made.spec, err));
    CLV_TRY(make_devices(&w, &made.spec, err));
    CLV_TRY(list_omitted(&w, &made, err));
    *ret = made;
    return CLV_OK;
}

/* -- to a layout -- */

/* A spec's loops, outermost first: what each splits, into how many. */
typedef struct {
    const clv_mesh *mesh;
    int32_t n; /* loops of more than one shard; more than there are axes: no layout */
    int32_t dim[CLV_MESH_AXES_MAX], outer[CLV_MESH_AXES_MAX];
    int32_t unit[CLV_MESH_AXES_MAX]; /* elements of what comes behind it, if it is uneven; else 1 */
    int64_t count[CLV_MESH_AXES_MAX];
    const int64_t *part; /* by position of the mesh */
} loops;

/* The loop of a factor, `at` of the shards' dims, within so many outer parts. False: a layout
 * cannot say it. */
static bool add_loop(loops *l, const clv_shards *shards, int32_t at, int64_t outer, int64_t count)
{
    int32_t dim = shards->axis_of[at];
    int64_t unit = 1; /* the product of the factors behind it */

    for (int32_t i = at + 1; i < shards->rank && shards->axis_of[i] == dim; i++)
        if (shards->dims[at] % count != 0 && __builtin_mul_overflow(unit, shards->dims[i], &unit))
            return false;
    if (l->n == CLV_MESH_AXES_MAX || outer > INT32_MAX || unit < 1 || unit > INT32_MAX)
        return false;
    l->dim[l->n] = dim;
    l->outer[l->n] = (int32_t)outer;
    l->unit[l->n] = (int32_t)unit;
    l->count[l->n++] = count;
    return true;
}

/* False: a spec that no layout of this mesh is like. */
static bool find_loops(const clv_sharding_spec *spec, int32_t rank, const clv_shards *shards,
                       loops *ret)
{
    for (int32_t d = 0; d < spec->n_dims; d++) {
        const clv_sharded_dim *dim = &spec->dims[d];
        int32_t axis = (int32_t)(dim->axis < 0 ? dim->axis + rank : dim->axis), at = 0;
        int64_t outer = 1;
        while (shards->axis_of[at] != axis)
            at++;
        for (int32_t i = 0; i < dim->n_simple; i++) {
            int64_t count = dim->simple[i].num_shards;
            if (count > 1 && !add_loop(ret, shards, at + i, outer, count))
                return false;
            if (__builtin_mul_overflow(outer, shards->dims[at + i], &outer))
                return false;
        }
    }
    return true;
}

/* Each device of the mesh once, and no other. */
static bool find_parts(const clv_shards *shards, const clv_mesh *mesh, int64_t *part)
{
    if (shards->n != mesh->n_devices)
        return false;
    for (int32_t p = 0; p < mesh->n_devices; p++)
        part[p] = -1;
    for (int32_t i = 0; i < shards->n; i++) {
        int64_t device = shards->at[i].device;
        int32_t p = device > INT32_MAX ? -1 : clv_mesh_position(mesh, (int32_t)device);
        if (p < 0 || part[p] >= 0)
            return false;
        part[p] = shards->at[i].part;
    }
    return true;
}

/* Do the axes that a layout gives each loop count through it as the spec does? */
static bool counts_alike(const loops *l, const clv_layout *layout)
{
    for (int32_t p = 0; p < l->mesh->n_devices; p++) {
        int64_t part = 0;
        for (int32_t i = 0; i < l->n; i++) {
            int32_t axes[CLV_MESH_AXES_MAX], n = clv_layout_axes_of(layout, l->dim[i], axes);
            int64_t k = 0, count = 1;
            for (int32_t j = 0; j < n; j++)
                if (layout->outer[axes[j]] == l->outer[i]) {
                    k = k * l->mesh->size[axes[j]] + clv_mesh_coord(l->mesh, p, axes[j]);
                    count *= l->mesh->size[axes[j]];
                }
            if (count != l->count[i])
                return false;
            part = part * count + k;
        }
        if (part != l->part[p])
            return false;
    }
    return true;
}

/* Gives each axis from turn[i] on a loop or none. */
static bool assign_axes(const loops *l, const int32_t *turn, int32_t i, const clv_layout *so_far,
                        clv_layout *ret)
{
    if (i == CLV_MESH_AXES_MAX) {
        if (!counts_alike(l, so_far))
            return false;
        *ret = *so_far;
        return true;
    }
    int32_t axis = turn[i];
    if (assign_axes(l, turn, i + 1, so_far, ret))
        return true;
    for (int32_t k = 0; l->mesh->size[axis] > 1 && k < l->n; k++) {
        clv_layout next = *so_far;
        clv_layout_split_units(&next, axis, l->dim[k], l->outer[k], l->unit[k]);
        if (assign_axes(l, turn, i + 1, &next, ret)) /* at most three deep */
            return true;
    }
    return false;
}

clv_status clv_layout_from_spec(const clv_sharding_spec *spec, const clv_mesh *mesh,
                                const clv_tensor_split *tensor, clv_arena *arena,
                                const clv_layout **ret, clv_error *err)
{
    static const int32_t turns[][CLV_MESH_AXES_MAX] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                                        { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    const clv_tensor_split bytes = {
        .rank = tensor->rank, .dims = tensor->dims, .dtype = CLV_DT_INT8, .policy = CLV_UNEVEN_CEIL
    };
    clv_shards shards;
    clv_layout copies = CLV_LAYOUT_COPIES, *layout = CLV_NEW(arena, clv_layout);
    loops l = { .mesh = mesh };
    bool found = false;
    clv_mark mark = clv_arena_mark(arena);

    if (!layout)
        return clv_fail_nomem(err, "a layout");
    CLV_TRY(clv_spec_shards(spec, &bytes, arena, &shards, err));
    int64_t *part = CLV_NEW_ARRAY(arena, int64_t, mesh->n_devices);
    if (!part)
        return clv_fail_nomem(err, "a layout");
    l.part = part;
    if (find_loops(spec, bytes.rank, &shards, &l) && find_parts(&shards, mesh, part))
        for (size_t i = 0; !found && i < sizeof turns / sizeof *turns; i++)
            found = assign_axes(&l, turns[i], 0, &copies, layout);
    found = found && clv_layout_check(layout, mesh, bytes.rank, &bytes, NULL) == CLV_OK;
    clv_arena_rewind(arena, mark);
    if (found)
        *layout = clv_layout_plain_for(layout, mesh, &bytes);
    *ret = found ? layout : NULL;
    return CLV_OK;
}
