#include "proto/read_value.h"

#include <math.h>

/* Values are kept for folding: shapes, axes, ranges, masks, and scales, which are floating point
 * and short. Long vectors of floats are biases and norms; nothing folds them.
 */
#define FLOATS_MAX 256
/* Folded integers share their type with the codes for symbols (graph.h). */
#define INT_MIN_KEPT (CLV_DIM_SYMBOL0 + INT32_MAX)

static bool is_folded_float(clv_dtype dtype)
{
    return dtype == CLV_DT_FLOAT || dtype == CLV_DT_DOUBLE || dtype == CLV_DT_FLOAT16 ||
           dtype == CLV_DT_BFLOAT16;
}

static bool is_folded_int(clv_dtype dtype)
{
    return dtype == CLV_DT_BOOL || dtype == CLV_DT_INT8 || dtype == CLV_DT_UINT8 ||
           dtype == CLV_DT_INT16 || dtype == CLV_DT_UINT16 || dtype == CLV_DT_INT32 ||
           dtype == CLV_DT_UINT32 || dtype == CLV_DT_INT64 || dtype == CLV_DT_UINT64;
}

/* IEEE 754 half: 1 sign, 5 exponent, 10 fraction bits. */
static double from_half(uint16_t h)
{
    int exponent = h >> 10 & 0x1f, fraction = h & 0x3ff;
    double size;
    if (exponent == 31)
        size = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent)
        size = ldexp(fraction + 1024, exponent - 25);
    else
        size = ldexp(fraction, -24);
    return h & 0x8000 ? -size : size;
}

static double from_float_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static double to_float(clv_dtype dtype, uint64_t bits)
{
    double d;
    if (dtype == CLV_DT_FLOAT)
        return from_float_bits((uint32_t)bits);
    if (dtype == CLV_DT_FLOAT16)
        return from_half((uint16_t)bits);
    if (dtype == CLV_DT_BFLOAT16)
        return from_float_bits((uint32_t)(bits & 0xffff) << 16);
    memcpy(&d, &bits, sizeof d);
    return d;
}

static clv_dim to_int(clv_dtype dtype, uint64_t bits)
{
    int width = clv_dtype_bits(dtype);
    bool is_signed = dtype == CLV_DT_INT8 || dtype == CLV_DT_INT16 || dtype == CLV_DT_INT32 ||
                     dtype == CLV_DT_INT64;
    if (dtype == CLV_DT_BOOL)
        return bits != 0;
    if (width < 64)
        bits &= (UINT64_C(1) << width) - 1;
    if (is_signed && width < 64 && (bits >> (width - 1)))
        bits |= ~UINT64_C(0) << width;
    if (!is_signed)
        return bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
    int64_t value = (int64_t)bits;
    return value < INT_MIN_KEPT ? INT_MIN_KEPT : value;
}

/* Where elements go, whichever kind they are. */
typedef struct {
    clv_dtype dtype;
    int32_t n, room;
    clv_dim *i;
    double *f;
} filling;

static void add_element(filling *to, uint64_t bits)
{
    if (to->n == to->room)
        return;
    if (to->f)
        to->f[to->n++] = to_float(to->dtype, bits);
    else
        to->i[to->n++] = to_int(to->dtype, bits);
}

static void add_raw(filling *to, const uint8_t *bytes)
{
    size_t size = (size_t)clv_dtype_bits(to->dtype) / 8;
    for (int32_t k = 0; k < to->room; k++, bytes += size) {
        uint64_t bits = 0;
        for (size_t b = 0; b < size; b++)
            bits |= (uint64_t)bytes[b] << 8 * b;
        add_element(to, bits);
    }
}

/* A typed field may come in several pieces; of raw_data the last one counts. */
static clv_status read_elements(clv_message m, const clv_tensor_payload *payload, filling *to,
                                clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number != payload->field)
            continue;
        if (payload->type == CLV_WIRE_BYTES) {
            to->n = 0;
            if (f.n == (size_t)to->room * ((size_t)clv_dtype_bits(to->dtype) / 8))
                add_raw(to, f.bytes);
            continue;
        }
        for (clv_wire run = clv_message_run(&m, &f); run.at < run.end;) {
            uint64_t bits;
            CLV_TRY(clv_wire_scalar(&run, payload->type, &bits, err));
            add_element(to, bits);
        }
    }
}

clv_status clv_read_value(clv_reading *r, const clv_message *tensor,
                          const clv_tensor_payload *payload, const clv_const *t,
                          const clv_value **ret, clv_error *err)
{
    bool is_float = is_folded_float(t->dtype);
    if (is_float ? t->elems > FLOATS_MAX : !is_folded_int(t->dtype))
        return CLV_OK;
    filling to = { .dtype = t->dtype, .room = (int32_t)t->elems };
    clv_value *value = CLV_NEW(r->arena, clv_value);
    if (is_float)
        to.f = CLV_NEW_ARRAY(r->arena, double, to.room);
    else
        to.i = CLV_NEW_ARRAY(r->arena, clv_dim, to.room);
    if (!value || (!to.f && !to.i))
        return clv_fail_nomem(err, "the elements of a small tensor");
    CLV_TRY(read_elements(*tensor, payload, &to, err));
    *value = (clv_value){ .n = to.room, .i = to.i, .f = to.f };
    *ret = value;
    return CLV_OK;
}
