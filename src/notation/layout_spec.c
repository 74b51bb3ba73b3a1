#include "notation/layout_spec.h"

#include <inttypes.h>

/* -- from a layout -- */

typedef struct {
    clv_layout layout; /* plain */
    const clv_mesh *mesh;
    const clv_tensor_split *tensor;
    clv_arena *arena;
    clv_error *err;
    clv_split_dims split;
    uint32_t splitting; /* axes */
} maker;

static clv_status fail_nomem(const maker *m) { return clv_fail_nomem(m->err, "a sharding spec"); }

/* The axes of factor i of the split dims, outermost first. */
static int32_t axes_of_factor(const clv_layout *layout, const clv_split_dims *split, int32_t i,
                              int32_t *ret)
{
    int32_t axes[CLV_MESH_AXES_MAX], n = 0;
    int32_t n_all = clv_layout_axes_of(layout, split->axis_of[i], axes);
    for (int32_t k = 0; k < n_all; k++)
        if (layout->outer[axes[k]] == split->outer[i])
            ret[n++] = axes[k];
    return n;
}

static int32_t parts_of_factor(const maker *m, int32_t i)
{
    int32_t axes[CLV_MESH_AXES_MAX], n = axes_of_factor(&m->layout, &m->split, i, axes);
    int32_t parts = 1;
    for (int32_t k = 0; k < n; k++)
        parts *= m->mesh->size[axes[k]];
    return parts;
}

/* Factors first to last - 1 of the split dims are one dimension's. */
static clv_status put_dim(const maker *m, int32_t first, int32_t last, clv_sharded_dim *ret)
{
    clv_simple_sharding *simple = CLV_NEW_ARRAY(m->arena, clv_simple_sharding, last - first);
    if (!simple)
        return fail_nomem(m);
    for (int32_t i = first; i < last; i++)
        simple[i - first] =
            (clv_simple_sharding){ .dim = i + 1 < last ? m->split.dims[i] : CLV_DIM_UNKNOWN,
                                   .num_shards = parts_of_factor(m, i) };
    *ret = (clv_sharded_dim){ .axis = m->split.axis_of[first],
                              .simple = simple,
                              .n_simple = last - first };
    return CLV_OK;
}

static clv_status put_dims(const maker *m, clv_sharding_spec *spec)
{
    clv_sharded_dim *dims = CLV_NEW_ARRAY(m->arena, clv_sharded_dim, CLV_MESH_AXES_MAX);
    int32_t axes[CLV_MESH_AXES_MAX];
    if (!dims)
        return fail_nomem(m);
    for (int32_t first = 0, last; first < m->split.rank; first = last) {
        for (last = first; last < m->split.rank; last++)
            if (m->split.axis_of[last] != m->split.axis_of[first])
                break;
        if (clv_layout_axes_of(&m->layout, m->split.axis_of[first], axes) > 0)
            CLV_TRY(put_dim(m, first, last, &dims[spec->n_dims++]));
    }
    spec->dims = dims;
    return CLV_OK;
}

