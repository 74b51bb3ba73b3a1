#include "run/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run/element.h"

#define DEPTH_MAX 8 /* of sequences in sequences */

typedef struct {
    const clr_ort *ort;
    const clr_tolerance *tolerance;
    clr_difference *to;
    clv_arena *arena;
} comparison;

CLV_PRINTF(2, 3) static void set_different(comparison *c, const char *fmt, ...)
{
    va_list args;

    c->to->equal = false;
    va_start(args, fmt);
    clv_words(c->to->why, sizeof c->to->why, fmt, args);
    va_end(args);
}

/* "[1,0,4]" of a place in a tensor. */
static const char *place_text(char buf[static 128], const clr_shape *shape, int64_t at)
{
    int64_t index[CLR_MAX_RANK];
    size_t n = clv_add_words(buf, 128, 0, "[");

    for (int32_t d = shape->rank; d-- > 0;) {
        index[d] = at % shape->dims[d];
        at /= shape->dims[d];
    }
    for (int32_t d = 0; d < shape->rank; d++)
        n = clv_add_words(buf, 128, n, "%s%" PRId64, d ? "," : "", index[d]);
    clv_add_words(buf, 128, n, "]");
    return buf;
}

static bool is_float(int dtype)
{
    switch (dtype) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ:
        return true;
    default:
        return false;
    }
}

static void compare_floats(comparison *c, const clr_shape *shape, const void *got,
                           const void *expected)
{
    const clr_tolerance *t = c->tolerance;
    char at[128];

    for (int64_t i = 0; i < shape->count; i++) {
        double g = clr_element((int)shape->dtype, got, i);
        double e = clr_element((int)shape->dtype, expected, i), off = fabs(g - e);
        bool finite = isfinite(g) && isfinite(e);
        bool same = finite ? off <= t->atol + t->rtol * fabs(e)
                           : (isnan(g) && isnan(e)) || (isinf(g) && isinf(e) && (g > 0) == (e > 0));
        if (finite && off > c->to->max_abs)
            c->to->max_abs = off;
        if (same)
            continue;
        if (c->to->differing++ == 0) {
            c->to->first = i;
            set_different(c, "element %s is %.9g, expected %.9g", place_text(at, shape, i), g, e);
        }
    }
}

static void compare_exactly(comparison *c, const clr_shape *shape, const uint8_t *got,
                            const uint8_t *expected)
{
    int dtype = (int)shape->dtype, bits = clr_dtype_bits(dtype);
    char at[128];

    for (int64_t i = 0; i < shape->count; i++) {
        size_t size = (size_t)bits / 8, from = (size_t)i * size;
        double g = bits < 8 ? clr_element(dtype, got, i) : 0;
        double e = bits < 8 ? clr_element(dtype, expected, i) : 0;
        bool same = bits < 8 ? g <= e && g >= e : memcmp(got + from, expected + from, size) == 0;
        if (same)
            continue;
        if (c->to->differing++ == 0) {
            c->to->first = i;
            set_different(c, "element %s is %.17g, expected %.17g", place_text(at, shape, i),
                          clr_element(dtype, got, i), clr_element(dtype, expected, i));
        }
    }
}

static clv_status compare_strings(comparison *c, const clr_shape *shape, const OrtValue *got,
                                  const OrtValue *expected, clv_error *err)
{
    clr_strings g, e;
    char at[128];

    CLV_TRY(clr_tensor_strings(c->ort, got, shape->count, c->arena, &g, err));
    CLV_TRY(clr_tensor_strings(c->ort, expected, shape->count, c->arena, &e, err));
    for (int64_t i = 0; i < shape->count; i++)
        if ((g.lengths[i] != e.lengths[i] || memcmp(g.texts[i], e.texts[i], g.lengths[i]) != 0) &&
            c->to->differing++ == 0) {
            c->to->first = i;
            set_different(c, "element %s is '%.80s', expected '%.80s'", place_text(at, shape, i),
                          g.texts[i], e.texts[i]);
        }
    return CLV_OK;
}

