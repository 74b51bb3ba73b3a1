/* window.c - a kernel of k elements, d apart, covers d * (k - 1) + 1; it starts every s elements of
 * the padded input. An open length passes through only where the formula leaves it as it is.
 */
#include "graph/window.h"

#include <inttypes.h>

#include "graph/shape_tools.h"

/* Far above any model's, so that sums and products of a few of them fit 64 bits. */
#define WINDOW_MAX (INT64_C(1) << 30)

/* The attribute's n numbers, in [min, WINDOW_MAX]; where it is not given n times 1, or 0 if that is
 * allowed. */
static clv_status read_list(clv_rule *r, const char *name, int32_t n, int64_t min, int64_t *ret,
                            clv_error *err)
{
    const int64_t *list;
    int32_t length;
    bool given = clv_rule_attr_ints(r, name, &list, &length) && length > 0;
    if (given && length != n)
        return clv_rule_fail(r, err, "attribute %s has %d numbers, must have %d", name, length, n);
    for (int32_t i = 0; i < n; i++) {
        ret[i] = given ? list[i] : min == 1;
        if (ret[i] < min || ret[i] > WINDOW_MAX)
            return clv_rule_fail(r, err, "attribute %s has %" PRId64 ", must be at least %" PRId64,
                                 name, ret[i], min);
    }
    return CLV_OK;
}

static clv_status read_kernel(clv_rule *r, const clv_type *weight, int32_t first, clv_window *w,
                              clv_error *err)
{
    const int64_t *list;
    int32_t length;
    if (clv_rule_attr_ints(r, "kernel_shape", &list, &length))
        return read_list(r, "kernel_shape", w->n, 1, w->kernel, err);
    for (int32_t i = 0; i < w->n; i++)
        w->kernel[i] = weight ? clv_type_dim(weight, first + i) : CLV_DIM_UNKNOWN;
    return CLV_OK;
}

static clv_status read_pads(clv_rule *r, clv_window *w, clv_error *err)
{
    int64_t pads[2 * CLV_RANK_MAX];
    clv_str automatic = clv_rule_attr_str(r, "auto_pad", "NOTSET");
    w->same = clv_str_is(automatic, "SAME_UPPER") || clv_str_is(automatic, "SAME_LOWER");
    if (w->same || clv_str_is(automatic, "VALID"))
        return CLV_OK;
    CLV_TRY(read_list(r, "pads", 2 * w->n, -WINDOW_MAX, pads, err));
    for (int32_t i = 0; i < w->n; i++) {
        w->pad_begin[i] = pads[i];
        w->pad[i] = pads[i] + pads[w->n + i];
    }
    return CLV_OK;
}

/* How many spatial axes, where the rank of the input is not known. */
static int32_t count_axes(clv_rule *r, int32_t n, const clv_type *weight, int32_t first)
{
    const int64_t *list;
    int32_t length;
    if (n >= 0)
        return n;
    if (weight && clv_type_rank(weight) >= first)
        return weight->rank - first;
    bool given = clv_rule_attr_ints(r, "kernel_shape", &list, &length);
    return given && length <= CLV_RANK_MAX - 2 ? length : CLV_RANK_UNKNOWN;
}

clv_status clv_window_read(clv_rule *r, int32_t n, const clv_type *weight, int32_t first_kernel,
                           clv_window *ret, clv_error *err)
{
    *ret = (clv_window){ .n = count_axes(r, n, weight, first_kernel) };
    if (ret->n == CLV_RANK_UNKNOWN)
        return CLV_OK;
    if (weight && clv_type_ranked(weight) && weight->rank - first_kernel != ret->n)
        return clv_rule_fail(r, err, "its weight has rank %d, its input %d spatial dimensions",
                             weight->rank, ret->n);
    ret->ceil = clv_rule_attr_int(r, "ceil_mode", 0) != 0;
    CLV_TRY(read_kernel(r, weight, first_kernel, ret, err));
    CLV_TRY(read_list(r, "strides", ret->n, 1, ret->stride, err));
    CLV_TRY(read_list(r, "dilations", ret->n, 1, ret->dilation, err));
    return read_pads(r, ret, err);
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

clv_status clv_window_slide(clv_rule *r, const clv_window *w, int32_t i, clv_dim in, clv_dim *ret,
                            clv_error *err)
{
    int64_t s = w->stride[i];
    bool number = clv_dim_is_number(in) && in <= INT64_MAX / 4;
    *ret = CLV_DIM_UNKNOWN;
    if (w->same) {
        *ret = s == 1 ? in : number ? (in + s - 1) / s : CLV_DIM_UNKNOWN;
        return CLV_OK;
    }
    clv_dim reach = clv_dim_mul(clv_dim_add(w->kernel[i], -1), w->dilation[i]);
    if (!clv_dim_is_number(reach) || reach > INT64_MAX / 4)
        return CLV_OK;
    int64_t change = w->pad[i] - reach; /* of the number of places where the window may start */
    if (!number) {
        *ret = s == 1 && change == 0 ? in : CLV_DIM_UNKNOWN;
        return CLV_OK;
    }
    int64_t last = in + change - 1;
    int64_t out = (w->ceil ? -floor_div(-last, s) : floor_div(last, s)) + 1;
    /* a window that would start in the padding at the end is left out */
    if (w->ceil && (out - 1) * s >= in + w->pad_begin[i])
        out--;
    if (out < 0)
        return clv_rule_fail(
            r, err, "its window covers %" PRId64 ", its padded input is only %" PRId64 " long",
            reach + 1, in + w->pad[i]);
    *ret = out;
    return CLV_OK;
}

clv_dim clv_window_spread(const clv_window *w, int32_t i, clv_dim in, int64_t extra)
{
    if (w->same)
        return clv_dim_mul(in, w->stride[i]);
    clv_dim reach = clv_dim_mul(clv_dim_add(w->kernel[i], -1), w->dilation[i]);
    /* s * (in - 1) + reach + 1 + extra - pads */
    clv_dim change = clv_dim_add(reach, 1 - w->stride[i] + extra - w->pad[i]);
    return clv_dim_add(clv_dim_mul(in, w->stride[i]), change);
}
