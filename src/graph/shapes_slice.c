/* shapes_slice.c - Slice.
 *
 * A size depends on start, end, step and the dimension. Where the dimension is open some slices are
 * still clear: all of it, all of it backwards, and its first or last element (a symbol stands for
 * at least 1).
 */
#include "graph/rules.h"
#include "graph/shape_tools.h"

typedef struct {
    const clv_dim *start, *end, *step, *axis; /* NULL: not given; step 1, the first axes */
    int32_t n;
    bool axes_known, bounds_known, steps_known;
} cuts;

/* Python's clamping: a negative index counts from the end, then to [low, high]. */
static int64_t clamp(int64_t index, int64_t size, int64_t low, int64_t high)
{
    index += index < 0 ? size : 0;
    return index < low ? low : index > high ? high : index;
}

static int64_t slice_size(int64_t d, int64_t start, int64_t end, int64_t step)
{
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? d : d - 1, span;

    if (d <= 0)
        return 0;
    start = clamp(start, d, 0, high);
    end = clamp(end, d, low, high);
    span = step > 0 ? end - start : start - end;
    if (span <= 0)
        return 0;
    /* Work with step - 1 downward steps so that the lowest step does not overflow. */
    uint64_t stride = step > 0 ? (uint64_t)step : (uint64_t)0 - (uint64_t)step;
    return (int64_t)(((uint64_t)span - 1) / stride + 1);
}

/* More than any dimension: exporters write it for "to the end". */
static bool is_far(int64_t index) { return index >= INT32_MAX; }

/* A slice of an open dimension. */
static clv_dim slice_open(clv_dim d, clv_dim start, clv_dim end, clv_dim step)
{
    bool symbol = clv_dim_is_symbol(d);
    bool end_number = clv_dim_is_number(end);
    bool to_end = (end_number && is_far(end)) || (symbol && end == d);

    if (start == 0 && to_end && step == 1)
        return d;
    if ((start == -1 || (clv_dim_is_number(start) && is_far(start))) && end_number &&
        end <= -INT32_MAX && step == -1)
        return d;
    if (start == 0 && end == 0 && step > 0)
        return 0;
    if (symbol && step == 1 && ((start == 0 && end == 1) || (start == -1 && to_end)))
        return 1;
    return CLV_DIM_UNKNOWN;
}

static clv_status slice_dim(clv_rule *r, const cuts *c, int32_t i, clv_dim *d)
{
    clv_dim step = !c->steps_known ? CLV_DIM_UNKNOWN : c->step ? c->step[i] : 1;

    if (step == 0)
        return clv_rule_fail(r, "step %d is 0", i);
    if (!c->bounds_known || !clv_dim_is_number(step))
        *d = CLV_DIM_UNKNOWN;
    else if (clv_dim_is_number(*d) && clv_dim_is_number(c->start[i]) &&
             clv_dim_is_number(c->end[i]))
        *d = slice_size(*d, c->start[i], c->end[i], step);
    else
        *d = slice_open(*d, c->start[i], c->end[i], step);
    return CLV_OK;
}

/* A list that may be left out: false when it is there but not known. */
static clv_status read_list(clv_rule *r, int32_t k, const char *what, int32_t n,
                            const clv_dim **ret, bool *ret_known)
{
    const clv_value *v = clv_rule_value(r, k);

    *ret_known = !clv_rule_has_in(r, k) || (v && v->i);
    *ret = NULL;
    if (v && v->i && n >= 0 && v->n != n)
        return clv_rule_fail(r, "%d starts and %d %s", n, v->n, what);
    if (v)
        *ret = v->i;
    return CLV_OK;
}

static clv_status cuts_from_inputs(clv_rule *r, cuts *c)
{
    bool starts, ends;

    CLV_TRY(read_list(r, 1, "starts", -1, &c->start, &starts));
    c->n = clv_rule_length(r, 1);
    c->n = c->n < 0 ? clv_rule_length(r, 2) : c->n;
    c->n = c->n < 0 ? clv_rule_length(r, 3) : c->n;
    CLV_TRY(read_list(r, 2, "ends", c->n, &c->end, &ends));
    CLV_TRY(read_list(r, 3, "axes", c->n, &c->axis, &c->axes_known));
    CLV_TRY(read_list(r, 4, "steps", c->n, &c->step, &c->steps_known));
    c->bounds_known = starts && ends && c->start && c->end;
    for (int32_t i = 0; c->axis && i < c->n; i++)
        c->axes_known &= clv_dim_is_number(c->axis[i]);
    return CLV_OK;
}

static clv_status cuts_from_attributes(clv_rule *r, cuts *c)
{
    int32_t n_end = 0, n_axes = 0;

    if (!clv_rule_attr_ints(r, "starts", &c->start, &c->n) ||
        !clv_rule_attr_ints(r, "ends", &c->end, &n_end) || n_end != c->n)
        return clv_rule_fail(r, "%d starts and %d ends", c->n, n_end);
    if (clv_rule_attr_ints(r, "axes", &c->axis, &n_axes) && n_axes != c->n)
        return clv_rule_fail(r, "%d starts and %d axes", c->n, n_axes);
    c->axes_known = c->bounds_known = c->steps_known = true;
    return CLV_OK;
}

clv_status clv_shape_slice(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool cut[CLV_RANK_MAX] = { false };
    clv_dim dims[CLV_RANK_MAX];
    cuts c = { 0 };
    int32_t axis;

    CLV_TRY(r->version < 10 ? cuts_from_attributes(r, &c) : cuts_from_inputs(r, &c));
    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    if (!c.axes_known || c.n < 0)
        return clv_rule_set_rank(r, 0, in->dtype, in->rank);
    clv_dims_copy(dims, in->dims, in->rank);
    for (int32_t i = 0; i < c.n; i++) {
        CLV_TRY(clv_rule_axis(r, c.axis ? c.axis[i] : i, in->rank, &axis));
        if (cut[axis])
            return clv_rule_fail(r, "axis %d is named twice", axis);
        cut[axis] = true;
        CLV_TRY(slice_dim(r, &c, i, &dims[axis]));
    }
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}
