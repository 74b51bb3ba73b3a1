#include "graph/values_reduce.h"

#include <math.h>

#include "graph/shape_tools.h"
#include "graph/values.h"

typedef struct {
    clv_dim (*i)(clv_dim, clv_dim);
    double (*f)(double, double);
    bool mean;
    bool empty;       /* is there a result for no elements at all? */
    clv_dim of_empty; /* that result */
} reduction;

static double float_add(double a, double b) { return a + b; }
static double float_mul(double a, double b) { return a * b; }

/* Marks the axes that go; false when they are given but not known or out of range. */
static bool read_axes(const clv_rule *r, int32_t rank, bool *reduced)
{
    const int64_t *axes;
    int32_t n;
    if (!clv_rule_axes(r, "axes", 1, &axes, &n))
        return false;
    bool all = n <= 0 && !clv_rule_attr_int(r, "noop_with_empty_axes", 0);
    for (int32_t a = 0; a < rank; a++)
        reduced[a] = all;
    for (int32_t j = 0; j < n; j++) {
        if (axes[j] < -(int64_t)rank || axes[j] >= rank)
            return false;
        reduced[axes[j] < 0 ? axes[j] + rank : axes[j]] = true;
    }
    return true;
}

/* Place in the result of element j, which is row-major over the axes that stay. */
static int32_t place_of(const clv_literal *in, const bool *reduced, int32_t j)
{
    int64_t index[CLV_RANK_MAX], at = 0;
    clv_literal_index(in, j, index);
    for (int32_t a = 0; a < in->rank; a++)
        at = reduced[a] ? at : at * in->dims[a] + index[a];
    return (int32_t)at;
}

/* Sums become means, or stay; fractions are rounded to their type. */
static void round_results(const reduction *op, const clv_literal *in, clv_literal_out *out)
{
    int32_t count = out->n ? in->n / out->n : 1;
    for (int32_t j = 0; j < out->n; j++) {
        if (!out->whole)
            out->f[j] = clv_elem_round(in->dtype, op->mean ? out->f[j] / count : out->f[j]);
        else if (op->mean)
            out->i[j] = clv_dim_is_number(out->i[j]) ? out->i[j] / count : CLV_DIM_UNKNOWN;
    }
}

static clv_status fold_reduce(clv_rule *r, const reduction *op, clv_error *err)
{
    clv_literal in, to;
    clv_literal_out out;
    bool reduced[CLV_RANK_MAX], seen[CLV_VALUE_MAX] = { false };
    if (!clv_literal_in(r, 0, &in) || !clv_literal_out_shape(r, 0, &to) ||
        !read_axes(r, in.rank, reduced) || (in.n == 0 && !op->empty))
        return CLV_OK;
    out.whole = in.i != NULL;
    out.n = to.n;
    for (int32_t j = 0; in.n == 0 && j < to.n; j++) {
        if (out.whole)
            out.i[j] = op->of_empty;
        else
            out.f[j] = (double)op->of_empty;
    }
    for (int32_t j = 0; j < in.n; j++) {
        int32_t at = place_of(&in, reduced, j);
        if (!seen[at])
            clv_literal_copy(&out, at, &in, j);
        else if (in.i)
            out.i[at] = clv_elem_fit(in.dtype, op->i(out.i[at], in.i[j]));
        else
            out.f[at] = op->f(out.f[at], in.f[j]);
        seen[at] = true;
    }
    round_results(op, &in, &out);
    return clv_literal_set(r, 0, &out, err);
}

clv_status clv_fold_reduce_sum(clv_rule *r, clv_error *err)
{
    return fold_reduce(r, &(reduction){ .i = clv_dim_add, .f = float_add, .empty = true }, err);
}

clv_status clv_fold_reduce_prod(clv_rule *r, clv_error *err)
{
    return fold_reduce(
        r, &(reduction){ .i = clv_dim_mul, .f = float_mul, .empty = true, .of_empty = 1 }, err);
}

clv_status clv_fold_reduce_max(clv_rule *r, clv_error *err)
{
    return fold_reduce(r, &(reduction){ .i = clv_elem_max, .f = fmax }, err);
}

clv_status clv_fold_reduce_min(clv_rule *r, clv_error *err)
{
    return fold_reduce(r, &(reduction){ .i = clv_elem_min, .f = fmin }, err);
}