/* Counted in the layout's order, the devices of one part are side by side. */
static clv_status put_devices(const maker *m, clv_sharding_spec *spec)
{
    int32_t n = m->mesh->n_devices, parts = clv_mesh_count(m->mesh, m->splitting);
    int32_t copies = n / parts, order[CLV_MESH_AXES_MAX];
    int64_t *member = CLV_NEW_ARRAY(m->arena, int64_t, n);
    int64_t *device = CLV_NEW_ARRAY(m->arena, int64_t, parts);
    clv_device_group *groups = CLV_NEW_ARRAY(m->arena, clv_device_group, copies > 1 ? parts : 0);

    if (!member || !device || !groups)
        return fail_nomem(m);
    clv_layout_order(&m->layout, order);
    for (int32_t p = 0; p < n; p++)
        member[clv_mesh_count_of(m->mesh, order, p)] = m->mesh->device[p];
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

/* -- what it does not say -- */

/* Does a reader of the spec, who cuts a factor into its number of parts at once, get these? */
static bool cut_otherwise(const maker *m, int32_t factor)
{
    int32_t axes[CLV_MESH_AXES_MAX], n = axes_of_factor(&m->layout, &m->split, factor, axes);
    int32_t parts = parts_of_factor(m, factor);
    int64_t size = m->split.dims[factor], offset, length;
    clv_part part;

    if (m->tensor->policy == CLV_UNEVEN_REFUSE && size % parts != 0)
        return true;
    for (int32_t p = 0; p < m->mesh->n_devices; p++) {
        int32_t k = 0;
        for (int32_t i = 0; i < n; i++)
            k = k * m->mesh->size[axes[i]] + clv_mesh_coord(m->mesh, p, axes[i]);
        clv_cut(size, parts, k, m->tensor->policy, &offset, &length);
        clv_layout_part(&m->layout, m->mesh, m->tensor, &m->split, p, &part);
        if (part.size[factor] != length || (length > 0 && part.offset[factor] != offset))
            return true;
    }
    return false;
}

static clv_status tell(const maker *m, clv_unsaid unsaid, clv_layout_spec *ret)
{
    if (!unsaid.text)
        return fail_nomem(m);
    ((clv_unsaid *)ret->unsaid)[ret->n_unsaid++] = unsaid;
    return CLV_OK;
}

static clv_status tell_sizes(const maker *m, int32_t factor, clv_layout_spec *ret)
{
    char sizes[CLV_UNEVEN_TEXT];
    int32_t dim = m->split.axis_of[factor];
    clv_unsaid unsaid = { .kind = CLV_UNSAID_SIZES, .axis = -1, .dim = dim };

    if (!clv_layout_uneven(sizes, &m->layout, m->mesh, m->tensor, dim)[0])
        return CLV_OK;
    unsaid.lost = cut_otherwise(m, factor);
    unsaid.text =
        clv_arena_printf(m->arena, "dimension %" PRId32 " of %" PRId64 " elements has parts of %s",
                         dim, m->tensor->dims[dim], sizes);
    return tell(m, unsaid, ret);
}

static clv_status tell_unsaid(const maker *m, clv_layout_spec *ret)
{
    int32_t axes[CLV_MESH_AXES_MAX];

    ret->unsaid = CLV_NEW_ARRAY(m->arena, clv_unsaid, CLV_MESH_AXES_MAX); /* one for each axis */
    if (!ret->unsaid)
        return fail_nomem(m);
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (m->layout.dim[a] == CLV_AXIS_PARTIAL)
            CLV_TRY(tell(
                m,
                (clv_unsaid){ CLV_UNSAID_PARTIAL, a, -1, false,
                              clv_arena_printf(m->arena, "partial results by %s over axis %s",
                                               clv_reduce_name((clv_reduce)m->layout.reduce[a]),
                                               m->mesh->name[a]) },
                ret));
    for (int32_t i = 0; i < m->split.rank; i++) {
        bool last = i + 1 == m->split.rank || m->split.axis_of[i + 1] != m->split.axis_of[i] ||
                    m->split.outer[i + 1] == 0;
        if (last && axes_of_factor(&m->layout, &m->split, i, axes) > 0)
            CLV_TRY(tell_sizes(m, i, ret)); /* only the innermost that is split may be uneven */
    }
    return CLV_OK;
}

clv_status clv_layout_to_spec(const clv_layout *layout, const clv_mesh *mesh,
                              const clv_tensor_split *tensor, const char *name, clv_arena *arena,
                              clv_layout_spec *ret, clv_error *err)
{
    clv_layout_spec made = { .spec = { .tensor = name } };
    maker m = { .layout = clv_layout_plain(layout, mesh),
                .mesh = mesh,
                .tensor = tensor,
                .arena = arena,
                .err = err };

    clv_split_dims_of(&m.layout, tensor, &m.split);
    m.splitting = clv_mesh_long_axes(mesh) & ~clv_layout_partial_axes(&m.layout) &
                  ~clv_layout_copy_axes(&m.layout, mesh);
    CLV_TRY(put_dims(&m, &made.spec));
    CLV_TRY(put_devices(&m, &made.spec));
    CLV_TRY(tell_unsaid(&m, &made));
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

/* Of a dimension's last n factors, from `at` on, the product of all but the first. */
static int64_t elems_behind(const clv_shards *shards, int32_t at, int32_t n)
{
    int64_t elems = 1;
    for (int32_t i = 1; i < n; i++)
        if (__builtin_mul_overflow(elems, shards->dims[at + i], &elems))
            return INT64_MAX;
    return elems;
}

/* False: a spec that no layout of this mesh is like. */
static bool find_loops(const clv_sharding_spec *spec, int32_t rank, const clv_shards *shards,
                       loops *ret)
{
    for (int32_t d = 0; d < spec->n_dims; d++) {
        int64_t outer = 1;
        int32_t axis =
            (int32_t)(spec->dims[d].axis < 0 ? spec->dims[d].axis + rank : spec->dims[d].axis);
        int32_t at = 0;
        while (shards->axis_of[at] != axis)
            at++;
        for (int32_t i = 0; i < spec->dims[d].n_simple; i++) {
            int64_t count = spec->dims[d].simple[i].num_shards;
            if (count > 1) {
                if (ret->n == CLV_MESH_AXES_MAX || outer > INT32_MAX)
                    return false;
                ret->dim[ret->n] = axis;
                int64_t unit = shards->dims[at + i] % count == 0
                                   ? 1
                                   : elems_behind(shards, at + i, spec->dims[d].n_simple - i);
                if (unit < 1 || unit > INT32_MAX)
                    return false;
                ret->outer[ret->n] = (int32_t)outer;
                ret->unit[ret->n] = (int32_t)unit;
                ret->count[ret->n++] = count;
            }
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

/* Gives each axis from `axis` on a loop or none, in the order of turn. */
static bool assign(const loops *l, const int32_t *turn, int32_t i, const clv_layout *so_far,
                   clv_layout *ret)
{
    if (i == CLV_MESH_AXES_MAX) {
        if (!counts_alike(l, so_far))
            return false;
        *ret = *so_far;
        return true;
    }
    int32_t axis = turn[i];
    if (assign(l, turn, i + 1, so_far, ret))
        return true;
    for (int32_t k = 0; l->mesh->size[axis] > 1 && k < l->n; k++) {
        clv_layout next = *so_far;
        clv_layout_split_units(&next, axis, l->dim[k], l->outer[k], l->unit[k]);
        if (assign(l, turn, i + 1, &next, ret)) /* at most three deep */
            return true;
    }
    return false;
}

clv_status clv_layout_from_spec(const clv_sharding_spec *spec, const clv_mesh *mesh, int32_t rank,
                                const int64_t *dims, clv_arena *arena, clv_layout *ret,
                                bool *ret_found, clv_error *err)
{
    static const int32_t turns[][CLV_MESH_AXES_MAX] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                                        { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    clv_shards shards;
    clv_layout copies = CLV_LAYOUT_COPIES, layout;
    loops l = { .mesh = mesh };
    bool found = false;
    clv_mark mark = clv_arena_mark(arena);

    CLV_TRY(clv_spec_shards(spec, CLV_DT_INT8, rank, dims, CLV_UNEVEN_CEIL, arena, &shards, err));
    int64_t *part = CLV_NEW_ARRAY(arena, int64_t, mesh->n_devices);
    if (!part)
        return clv_fail_nomem(err, "a layout");
    l.part = part;
    if (find_loops(spec, rank, &shards, &l) && find_parts(&shards, mesh, part))
        for (size_t i = 0; !found && i < sizeof turns / sizeof *turns; i++)
            found = assign(&l, turns[i], 0, &copies, &layout);
    clv_tensor_split tensor = {
        .rank = rank, .dims = dims, .dtype = CLV_DT_INT8, .policy = CLV_UNEVEN_CEIL
    };
    if (found)
        found = clv_layout_check(&layout, mesh, rank, &tensor, NULL) == CLV_OK;
    clv_arena_rewind(arena, mark);
    if (found)
        *ret = clv_layout_plain_for(&layout, mesh, &tensor);
    *ret_found = found;
    return CLV_OK;
}