static clv_status compare_tensors(comparison *c, const OrtValue *got, const OrtValue *expected,
                                  clv_error *err)
{
    clr_shape g, e;
    char a[200], b[200];
    void *g_data = NULL, *e_data = NULL;

    CLV_TRY(clr_tensor_shape(c->ort, got, &g, err));
    CLV_TRY(clr_tensor_shape(c->ort, expected, &e, err));
    if (g.dtype != e.dtype || g.rank != e.rank ||
        memcmp(g.dims, e.dims, (size_t)g.rank * sizeof *g.dims) != 0) {
        set_different(c, "it is %s, expected %s", clr_shape_text(a, sizeof a, &g),
                      clr_shape_text(b, sizeof b, &e));
        return CLV_OK;
    }
    if (g.count == 0)
        return CLV_OK;
    if (g.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
        return compare_strings(c, &g, got, expected, err);
    CLV_TRY(clr_tensor_data(c->ort, got, &g_data, err));
    CLV_TRY(clr_tensor_data(c->ort, expected, &e_data, err));
    if (is_float((int)g.dtype))
        compare_floats(c, &g, g_data, e_data);
    else if (g.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 ||
             g.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128) {
        bool small = g.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64; /* as pairs of floats */
        g.dtype =
            small ? ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT : ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
        g.dims[g.rank++] = 2;
        g.count *= 2;
        compare_floats(c, &g, g_data, e_data);
    } else
        compare_exactly(c, &g, g_data, e_data);
    return CLV_OK;
}

static clv_status compare_values(comparison *c, const OrtValue *got, const OrtValue *expected,
                                 int depth, clv_error *err);

static clv_status compare_items(comparison *c, const OrtValue *got, const OrtValue *expected,
                                size_t i, int depth, clv_error *err)
{
    const OrtApi *api = c->ort->api;
    OrtAllocator *allocator = c->ort->allocator;
    OrtValue *g = NULL, *e = NULL;

    CLV_TRY(clr_ort_check(c->ort, api->GetValue(got, (int)i, allocator, &g), "a sequence", err));
    clv_status status =
        clr_ort_check(c->ort, api->GetValue(expected, (int)i, allocator, &e), "a sequence", err);
    if (status == CLV_OK)
        status = compare_values(c, g, e, depth + 1, err);
    clr_value_free(c->ort, g);
    clr_value_free(c->ort, e);
    return status;
}

static clv_status compare_values(comparison *c, const OrtValue *got, const OrtValue *expected,
                                 int depth, clv_error *err)
{
    const OrtApi *api = c->ort->api;
    enum ONNXType g = ONNX_TYPE_UNKNOWN, e = ONNX_TYPE_UNKNOWN;
    size_t g_n = 0, e_n = 0;

    CLV_TRY(clr_ort_check(c->ort, api->GetValueType(got, &g), "a value", err));
    CLV_TRY(clr_ort_check(c->ort, api->GetValueType(expected, &e), "a value", err));
    if (g != e) {
        set_different(c, "it is of another kind, a tensor or a sequence, than expected");
        return CLV_OK;
    }
    if (g == ONNX_TYPE_TENSOR)
        return compare_tensors(c, got, expected, err);
    if (g != ONNX_TYPE_SEQUENCE || depth == DEPTH_MAX)
        return clv_fail(err, CLV_EUNSUPP, "maps and sparse tensors are not compared");
    CLV_TRY(clr_ort_check(c->ort, api->GetValueCount(got, &g_n), "a sequence", err));
    CLV_TRY(clr_ort_check(c->ort, api->GetValueCount(expected, &e_n), "a sequence", err));
    if (g_n != e_n)
        set_different(c, "it has %zu elements, expected %zu", g_n, e_n);
    for (size_t i = 0; i < g_n && g_n == e_n && c->to->equal; i++)
        CLV_TRY(compare_items(c, got, expected, i, depth, err));
    return CLV_OK;
}

clv_status clr_compare(const clr_ort *ort, const OrtValue *got, const OrtValue *expected,
                       const clr_tolerance *tolerance, clr_difference *ret, clv_error *err)
{
    comparison c = { .ort = ort, .tolerance = tolerance, .to = ret };

    *ret = (clr_difference){ .equal = true, .first = -1 };
    c.arena = clv_arena_new(NULL, 0);
    if (!c.arena)
        return clv_fail_nomem(err, "a comparison");
    clv_status status = compare_values(&c, got, expected, 0, err);
    clv_arena_free(c.arena);
    return status;
}
