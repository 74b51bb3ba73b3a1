#include "graph/values_index.h"

#include "graph/shape_tools.h"
#include "graph/values.h"

/* An index into an axis of that length; -1 when it is open or out of range. */
static int64_t wrap(clv_dim index, int64_t length)
{
    if (!clv_dim_is_number(index) || index < -length || index >= length)
        return -1;
    return index < 0 ? index + length : index;
}

clv_status clv_fold_gather(clv_rule *r, clv_error *err)
{
    clv_literal in, indices, to;
    int32_t axis, pick[CLV_VALUE_MAX];
    if (!clv_literal_in(r, 0, &in) || !clv_literal_in(r, 1, &indices) || !indices.i ||
        !clv_literal_out_shape(r, 0, &to) || !clv_rule_try_axis(r, 0, in.rank, &axis) ||
        to.rank != in.rank + indices.rank - 1)
        return CLV_OK;
    for (int32_t j = 0; j < to.n; j++) {
        /* the output's index is: axes before `axis`, the indices' own axes, axes behind */
        int64_t index[CLV_RANK_MAX], from[CLV_RANK_MAX];
        clv_literal_index(&to, j, index);
        int64_t at = wrap(indices.i[clv_literal_at(&indices, index + axis)], in.dims[axis]);
        for (int32_t a = 0; a < in.rank; a++)
            from[a] = a < axis ? index[a] : a == axis ? at : index[a + indices.rank - 1];
        pick[j] = at < 0 ? -1 : clv_literal_at(&in, from);
    }
    return clv_literal_pick(r, 0, &in, to.n, pick, err);
}

/* True when the shapes allow element-wise indices along axis. */
static bool read_elementwise(const clv_rule *r, clv_literal *in, clv_literal *indices,
                             int32_t *axis)
{
    return clv_literal_in(r, 0, in) && clv_literal_in(r, 1, indices) && indices->i &&
           indices->rank == in->rank && clv_rule_try_axis(r, 0, in->rank, axis);
}

/* Place in `in` that element j of the indices stands for, -1 when open. */
static int32_t indexed_by(const clv_literal *in, const clv_literal *indices, int32_t axis,
                          int32_t j)
{
    int64_t index[CLV_RANK_MAX];
    clv_literal_index(indices, j, index);
    index[axis] = wrap(indices->i[j], in->dims[axis]);
    for (int32_t a = 0; a < in->rank; a++)
        if (index[a] < 0 || index[a] >= in->dims[a])
            return -1;
    return clv_literal_at(in, index);
}

clv_status clv_fold_gather_elements(clv_rule *r, clv_error *err)
{
    clv_literal in, indices;
    int32_t axis, pick[CLV_VALUE_MAX];
    if (!read_elementwise(r, &in, &indices, &axis))
        return CLV_OK;
    for (int32_t j = 0; j < indices.n; j++)
        pick[j] = indexed_by(&in, &indices, axis, j);
    return clv_literal_pick(r, 0, &in, indices.n, pick, err);
}

static void copy_all(const clv_literal *in, clv_literal_out *out)
{
    out->whole = in->i != NULL;
    out->n = in->n;
    for (int32_t j = 0; j < in->n; j++)
        clv_literal_copy(out, j, in, j);
}

static bool only_replaces(const clv_rule *r)
{
    return clv_str_is(clv_rule_attr_str(r, "reduction", "none"), "none");
}

clv_status clv_fold_scatter_elements(clv_rule *r, clv_error *err)
{
    clv_literal in, indices, updates;
    clv_literal_out out;
    int32_t axis;
    if (!only_replaces(r) || !read_elementwise(r, &in, &indices, &axis) ||
        !clv_literal_in(r, 2, &updates) || updates.n != indices.n || !updates.i != !in.i)
        return CLV_OK;
    copy_all(&in, &out);
    for (int32_t j = 0; j < indices.n; j++) {
        int32_t at = indexed_by(&in, &indices, axis, j);
        if (at < 0)
            return CLV_OK;
        clv_literal_copy(&out, at, &updates, j);
    }
    return clv_literal_set(r, 0, &out, err);
}

