#include "lower/emit_reduce.h"

#define WHAT "writing a reduction"

/* Partial results, and the type in which they are reduced. */
typedef struct {
    const clv_emit_scope *scope;
    clv_dtype dtype;
    clv_str *part;
    int32_t n;
} reduction;

/* Two by two, for operators of two inputs. */
static clv_status chain(const reduction *r, const char *type, clv_str *ret, clv_error *err)
{
    clv_str so_far = r->part[0];
    for (int32_t i = 1; i < r->n; i++)
        CLV_TRY(clv_emit_node(r->scope, type, CLV_NAMES(so_far, r->part[i]), &so_far, err));
    *ret = so_far;
    return CLV_OK;
}

/* One node of all of them, for operators of any number of inputs. */
static clv_status join(const reduction *r, const char *type, clv_str *ret, clv_error *err)
{
    return clv_emit_node(r->scope, type, (clv_names){ r->part, r->n }, ret, err);
}

static clv_status add_up(const reduction *r, clv_str *ret, clv_error *err)
{
    return clv_dtype_is_float(r->dtype) ? join(r, "Sum", ret, err) : chain(r, "Add", ret, err);
}

static clv_status constant(const reduction *r, double value, clv_str *ret, clv_error *err)
{
    bool is_float = r->dtype == CLV_DT_FLOAT || r->dtype == CLV_DT_DOUBLE;
    const clv_emit_type type = { is_float ? r->dtype : CLV_DT_INT64, 0, NULL };
    float narrow = (float)value;
    int64_t whole = is_float ? 0 : (int64_t)value;
    if (r->dtype == CLV_DT_FLOAT)
        return clv_emit_constant(r->scope->e, &type, &narrow, sizeof narrow, ret, err);
    if (r->dtype == CLV_DT_DOUBLE)
        return clv_emit_constant(r->scope->e, &type, &value, sizeof value, ret, err);
    return clv_emit_constant(r->scope->e, &type, &whole, sizeof whole, ret, err);
}

/* m + log(exp(a - m) + exp(b - m)), m the largest, but no less than the lowest number: where all
 * are minus infinity, so is the result. */
static clv_status log_sum(reduction *r, clv_str *ret, clv_error *err)
{
    double lowest =
        r->dtype == CLV_DT_FLOAT ? -3.40282346638528859812e38 : -1.79769313486231570815e308;
    clv_str *all = CLV_NEW_ARRAY(r->scope->e->arena, clv_str, r->n + 1), most, sum;
    if (!all)
        return clv_fail_nomem(err, WHAT);
    memcpy(all, r->part, (size_t)r->n * sizeof *all);
    CLV_TRY(constant(r, lowest, &all[r->n], err));
    CLV_TRY(clv_emit_node(r->scope, "Max", (clv_names){ all, r->n + 1 }, &most, err));
    for (int32_t i = 0; i < r->n; i++)
        CLV_TRY(clv_emit_node(r->scope, "Sub", CLV_NAMES(r->part[i], most), &r->part[i], err));
    for (int32_t i = 0; i < r->n; i++)
        CLV_TRY(clv_emit_node(r->scope, "Exp", CLV_NAMES(r->part[i]), &r->part[i], err));
    CLV_TRY(add_up(r, &sum, err));
    CLV_TRY(clv_emit_node(r->scope, "Log", CLV_NAMES(sum), &sum, err));
    return clv_emit_node(r->scope, "Add", CLV_NAMES(sum, most), ret, err);
}

