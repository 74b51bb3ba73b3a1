#include "graph/dims.h"

clv_dim clv_dim_add(clv_dim a, clv_dim b)
{
    if (a == 0)
        return b;
    if (b == 0)
        return a;
    clv_dim sum;
    if (!clv_dim_is_number(a) || !clv_dim_is_number(b) || __builtin_add_overflow(a, b, &sum))
        return CLV_DIM_UNKNOWN;
    return clv_dim_is_number(sum) ? sum : CLV_DIM_UNKNOWN;
}

clv_dim clv_dim_sub(clv_dim a, clv_dim b)
{
    int64_t d;

    if (b == 0)
        return a;
    if (a == b && a != CLV_DIM_UNKNOWN)
        return 0;
    if (!clv_dim_is_number(a) || !clv_dim_is_number(b) || __builtin_sub_overflow(a, b, &d))
        return CLV_DIM_UNKNOWN;
    return clv_dim_is_number(d) ? d : CLV_DIM_UNKNOWN;
}

clv_dim clv_dim_mul(clv_dim a, clv_dim b)
{
    if (a == 0 || b == 1)
        return a;
    if (b == 0 || a == 1)
        return b;
    clv_dim product;
    if (!clv_dim_is_number(a) || !clv_dim_is_number(b) || __builtin_mul_overflow(a, b, &product))
        return CLV_DIM_UNKNOWN;
    return clv_dim_is_number(product) ? product : CLV_DIM_UNKNOWN;
}

clv_dim clv_dim_div(clv_dim a, int64_t b)
{
    if (b == 1)
        return a;
    if (!clv_dim_is_number(a) || b <= 0)
        return CLV_DIM_UNKNOWN;
    return a / b - (a % b < 0);
}

clv_dim clv_dim_product(const clv_dim *at, int32_t n)
{
    clv_dim product = 1;

    for (int32_t i = 0; i < n; i++)
        if (at[i] == 0)
            return 0;
    for (int32_t i = 0; i < n; i++)
        product = clv_dim_mul(product, at[i]);
    return product;
}

void clv_dims_open(clv_dim *dims, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        dims[i] = CLV_DIM_UNKNOWN;
}

void clv_dims_copy(clv_dim *to, const clv_dim *from, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        to[i] = from[i];
}
