/* shapes_signal.c - Fourier transforms, windows and filter banks. */
#include "graph/rules.h"
#include "graph/shape_tools.h"

/* Bins of a real transform of n points: the other half mirrors them. */
static clv_dim half_spectrum(clv_dim n)
{
    return clv_dim_is_number(n) ? n / 2 + 1 : CLV_DIM_UNKNOWN;
}

/* Points of a real signal of that many bins; an odd number is not guessed. */
static clv_dim whole_spectrum(clv_dim bins)
{
    return clv_dim_is_number(bins) && bins < 1 ? CLV_DIM_UNKNOWN
                                               : clv_dim_mul(clv_dim_sub(bins, 1), 2);
}

static clv_status check_positive(clv_rule *r, clv_dim d, const char *what)
{
    if (clv_dim_is_number(d) && d < 1)
        return clv_rule_fail(r, "%s is %lld, expected at least 1", what, (long long)d);
    return CLV_OK;
}

/* The axis moved from an attribute (1 by default) to an input (-2). False: not known. */
static bool dft_axis(const clv_rule *r, int64_t *ret)
{
    clv_dim axis;

    if (r->version < 20) {
        *ret = clv_rule_attr_int(r, "axis", 1);
        return true;
    }
    axis = clv_rule_has_in(r, 2) ? clv_rule_scalar(r, 2) : -2;
    *ret = axis;
    return clv_dim_is_number(axis);
}

clv_status clv_shape_dft(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool onesided = clv_rule_attr_int(r, "onesided", 0) != 0;
    bool inverse = clv_rule_attr_int(r, "inverse", 0) != 0;
    bool to_real = onesided && inverse; /* the inverse of a real transform */
    clv_dim dims[CLV_RANK_MAX], length = clv_rule_scalar(r, 1);
    int64_t along;
    int32_t axis;

    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    CLV_TRY(check_positive(r, length, "the transform's length"));
    if (in->rank < 2)
        return clv_rule_fail(r, "the input has rank %d, expected at least 2", in->rank);
    clv_dims_copy(dims, in->dims, in->rank);
    if (!dft_axis(r, &along)) {
        clv_dims_open(dims, in->rank - 1);
    } else {
        CLV_TRY(clv_rule_axis(r, along, in->rank, &axis));
        if (clv_rule_has_in(r, 1))
            dims[axis] = length;
        else if (to_real)
            dims[axis] = whole_spectrum(dims[axis]);
        if (onesided && !inverse)
            dims[axis] = half_spectrum(dims[axis]);
    }
    dims[in->rank - 1] = to_real ? 1 : 2; /* real and imaginary part */
    return clv_rule_set(r, 0, in->dtype, in->rank, dims);
}

/* The frame length is given, or it is the window's. */
static clv_dim stft_frame(const clv_rule *r)
{
    if (clv_rule_has_in(r, 3))
        return clv_rule_scalar(r, 3);
    return clv_rule_has_in(r, 2) ? clv_type_dim(clv_rule_in(r, 2), 0) : CLV_DIM_UNKNOWN;
}

clv_status clv_shape_stft(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim step = clv_rule_scalar(r, 1), frame = stft_frame(r), n = clv_type_dim(in, 1);
    bool onesided = clv_rule_attr_int(r, "onesided", 1) != 0;
    clv_dim dims[4] = { clv_type_dim(in, 0), CLV_DIM_UNKNOWN,
                        onesided ? half_spectrum(frame) : frame, 2 };

    CLV_TRY(check_positive(r, step, "the frame step"));
    CLV_TRY(check_positive(r, frame, "the frame length"));
    if (clv_dim_is_number(n) && clv_dim_is_number(step) && clv_dim_is_number(frame)) {
        if (n < frame)
            return clv_rule_fail(r, "a frame of %lld is longer than the signal of %lld",
                                 (long long)frame, (long long)n);
        dims[1] = (n - frame) / step + 1;
    }
    return clv_rule_set(r, 0, in->dtype, 4, dims);
}

clv_status clv_shape_mel_weight_matrix(clv_rule *r)
{
    clv_dim dims[2] = { half_spectrum(clv_rule_scalar(r, 1)), clv_rule_scalar(r, 0) };
    clv_dtype dtype;

    CLV_TRY(check_positive(r, clv_rule_scalar(r, 1), "the transform's length"));
    CLV_TRY(check_positive(r, dims[1], "the number of mel bins"));
    CLV_TRY(clv_rule_attr_dtype(r, "output_datatype", CLV_DT_FLOAT, &dtype));
    return clv_rule_set(r, 0, dtype, 2, dims);
}

clv_status clv_shape_window(clv_rule *r)
{
    clv_dim size = clv_rule_scalar(r, 0);
    clv_dtype dtype;

    CLV_TRY(check_positive(r, size, "the window's size"));
    CLV_TRY(clv_rule_attr_dtype(r, "output_datatype", CLV_DT_FLOAT, &dtype));
    return clv_rule_set(r, 0, dtype, 1, &size);
}

/* com.microsoft's transforms of real signals work along the last axis, or the last signal_ndim. */
clv_status clv_shape_rfft(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool onesided = clv_rule_attr_int(r, "onesided", 1) != 0;
    clv_dim dims[CLV_RANK_MAX];

    if (!clv_type_ranked(in) || in->rank < 1 || in->rank >= CLV_RANK_MAX)
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    clv_dims_copy(dims, in->dims, in->rank);
    if (onesided)
        dims[in->rank - 1] = half_spectrum(dims[in->rank - 1]);
    dims[in->rank] = 2;
    return clv_rule_set(r, 0, in->dtype, in->rank + 1, dims);
}

clv_status clv_shape_irfft(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool onesided = clv_rule_attr_int(r, "onesided", 1) != 0;
    clv_dim dims[CLV_RANK_MAX], *last;

    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, CLV_RANK_UNKNOWN);
    if (in->rank < 2)
        return clv_rule_fail(r, "the input has rank %d, expected at least 2", in->rank);
    clv_dims_copy(dims, in->dims, in->rank);
    last = &dims[in->rank - 2];
    CLV_TRY(check_positive(r, *last, "the number of bins"));
    if (onesided)
        *last = clv_dim_mul(clv_dim_sub(*last, 1), 2);
    return clv_rule_set(r, 0, in->dtype, in->rank - 1, dims);
}
