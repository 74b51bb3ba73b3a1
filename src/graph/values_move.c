#include "graph/values_move.h"

#include "graph/shape_tools.h"
#include "graph/values.h"

clv_status clv_fold_identity(clv_rule *r, clv_error *err)
{
    (void)err;
    const clv_value *value = clv_rule_value(r, 0);
    if (value && clv_rule_has_out(r, 0))
        r->types->value[clv_op_output(r->graph, r->op, 0).i] = value;
    return CLV_OK;
}

clv_status clv_fold_squeeze(clv_rule *r, clv_error *err) { return clv_fold_identity(r, err); }
clv_status clv_fold_unsqueeze(clv_rule *r, clv_error *err) { return clv_fold_identity(r, err); }
clv_status clv_fold_reshape(clv_rule *r, clv_error *err) { return clv_fold_identity(r, err); }
clv_status clv_fold_flatten(clv_rule *r, clv_error *err) { return clv_fold_identity(r, err); }

clv_status clv_fold_transpose(clv_rule *r, clv_error *err)
{
    clv_literal in, to;
    const int64_t *perm;
    int32_t n_perm, pick[CLV_VALUE_MAX];
    if (!clv_literal_in(r, 0, &in) || !clv_literal_out_shape(r, 0, &to) || to.n != in.n)
        return CLV_OK;
    bool given = clv_rule_attr_ints(r, "perm", &perm, &n_perm) && n_perm == in.rank;
    for (int32_t j = 0; j < to.n; j++) {
        int64_t index[CLV_RANK_MAX], from[CLV_RANK_MAX] = { 0 };
        clv_literal_index(&to, j, index);
        for (int32_t a = 0; a < in.rank; a++) {
            int64_t source = given ? perm[a] : in.rank - 1 - a;
            if (source < 0 || source >= in.rank)
                return CLV_OK;
            from[source] = index[a];
        }
        pick[j] = clv_literal_at(&in, from);
    }
    return clv_literal_pick(r, 0, &in, to.n, pick, err);
}

clv_status clv_fold_expand(clv_rule *r, clv_error *err)
{
    clv_literal in, to;
    int32_t pick[CLV_VALUE_MAX];
    if (!clv_literal_in(r, 0, &in) || !clv_literal_out_shape(r, 0, &to))
        return CLV_OK;
    for (int32_t j = 0; j < to.n; j++)
        pick[j] = clv_literal_broadcast(&in, &to, j);
    return clv_literal_pick(r, 0, &in, to.n, pick, err);
}

clv_status clv_fold_tile(clv_rule *r, clv_error *err)
{
    clv_literal in, to;
    int32_t pick[CLV_VALUE_MAX];
    if (!clv_literal_in(r, 0, &in) || !clv_literal_out_shape(r, 0, &to) || to.rank != in.rank ||
        in.n == 0)
        return CLV_OK;
    for (int32_t j = 0; j < to.n; j++) {
        int64_t index[CLV_RANK_MAX];
        clv_literal_index(&to, j, index);
        for (int32_t a = 0; a < in.rank; a++)
            index[a] %= in.dims[a];
        pick[j] = clv_literal_at(&in, index);
    }
    return clv_literal_pick(r, 0, &in, to.n, pick, err);
}

/* -- Concat -- */

clv_status clv_fold_concat(clv_rule *r, clv_error *err)
{
    clv_literal in, to;
    clv_literal_out out, room;
    int32_t axis, n_in = clv_rule_n_in(r);
    if (!clv_literal_out_shape(r, 0, &to) || !clv_rule_try_axis(r, 1, to.rank, &axis))
        return CLV_OK;
    int64_t rows = 1, row = 1, at = 0; /* rows of the output, elements of one, and done of one */
    for (int32_t a = 0; a < to.rank; a++)
        *(a < axis ? &rows : &row) *= to.dims[a];
    bool any_known = false;
    for (int32_t k = 0; k < n_in; k++) {
        if (!clv_literal_in_or_open(r, k, &room, &in) || (k > 0 && out.whole != (in.i != NULL)))
            return CLV_OK;
        int64_t width = rows ? in.n / rows : 0;
        if (at + width > row)
            return CLV_OK;
        out.whole = in.i != NULL;
        any_known |= in.i != room.i;
        for (int64_t j = 0; j < in.n; j++)
            clv_literal_copy(&out, j / width * row + at + j % width, &in, j);
        at += width;
    }
    out.n = to.n;
    return at == row && any_known ? clv_literal_set(r, 0, &out, err) : CLV_OK;
}

/* -- Split -- */

clv_status clv_fold_split(clv_rule *r, clv_error *err)
{
    clv_literal in, to;
    int32_t axis, pick[CLV_VALUE_MAX];
    int64_t from = 0;
    if (!clv_literal_in(r, 0, &in) || !clv_rule_try_axis(r, 0, in.rank, &axis))
        return CLV_OK;
    for (int32_t k = 0; k < clv_rule_n_out(r); k++) {
        if (!clv_literal_out_shape(r, k, &to) || to.rank != in.rank ||
            from + to.dims[axis] > in.dims[axis])
            return CLV_OK;
        for (int32_t j = 0; j < to.n; j++) {
            int64_t index[CLV_RANK_MAX];
            clv_literal_index(&to, j, index);
            index[axis] += from;
            pick[j] = clv_literal_at(&in, index);
        }
        CLV_TRY(clv_literal_pick(r, k, &in, to.n, pick, err));
        from += to.dims[axis];
    }
    return CLV_OK;
}

