#include "sharding/layout.h"

#include <inttypes.h>
const char *clv_reduce_name(clv_reduce reduce)
{
    static const char *const names[CLV_N_REDUCES] = { "none", "sum",  "mean", "max",
                                                      "min",  "prod", "l2",   "log-sum" };
    return names[reduce];
}

bool clv_split_of_type(const clv_type *type, clv_tensor_split *ret)
{
    *ret = (clv_tensor_split){ .policy = CLV_UNEVEN_CEIL };
    if (type->kind != CLV_TYPE_TENSOR || type->rank < 0 || !clv_type_is_static(type))
        return false;
    ret->rank = type->rank;
    ret->dims = type->dims;
    ret->dtype = type->dtype;
    return true;
}

bool clv_layout_equal(const clv_layout *a, const clv_layout *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

int32_t clv_layout_axes_of(const clv_layout *layout, int32_t dim, int32_t *ret)
{
    int32_t n = 0;
    for (int32_t k = 0; k < CLV_MESH_AXES_MAX; k++)
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            if (layout->dim[a] == dim && layout->nest[a] == k)
                ret[n++] = a;
    return n;
}

uint32_t clv_layout_partial_axes(const clv_layout *layout)
{
    uint32_t axes = 0;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (layout->dim[a] == CLV_AXIS_PARTIAL)
            axes |= 1u << a;
    return axes;
}

uint32_t clv_layout_copy_axes(const clv_layout *layout, const clv_mesh *mesh)
{
    uint32_t axes = 0;
    for (int32_t a = 0; a < mesh->n_axes; a++)
        if (layout->dim[a] == CLV_AXIS_COPY)
            axes |= 1u << a;
    return axes;
}

void clv_layout_split_units(clv_layout *layout, int32_t axis, int32_t dim, int32_t outer,
                            int32_t unit)
{
    int8_t nest = 0;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (a != axis && layout->dim[a] == dim && layout->outer[a] <= outer)
            nest++;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (a != axis && layout->dim[a] == dim && layout->outer[a] > outer)
            layout->nest[a]++;
    layout->dim[axis] = (int8_t)dim;
    layout->outer[axis] = outer;
    layout->unit[axis] = unit;
    layout->nest[axis] = nest;
    layout->reduce[axis] = CLV_REDUCE_NONE;
}

void clv_layout_split(clv_layout *layout, int32_t axis, int32_t dim, int32_t outer)
{
    clv_layout_split_units(layout, axis, dim, outer, 1);
}

void clv_layout_unsplit(clv_layout *layout, int32_t axis)
{
    int8_t dim = layout->dim[axis], nest = layout->nest[axis];

    for (int32_t a = 0; dim >= 0 && a < CLV_MESH_AXES_MAX; a++)
        if (a != axis && layout->dim[a] == dim && layout->nest[a] > nest)
            layout->nest[a]--;
    layout->dim[axis] = CLV_AXIS_COPY;
    layout->outer[axis] = 1;
    layout->unit[axis] = 1;
    layout->nest[axis] = 0;
    layout->reduce[axis] = CLV_REDUCE_NONE;
}

clv_layout clv_layout_without(const clv_layout *layout, uint32_t axes)
{
    clv_layout left = *layout;

    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (axes >> a & 1)
            clv_layout_unsplit(&left, a);
    return left;
}

/* Axes in a factor whose predecessors split the factor before it into single elements belong to
 * that factor as well. */
static void plain_outer(clv_layout *layout, const clv_mesh *mesh, int32_t dim)
{
    int32_t axes[CLV_MESH_AXES_MAX], n = clv_layout_axes_of(layout, dim, axes);
    int64_t parts = 1; /* that the factor within `above` is split into so far */
    int32_t above = 1, was = 1;

    for (int32_t i = 0; i < n; i++) {
        int32_t outer = layout->outer[axes[i]];
        if (outer != was && above * parts != outer) {
            above = outer;
            parts = 1;
        }
        was = outer;
        layout->outer[axes[i]] = above;
        parts *= mesh->size[axes[i]];
    }
    for (int32_t i = n - 1; i > 0; i--) /* those that now split one factor do so in its units */
        if (layout->outer[axes[i - 1]] == layout->outer[axes[i]])
            layout->unit[axes[i - 1]] = layout->unit[axes[i]];
}

clv_layout clv_layout_plain(const clv_layout *layout, const clv_mesh *mesh)
{
    clv_layout plain = *layout;

    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (mesh->size[a] == 1)
            clv_layout_unsplit(&plain, a);
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (plain.dim[a] >= 0 && plain.nest[a] == 0)
            plain_outer(&plain, mesh, plain.dim[a]);
    return plain;
}

clv_layout clv_layout_plain_for(const clv_layout *layout, const clv_mesh *mesh,
                                const clv_tensor_split *tensor)
{
    clv_layout plain = clv_layout_plain(layout, mesh);

    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        int64_t parts = 1;
        bool by_share = false;
        if (plain.dim[a] < 0 || plain.unit[a] == 1)
            continue;
        int64_t units = tensor->dims[plain.dim[a]] / plain.outer[a] / plain.unit[a];
        for (int32_t b = 0; b < CLV_MESH_AXES_MAX; b++)
            if (plain.dim[b] == plain.dim[a] && plain.outer[b] == plain.outer[a]) {
                parts *= mesh->size[b];
                by_share |= tensor->share[b] != NULL;
            }
        for (int32_t b = 0; !by_share && units % parts == 0 && b < CLV_MESH_AXES_MAX; b++)
            if (plain.dim[b] == plain.dim[a] && plain.outer[b] == plain.outer[a])
                plain.unit[b] = 1;
    }
    return plain;
}

