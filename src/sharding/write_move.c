/* write_move.c - Transpose, reductions, and what chooses, joins, cuts and repeats along an axis. */
#include <inttypes.h>
#include <stdio.h>

#include "graph/shape_tools.h"
#include "graph/values.h"
#include "sharding/writers.h"

/* -- Transpose -- */

clv_status clv_write_transpose(clv_rule_context *w, clv_str param, const char **ret)
{
    const clv_type *in = clv_rule_in(w->r, 0);
    clv_rule_writing t = { .arena = w->r->arena };
    const int64_t *perm;
    int32_t n, axis;
    bool given = clv_rule_attr_ints(w->r, "perm", &perm, &n), none[CLV_RANK_MAX] = { false };
    (void)param;
    if (!clv_type_ranked(in))
        return clv_writer_open(w);
    if (given && n != in->rank)
        return clv_writer_bad_axis(w);
    clv_writer_axes(&t, in->rank, none, "");
    clv_rule_write(&t, "->(");
    for (int32_t i = 0; i < in->rank; i++) {
        if (!clv_writer_axis(given ? perm[i] : in->rank - 1 - i, in->rank, &axis))
            return clv_writer_bad_axis(w);
        clv_rule_write(&t, "%sa%d", i ? "," : "", axis);
    }
    clv_rule_write(&t, ")");
    return clv_writer_done(w, &t, ret);
}

/* -- Dropout; param: "bias", which it adds, and a residual -- */

clv_status clv_write_dropout(clv_rule_context *w, clv_str param, const char **ret)
{
    bool bias = clv_str_is(param, "bias");
    clv_rule_writing t = { .arena = w->r->arena };
    int32_t mode =
        bias ? 4 : 2; /* the input that says whether it is trained; before it the ratio */
    if (clv_dropout_draws(clv_rule_has_in(w->r, mode), clv_rule_value(w->r, mode),
                          clv_rule_value(w->r, mode - 1)))
        return clv_rule_keep_whole(w, "draws random numbers where it is trained, which would be "
                                      "others on each part: it is not split");
    clv_rule_write(&t, bias ? "(...),(...),(...),-,-->(...),(...)" : "(...),-,-->(...),(...)");
    return clv_writer_done(w, &t, ret);
}

/* -- reductions; param: how parts are reduced, or "whole" -- */

/* axes_in: the input that may have the axes instead of an attribute. */
static clv_status reduced_axes(clv_rule_context *w, int32_t rank, int32_t axes_in, bool *reduced)
{
    const int64_t *axes;
    int32_t n, axis;
    if (!clv_rule_axes(w->r, "axes", axes_in, &axes, &n))
        return clv_rule_keep_whole(w, "has axes that are not known: it is not split");
    bool all = n <= 0 && clv_rule_attr_int(w->r, "noop_with_empty_axes", 0) == 0;
    for (int32_t i = 0; i < rank; i++)
        reduced[i] = all;
    for (int32_t i = 0; i < n; i++) {
        if (!clv_writer_axis(axes[i], rank, &axis))
            return clv_writer_bad_axis(w);
        reduced[axis] = true;
    }
    return CLV_OK;
}

clv_status clv_write_reduce(clv_rule_context *w, clv_str param, const char **ret)
{
    const clv_type *in = clv_rule_in(w->r, 0);
    bool reduced[CLV_RANK_MAX], keep = clv_rule_attr_int(w->r, "keepdims", 1) != 0;
    bool whole = clv_str_is(param, "whole"), comma = false;
    clv_rule_writing t = { .arena = w->r->arena };
    if (!clv_type_ranked(in))
        return clv_writer_open(w);
    CLV_TRY(reduced_axes(w, in->rank, whole ? INT32_MAX : 1, reduced));
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
    for (int32_t k = 1; k < clv_rule_n_in(w->r); k++)
        clv_rule_write(&t, ",-");
    clv_rule_write(&t, "->(");
    for (int32_t i = 0; i < in->rank; i++) {
        if (reduced[i] && !keep)
            continue;
        clv_rule_write(&t, comma ? "," : "");
        clv_rule_write(&t, reduced[i] ? "1" : "a%d", i);
        comma = true;
    }
    clv_rule_write(&t, ")");
    return clv_writer_done(w, &t, ret);
}