/* r->part is scratch. */
static clv_status reduce_parts(reduction *r, clv_reduce reduce, clv_str *ret, clv_error *err)
{
    clv_str sum, count;
    switch (reduce) {
    case CLV_REDUCE_SUM:
        return add_up(r, ret, err);
    case CLV_REDUCE_MEAN:
        CLV_TRY(add_up(r, &sum, err));
        CLV_TRY(constant(r, r->n, &count, err));
        return clv_emit_node(r->scope, "Div", CLV_NAMES(sum, count), ret, err);
    case CLV_REDUCE_MAX:
        return join(r, "Max", ret, err);
    case CLV_REDUCE_MIN:
        return join(r, "Min", ret, err);
    case CLV_REDUCE_PROD:
        return chain(r, "Mul", ret, err);
    case CLV_REDUCE_L2: /* root(a^2 + b^2) */
        for (int32_t i = 0; i < r->n; i++)
            CLV_TRY(clv_emit_node(r->scope, "Mul", CLV_NAMES(r->part[i], r->part[i]), &r->part[i],
                                  err));
        CLV_TRY(add_up(r, &sum, err));
        return clv_emit_node(r->scope, "Sqrt", CLV_NAMES(sum), ret, err);
    case CLV_REDUCE_LOG_SUM:
        return log_sum(r, ret, err);
    case CLV_REDUCE_NONE:
    case CLV_N_REDUCES:
        break;
    }
    return clv_fail(err, CLV_EINTERNAL, "a reduction of no kind");
}

/* Runtimes have kernels for these; others are computed in a wider type. */
static clv_dtype computed_in(clv_dtype dtype, clv_reduce reduce, int32_t opset)
{
    enum { OPSET_MAX_OF_INTS = 12 };
    bool order = reduce == CLV_REDUCE_MAX || reduce == CLV_REDUCE_MIN;
    if (dtype == CLV_DT_FLOAT || dtype == CLV_DT_DOUBLE)
        return dtype;
    if (clv_dtype_is_float(dtype)) /* of 16 bits or less */
        return CLV_DT_FLOAT;
    if (order && opset < OPSET_MAX_OF_INTS)
        return CLV_DT_DOUBLE;
    if (dtype == CLV_DT_INT32 || (order && dtype == CLV_DT_UINT64))
        return dtype;
    return CLV_DT_INT64;
}

clv_status clv_emit_reduce(const clv_emit_scope *scope, clv_names in, clv_reduce reduce,
                           clv_dtype dtype, clv_str *ret, clv_error *err)
{
    clv_emit *e = scope->e;
    reduction r = { .scope = scope,
                    .dtype = computed_in(dtype, reduce, e->opset),
                    .part = CLV_NEW_ARRAY(e->arena, clv_str, in.n),
                    .n = in.n };
    if (!r.part)
        return clv_fail_nomem(err, WHAT);
    if (dtype == CLV_DT_STRING || dtype == CLV_DT_COMPLEX64 || dtype == CLV_DT_COMPLEX128)
        return clv_fail(err, CLV_EUNSUPP, "parts of a tensor of type %s cannot be added up",
                        clv_dtype_name(dtype));
    if (in.n == 1) {
        *ret = in.at[0];
        return CLV_OK;
    }
    memcpy(r.part, in.at, (size_t)in.n * sizeof *in.at);
    for (int32_t i = 0; r.dtype != dtype && i < in.n; i++)
        CLV_TRY(clv_emit_cast(scope, in.at[i], r.dtype, &r.part[i], err));
    CLV_TRY(reduce_parts(&r, reduce, ret, err));
    return r.dtype == dtype ? CLV_OK : clv_emit_cast(scope, *ret, dtype, ret, err);
}

clv_status clv_emit_reduce_blocks(const clv_emit_scope *scope, clv_str in,
                                  const clv_emit_type *type, clv_reduce reduce, clv_str *ret,
                                  clv_error *err)
{
    int32_t n = (int32_t)type->dims[0];
    clv_str *block = CLV_NEW_ARRAY(scope->e->arena, clv_str, n);
    if (!block)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < n; k++) {
        clv_span one = { k, 1 };
        clv_spans places = { &one, 1, 1 };
        const clv_spans *along[CLV_VIEW_MAX] = { &places };
        CLV_TRY(clv_emit_take(scope, in, type, along, &block[k], err));
    }
    return clv_emit_reduce(scope, (clv_names){ block, n }, reduce, type->dtype, ret, err);
}
