#include "lower/fill.h"

#include <string.h>

clv_fill clv_fill_neutral(clv_reduce reduce)
{
    switch (reduce) {
    case CLV_REDUCE_MAX:
    case CLV_REDUCE_LOG_SUM:
        return CLV_FILL_LOWEST;
    case CLV_REDUCE_MIN:
        return CLV_FILL_HIGHEST;
    case CLV_REDUCE_PROD:
        return CLV_FILL_ONE;
    case CLV_REDUCE_NONE:
    case CLV_REDUCE_SUM:
    case CLV_REDUCE_MEAN:
    case CLV_REDUCE_L2:
    case CLV_N_REDUCES:
        break;
    }
    return CLV_FILL_ZERO;
}

static bool float_bits(clv_dtype dtype, clv_fill fill, uint64_t *ret)
{
    uint64_t one, infinity, sign;
    if (dtype == CLV_DT_FLOAT)
        one = 0x3f800000, infinity = 0x7f800000, sign = 0x80000000;
    else if (dtype == CLV_DT_DOUBLE)
        one = 0x3ff0000000000000, infinity = 0x7ff0000000000000, sign = 0x8000000000000000;
    else if (dtype == CLV_DT_FLOAT16)
        one = 0x3c00, infinity = 0x7c00, sign = 0x8000;
    else if (dtype == CLV_DT_BFLOAT16)
        one = 0x3f80, infinity = 0x7f80, sign = 0x8000;
    else
        return false;
    *ret = fill == CLV_FILL_ONE       ? one
           : fill == CLV_FILL_HIGHEST ? infinity
           : fill == CLV_FILL_LOWEST  ? (infinity | sign)
                                      : 0;
    return true;
}

int32_t clv_fill_bytes(clv_dtype dtype, clv_fill fill, uint8_t ret[static CLV_FILL_BYTES])
{
    int bits = clv_dtype_bits(dtype);
    bool is_signed = dtype == CLV_DT_INT8 || dtype == CLV_DT_INT16 || dtype == CLV_DT_INT32 ||
                     dtype == CLV_DT_INT64;
    uint64_t value = 0;
    memset(ret, 0, CLV_FILL_BYTES);
    if (bits < 8)
        return 0;
    if (fill == CLV_FILL_ZERO)
        return bits / 8;
    if (clv_dtype_is_float(dtype)) {
        if (!float_bits(dtype, fill, &value))
            return 0;
    } else if (bits > 64) {
        return 0; /* complex */
    } else if (fill == CLV_FILL_ONE || dtype == CLV_DT_BOOL) {
        value = fill != CLV_FILL_LOWEST;
    } else {
        uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        uint64_t highest = is_signed ? all >> 1 : all;
        value = fill == CLV_FILL_HIGHEST ? highest : all - highest;
    }
    memcpy(ret, &value, sizeof value); /* little-endian, as all of it */
    return bits / 8;
}