clv_status clv_fold_reduce_mean(clv_rule *r, clv_error *err)
{
    return fold_reduce(r, &(reduction){ .i = clv_dim_add, .f = float_add, .mean = true }, err);
}

/* -- where the extreme stands -- */

/* sign 1 looks for the largest, -1 for the smallest. Of equals the first, or the last if asked. */
static clv_status fold_arg(clv_rule *r, int sign, clv_error *err)
{
    clv_literal in, to;
    clv_literal_out out = { .whole = true };
    bool reduced[CLV_RANK_MAX] = { false };
    int32_t best[CLV_VALUE_MAX];
    int64_t axis = clv_rule_attr_int(r, "axis", 0);
    bool last = clv_rule_attr_int(r, "select_last_index", 0) != 0;
    if (!clv_literal_in(r, 0, &in) || !clv_literal_out_shape(r, 0, &to) ||
        !clv_literal_has_only_numbers(&in) || axis < -(int64_t)in.rank || axis >= in.rank ||
        in.n == 0)
        return CLV_OK;
    axis += axis < 0 ? in.rank : 0;
    reduced[axis] = true;
    for (int32_t j = 0; j < to.n; j++)
        best[j] = -1;
    for (int32_t j = 0; j < in.n; j++) {
        int32_t at = place_of(&in, reduced, j);
        int32_t b = best[at] < 0 ? j : best[at];
        int order = in.i ? (in.i[j] > in.i[b]) - (in.i[j] < in.i[b])
                         : (in.f[j] > in.f[b]) - (in.f[j] < in.f[b]);
        if (best[at] < 0 || sign * order > 0 || (order == 0 && last))
            best[at] = j;
    }
    out.n = to.n;
    for (int32_t j = 0; j < to.n; j++) {
        int64_t index[CLV_RANK_MAX];
        clv_literal_index(&in, best[j], index);
        out.i[j] = index[axis];
    }
    return clv_literal_set(r, 0, &out, err);
}

clv_status clv_fold_arg_max(clv_rule *r, clv_error *err) { return fold_arg(r, 1, err); }
clv_status clv_fold_arg_min(clv_rule *r, clv_error *err) { return fold_arg(r, -1, err); }

/* -- running sums -- */

/* Runs along one line of n elements, `step` apart from `from` on. */
static void run_line(const clv_literal *in, clv_literal_out *out, int32_t from, int32_t step,
                     int64_t n, bool exclusive)
{
    clv_dim sum_i = 0;
    double sum_f = 0;
    for (int64_t j = 0; j < n; j++) {
        int32_t at = from + (int32_t)j * step;
        clv_dim after_i = in->i ? clv_elem_fit(in->dtype, clv_dim_add(sum_i, in->i[at])) : 0;
        double after_f = in->i ? 0 : clv_elem_round(in->dtype, sum_f + in->f[at]);
        if (in->i)
            out->i[at] = exclusive ? sum_i : after_i;
        else
            out->f[at] = exclusive ? sum_f : after_f;
        sum_i = after_i;
        sum_f = after_f;
    }
}

clv_status clv_fold_cum_sum(clv_rule *r, clv_error *err)
{
    clv_literal in;
    clv_literal_out out;
    clv_dim axis = clv_rule_scalar(r, 1);
    if (!clv_literal_in(r, 0, &in) || !clv_dim_is_number(axis) || axis < -(int64_t)in.rank ||
        axis >= in.rank)
        return CLV_OK;
    axis += axis < 0 ? in.rank : 0;
    bool reverse = clv_rule_attr_int(r, "reverse", 0) != 0;
    bool exclusive = clv_rule_attr_int(r, "exclusive", 0) != 0;
    int32_t step = 1;
    for (int32_t a = (int32_t)axis + 1; a < in.rank && in.n > 0; a++)
        step *= (int32_t)in.dims[a];
    int32_t length = (int32_t)in.dims[axis];
    out.whole = in.i != NULL;
    out.n = in.n;
    for (int32_t j = 0; j < in.n; j++)
        if (j / step % length == (reverse ? length - 1 : 0))
            run_line(&in, &out, j, reverse ? -step : step, length, exclusive);
    return clv_literal_set(r, 0, &out, err);
}
