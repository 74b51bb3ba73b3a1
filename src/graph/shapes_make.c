#include "graph/shapes_make.h"

#include <math.h>

#include "graph/shape_tools.h"

/* Python's slice bounds of Shape, version 15. */
static int64_t clamp(int64_t index, int64_t rank)
{
    index += index < 0 ? rank : 0;
    return index < 0 ? 0 : index > rank ? rank : index;
}

clv_status clv_shape_shape(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim n = CLV_DIM_UNKNOWN;
    if (clv_type_ranked(in)) {
        n = clamp(clv_rule_attr_int(r, "end", in->rank), in->rank) -
            clamp(clv_rule_attr_int(r, "start", 0), in->rank);
        n = n < 0 ? 0 : n;
    }
    return clv_rule_set(r, 0, CLV_DT_INT64, 1, &n, err);
}

clv_status clv_shape_size(clv_rule *r, clv_error *err)
{
    return clv_rule_set_scalar(r, 0, CLV_DT_INT64, err);
}

/* Numbers of a range of whole numbers; exact, where doubles would not be. */
static clv_dim range_ints(int64_t start, int64_t limit, int64_t delta)
{
    int64_t span;
    if (__builtin_sub_overflow(limit, start, &span))
        return CLV_DIM_UNKNOWN;
    if ((delta > 0) != (span > 0) || span == 0)
        return 0;
    return span / delta + (span % delta != 0);
}

clv_status clv_shape_range(clv_rule *r, clv_error *err)
{
    clv_dim start = clv_rule_scalar(r, 0), limit = clv_rule_scalar(r, 1), n = CLV_DIM_UNKNOWN;
    clv_dim delta = clv_rule_has_in(r, 2) ? clv_rule_scalar(r, 2) : 1;
    double from, to, by = 1;
    if (delta == 0)
        return clv_rule_fail(r, err, "delta is 0");
    if (delta == 1 && clv_dim_is_symbol(limit))
        n = clv_rule_sub(r, limit, start);
    else if (clv_dim_is_number(start) && clv_dim_is_number(limit) && clv_dim_is_number(delta))
        n = range_ints(start, limit, delta);
    else if (clv_rule_scalar_float(r, 0, &from) && clv_rule_scalar_float(r, 1, &to) &&
             (!clv_rule_has_in(r, 2) || clv_rule_scalar_float(r, 2, &by))) {
        double steps = ceil((to - from) / by);
        if (isfinite(steps) && steps < 9e15)
            n = steps > 0 ? (clv_dim)steps : 0;
    }
    return clv_rule_set(r, 0, clv_rule_in(r, 0)->dtype, 1, &n, err);
}

clv_status clv_shape_constant(clv_rule *r, clv_error *err)
{
    static const struct {
        const char *name;
        clv_dtype dtype;
        int32_t rank;
    } forms[] = {
        { "value_float", CLV_DT_FLOAT, 0 },   { "value_int", CLV_DT_INT64, 0 },
        { "value_string", CLV_DT_STRING, 0 }, { "value_floats", CLV_DT_FLOAT, 1 },
        { "value_ints", CLV_DT_INT64, 1 },    { "value_strings", CLV_DT_STRING, 1 },
    };
    const clv_attr *attr = clv_rule_attr(r, "value");
    attr = attr ? attr : clv_rule_attr(r, "sparse_value");
    if (attr && attr->kind == CLV_ATTR_TENSOR)
        return clv_rule_set(r, 0, attr->tensor->dtype, attr->tensor->rank, attr->tensor->dims, err);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        attr = clv_rule_attr(r, forms[i].name);
        if (attr)
            return clv_rule_set(r, 0, forms[i].dtype, forms[i].rank, &(clv_dim){ attr->n }, err);
    }
    return CLV_OK;
}

