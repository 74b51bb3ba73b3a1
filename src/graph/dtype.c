#include "graph/dtype.h"

int clv_dtype_bits(clv_dtype dtype)
{
    static const uint8_t bits[CLV_N_DTYPES] = {
#define X(number, name, b) [number] = b,
        CLV_DTYPE_MAP(X)
#undef X
    };
    return (unsigned)dtype < CLV_N_DTYPES ? bits[dtype] : 0;
}

const char *clv_dtype_name(clv_dtype dtype)
{
    static const char *const name[CLV_N_DTYPES] = {
#define X(number, n, b) [number] = #n,
        CLV_DTYPE_MAP(X)
#undef X
    };
    return (unsigned)dtype < CLV_N_DTYPES ? name[dtype] : "?";
}

bool clv_dtype_is_float(clv_dtype dtype)
{
    return dtype == CLV_DT_FLOAT || dtype == CLV_DT_FLOAT16 || dtype == CLV_DT_DOUBLE ||
           dtype == CLV_DT_BFLOAT16 ||
           (dtype >= CLV_DT_FLOAT8E4M3FN && dtype <= CLV_DT_FLOAT8E5M2FNUZ) ||
           dtype == CLV_DT_FLOAT4E2M1 || dtype == CLV_DT_FLOAT8E8M0;
}

bool clv_dtype_narrows(clv_dtype from, clv_dtype to)
{
    return clv_dtype_is_float(from) && clv_dtype_bits(to) > 0 &&
           clv_dtype_bits(to) < clv_dtype_bits(from);
}

bool clv_dtype_bytes(clv_dtype dtype, int64_t elems, int64_t *ret_bytes)
{
    int64_t bits = clv_dtype_bits(dtype);
    if (bits >= 8)
        return !__builtin_mul_overflow(elems, bits / 8, ret_bytes);
    if (bits == 0) {
        *ret_bytes = 0;
        return true;
    }
    int64_t in_a_byte = 8 / bits;
    *ret_bytes = elems / in_a_byte + (elems % in_a_byte != 0);
    return true;
}
