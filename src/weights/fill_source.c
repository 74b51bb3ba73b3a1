#include "weights/fill_source.h"

/* 1 as the bits of its type; of those below a byte as many as fill it. */
static uint64_t one_bits(clv_dtype dtype)
{
    switch ((int)dtype) {
    case CLV_DT_FLOAT:
    case CLV_DT_COMPLEX64:
        return 0x3f800000;
    case CLV_DT_DOUBLE:
    case CLV_DT_COMPLEX128:
        return UINT64_C(0x3ff0000000000000);
    case CLV_DT_FLOAT16:
        return 0x3c00;
    case CLV_DT_BFLOAT16:
        return 0x3f80;
    case CLV_DT_FLOAT8E4M3FN:
        return 0x38;
    case CLV_DT_FLOAT8E4M3FNUZ:
        return 0x40;
    case CLV_DT_FLOAT8E5M2:
        return 0x3c;
    case CLV_DT_FLOAT8E5M2FNUZ:
        return 0x40;
    case CLV_DT_FLOAT8E8M0:
        return 0x7f;
    case CLV_DT_FLOAT4E2M1:
        return 0x22;
    case CLV_DT_UINT4:
    case CLV_DT_INT4:
        return 0x11;
    case CLV_DT_UINT2:
    case CLV_DT_INT2:
        return 0x55;
    default:
        return 1;
    }
}

int32_t clv_encode_one(clv_dtype dtype, uint8_t ret[static 16])
{
    int bits = clv_dtype_bits(dtype);
    int32_t n = bits < 8 ? 1 : bits / 8;
    uint64_t value = one_bits(dtype);
    memset(ret, 0, 16);
    for (int32_t i = 0; i < n && i < 8; i++)
        ret[i] = (uint8_t)(value >> 8 * i); /* of a complex number the imaginary half is 0 */
    return n;
}

static clv_status read_fill(void *ctx, int32_t weight, int64_t first, int64_t n, uint8_t *to,
                            clv_error *err)
{
    const clv_fill_source *s = ctx;
    clv_dtype dtype = s->weights->at[weight].dtype;
    uint8_t one[16];
    int64_t bytes = 0;
    (void)first, (void)err;
    (void)clv_dtype_bytes(dtype, n, &bytes); /* at most a block */
    memset(to, 0, (size_t)bytes);
    if (s->with != CLV_FILL_ONES)
        return CLV_OK;
    int32_t width = clv_encode_one(dtype, one);
    for (int64_t at = 0; at + width <= bytes; at += width)
        memcpy(to + at, one, (size_t)width);
    return CLV_OK;
}

clv_weight_source clv_fill_source_of(clv_fill_source *source)
{
    return (clv_weight_source){ .read = read_fill, .ctx = source };
}