/* -- GatherElements, ScatterElements; param: "gather" or "scatter". Indices may cover a part of a
 * dimension of the data: which devices have it, the parts do not tell, so it is whole. -- */

static void add_elements(clv_rule_writing *t, int32_t rank, const bool *apart, int32_t axis,
                         const char *at_axis)
{
    for (int32_t i = 0; i < rank; i++)
        if (i == axis || apart[i])
            clv_rule_write(t, "%s%s", i ? "," : "(", i == axis ? at_axis : "_");
        else
            clv_rule_write(t, "%sa%d", i ? "," : "(", i);
    clv_rule_write(t, ")");
}

clv_status clv_write_elements(clv_rule_context *w, clv_str param, const char **ret)
{
    bool gathers = clv_str_is(param, "gather"), apart[CLV_RANK_MAX];
    const clv_type *data = clv_rule_in(w->r, 0), *index = clv_rule_in(w->r, 1);
    clv_rule_writing t = { .arena = w->r->arena };
    int32_t axis;
    if (!clv_type_ranked(data) || !clv_type_ranked(index) || data->rank != index->rank)
        return clv_writer_open(w);
    if (!clv_writer_axis(clv_rule_attr_int(w->r, "axis", 0), data->rank, &axis))
        return clv_writer_bad_axis(w);
    for (int32_t i = 0; i < data->rank; i++)
        apart[i] = data->dims[i] != index->dims[i] || data->dims[i] == CLV_DIM_UNKNOWN;
    add_elements(&t, data->rank, apart, axis, gathers ? "v:index" : "n!");
    clv_rule_write(&t, ",");
    add_elements(&t, data->rank, apart, axis, gathers ? "i" : "_");
    if (!gathers) {
        clv_rule_write(&t, ",");
        add_elements(&t, data->rank, apart, axis, "_");
    }
    clv_rule_write(&t, "->");
    add_elements(&t, data->rank, apart, axis, gathers ? "i" : "n!");
    return clv_writer_done(w, &t, ret);
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

clv_status clv_write_concat(clv_rule_context *w, clv_str param, const char **ret)
{
    int32_t n = clv_rule_n_in(w->r), rank = clv_type_rank(clv_rule_out_type(w, 0)), axis;
    clv_rule_writing t = { .arena = w->r->arena };
    bool special[CLV_RANK_MAX] = { false };
    (void)param;
    if (rank < 0)
        return clv_writer_open(w);
    if (!clv_writer_axis(clv_rule_attr_int(w->r, "axis", 1), rank, &axis))
        return clv_writer_bad_axis(w);
    bool equal = equal_pieces(w, n, false, axis);
    special[axis] = true;
    clv_writer_axes(&t, rank, special, equal ? "part" : "_");
    clv_rule_write(&t, "*->");
    char product[48];
    snprintf(product, sizeof product, equal ? "%d*part" : "_", n);
    clv_writer_axes(&t, rank, special, product);
    return clv_writer_done(w, &t, ret);
}

clv_status clv_write_split(clv_rule_context *w, clv_str param, const char **ret)
{
    int32_t n = clv_rule_n_out(w->r), rank = clv_type_rank(clv_rule_in(w->r, 0)), axis;
    clv_rule_writing t = { .arena = w->r->arena };
    bool special[CLV_RANK_MAX] = { false };
    const int64_t *sizes;
    int32_t n_sizes;
    (void)param;
    if (rank < 0)
        return clv_writer_open(w);
    if (!clv_writer_axis(clv_rule_attr_int(w->r, "axis", 0), rank, &axis))
        return clv_writer_bad_axis(w);
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
    return clv_writer_done(w, &t, ret);
}

/* -- Tile: an axis of n repeated r times is r times n -- */

clv_status clv_write_tile(clv_rule_context *w, clv_str param, const char **ret)
{
    const clv_type *in = clv_rule_in(w->r, 0);
    const int64_t *repeats;
    int32_t n;
    clv_rule_writing t = { .arena = w->r->arena };
    bool none[CLV_RANK_MAX] = { false };
    (void)param;
    if (!clv_type_ranked(in))
        return clv_writer_open(w);
    if (!clv_rule_ints(w->r, 1, &repeats, &n) || n != in->rank)
        return clv_rule_keep_whole(w, "has repeats that are not known: it is not split");
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
    return clv_writer_done(w, &t, ret);
}
