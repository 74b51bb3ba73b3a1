/* write_axes.c - Transpose, reductions, normalisations, and what chooses, joins, cuts, pads and
 * repeats along an axis.
 */
#include "sharding/write_axes.h"

#include <inttypes.h>
#include <stdio.h>

#include "graph/shape_tools.h"
#include "graph/values.h"

/* -- Transpose -- */

clv_status clv_write_transpose(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    const clv_type *in = clv_rule_in(w->r, 0);
    clv_rule_writing t = { .arena = w->r->arena };
    const int64_t *perm;
    int32_t n, axis;
    bool given = clv_rule_attr_ints(w->r, "perm", &perm, &n), none[CLV_RANK_MAX] = { false };
    (void)param;
    if (!clv_type_ranked(in))
        return clv_writer_open(w, err);
    if (given && n != in->rank)
        return clv_writer_bad_axis(w, err);
    clv_writer_axes(&t, in->rank, none, "");
    clv_rule_write(&t, "->(");
    for (int32_t i = 0; i < in->rank; i++) {
        if (!clv_writer_axis(given ? perm[i] : in->rank - 1 - i, in->rank, &axis))
            return clv_writer_bad_axis(w, err);
        clv_rule_write(&t, "%sa%d", i ? "," : "", axis);
    }
    clv_rule_write(&t, ")");
    return clv_writer_done(&t, ret, err);
}

/* -- Dropout; param: "bias", which it adds, and a residual -- */

clv_status clv_write_dropout(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    bool bias = clv_str_is(param, "bias");
    clv_rule_writing t = { .arena = w->r->arena };
    int32_t mode =
        bias ? 4 : 2; /* the input that says whether it is trained; before it the ratio */
    if (clv_dropout_draws(clv_rule_has_in(w->r, mode), clv_rule_value(w->r, mode),
                          clv_rule_value(w->r, mode - 1)))
        return clv_rule_keep_whole(w,
                                   "draws random numbers where it is trained, which would be "
                                   "others on each part: it is not split",
                                   err);
    clv_rule_write(&t, bias ? "(...),(...),(...),-,-->(...),(...)" : "(...),-,-->(...),(...)");
    return clv_writer_done(&t, ret, err);
}

/* -- reductions; param: how parts are reduced, "whole", or "quantized": no input has the axes -- */

/* axes_in: the input that may have the axes instead of an attribute. */
static clv_status reduced_axes(clv_rule_context *w, int32_t rank, int32_t axes_in, bool *reduced,
                               clv_error *err)
{
    const int64_t *axes;
    int32_t n, axis;
    if (!clv_rule_axes(w->r, "axes", axes_in, &axes, &n))
        return clv_rule_keep_whole(w, "has axes that are not known: it is not split", err);
    bool all = n <= 0 && clv_rule_attr_int(w->r, "noop_with_empty_axes", 0) == 0;
    for (int32_t i = 0; i < rank; i++)
        reduced[i] = all;
    for (int32_t i = 0; i < n; i++) {
        if (!clv_writer_axis(axes[i], rank, &axis))
            return clv_writer_bad_axis(w, err);
        reduced[axis] = true;
    }
    return CLV_OK;
}

clv_status clv_write_reduce(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    const clv_type *in = clv_rule_in(w->r, 0);
    bool reduced[CLV_RANK_MAX], keep = clv_rule_attr_int(w->r, "keepdims", 1) != 0;
    bool quantized = clv_str_is(param, "quantized"), comma = false;
    bool whole = quantized || clv_str_is(param, "whole");
    clv_rule_writing t = { .arena = w->r->arena };
    if (!clv_type_ranked(in))
        return clv_writer_open(w, err);
    CLV_TRY(reduced_axes(w, in->rank, quantized ? INT32_MAX : 1, reduced, err));
    if (w->why)
        return CLV_OK;
    clv_rule_write(&t, "(");
    for (int32_t i = 0; i < in->rank; i++) {
        clv_rule_write(&t, "%sa%d", i ? "," : "", i);
        if (reduced[i] && whole)
            clv_rule_write(&t, "!");
        else if (reduced[i])
            clv_rule_write(&t, ":%.*s", CLV_STR_ARG(param));
    }
    clv_rule_write(&t, ")");
    clv_writer_other_inputs(&t, w);
    clv_rule_write(&t, "->(");
    for (int32_t i = 0; i < in->rank; i++) {
        if (reduced[i] && !keep)
            continue;
        clv_rule_write(&t, comma ? "," : "");
        clv_rule_write(&t, reduced[i] ? "1" : "a%d", i);
        comma = true;
    }
    clv_rule_write(&t, ")");
    return clv_writer_done(&t, ret, err);
}

