/* write_slice.c - Slice, Pad, Resize: axes that stay as they are may be split, and pieces. */
#include <inttypes.h>

#include "graph/shape_tools.h"
#include "sharding/writers.h"

/* -- Slice, Pad: axes that stay as they are -- */

/* "(a0,_,a2),-,-->(a0,_,a2)": what is not touched may be split. */
static clv_status untouched(clv_rule_context *w, int32_t rank, const bool *touched,
                            const char **ret)
{
    clv_rule_writing t = { .arena = w->r->arena };
    clv_writer_axes(&t, rank, touched, "_");
    for (int32_t k = 1; k < clv_rule_n_in(w->r); k++)
        clv_rule_write(&t, ",-");
    clv_rule_write(&t, "->");
    clv_writer_axes(&t, rank, touched, "_");
    return clv_writer_done(w, &t, ret);
}

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

static sliced_axis look_at_cut(const cuts *c, int32_t i, clv_dim in, clv_dim out)
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

static void add_sliced(clv_rule_writing *t, int32_t rank, const sliced_axis *axes, bool out)
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

/* Bounds within pieces of a shard: start is piece * part, end a part more. */
static void add_bounds(clv_rule_writing *t, const clv_rule_context *w, const sliced_axis *a,
                       int32_t i)
{
    bool attr = clv_rule_attr(w->r, "starts") != NULL;
    if (a->piece > 0)
        clv_rule_write(t, "; %s[%d]=%" PRId64 "*a%d", attr ? "starts" : "#1", a->cut, a->piece, i);
    if (a->exact_end)
        clv_rule_write(t, "; %s[%d]=%" PRId64 "*a%d", attr ? "ends" : "#2", a->cut, a->piece + 1,
                       i);
}

clv_status clv_write_slice(clv_rule_context *w, clv_str param, const char **ret)
{
    const clv_type *in = clv_rule_in(w->r, 0), *out = clv_rule_out_type(w, 0);
    sliced_axis axes[CLV_RANK_MAX] = { { .touched = false } };
    clv_rule_writing t = { .arena = w->r->arena };
    cuts c;
    int32_t axis;
    (void)param;
    if (!clv_type_ranked(in) || clv_type_rank(out) != in->rank)
        return clv_writer_open(w);
    if (!read_cuts(w, &c))
        return clv_rule_keep_whole(w, "has axes that are not known: it is not split");
    for (int32_t i = 0; i < c.n; i++) {
        if (!clv_writer_axis(c.axes ? c.axes[i] : i, in->rank, &axis))
            return clv_writer_bad_axis(w);
        axes[axis] = look_at_cut(&c, i, in->dims[axis], out->dims[axis]);
    }
    add_sliced(&t, in->rank, axes, false);
    for (int32_t k = 1; k < clv_rule_n_in(w->r); k++)
        clv_rule_write(&t, ",-");
    clv_rule_write(&t, "->");
    add_sliced(&t, in->rank, axes, true);
    for (int32_t i = 0; i < in->rank; i++)
        if (axes[i].pieces > 0)
            add_bounds(&t, w, &axes[i], i);
    return clv_writer_done(w, &t, ret);
}

clv_status clv_write_pad(clv_rule_context *w, clv_str param, const char **ret)
{
    const clv_type *in = clv_rule_in(w->r, 0);
    const int64_t *pads, *axes;
    int32_t n_pads, n, axis;
    bool touched[CLV_RANK_MAX] = { false };
    (void)param;
    if (!clv_type_ranked(in))
        return clv_writer_open(w);
    if (!clv_rule_axes(w->r, "axes", 3, &axes, &n))
        return clv_rule_keep_whole(w, "has axes that are not known: it is not split");
    n = n < 0 ? in->rank : n;
    bool known = clv_rule_attr_ints(w->r, "pads", &pads, &n_pads) ||
                 clv_rule_attr_ints(w->r, "paddings", &pads, &n_pads) ||
                 clv_rule_ints(w->r, 1, &pads, &n_pads);
    for (int32_t i = 0; i < n; i++) {
        if (!clv_writer_axis(axes ? axes[i] : i, in->rank, &axis))
            return clv_writer_bad_axis(w);
        touched[axis] |= !known || n_pads != 2 * n || pads[i] != 0 || pads[n + i] != 0;
    }
    return untouched(w, in->rank, touched, ret);
}

/* -- Resize: batch and channels, where they stay as they are; #3 or #2 may be the sizes -- */

clv_status clv_write_same_dims(clv_rule_context *w, clv_str param, const char **ret)
{
    const clv_type *in = clv_rule_in(w->r, 0), *out = clv_rule_out_type(w, 0);
    clv_rule_writing t = { .arena = w->r->arena };
    bool touched[CLV_RANK_MAX] = { false };
    const int64_t *axes;
    int32_t n_axes;
    if (!clv_type_ranked(in) || clv_type_rank(out) != in->rank)
        return clv_writer_open(w);
    for (int32_t i = 0; i < in->rank; i++) /* batch and channels are the first two */
        touched[i] = i > 1 || !clv_dim_is_number(in->dims[i]) || in->dims[i] != out->dims[i];
    bool some =
        clv_rule_attr_ints(w->r, "axes", &axes, &n_axes); /* then sizes are of these alone */
    for (int32_t i = 0; some && i < n_axes; i++)
        if (axes[i] >= -(int64_t)in->rank && axes[i] < in->rank)
            touched[axes[i] < 0 ? axes[i] + in->rank : axes[i]] = true;
    clv_writer_axes(&t, in->rank, touched, "_");
    for (int32_t k = 1; k < clv_rule_n_in(w->r); k++)
        clv_rule_write(&t, ",-");
    clv_rule_write(&t, "->");
    clv_writer_axes(&t, in->rank, touched, "_");
    if (param.n > 0 && !some)
        clv_rule_write(&t, "; %.*s=shape", CLV_STR_ARG(param));
    return clv_writer_done(w, &t, ret);
}
