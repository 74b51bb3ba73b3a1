#include "graph/shapes_slice.h"

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
#define FAR INT32_MAX

/* A slice of an open dimension. */
static clv_dim slice_open(clv_dim d, clv_dim start, clv_dim end, clv_dim step)
{
    bool symbol = clv_dim_is_symbol(d);
    bool to_end = (clv_dim_is_number(end) && end >= FAR) || (symbol && end == d);
    bool from_end = start == -1 || (clv_dim_is_number(start) && start >= FAR);
    if (start == 0 && to_end && step == 1)
        return d;
    if (from_end && clv_dim_is_number(end) && end <= -FAR && step == -1)
        return d;
    if (start == 0 && end == 0 && step > 0)
        return 0;
    if (symbol && step == 1 && ((start == 0 && end == 1) || (start == -1 && to_end)))
        return 1;
    return CLV_DIM_UNKNOWN;
}

static clv_status slice_dim(clv_rule *r, const cuts *c, int32_t i, clv_dim *d, clv_error *err)
{
    clv_dim step = !c->steps_known ? CLV_DIM_UNKNOWN : c->step ? c->step[i] : 1;
    if (step == 0)
        return clv_rule_fail(r, err, "step %d is 0", i);
    if (!c->bounds_known || !clv_dim_is_number(step))
        *d = CLV_DIM_UNKNOWN;
    else if (clv_dim_is_number(*d) && clv_dim_is_number(c->start[i]) &&
             clv_dim_is_number(c->end[i]))
        *d = slice_size(*d, c->start[i], c->end[i], step);
    else
        *d = slice_open(*d, c->start[i], c->end[i], step);
    return CLV_OK;
}

/* The list of input k, as long as the n starts; NULL where it is left out or not known. */
static clv_status read_list(clv_rule *r, int32_t k, const char *what, int32_t n,
                            const clv_dim **ret, clv_error *err)
{
    const clv_value *v = clv_rule_value(r, k);
    if (v && v->i && n >= 0 && v->n != n)
        return clv_rule_fail(r, err, "%d starts and %d %s", n, v->n, what);
    *ret = v ? v->i : NULL;
    return CLV_OK;
}

static clv_status cuts_from_inputs(clv_rule *r, cuts *c, clv_error *err)
{
    CLV_TRY(read_list(r, 1, "starts", -1, &c->start, err));
    c->n = clv_rule_length(r, 1);
    c->n = c->n < 0 ? clv_rule_length(r, 2) : c->n;
    c->n = c->n < 0 ? clv_rule_length(r, 3) : c->n;
    CLV_TRY(read_list(r, 2, "ends", c->n, &c->end, err));
    CLV_TRY(read_list(r, 3, "axes", c->n, &c->axis, err));
    CLV_TRY(read_list(r, 4, "steps", c->n, &c->step, err));
    c->bounds_known = c->start && c->end;
    c->steps_known = c->step || !clv_rule_has_in(r, 4);
    c->axes_known = c->axis || !clv_rule_has_in(r, 3);
    for (int32_t i = 0; c->axis && i < c->n; i++)
        c->axes_known &= clv_dim_is_number(c->axis[i]);
    return CLV_OK;
}

static clv_status cuts_from_attributes(clv_rule *r, cuts *c, clv_error *err)
{
    int32_t n_end = 0, n_axes = 0;
    if (!clv_rule_attr_ints(r, "starts", &c->start, &c->n) ||
        !clv_rule_attr_ints(r, "ends", &c->end, &n_end) || n_end != c->n)
        return clv_rule_fail(r, err, "%d starts and %d ends", c->n, n_end);
    if (clv_rule_attr_ints(r, "axes", &c->axis, &n_axes) && n_axes != c->n)
        return clv_rule_fail(r, err, "%d starts and %d axes", c->n, n_axes);
    c->axes_known = c->bounds_known = c->steps_known = true;
    return CLV_OK;
}

clv_status clv_shape_slice(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool cut[CLV_RANK_MAX] = { false };
    clv_dim dims[CLV_RANK_MAX];
    cuts c = { 0 };
    int32_t axis;
    CLV_TRY(r->version < 10 ? cuts_from_attributes(r, &c, err) : cuts_from_inputs(r, &c, err));
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (!c.axes_known || c.n < 0)
        return clv_rule_set_rank(r, 0, in->dtype, in->rank, err);
    clv_dims_copy(dims, in->dims, in->rank);
    for (int32_t i = 0; i < c.n; i++) {
        CLV_TRY(clv_rule_axis(r, c.axis ? c.axis[i] : i, in->rank, &axis, err));
        if (cut[axis])
            return clv_rule_fail(r, err, "axis %d is named twice", axis);
        cut[axis] = true;
        CLV_TRY(slice_dim(r, &c, i, &dims[axis], err));
    }
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}