void clv_layout_order(const clv_layout *layout, int32_t ret[static CLV_MESH_AXES_MAX])
{
    int32_t rank[CLV_MESH_AXES_MAX]; /* what an axis is sorted by; above all dims: partial, copy */

    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        int32_t dim = layout->dim[a] >= 0                  ? layout->dim[a]
                      : layout->dim[a] == CLV_AXIS_PARTIAL ? INT8_MAX + 1
                                                           : INT8_MAX + 2;
        rank[a] = (dim * CLV_MESH_AXES_MAX + layout->nest[a]) * CLV_MESH_AXES_MAX + a;
    }
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        int32_t place = 0;
        for (int32_t b = 0; b < CLV_MESH_AXES_MAX; b++)
            place += rank[b] < rank[a];
        ret[place] = a;
    }
}

/* -- check -- */

typedef struct {
    const clv_layout *layout;
    const clv_mesh *mesh;
    int32_t rank;
    const clv_tensor_split *tensor;
} check;

/* The axes of one factor of a dimension. */
typedef struct {
    int32_t dim, n;
    const int32_t *axes; /* n, outermost first */
    int64_t size, parts; /* elements that they split, and into how many parts */
    bool inner_follows;  /* another axis splits within them */
    bool by_share;
} factor_split;

static clv_status check_axis(const check *c, int32_t a, clv_error *err)
{
    const clv_layout *l = c->layout;
    const char *name = a < c->mesh->n_axes ? c->mesh->name[a] : "beyond the mesh";
    bool splits = l->dim[a] >= 0;

    if (l->dim[a] < CLV_AXIS_PARTIAL || l->dim[a] >= c->rank)
        return clv_fail(err, CLV_EUSAGE, "axis %.60s splits dimension %d of a tensor of rank %d",
                        name, (int)l->dim[a], (int)c->rank);
    if (a >= c->mesh->n_axes && l->dim[a] != CLV_AXIS_COPY)
        return clv_fail(err, CLV_EUSAGE, "a layout uses axis %d of a mesh of %d axes", (int)a,
                        (int)c->mesh->n_axes);
    if (l->outer[a] < 1 || (!splits && (l->outer[a] != 1 || l->nest[a] != 0)))
        return clv_fail(err, CLV_EUSAGE, "axis %.60s has outer %d and nest %d, expected %s", name,
                        (int)l->outer[a], (int)l->nest[a],
                        splits ? "an outer of at least 1" : "1 and 0, for it splits nothing");
    if (l->unit[a] < 1 || (!splits && l->unit[a] != 1))
        return clv_fail(err, CLV_EUSAGE, "axis %.60s has unit %d, expected %s", name,
                        (int)l->unit[a], splits ? "at least 1" : "1, for it splits nothing");
    bool partial = l->dim[a] == CLV_AXIS_PARTIAL;
    if (l->reduce[a] < 0 || l->reduce[a] >= CLV_N_REDUCES ||
        partial != (l->reduce[a] != CLV_REDUCE_NONE))
        return clv_fail(err, CLV_EUSAGE, "axis %.60s has reduction %d, expected %s", name,
                        (int)l->reduce[a], partial ? "one, for it is partial" : "none");
    return CLV_OK;
}

