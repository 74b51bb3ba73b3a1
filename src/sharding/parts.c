#include "sharding/parts.h"

#include <inttypes.h>
#include <stdio.h>

int64_t clv_bytes_of_elems(clv_dtype dtype, int64_t elems)
{
    int64_t bytes;
    return clv_dtype_bytes(dtype, elems, &bytes) ? bytes : INT64_MAX;
}

static void add_factor(clv_split_dims *s, int32_t dim, int64_t size, int32_t outer)
{
    s->dims[s->rank] = size;
    s->axis_of[s->rank] = dim;
    s->outer[s->rank++] = outer;
}

void clv_split_dims_of(const clv_layout *layout, const clv_tensor_split *tensor,
                       clv_split_dims *ret)
{
    int32_t axes[CLV_MESH_AXES_MAX];

    ret->rank = 0;
    for (int32_t d = 0; d < tensor->rank; d++) {
        int32_t n = clv_layout_axes_of(layout, d, axes), above = 1;
        for (int32_t i = 0; i < n; i++)
            if (layout->outer[axes[i]] != above) {
                add_factor(ret, d, layout->outer[axes[i]] / above, above);
                above = layout->outer[axes[i]];
            }
        int32_t unit = n > 0 ? layout->unit[axes[n - 1]] : 1;
        add_factor(ret, d, tensor->dims[d] / above / unit, above);
        if (unit > 1)
            add_factor(ret, d, unit, 0);
    }
}

typedef struct {
    int64_t offset, size;
} piece;

static piece cut_axis(const clv_mesh *mesh, const clv_tensor_split *tensor, int32_t axis,
                      int64_t size, int32_t coord)
{
    piece p;
    if (tensor->share[axis])
        clv_cut_shares(size, mesh->size[axis], coord, tensor->share[axis], &p.offset, &p.size);
    else
        clv_cut(size, mesh->size[axis], coord, tensor->policy, &p.offset, &p.size);
    return p;
}

static int64_t elems_of(const int64_t *size, int32_t rank)
{
    int64_t n = 1;
    for (int32_t i = 0; i < rank; i++)
        if (size[i] == 0)
            return 0;
    for (int32_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(n, size[i], &n))
            return INT64_MAX;
    return n;
}

void clv_layout_part(const clv_layout *layout, const clv_mesh *mesh, const clv_tensor_split *tensor,
                     const clv_split_dims *dims, int32_t position, clv_part *ret)
{
    int32_t axes[CLV_MESH_AXES_MAX];

    for (int32_t i = 0; i < dims->rank; i++) {
        int32_t n = clv_layout_axes_of(layout, dims->axis_of[i], axes);
        ret->offset[i] = 0;
        ret->size[i] = dims->dims[i];
        for (int32_t k = 0; k < n; k++) {
            if (layout->outer[axes[k]] != dims->outer[i])
                continue;
            piece p = cut_axis(mesh, tensor, axes[k], ret->size[i],
                               clv_mesh_coord(mesh, position, axes[k]));
            ret->offset[i] += p.offset;
            ret->size[i] = p.size;
        }
    }
    ret->bytes = clv_bytes_of_elems(tensor->dtype, elems_of(ret->size, dims->rank));
}

void clv_layout_part_dims(const clv_layout *layout, const clv_mesh *mesh,
                          const clv_tensor_split *tensor, int32_t position, int64_t *ret)
{
    clv_split_dims dims;
    clv_part part;

    clv_split_dims_of(layout, tensor, &dims);
    clv_layout_part(layout, mesh, tensor, &dims, position, &part);
    for (int32_t d = 0; d < tensor->rank; d++)
        ret[d] = 1;
    for (int32_t i = 0; i < dims.rank; i++)
        ret[dims.axis_of[i]] *= part.size[i];
}

/* The largest of all parts of parts: with shares, a longer piece's largest part is not always at
 * the largest share, so all are tried. */
static int64_t largest_by_share(int64_t size, const clv_mesh *mesh, const clv_tensor_split *tensor,
                                const int32_t *axes, int32_t n)
{
    int64_t largest = 0;

    if (n == 0)
        return size;
    for (int32_t c = 0; c < mesh->size[axes[0]]; c++) {
        int64_t part = cut_axis(mesh, tensor, axes[0], size, c).size;
        part = largest_by_share(part, mesh, tensor, axes + 1, n - 1); /* at most three deep */
        largest = part > largest ? part : largest;
    }
    return largest;
}

