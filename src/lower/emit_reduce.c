/* emit_reduce.c - partial results that become one, by standard operators. */
#include "lower/emit.h"

typedef struct {
    clv_emit *e;
    clv_str want;
    int32_t position;
    clv_dtype dtype; /* in which it is computed */
} reducing;

static clv_status node(const reducing *r, const char *type, const clv_str *in, int32_t n,
                       clv_str *ret)
{
    return clv_emit_node(r->e, type, in, n, NULL, 0, r->want, r->position, ret);
}

/* Two by two, for operators of two inputs. */
static clv_status chain(const reducing *r, const char *type, const clv_str *in, int32_t n,
                        clv_str *ret)
{
    clv_str so_far = in[0];
    for (int32_t i = 1; i < n; i++)
        CLV_TRY(node(r, type, (clv_str[]){ so_far, in[i] }, 2, &so_far));
    *ret = so_far;
    return CLV_OK;
}

static clv_status add_up(const reducing *r, const clv_str *in, int32_t n, clv_str *ret)
{
    return clv_dtype_is_float(r->dtype) ? node(r, "Sum", in, n, ret) : chain(r, "Add", in, n, ret);
}

static clv_status each(const reducing *r, const char *type, const clv_str *in, int32_t n,
                       clv_str *ret)
{
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(node(r, type, &in[i], 1, &ret[i]));
    return CLV_OK;
}

static clv_status constant(const reducing *r, double value, clv_str *ret)
{
    float narrow = (float)value;
    int64_t whole = (int64_t)value;
    if (r->dtype == CLV_DT_FLOAT)
        return clv_emit_constant(r->e, r->dtype, 0, NULL, &narrow, sizeof narrow, ret);
    if (r->dtype == CLV_DT_DOUBLE)
        return clv_emit_constant(r->e, r->dtype, 0, NULL, &value, sizeof value, ret);
    return clv_emit_constant(r->e, CLV_DT_INT64, 0, NULL, &whole, sizeof whole, ret);
}

static clv_status mean(const reducing *r, const clv_str *in, int32_t n, clv_str *ret)
{
    clv_str both[2];
    CLV_TRY(add_up(r, in, n, &both[0]));
    CLV_TRY(constant(r, n, &both[1]));
    return node(r, "Div", both, 2, ret);
}

/* root(a^2 + b^2) */
static clv_status l2(const reducing *r, const clv_str *in, int32_t n, clv_str *square, clv_str *ret)
{
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(node(r, "Mul", (clv_str[]){ in[i], in[i] }, 2, &square[i]));
    CLV_TRY(add_up(r, square, n, ret));
    return node(r, "Sqrt", ret, 1, ret);
}

/* m + log(exp(a - m) + exp(b - m)), m the largest, but no less than the lowest number: where all
 * are minus infinity, so is the result. */
static clv_status log_sum(const reducing *r, const clv_str *in, int32_t n, clv_str *part,
                          clv_str *ret)
{
    clv_str most, sum;
    CLV_TRY(constant(
        r, r->dtype == CLV_DT_FLOAT ? -3.40282346638528859812e38 : -1.79769313486231570815e308,
        &part[n]));
    memcpy(part, in, (size_t)n * sizeof *in);
    CLV_TRY(node(r, "Max", part, n + 1, &most));
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(node(r, "Sub", (clv_str[]){ in[i], most }, 2, &part[i]));
    CLV_TRY(each(r, "Exp", part, n, part));
    CLV_TRY(add_up(r, part, n, &sum));
    CLV_TRY(node(r, "Log", &sum, 1, &sum));
    return node(r, "Add", (clv_str[]){ sum, most }, 2, ret);
}