/* Over several axes a sum and a maximum cannot change places, so which came first would count. */
static clv_status check_reduces(const check *c, clv_error *err)
{
    int8_t first = CLV_REDUCE_NONE;
    for (int32_t a = 0; a < c->mesh->n_axes; a++) {
        int8_t reduce = c->layout->reduce[a];
        if (first != CLV_REDUCE_NONE && reduce != CLV_REDUCE_NONE && reduce != first)
            return clv_fail(err, CLV_EUSAGE,
                            "a layout is partial by %s and by %s over axis %.60s, expected one",
                            clv_reduce_name((clv_reduce)first), clv_reduce_name((clv_reduce)reduce),
                            c->mesh->name[a]);
        first = reduce != CLV_REDUCE_NONE ? reduce : first;
    }
    return CLV_OK;
}

/* The axes of a factor have one unit, that the factor is made of; before an inner factor it is 1.
 */
static clv_status check_units(const check *c, const factor_split *f, clv_error *err)
{
    int32_t unit = c->layout->unit[f->axes[0]];

    for (int32_t i = 1; i < f->n; i++)
        if (c->layout->unit[f->axes[i]] != unit)
            return clv_fail(err, CLV_EUSAGE,
                            "axes %.60s and %.60s split dimension %d in units of %d and %d "
                            "elements, expected one",
                            c->mesh->name[f->axes[0]], c->mesh->name[f->axes[i]], (int)f->dim,
                            (int)unit, (int)c->layout->unit[f->axes[i]]);
    if (unit > 1 && (f->inner_follows || f->size % unit != 0))
        return clv_fail(err, CLV_EUSAGE,
                        "axis %.60s splits %" PRId64 " elements of dimension %d in units of %d%s",
                        c->mesh->name[f->axes[0]], f->size, (int)f->dim, (int)unit,
                        f->inner_follows ? ", within which an axis splits" : "");
    return CLV_OK;
}

/* Enough elements, or units of several, for all parts, and equal parts where they must be. */
static clv_status check_parts(const check *c, const factor_split *f, clv_error *err)
{
    int32_t axis = f->axes[f->n - 1], unit = c->layout->unit[axis];
    const char *name = c->mesh->name[axis];
    int64_t size = f->size / unit, parts = f->parts;

    if (parts > size && unit > 1)
        return clv_fail(err, CLV_EUSAGE,
                        "dimension %d has %" PRId64
                        " units of %d elements, axis %.60s would make %" PRId64 " parts",
                        (int)f->dim, size, (int)unit, name, parts);
    if (parts > size)
        return clv_fail(
            err, CLV_EUSAGE,
            "dimension %d has %" PRId64 " elements%s, axis %.60s would make %" PRId64 " parts",
            (int)f->dim, size, f->inner_follows ? " above its inner factor" : "", name, parts);
    if (f->by_share ? !f->inner_follows : size % parts == 0)
        return CLV_OK;
    if (f->inner_follows)
        return clv_fail(err, CLV_EUSAGE,
                        "axis %.60s splits the outer %" PRId64 " of dimension %d into %" PRId64
                        " parts, expected equal ones, for an axis splits within them",
                        name, size, (int)f->dim, parts);
    if (c->tensor->policy == CLV_UNEVEN_REFUSE)
        return clv_fail(err, CLV_EUSAGE,
                        "dimension %d of %" PRId64 " %s does not divide into %" PRId64
                        " equal parts over axis %.60s",
                        (int)f->dim, size, unit > 1 ? "units" : "elements", parts, name);
    return CLV_OK;
}