/* -- normalisations: axes that they go over stay whole -- */

clv_status clv_write_norm_axes(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    static const int64_t channels_kept[] = { 0, 2, 3 };
    clv_rule_writing t = { .arena = w->r->arena };
    int32_t rank = clv_type_rank(clv_rule_in(w->r, 0)), n = 3;
    const int64_t *axes = channels_kept;
    bool whole[CLV_RANK_MAX] = { false };
    (void)param;
    if (rank < 0)
        return clv_rule_keep_whole(w, "has an input of open shape: it is not split", err);
    (void)clv_rule_attr_ints(w->r, "axes", &axes, &n);
    for (int32_t i = 0; i < n; i++)
        if (axes[i] >= -(int64_t)rank && axes[i] < rank)
            whole[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
    for (int32_t side = 0; side < 2; side++) {
        clv_rule_write(&t, side ? "->(" : "(");
        for (int32_t i = 0; i < rank; i++)
            clv_rule_write(&t, "%sa%d%s", i ? "," : "", i, whole[i] ? "!" : "");
        clv_rule_write(&t, ")");
    }
    return clv_writer_done(&t, ret, err);
}

/* -- GatherElements, ScatterElements; param: "gather" or "scatter". Indices may cover a part of a
 * dimension of the data: which devices have it does not follow from the parts, so it is whole. --
 */

static void write_elements(clv_rule_writing *t, int32_t rank, const bool *apart, int32_t axis,
                           const char *at_axis)
{
    for (int32_t i = 0; i < rank; i++)
        if (i == axis || apart[i])
            clv_rule_write(t, "%s%s", i ? "," : "(", i == axis ? at_axis : "_");
        else
            clv_rule_write(t, "%sa%d", i ? "," : "(", i);
    clv_rule_write(t, ")");
}

clv_status clv_write_elements(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    bool gathers = clv_str_is(param, "gather"), apart[CLV_RANK_MAX];
    const clv_type *data = clv_rule_in(w->r, 0), *index = clv_rule_in(w->r, 1);
    clv_rule_writing t = { .arena = w->r->arena };
    int32_t axis;
    if (!clv_type_ranked(data) || !clv_type_ranked(index) || data->rank != index->rank)
        return clv_writer_open(w, err);
    if (!clv_writer_axis(clv_rule_attr_int(w->r, "axis", 0), data->rank, &axis))
        return clv_writer_bad_axis(w, err);
    for (int32_t i = 0; i < data->rank; i++)
        apart[i] = data->dims[i] != index->dims[i] || data->dims[i] == CLV_DIM_UNKNOWN;
    write_elements(&t, data->rank, apart, axis, gathers ? "v:index" : "n!");
    clv_rule_write(&t, ",");
    write_elements(&t, data->rank, apart, axis, gathers ? "i" : "_");
    if (!gathers) {
        clv_rule_write(&t, ",");
        write_elements(&t, data->rank, apart, axis, "_");
    }
    clv_rule_write(&t, "->");
    write_elements(&t, data->rank, apart, axis, gathers ? "i" : "n!");
    return clv_writer_done(&t, ret, err);
}

/* -- Concat, Split: where all pieces are of one size, that axis is pieces times a part -- */

static bool equal_pieces(clv_rule_context *w, int32_t n, bool out, int32_t axis)
{
    clv_dim first = clv_type_dim(out ? clv_rule_out_type(w, 0) : clv_rule_in(w->r, 0), axis);
    for (int32_t k = 0; k < n; k++) {
        const clv_type *type = out ? clv_rule_out_type(w, k) : clv_rule_in(w->r, k);
        bool there = out ? clv_rule_has_out(w->r, k) : clv_rule_has_in(w->r, k);
        if (!there || !clv_dim_is_number(first) || clv_type_dim(type, axis) != first)
            return false;
    }
    return n > 0;
}

clv_status clv_write_concat(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    int32_t n = clv_rule_n_in(w->r), rank = clv_type_rank(clv_rule_out_type(w, 0)), axis;
    clv_rule_writing t = { .arena = w->r->arena };
    bool special[CLV_RANK_MAX] = { false };
    (void)param;
    if (rank < 0)
        return clv_writer_open(w, err);
    if (!clv_writer_axis(clv_rule_attr_int(w->r, "axis", 1), rank, &axis))
        return clv_writer_bad_axis(w, err);
    bool equal = equal_pieces(w, n, false, axis);
    special[axis] = true;
    clv_writer_axes(&t, rank, special, equal ? "part" : "_");
    clv_rule_write(&t, "*->");
    char product[48];
    snprintf(product, sizeof product, equal ? "%d*part" : "_", n);
    clv_writer_axes(&t, rank, special, product);
    return clv_writer_done(&t, ret, err);
}

clv_status clv_write_split(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    int32_t n = clv_rule_n_out(w->r), rank = clv_type_rank(clv_rule_in(w->r, 0)), axis;
    clv_rule_writing t = { .arena = w->r->arena };
    bool special[CLV_RANK_MAX] = { false };
    const int64_t *sizes;
    int32_t n_sizes;
    (void)param;
    if (rank < 0)
        return clv_writer_open(w, err);
    if (!clv_writer_axis(clv_rule_attr_int(w->r, "axis", 0), rank, &axis))
        return clv_writer_bad_axis(w, err);
    bool equal = equal_pieces(w, n, true, axis);
    char product[48];
    special[axis] = true;
    snprintf(product, sizeof product, equal ? "%d*part" : "_", n);
    clv_writer_axes(&t, rank, special, product);
    clv_rule_write(&t, ",-->");
    clv_writer_axes(&t, rank, special, equal ? "part" : "_");
    clv_rule_write(&t, "*");
    bool listed = clv_rule_attr_ints(w->r, "split", &sizes, &n_sizes) && n_sizes == n;
    for (int32_t k = 0; equal && k < n; k++)
        if (listed)
            clv_rule_write(&t, "; split[%d]=part", k);
        else if (clv_rule_ints(w->r, 1, &sizes, &n_sizes) && n_sizes == n)
            clv_rule_write(&t, "; #1[%d]=part", k);
    return clv_writer_done(&t, ret, err);
}

/* -- Tile: an axis of n repeated r times is r times n -- */

clv_status clv_write_tile(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    const clv_type *in = clv_rule_in(w->r, 0);
    const int64_t *repeats;
    int32_t n;
    clv_rule_writing t = { .arena = w->r->arena };
    bool none[CLV_RANK_MAX] = { false };
    (void)param;
    if (!clv_type_ranked(in))
        return clv_writer_open(w, err);
    if (!clv_rule_ints(w->r, 1, &repeats, &n) || n != in->rank)
        return clv_rule_keep_whole(w, "has repeats that are not known: it is not split", err);
    clv_writer_axes(&t, in->rank, none, "");
    clv_rule_write(&t, ",-->(");
    for (int32_t i = 0; i < in->rank; i++) {
        const char *comma = i ? "," : "";
        if (repeats[i] >= 1 && repeats[i] <= INT32_MAX)
            clv_rule_write(&t, "%s%" PRId64 "*a%d", comma, repeats[i], i);
        else
            clv_rule_write(&t, "%s_", comma);
    }
    clv_rule_write(&t, ")");
    return clv_writer_done(&t, ret, err);
}

/* -- Slice -- */

/* Values from an input, or before `version` from an attribute; *ret NULL: not given. */
static bool read_list(const clv_rule_context *w, int32_t k, const char *attr, const int64_t **ret,
                      int32_t *ret_n)
{
    *ret = NULL;
    *ret_n = 0;
    if (clv_rule_attr_ints(w->r, attr, ret, ret_n))
        return true;
    return !clv_rule_has_in(w->r, k) || clv_rule_ints(w->r, k, ret, ret_n);
}

typedef struct {
    const int64_t *starts, *ends, *axes, *steps; /* NULL: not given, or not known */
    int32_t n, n_ends, n_steps;
    bool steps_known;
} cuts;

static bool read_cuts(const clv_rule_context *w, cuts *c)
{
    int32_t n_axes;
    *c = (cuts){ .n = 0 };
    if (!read_list(w, 3, "axes", &c->axes, &n_axes))
        return false;
    bool starts = read_list(w, 1, "starts", &c->starts, &c->n);
    if (!read_list(w, 2, "ends", &c->ends, &c->n_ends))
        c->n_ends = 0;
    c->steps_known = read_list(w, 4, "steps", &c->steps, &c->n_steps);
    if (c->axes && c->starts && n_axes != c->n)
        return false;
    c->n = c->axes ? n_axes : c->n;
    return starts || c->axes;
}

/* What Slice does to an axis: nothing, or it takes piece `piece` of `pieces` of one size, or else.
 */
typedef struct {
    bool touched;
    int64_t pieces, piece;
    int32_t cut;
    bool exact_end; /* else it is beyond the last element */
} sliced_axis;

static sliced_axis find_piece(const cuts *c, int32_t i, clv_dim in, clv_dim out)
{
    sliced_axis a = { .touched = true, .cut = i };
    bool forward = c->steps_known && (!c->steps || (i < c->n_steps && c->steps[i] == 1));
    if (!forward || !clv_dim_is_number(in) || !clv_dim_is_number(out))
        return a;
    a.touched = in != out;
    if (!a.touched || out < 1 || in % out != 0 || !c->starts || i >= c->n_ends || !c->ends ||
        c->starts[i] < 0 || c->starts[i] >= in || c->starts[i] % out != 0)
        return a;
    int64_t end = c->starts[i] + out;
    a.exact_end = c->ends[i] == end;
    bool plain_end = a.exact_end || (end == in && c->ends[i] > in);
    a.piece = c->starts[i] / out;
    a.pieces = plain_end ? in / out : 0;
    return a;
}

static void write_sliced(clv_rule_writing *t, int32_t rank, const sliced_axis *axes, bool out)
{
    clv_rule_write(t, "(");
    for (int32_t i = 0; i < rank; i++) {
        clv_rule_write(t, i ? "," : "");
        if (axes[i].pieces > 0 && !out)
            clv_rule_write(t, "%" PRId64 "*", axes[i].pieces);
        clv_rule_write(t, axes[i].touched && axes[i].pieces == 0 ? "_" : "a%d", i);
    }
    clv_rule_write(t, ")");
}

clv_status clv_write_slice(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    const clv_type *in = clv_rule_in(w->r, 0), *out = clv_rule_out_type(w, 0);
    sliced_axis axes[CLV_RANK_MAX] = { { .touched = false } };
    clv_rule_writing t = { .arena = w->r->arena };
    cuts c;
    int32_t axis;
    (void)param;
    if (!clv_type_ranked(in) || clv_type_rank(out) != in->rank)
        return clv_writer_open(w, err);
    if (!read_cuts(w, &c))
        return clv_rule_keep_whole(w, "has axes that are not known: it is not split", err);
    for (int32_t i = 0; i < c.n; i++) {
        if (!clv_writer_axis(c.axes ? c.axes[i] : i, in->rank, &axis))
            return clv_writer_bad_axis(w, err);
        axes[axis] = find_piece(&c, i, in->dims[axis], out->dims[axis]);
    }
    write_sliced(&t, in->rank, axes, false);
    clv_writer_other_inputs(&t, w);
    clv_rule_write(&t, "->");
    write_sliced(&t, in->rank, axes, true);
    bool attr = clv_rule_attr(w->r, "starts") != NULL;
    for (int32_t i = 0; i < in->rank; i++) { /* a piece of a shard: piece * part, and a part more */
        const sliced_axis *a = &axes[i];
        if (a->pieces > 0 && a->piece > 0)
            clv_rule_write(&t, "; %s[%d]=%" PRId64 "*a%d", attr ? "starts" : "#1", a->cut, a->piece,
                           i);
        if (a->pieces > 0 && a->exact_end)
            clv_rule_write(&t, "; %s[%d]=%" PRId64 "*a%d", attr ? "ends" : "#2", a->cut,
                           a->piece + 1, i);
    }
    return clv_writer_done(&t, ret, err);
}

/* -- Pad, Resize: axes that stay as they are -- */

/* "(a0,_,a2),-,-->(a0,_,a2)": what is not touched may be split. */
static void write_untouched(clv_rule_writing *t, const clv_rule_context *w, int32_t rank,
                            const bool *touched)
{
    clv_writer_axes(t, rank, touched, "_");
    clv_writer_other_inputs(t, w);
    clv_rule_write(t, "->");
    clv_writer_axes(t, rank, touched, "_");
}

clv_status clv_write_pad(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    const clv_type *in = clv_rule_in(w->r, 0);
    clv_rule_writing t = { .arena = w->r->arena };
    const int64_t *pads, *axes;
    int32_t n_pads, n, axis;
    bool touched[CLV_RANK_MAX] = { false };
    (void)param;
    if (!clv_type_ranked(in))
        return clv_writer_open(w, err);
    if (!clv_rule_axes(w->r, "axes", 3, &axes, &n))
        return clv_rule_keep_whole(w, "has axes that are not known: it is not split", err);
    n = n < 0 ? in->rank : n;
    bool known = clv_rule_attr_ints(w->r, "pads", &pads, &n_pads) ||
                 clv_rule_attr_ints(w->r, "paddings", &pads, &n_pads) ||
                 clv_rule_ints(w->r, 1, &pads, &n_pads);
    for (int32_t i = 0; i < n; i++) {
        if (!clv_writer_axis(axes ? axes[i] : i, in->rank, &axis))
            return clv_writer_bad_axis(w, err);
        touched[axis] |= !known || n_pads != 2 * n || pads[i] != 0 || pads[n + i] != 0;
    }
    write_untouched(&t, w, in->rank, touched);
    return clv_writer_done(&t, ret, err);
}

/* Resize: batch and channels, where they stay as they are; #3 or #2 may be the sizes. */
clv_status clv_write_same_dims(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    const clv_type *in = clv_rule_in(w->r, 0), *out = clv_rule_out_type(w, 0);
    clv_rule_writing t = { .arena = w->r->arena };
    bool touched[CLV_RANK_MAX] = { false };
    const int64_t *axes;
    int32_t n_axes;
    if (!clv_type_ranked(in) || clv_type_rank(out) != in->rank)
        return clv_writer_open(w, err);
    for (int32_t i = 0; i < in->rank; i++) /* batch and channels are the first two */
        touched[i] = i > 1 || !clv_dim_is_number(in->dims[i]) || in->dims[i] != out->dims[i];
    bool some =
        clv_rule_attr_ints(w->r, "axes", &axes, &n_axes); /* then sizes are of these alone */
    for (int32_t i = 0; some && i < n_axes; i++)
        if (axes[i] >= -(int64_t)in->rank && axes[i] < in->rank)
            touched[axes[i] < 0 ? axes[i] + in->rank : axes[i]] = true;
    write_untouched(&t, w, in->rank, touched);
    if (param.n > 0 && !some)
        clv_rule_write(&t, "; %.*s=shape", CLV_STR_ARG(param));
    return clv_writer_done(&t, ret, err);
}