/* Runtimes have kernels for these; others are computed in a wider type. */
static clv_dtype computed_in(clv_dtype dtype, clv_reduce reduce, int32_t opset)
{
    enum { OPSET_MAX_OF_INTS = 12 };
    bool order = reduce == CLV_REDUCE_MAX || reduce == CLV_REDUCE_MIN;
    if (dtype == CLV_DT_FLOAT || dtype == CLV_DT_DOUBLE)
        return dtype;
    if (dtype == CLV_DT_FLOAT16 || dtype == CLV_DT_BFLOAT16)
        return CLV_DT_FLOAT;
    if (order && opset < OPSET_MAX_OF_INTS)
        return CLV_DT_DOUBLE;
    if (dtype == CLV_DT_INT32 || (order && dtype == CLV_DT_UINT64))
        return dtype;
    return CLV_DT_INT64;
}

static clv_status compute(const reducing *r, const clv_str *in, int32_t n, clv_reduce reduce,
                          clv_str *scratch, clv_str *ret)
{
    switch (reduce) {
    case CLV_REDUCE_SUM:
        return add_up(r, in, n, ret);
    case CLV_REDUCE_MEAN:
        return mean(r, in, n, ret);
    case CLV_REDUCE_MAX:
        return node(r, "Max", in, n, ret);
    case CLV_REDUCE_MIN:
        return node(r, "Min", in, n, ret);
    case CLV_REDUCE_PROD:
        return chain(r, "Mul", in, n, ret);
    case CLV_REDUCE_L2:
        return l2(r, in, n, scratch, ret);
    case CLV_REDUCE_LOG_SUM:
        return log_sum(r, in, n, scratch, ret);
    case CLV_REDUCE_NONE:
    case CLV_N_REDUCES:
        break;
    }
    return clv_fail(r->e->err, CLV_EINTERNAL, "a reduction of no kind");
}

clv_status clv_emit_reduce(clv_emit *e, const clv_str *in, int32_t n, clv_reduce reduce,
                           clv_dtype dtype, clv_str want, int32_t position, clv_str *ret)
{
    reducing r = { e, want, position, computed_in(dtype, reduce, e->opset) };
    clv_str *wide = CLV_NEW_ARRAY(e->arena, clv_str, n),
            *scratch = CLV_NEW_ARRAY(e->arena, clv_str, n + 1);
    if (!wide || !scratch)
        return clv_fail_nomem(e->err, "writing a reduction");
    if (dtype == CLV_DT_STRING || dtype == CLV_DT_COMPLEX64 || dtype == CLV_DT_COMPLEX128)
        return clv_fail(e->err, CLV_EUNSUPP, "parts of a tensor of type %s cannot be added up",
                        clv_dtype_name(dtype));
    if (n == 1) {
        *ret = in[0];
        return CLV_OK;
    }
    memcpy(wide, in, (size_t)n * sizeof *in);
    for (int32_t i = 0; r.dtype != dtype && i < n; i++)
        CLV_TRY(clv_emit_cast(e, in[i], r.dtype, want, position, &wide[i]));
    CLV_TRY(compute(&r, wide, n, reduce, scratch, ret));
    return r.dtype == dtype ? CLV_OK : clv_emit_cast(e, *ret, dtype, want, position, ret);
}

clv_status clv_emit_reduce_blocks(clv_emit *e, clv_str in, int32_t rank, const int64_t *dims,
                                  clv_reduce reduce, clv_dtype dtype, clv_str want,
                                  int32_t position, clv_str *ret)
{
    int32_t n = (int32_t)dims[0];
    clv_str *block = CLV_NEW_ARRAY(e->arena, clv_str, n);
    if (!block)
        return clv_fail_nomem(e->err, "writing a reduction");
    for (int32_t k = 0; k < n; k++) {
        clv_span one = { k, 1 };
        clv_spans places = { &one, 1, 1 };
        const clv_spans *along[CLV_VIEW_MAX] = { &places };
        CLV_TRY(clv_emit_take(e, in, dtype, rank, dims, along, want, position, &block[k]));
    }
    return clv_emit_reduce(e, block, n, reduce, dtype, want, position, ret);
}