static clv_status check_sizes(const check *c, int32_t dim, const int32_t *axes, int32_t n,
                              clv_error *err)
{
    const clv_layout *l = c->layout;
    int64_t above = l->outer[axes[0]], size = c->tensor->dims[dim];
    factor_split f = { .dim = dim, .axes = axes, .parts = 1 };

    for (int32_t i = 0; i < n; i++) {
        int32_t a = axes[i];
        int64_t next = i + 1 < n ? l->outer[axes[i + 1]] : above;
        f.n++;
        f.by_share |= c->tensor->share[a] != NULL;
        f.parts *= c->mesh->size[a];
        if (i + 1 < n && next == above)
            continue;
        int64_t end = i + 1 < n ? next : size;                /* the factor is end / above */
        if (end % above != 0 || (end > 0 && size % end != 0)) /* no elements: below */
            return clv_fail(err, CLV_EUSAGE,
                            "dimension %d of %" PRId64 " elements is not made of %" PRId64
                            " equal outer parts, as axis %.60s has it",
                            (int)dim, size, above, c->mesh->name[a]);
        f.size = end / above;
        f.inner_follows = i + 1 < n;
        if (f.n > 1 || l->unit[a] > 1)
            CLV_TRY(check_units(c, &f, err));
        CLV_TRY(check_parts(c, &f, err));
        above = next;
        f = (factor_split){ .dim = dim, .axes = axes + i + 1, .parts = 1 };
    }
    return CLV_OK;
}

static clv_status check_dim(const check *c, int32_t dim, clv_error *err)
{
    int32_t axes[CLV_MESH_AXES_MAX], n = 0, users = 0;

    n = clv_layout_axes_of(c->layout, dim, axes);
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        users += c->layout->dim[a] == dim;
    for (int32_t i = 0; i < n; i++)
        if (users != n || c->layout->nest[axes[i]] != i)
            n = -1;
    if (n != users)
        return clv_fail(err, CLV_EUSAGE,
                        "the %d axes that split dimension %d are not nested 0, 1, ... each once",
                        (int)users, (int)dim);
    for (int32_t i = 1; i < n; i++) {
        int32_t before = c->layout->outer[axes[i - 1]], outer = c->layout->outer[axes[i]];
        if (outer < before || outer % before != 0)
            return clv_fail(err, CLV_EUSAGE,
                            "axis %.60s splits within %d outer parts of dimension %d, after an "
                            "axis within %d, expected a multiple",
                            c->mesh->name[axes[i]], (int)outer, (int)dim, (int)before);
    }
    return c->tensor ? check_sizes(c, dim, axes, n, err) : CLV_OK;
}

clv_status clv_layout_check(const clv_layout *layout, const clv_mesh *mesh, int32_t rank,
                            const clv_tensor_split *tensor, clv_error *err)
{
    check c = { layout, mesh, rank, tensor };

    if (tensor && tensor->rank != rank)
        return clv_fail(err, CLV_EUSAGE, "a layout for rank %d, the tensor has rank %d", (int)rank,
                        (int)tensor->rank);
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        CLV_TRY(check_axis(&c, a, err));
    CLV_TRY(check_reduces(&c, err));
    for (int32_t a = 0; a < mesh->n_axes; a++)
        if (layout->dim[a] >= 0)
            CLV_TRY(check_dim(&c, layout->dim[a], err));
    return CLV_OK;
}