/* -- Slice -- */

typedef struct {
    int64_t start[CLV_RANK_MAX], step[CLV_RANK_MAX];
} slicing;

/* Version 1 has attributes, later ones inputs 1 to 4. Ends are in the output's shape. */
static bool read_slicing(const clv_rule *r, const clv_literal *in, slicing *ret)
{
    const int64_t *starts, *axes = NULL, *steps = NULL;
    int32_t n, n_axes = 0, n_steps = 0;
    bool old = clv_rule_attr_ints(r, "starts", &starts, &n);
    if (!old && !clv_rule_ints(r, 1, &starts, &n))
        return false;
    if (old)
        clv_rule_attr_ints(r, "axes", &axes, &n_axes);
    else if ((clv_rule_has_in(r, 3) && !clv_rule_ints(r, 3, &axes, &n_axes)) ||
             (clv_rule_has_in(r, 4) && !clv_rule_ints(r, 4, &steps, &n_steps)))
        return false;
    if ((axes && n_axes != n) || (steps && n_steps != n))
        return false;
    for (int32_t a = 0; a < in->rank; a++) {
        ret->start[a] = 0;
        ret->step[a] = 1;
    }
    for (int32_t j = 0; j < n; j++) {
        int64_t axis = axes ? axes[j] : j;
        axis += axis < 0 ? in->rank : 0;
        if (axis < 0 || axis >= in->rank)
            return false;
        int64_t start = starts[j] + (starts[j] < 0 ? in->dims[axis] : 0);
        ret->step[axis] = steps ? steps[j] : 1;
        int64_t last = ret->step[axis] < 0 ? in->dims[axis] - 1 : in->dims[axis];
        ret->start[axis] = start < 0 ? 0 : start > last ? last : start;
    }
    return true;
}

clv_status clv_fold_slice(clv_rule *r, clv_error *err)
{
    clv_literal in, to;
    slicing s;
    int32_t pick[CLV_VALUE_MAX];
    if (!clv_literal_in(r, 0, &in) || !clv_literal_out_shape(r, 0, &to) || to.rank != in.rank ||
        !read_slicing(r, &in, &s))
        return CLV_OK;
    for (int32_t j = 0; j < to.n; j++) {
        int64_t index[CLV_RANK_MAX];
        clv_literal_index(&to, j, index);
        for (int32_t a = 0; a < in.rank; a++) {
            index[a] = s.start[a] + index[a] * s.step[a];
            if (index[a] < 0 || index[a] >= in.dims[a])
                return CLV_OK;
        }
        pick[j] = clv_literal_at(&in, index);
    }
    return clv_literal_pick(r, 0, &in, to.n, pick, err);
}

/* -- Pad -- */

/* What is padded by more is too large to be kept anyway. */
#define PADS_MAX (INT64_C(1) << 32)

/* Pads are an attribute before version 11. */
clv_status clv_fold_pad(clv_rule *r, clv_error *err)
{
    clv_literal in, to;
    clv_literal_out out = { .whole = true };
    const int64_t *pads;
    int32_t n;
    if (!clv_literal_in(r, 0, &in) || !in.i || !clv_literal_out_shape(r, 0, &to) ||
        to.rank != in.rank || clv_rule_has_in(r, 3) ||
        !clv_str_is(clv_rule_attr_str(r, "mode", "constant"), "constant") ||
        (!clv_rule_attr_ints(r, "pads", &pads, &n) && !clv_rule_ints(r, 1, &pads, &n)) ||
        n != 2 * in.rank)
        return CLV_OK;
    clv_dim fill = clv_rule_has_in(r, 2) ? clv_rule_scalar(r, 2) : 0;
    out.n = to.n;
    for (int32_t j = 0; j < to.n; j++) {
        int64_t index[CLV_RANK_MAX];
        bool inside = true;
        clv_literal_index(&to, j, index);
        for (int32_t a = 0; a < in.rank; a++) {
            index[a] = pads[a] > -PADS_MAX && pads[a] < PADS_MAX ? index[a] - pads[a] : -1;
            inside &= index[a] >= 0 && index[a] < in.dims[a];
        }
        out.i[j] = inside ? in.i[clv_literal_at(&in, index)] : fill;
    }
    return clv_literal_set(r, 0, &out, err);
}

/* -- Trilu -- */

clv_status clv_fold_trilu(clv_rule *r, clv_error *err)
{
    clv_literal in;
    clv_literal_out out;
    clv_dim k = clv_rule_has_in(r, 1) ? clv_rule_scalar(r, 1) : 0;
    bool upper = clv_rule_attr_int(r, "upper", 1) != 0;
    if (!clv_literal_in(r, 0, &in) || in.rank < 2 || !clv_dim_is_number(k))
        return CLV_OK;
    out.whole = in.i != NULL;
    out.n = in.n;
    for (int32_t j = 0; j < in.n; j++) {
        int64_t index[CLV_RANK_MAX];
        clv_literal_index(&in, j, index);
        int64_t over = index[in.rank - 1] - index[in.rank - 2]; /* above the main diagonal by */
        bool keep = upper ? over >= k : over <= k;
        if (in.i)
            out.i[j] = keep ? in.i[j] : 0;
        else
            out.f[j] = keep ? in.f[j] : 0;
    }
    return clv_literal_set(r, 0, &out, err);
}
