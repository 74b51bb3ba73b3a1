#include "graph/shapes_signal.h"

#include "graph/shape_tools.h"

/* Bins of a real transform of n points: the other half mirrors them. */
static clv_dim half_spectrum(clv_dim n)
{
    return clv_dim_is_number(n) ? n / 2 + 1 : CLV_DIM_UNKNOWN;
}

static clv_status check_positive(clv_rule *r, clv_dim d, const char *what, clv_error *err)
{
    if (clv_dim_is_number(d) && d < 1)
        return clv_rule_fail(r, err, "%s is %lld, expected at least 1", what, (long long)d);
    return CLV_OK;
}

clv_status clv_shape_dft(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool onesided = clv_rule_attr_int(r, "onesided", 0) != 0;
    bool inverse = clv_rule_attr_int(r, "inverse", 0) != 0;
    bool to_real = onesided && inverse; /* the inverse of a real transform */
    clv_dim dims[CLV_RANK_MAX], length = clv_rule_scalar(r, 1);
    clv_dim along;
    int32_t axis;
    if (r->version < 20)
        along = clv_rule_attr_int(r, "axis", 1);
    else
        along = clv_rule_has_in(r, 2) ? clv_rule_scalar(r, 2) : -2;
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    CLV_TRY(check_positive(r, length, "the transform's length", err));
    if (in->rank < 2)
        return clv_rule_fail(r, err, "the input has rank %d, expected at least 2", in->rank);
    clv_dims_copy(dims, in->dims, in->rank);
    if (r->version >= 20 && !clv_dim_is_number(along)) {
        clv_dims_open(dims, in->rank - 1);
    } else {
        CLV_TRY(clv_rule_axis(r, along, in->rank, &axis, err));
        if (clv_rule_has_in(r, 1))
            dims[axis] = length;
        else if (to_real)
            dims[axis] = clv_dim_is_number(dims[axis]) && dims[axis] < 1
                             ? CLV_DIM_UNKNOWN
                             : clv_dim_mul(clv_dim_sub(dims[axis], 1), 2);
        if (onesided && !inverse)
            dims[axis] = half_spectrum(dims[axis]);
    }
    dims[in->rank - 1] = to_real ? 1 : 2; /* real and imaginary part */
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

clv_status clv_shape_stft(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim step = clv_rule_scalar(r, 1), frame = CLV_DIM_UNKNOWN, n = clv_type_dim(in, 1);
    bool onesided = clv_rule_attr_int(r, "onesided", 1) != 0;
    if (clv_rule_has_in(r, 3))
        frame = clv_rule_scalar(r, 3);
    else if (clv_rule_has_in(r, 2)) /* the frame is as long as the window */
        frame = clv_type_dim(clv_rule_in(r, 2), 0);
    clv_dim dims[4] = { clv_type_dim(in, 0), CLV_DIM_UNKNOWN,
                        onesided ? half_spectrum(frame) : frame, 2 };
    CLV_TRY(check_positive(r, step, "the frame step", err));
    CLV_TRY(check_positive(r, frame, "the frame length", err));
    if (clv_dim_is_number(n) && clv_dim_is_number(step) && clv_dim_is_number(frame)) {
        if (n < frame)
            return clv_rule_fail(r, err, "a frame of %lld is longer than the signal of %lld",
                                 (long long)frame, (long long)n);
        dims[1] = (n - frame) / step + 1;
    }
    return clv_rule_set(r, 0, in->dtype, 4, dims, err);
}

clv_status clv_shape_mel_weight_matrix(clv_rule *r, clv_error *err)
{
    clv_dim dims[2] = { half_spectrum(clv_rule_scalar(r, 1)), clv_rule_scalar(r, 0) };
    clv_dtype dtype;
    CLV_TRY(check_positive(r, clv_rule_scalar(r, 1), "the transform's length", err));
    CLV_TRY(check_positive(r, dims[1], "the number of mel bins", err));
    CLV_TRY(clv_rule_attr_dtype(r, "output_datatype", CLV_DT_FLOAT, &dtype, err));
    return clv_rule_set(r, 0, dtype, 2, dims, err);
}

clv_status clv_shape_window(clv_rule *r, clv_error *err)
{
    clv_dim size = clv_rule_scalar(r, 0);
    clv_dtype dtype;
    CLV_TRY(check_positive(r, size, "the window's size", err));
    CLV_TRY(clv_rule_attr_dtype(r, "output_datatype", CLV_DT_FLOAT, &dtype, err));
    return clv_rule_set(r, 0, dtype, 1, &size, err);
}

clv_status clv_shape_rfft(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool onesided = clv_rule_attr_int(r, "onesided", 1) != 0;
    clv_dim dims[CLV_RANK_MAX];
    if (!clv_type_ranked(in) || in->rank < 1 || in->rank >= CLV_RANK_MAX)
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    clv_dims_copy(dims, in->dims, in->rank);
    if (onesided)
        dims[in->rank - 1] = half_spectrum(dims[in->rank - 1]);
    dims[in->rank] = 2;
    return clv_rule_set(r, 0, in->dtype, in->rank + 1, dims, err);
}

clv_status clv_shape_irfft(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool onesided = clv_rule_attr_int(r, "onesided", 1) != 0;
    clv_dim dims[CLV_RANK_MAX], *last;
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (in->rank < 2)
        return clv_rule_fail(r, err, "the input has rank %d, expected at least 2", in->rank);
    clv_dims_copy(dims, in->dims, in->rank);
    last = &dims[in->rank - 2];
    CLV_TRY(check_positive(r, *last, "the number of bins", err));
    if (onesided)
        *last = clv_dim_mul(clv_dim_sub(*last, 1), 2);
    return clv_rule_set(r, 0, in->dtype, in->rank - 1, dims, err);
}
