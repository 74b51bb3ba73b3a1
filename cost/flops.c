/* flops.c - from the kind in ops.def to a formula; the formulas of everything that is not a
 * contraction.
 */
#include "cost/flops.h"

#include "cost/flops_attention.h"
#include "cost/flops_einsum.h"
#include "cost/flops_matrix.h"

/* FLOPs, counted as ops.def counts them. */
#define FFT_FLOPS 5  /* of n log2 n: a radix-2 complex transform (Cooley and Tukey 1965) */
#define IOU_FLOPS 12 /* a pair of boxes: 4 comparisons, 8 sums, products and quotients */

static clv_work vector(int64_t flops) { return (clv_work){ .vector = flops }; }

static clv_work pool(clv_sizing *s)
{
    const int64_t *kernel;
    int32_t n = 0;
    int64_t flops = clv_size_scale(s, clv_size_out_elems(s, 0), s->def->k);
    if (!clv_rule_attr_ints(&s->rule, "kernel_shape", &kernel, &n))
        n = 0;
    for (int32_t i = 0; i < n; i++)
        flops = clv_size_mul(s, flops, clv_size_of_dim(s, kernel[i]));
    return vector(flops);
}

/* -- Fourier transforms: 5 * n * log2(n) each -- */

typedef struct {
    int64_t length, count;
} transforms;

/* DFT: [..., signal axes, 1 or 2]; the length is given or that of the axis. */
static transforms dft(clv_sizing *s)
{
    const clv_type *in = clv_rule_in(&s->rule, 0);
    int32_t rank = clv_type_rank(in);
    clv_dim axis = clv_rule_attr_int(&s->rule, "axis", s->rule.version < 20 ? 1 : -2);
    if (clv_rule_has_in(&s->rule, 2))
        axis = clv_rule_scalar(&s->rule, 2);
    if (!clv_dim_is_number(axis) || rank < 2 || axis < -rank || axis >= rank) {
        s->open = true;
        return (transforms){ 0, 0 };
    }
    int64_t along = clv_size_in_dim(s, 0, (int32_t)axis), parts = clv_size_in_dim(s, 0, -1);
    clv_dim given = clv_rule_scalar(&s->rule, 1);
    int64_t elems = clv_size_in_elems(s, 0);
    return (transforms){ clv_rule_has_in(&s->rule, 1) ? clv_size_of_dim(s, given) : along,
                         along && parts ? elems / along / parts : 0 };
}

static clv_work fft(clv_sizing *s)
{
    transforms t = { 1, 0 };
    if (clv_str_is(s->rule.op->type, "DFT")) {
        t = dft(s);
    } else if (clv_str_is(s->rule.op->type, "STFT")) {
        /* [batch, frames, bins, 2]; the length is that of a frame or of the window */
        const clv_type *out = clv_size_out(s, 0);
        t.count = clv_size_mul(s, clv_size_of_dim(s, clv_type_dim(out, 0)),
                               clv_size_of_dim(s, clv_type_dim(out, 1)));
        t.length = clv_rule_has_in(&s->rule, 3) ? clv_size_of_dim(s, clv_rule_scalar(&s->rule, 3))
                                                : clv_size_in_dim(s, 2, 0);
    } else {
        /* Rfft, Irfft: the last signal_ndim axes of the real side, all at once */
        bool inverse = clv_str_is(s->rule.op->type, "Irfft");
        const clv_type *real = inverse ? clv_size_out(s, 0) : clv_rule_in(&s->rule, 0);
        int64_t dims = clv_rule_attr_int(&s->rule, "signal_ndim", 1);
        int64_t elems = clv_size_elems(s, real);
        for (int32_t i = 1; i <= dims && i <= clv_type_rank(real); i++)
            t.length = clv_size_mul(s, t.length, clv_size_of_dim(s, clv_type_dim(real, -i)));
        t.count = t.length ? elems / t.length : 0;
    }
    int64_t one = clv_size_mul(s, clv_size_mul(s, FFT_FLOPS, t.length), clv_size_log2(t.length));
    return vector(clv_size_mul(s, one, t.count));
}

/* -- order -- */

/* TopK sorts along its axis; Unique the slices along one, or all elements. */
static clv_work sort(clv_sizing *s)
{
    const clv_type *in = clv_rule_in(&s->rule, 0);
    int64_t elems = clv_size_elems(s, in), n = elems;
    bool flat = clv_str_is(s->rule.op->type, "Unique");
    int64_t axis = clv_rule_attr_int(&s->rule, "axis", flat ? INT64_MAX : -1);
    if (clv_type_rank(in) > 0 && axis >= -in->rank && axis < in->rank)
        n = clv_size_of_dim(s, clv_type_dim(in, (int32_t)axis));
    return vector(clv_size_mul(s, elems, clv_size_log2(n)));
}

/* boxes [B, N, 4], scores [B, C, N]: each row of scores is sorted, and each box is compared with
 * those kept before it, as many as may be. */
static clv_work nms(clv_sizing *s)
{
    int64_t boxes = clv_size_in_dim(s, 1, 2), kept = 0;
    int64_t rows = clv_size_mul(s, clv_size_in_dim(s, 1, 0), clv_size_in_dim(s, 1, 1));
    if (clv_rule_has_in(&s->rule, 2))
        kept = clv_size_of_dim(s, clv_rule_scalar(&s->rule, 2));
    kept = kept < boxes ? kept : boxes;
    int64_t each = clv_size_add(s, clv_size_log2(boxes), clv_size_mul(s, kept, IOU_FLOPS));
    return vector(clv_size_mul(s, rows, clv_size_mul(s, boxes, each)));
}

clv_work clv_flops(clv_sizing *s)
{
    int32_t n;
    switch (s->def->flops) {
    case CLV_FLOPS_NONE:
    case CLV_FLOPS_BODY:
        return vector(0);
    case CLV_FLOPS_OUT:
        return vector(clv_size_scale(s, clv_size_out_elems(s, 0), s->def->k));
    case CLV_FLOPS_IN:
        return vector(clv_size_scale(s, clv_size_in_elems(s, 0), s->def->k));
    case CLV_FLOPS_VARIADIC: /* one operation for each input but the first */
        n = clv_rule_n_in(&s->rule);
        return vector(clv_size_mul(s, clv_size_out_elems(s, 0), n > 1 ? n - 1 : 0));
    case CLV_FLOPS_MATMUL:
        return clv_flops_matmul(s);
    case CLV_FLOPS_GEMM:
        return clv_flops_gemm(s);
    case CLV_FLOPS_CONV:
        return clv_flops_conv(s);
    case CLV_FLOPS_CONV_TRANSPOSE:
        return clv_flops_conv_transpose(s);
    case CLV_FLOPS_DEFORM_CONV:
        return clv_flops_deform_conv(s);
    case CLV_FLOPS_POOL:
        return pool(s);
    case CLV_FLOPS_EINSUM:
        return clv_flops_einsum(s);
    case CLV_FLOPS_RNN:
        return clv_flops_rnn(s);
    case CLV_FLOPS_ATTENTION:
        return clv_flops_attention(s);
    case CLV_FLOPS_LINEAR_ATTENTION:
        return clv_flops_linear_attention(s);
    case CLV_FLOPS_MATMUL_NBITS:
        return clv_flops_matmul_nbits(s);
    case CLV_FLOPS_MOE:
        return clv_flops_moe(s);
    case CLV_FLOPS_FFT:
        return fft(s);
    case CLV_FLOPS_SORT:
        return sort(s);
    case CLV_FLOPS_NMS:
        return nms(s);
    }
    return vector(0);
}