/* Output 0 has the wanted shape, whose elements must not be negative. */
static clv_status set_wanted(clv_rule *r, clv_dtype dtype, int32_t rank, const clv_dim *dims,
                             clv_error *err)
{
    for (int32_t i = 0; i < rank; i++)
        if (clv_dim_is_number(dims[i]) && dims[i] < 0)
            return clv_rule_fail(r, err, "the wanted shape has %lld, expected 0 or more",
                                 (long long)dims[i]);
    return clv_rule_set(r, 0, dtype, rank, dims, err);
}

static clv_status set_shape_of_value(clv_rule *r, int32_t k, clv_dtype dtype, clv_error *err)
{
    const clv_dim *dims;
    int32_t rank;
    if (!clv_rule_dims(r, k, &dims, &rank))
        return clv_rule_set_unranked(r, 0, dtype, err);
    return set_wanted(r, dtype, rank, dims, err);
}

clv_status clv_shape_constant_of_shape(clv_rule *r, clv_error *err)
{
    const clv_attr *value = clv_rule_attr(r, "value");
    bool typed = value && value->kind == CLV_ATTR_TENSOR;
    return set_shape_of_value(r, 0, typed ? value->tensor->dtype : CLV_DT_FLOAT, err);
}

clv_status clv_shape_constant_fill(clv_rule *r, clv_error *err)
{
    clv_dtype dtype;
    const int64_t *shape;
    int32_t n;
    CLV_TRY(clv_rule_attr_dtype(r, "dtype", CLV_DT_FLOAT, &dtype, err));
    if (clv_rule_attr_ints(r, "extra_shape", &shape, &n))
        return clv_rule_set_unranked(r, 0, dtype, err);
    if (clv_rule_attr_int(r, "input_as_shape", 0))
        return set_shape_of_value(r, 0, dtype, err);
    if (clv_rule_has_in(r, 0))
        return clv_rule_set_like(r, 0, dtype, clv_rule_in(r, 0), err);
    if (clv_rule_attr_ints(r, "shape", &shape, &n))
        return set_wanted(r, dtype, n, shape, err);
    return clv_rule_set_unranked(r, 0, dtype, err);
}

clv_status clv_shape_eye_like(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dtype dtype;
    CLV_TRY(clv_rule_want_rank(r, 0, 2, err));
    CLV_TRY(clv_rule_attr_dtype(r, "dtype", in->dtype, &dtype, err));
    return clv_type_ranked(in) ? clv_rule_set_like(r, 0, dtype, in, err)
                               : clv_rule_set_rank(r, 0, dtype, 2, err);
}

clv_status clv_shape_random(clv_rule *r, clv_error *err)
{
    clv_dtype dtype;
    const int64_t *shape;
    int32_t n;
    CLV_TRY(clv_rule_attr_dtype(r, "dtype", CLV_DT_FLOAT, &dtype, err));
    if (!clv_rule_attr_ints(r, "shape", &shape, &n))
        return clv_rule_set_unranked(r, 0, dtype, err);
    return set_wanted(r, dtype, n, shape, err);
}

clv_status clv_shape_random_like(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dtype dtype;
    CLV_TRY(clv_rule_attr_dtype(r, "dtype", in->dtype, &dtype, err));
    return clv_rule_set_like(r, 0, dtype, in, err);
}

clv_status clv_shape_bernoulli(clv_rule *r, clv_error *err)
{
    return clv_shape_random_like(r, err);
}

clv_status clv_shape_multinomial(clv_rule *r, clv_error *err)
{
    clv_dim dims[2] = { clv_type_dim(clv_rule_in(r, 0), 0),
                        clv_rule_attr_int(r, "sample_size", 1) };
    clv_dtype dtype;
    CLV_TRY(clv_rule_want_rank(r, 0, 2, err));
    CLV_TRY(clv_rule_attr_dtype(r, "dtype", CLV_DT_INT32, &dtype, err));
    if (dims[1] < 0)
        return clv_rule_fail(r, err, "sample_size is %lld, expected 0 or more", (long long)dims[1]);
    return clv_rule_set(r, 0, dtype, 2, dims, err);
}
