/* write_window.c - convolutions and poolings: an image may be cut too, where each part of the
 * output comes from as long a part of the input, and a border of its neighbours.
 *
 * An input of y * s elements along an axis gives y with stride s. Output i reads from i*s - p on, p
 * the padding before, as far as the kernel reaches. So a part of the input lacks p elements before
 * it and reach + 1 - s - p after it. Beyond the edges of the whole stands what would have been
 * padding: zeros, or the lowest number for a maximum. The pads of that axis become 0.
 */
#include "sharding/write_window.h"

#include <inttypes.h>

#include "graph/shape_tools.h"
#include "graph/window.h"

typedef struct {
    bool cut;
    int64_t stride, before, after;
    bool padded;
} image_axis;

/* Only where every number is known, and no padding is worked out by the operator itself. */
static image_axis find_axis(const clv_window *w, int32_t i, clv_dim in, clv_dim out)
{
    image_axis a = { .stride = w->stride[i] };
    clv_dim reach = clv_dim_mul(clv_dim_add(w->kernel[i], -1), w->dilation[i]);
    int64_t pad_end = w->pad[i] - w->pad_begin[i];
    if (w->same || w->ceil || reach < 0 || reach > INT32_MAX || !clv_dim_is_number(in) ||
        !clv_dim_is_number(out))
        return a;
    a.before = w->pad_begin[i];
    a.after = reach + 1 - a.stride - a.before;
    a.after = a.after > 0 ? a.after : 0;
    a.padded = a.before != 0 || pad_end != 0;
    a.cut = out > 0 && in / a.stride == out && in % a.stride == 0 && a.before >= 0 &&
            pad_end >= 0 && a.before <= reach;
    return a;
}

/* A rule around the axes of the image. */
typedef struct {
    const char *before_in, *before_out, *end;
    bool whole; /* the image is not cut */
} window_rule;

static clv_status write_axes(const clv_rule_context *w, const clv_window *window,
                             const window_rule *rule, const char **ret, clv_error *err)
{
    const clv_type *in = clv_rule_in(w->r, 0), *out = clv_rule_out_type(w, 0);
    clv_rule_writing t = { .arena = w->r->arena };
    image_axis axes[CLV_RANK_MAX];
    clv_rule_write(&t, "%s", rule->before_in);
    for (int32_t i = 0; i < window->n; i++) {
        image_axis *a = &axes[i];
        *a = find_axis(window, i, clv_type_dim(in, i + 2), clv_type_dim(out, i + 2));
        a->cut &= !rule->whole;
        clv_rule_write(&t, a->cut ? ",y%d" : ",_", i);
        if (a->cut && (a->before > 0 || a->after > 0))
            clv_rule_write(&t, "~%" PRId64 "+%" PRId64, a->before, a->after);
        if (a->cut)
            clv_rule_write(&t, "*%" PRId64, a->stride);
    }
    clv_rule_write(&t, "%s", rule->before_out);
    for (int32_t i = 0; i < window->n; i++)
        clv_rule_write(&t, axes[i].cut ? ",y%d" : ",_", i);
    clv_rule_write(&t, "%s", rule->end);
    for (int32_t i = 0; i < window->n; i++)
        if (axes[i].cut && axes[i].padded)
            clv_rule_write(&t, "; pads[%d]=pad y%d; pads[%d]=pad y%d", i, i, window->n + i, i);
    return clv_writer_done(&t, ret, err);
}

static clv_status read_window(clv_rule_context *w, const clv_type *weight, clv_window *ret,
                              clv_error *err)
{
    const clv_type *in = clv_rule_in(w->r, 0);
    if (!clv_type_ranked(in) || in->rank < 2 || clv_type_rank(clv_rule_out_type(w, 0)) != in->rank)
        return clv_rule_keep_whole(w, "has an open shape: it is not split", err);
    if (clv_window_read(w->r, in->rank - 2, weight, 2, ret, err) != CLV_OK)
        return clv_rule_keep_whole(w, "has a window that does not fit its input", err);
    return CLV_OK;
}

clv_status clv_write_conv(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    clv_window window;
    (void)param;
    CLV_TRY(read_window(w, clv_rule_in(w->r, 1), &window, err));
    if (w->why)
        return CLV_OK;
    return write_axes(w, &window,
                      &(window_rule){ .before_in = "(n,g*c",
                                      .before_out = "),(g*m,c,_..),(g*m):once->(n,g*m",
                                      .end = "); group?1=g" },
                      ret, err);
}

/* An average that leaves the padding out knows where the edges are. */
clv_status clv_write_pool(clv_rule_context *w, clv_str param, const char **ret, clv_error *err)
{
    clv_window window;
    bool padded = false;
    (void)param;
    CLV_TRY(read_window(w, NULL, &window, err));
    if (w->why)
        return CLV_OK;
    for (int32_t i = 0; i < window.n; i++)
        padded |= window.pad[i] != 0 || window.pad_begin[i] != 0;
    bool edges = clv_str_is(w->r->op->type, "AveragePool") && padded &&
                 clv_rule_attr_int(w->r, "count_include_pad", 0) == 0;
    return write_axes(
        w, &window,
        &(window_rule){ .before_in = "(n,c", .before_out = ")->(n,c", .end = ")", .whole = edges },
        ret, err);
}