int64_t clv_largest_cut(int64_t size, const clv_mesh *mesh, const clv_tensor_split *tensor,
                        const int32_t *axes, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (tensor->share[axes[i]])
            return largest_by_share(size, mesh, tensor, axes, n);
    for (int32_t i = 0; i < n; i++) /* rounding up at each level is rounding up once */
        size = size / mesh->size[axes[i]] + (size % mesh->size[axes[i]] != 0);
    return size;
}

int64_t clv_layout_bytes(const clv_layout *layout, const clv_mesh *mesh,
                         const clv_tensor_split *tensor)
{
    clv_split_dims dims;
    int32_t axes[CLV_MESH_AXES_MAX], in[CLV_MESH_AXES_MAX];

    clv_split_dims_of(layout, tensor, &dims);
    for (int32_t i = 0; i < dims.rank; i++) {
        int32_t n = clv_layout_axes_of(layout, dims.axis_of[i], axes), n_in = 0;
        for (int32_t k = 0; k < n; k++)
            if (layout->outer[axes[k]] == dims.outer[i])
                in[n_in++] = axes[k];
        dims.dims[i] = clv_largest_cut(dims.dims[i], mesh, tensor, in, n_in);
    }
    return clv_bytes_of_elems(tensor->dtype, elems_of(dims.dims, dims.rank));
}

int64_t clv_layout_along(const clv_layout *layout, const clv_mesh *mesh,
                         const clv_tensor_split *tensor, int32_t dim)
{
    int32_t axes[CLV_MESH_AXES_MAX], n = clv_layout_axes_of(layout, dim, axes);
    int64_t whole = tensor->dims[dim], elems = 1, above = 1;

    for (int32_t i = 0; i < n;) {
        int32_t first = i, outer = layout->outer[axes[i]];
        while (i < n && layout->outer[axes[i]] == outer)
            i++;
        int64_t end = i < n ? layout->outer[axes[i]] : whole, unit = layout->unit[axes[i - 1]];
        elems *= outer / above; /* a factor that nothing splits */
        elems *= unit * clv_largest_cut(end / outer / unit, mesh, tensor, axes + first, i - first);
        above = end;
    }
    return elems * (whole / above);
}

/* -- text -- */

const char *clv_layout_uneven(char buf[static CLV_UNEVEN_TEXT], const clv_layout *layout,
                              const clv_mesh *mesh, const clv_tensor_split *tensor, int32_t dim)
{
    int32_t axes[CLV_MESH_AXES_MAX], n = clv_layout_axes_of(layout, dim, axes), parts = 1;
    int64_t first = -1;
    bool uneven = false, plain = true;
    clv_split_dims dims;
    size_t used = 0;

    for (int32_t i = 0; i < n; i++) {
        int32_t a = axes[i];
        parts *= mesh->size[a];
        plain = plain && layout->outer[a] == 1 && layout->unit[a] == 1 && !tensor->share[a];
    }
    buf[0] = 0;
    if (plain && tensor->dims[dim] % parts == 0)
        return buf;
    clv_split_dims_of(layout, tensor, &dims);
    for (int32_t k = 0; k < parts; k++) {
        clv_part part;
        int64_t size = 1;
        int32_t coord[CLV_MESH_AXES_MAX] = { 0 }, position = 0, rest = k;
        for (int32_t i = n - 1; i >= 0; rest /= mesh->size[axes[i--]])
            coord[axes[i]] = rest % mesh->size[axes[i]]; /* counted through its axes */
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            position = position * mesh->size[a] + coord[a];
        clv_layout_part(layout, mesh, tensor, &dims, position, &part);
        for (int32_t i = 0; i < dims.rank; i++)
            size *= dims.axis_of[i] == dim ? part.size[i] : 1;
        first = k == 0 ? size : first;
        uneven |= size != first;
        if (used + 32 < CLV_UNEVEN_TEXT) /* a number of 64 bits, ", " and "..." */
            used += (size_t)snprintf(buf + used, CLV_UNEVEN_TEXT - used, "%s%" PRId64,
                                     k ? ", " : "", size);
        else if (used < CLV_UNEVEN_TEXT - 1) {
            snprintf(buf + used, CLV_UNEVEN_TEXT - used, ", ...");
            used = CLV_UNEVEN_TEXT - 1;
        }
    }
    if (!uneven)
        buf[0] = 0;
    return buf;
}