/* First element of the slice of `in` that row j of the indices stands for, -1 when open. */
static int64_t slice_at(const clv_literal *in, const clv_literal *indices, int32_t width, int32_t j)
{
    int64_t at = 0;
    for (int32_t a = 0; a < in->rank; a++) {
        int64_t index = a < width ? wrap(indices->i[(int64_t)j * width + a], in->dims[a]) : 0;
        if (index < 0)
            return -1;
        at = at * in->dims[a] + index;
    }
    return at;
}

/* The rows of the indices, and elements of the slice that each stands for; false where they do not
 * fit the input. */
static bool measure_slices(const clv_literal *in, const clv_literal *indices, int32_t *ret_width,
                           int32_t *ret_rows, int64_t *ret_size)
{
    if (!indices->i || indices->rank < 1)
        return false;
    int64_t width = indices->dims[indices->rank - 1], size = 1;
    if (width < 1 || width > in->rank)
        return false;
    for (int32_t a = (int32_t)width; a < in->rank; a++)
        size *= in->dims[a];
    *ret_width = (int32_t)width;
    *ret_rows = indices->n / (int32_t)width;
    *ret_size = size;
    return true;
}

clv_status clv_fold_gather_nd(clv_rule *r, clv_error *err)
{
    clv_literal in, indices;
    int32_t pick[CLV_VALUE_MAX], n = 0, width, rows;
    int64_t size;
    if (clv_rule_attr_int(r, "batch_dims", 0) != 0 || !clv_literal_in(r, 0, &in) ||
        !clv_literal_in(r, 1, &indices) || !measure_slices(&in, &indices, &width, &rows, &size))
        return CLV_OK;
    if (rows * size > CLV_VALUE_MAX)
        return CLV_OK;
    for (int32_t j = 0; j < rows; j++) {
        int64_t at = slice_at(&in, &indices, width, j);
        for (int64_t e = 0; e < size; e++)
            pick[n++] = at < 0 ? -1 : (int32_t)(at + e);
    }
    return clv_literal_pick(r, 0, &in, n, pick, err);
}

clv_status clv_fold_scatter_nd(clv_rule *r, clv_error *err)
{
    clv_literal in, indices, updates;
    clv_literal_out out, room;
    int32_t width, rows;
    int64_t size;
    if (!only_replaces(r) || !clv_literal_in(r, 0, &in) || !clv_literal_in(r, 1, &indices) ||
        !clv_literal_in_or_open(r, 2, &room, &updates) || !updates.i != !in.i ||
        !measure_slices(&in, &indices, &width, &rows, &size))
        return CLV_OK;
    if (rows * size != updates.n)
        return CLV_OK;
    copy_all(&in, &out);
    for (int32_t j = 0; j < rows; j++) {
        int64_t at = slice_at(&in, &indices, width, j);
        if (at < 0)
            return CLV_OK;
        for (int64_t e = 0; e < size; e++)
            clv_literal_copy(&out, at + e, &updates, j * size + e);
    }
    return clv_literal_set(r, 0, &out, err);
}

clv_status clv_fold_nonzero(clv_rule *r, clv_error *err)
{
    clv_literal in;
    int32_t place[CLV_VALUE_MAX], n = 0;
    if (!clv_literal_in(r, 0, &in))
        return CLV_OK;
    for (int32_t j = 0; j < in.n; j++) {
        if (in.i && !clv_dim_is_number(in.i[j]))
            return CLV_OK;
        if (in.i ? in.i[j] != 0 : in.f[j] != 0)
            place[n++] = j;
    }
    clv_dim dims[2] = { in.rank, n };
    CLV_TRY(clv_rule_set(r, 0, CLV_DT_INT64, 2, dims, err));
    clv_literal_out out = { .whole = true, .n = in.rank * n };
    if ((int64_t)in.rank * n > CLV_VALUE_MAX)
        return CLV_OK;
    for (int32_t j = 0; j < n; j++) {
        int64_t index[CLV_RANK_MAX];
        clv_literal_index(&in, place[j], index);
        for (int32_t a = 0; a < in.rank; a++)
            out.i[a * n + j] = index[a];
    }
    return clv_literal_set(r, 0, &out, err);
}
