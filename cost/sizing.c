#include "cost/sizing.h"

#include <math.h>

static int64_t overflowed(clv_sizing *s)
{
    s->overflow = true;
    return 0;
}

int64_t clv_size_add(clv_sizing *s, int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? overflowed(s) : sum;
}

int64_t clv_size_mul(clv_sizing *s, int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? overflowed(s) : product;
}

int64_t clv_size_scale(clv_sizing *s, int64_t n, double factor)
{
    double whole = floor(factor);
    if (whole == factor && fabs(factor) < 1e9)
        return clv_size_mul(s, n, (int64_t)factor);
    double scaled = ceil((double)n * factor);
    return scaled < 9.2e18 ? (int64_t)scaled : overflowed(s);
}

int64_t clv_size_of_dim(clv_sizing *s, clv_dim dim)
{
    if (clv_dim_is_number(dim) && dim >= 0)
        return dim;
    s->open = true;
    return 0;
}

int64_t clv_size_elems(clv_sizing *s, const clv_type *type)
{
    int64_t elems = 1;
    if (!clv_type_ranked(type)) {
        s->open = true;
        return 0;
    }
    for (int32_t i = 0; i < type->rank; i++)
        elems = clv_size_mul(s, elems, clv_size_of_dim(s, type->dims[i]));
    return elems;
}

const clv_type *clv_size_out(const clv_sizing *s, int32_t k)
{
    static const clv_type unknown = { .rank = CLV_RANK_UNKNOWN };
    clv_tensor t = clv_op_output(s->rule.graph, s->rule.op, k);
    return t.i >= 0 ? &s->rule.types->of[t.i] : &unknown;
}

int64_t clv_size_in_tail(clv_sizing *s, int32_t k, int32_t from)
{
    const clv_type *type = clv_rule_in(&s->rule, k);
    int64_t product = 1;
    if (!clv_type_ranked(type)) {
        s->open = true;
        return 0;
    }
    for (int32_t i = from; i < type->rank; i++)
        product = clv_size_mul(s, product, clv_size_of_dim(s, type->dims[i]));
    return product;
}

int64_t clv_size_log2(int64_t n)
{
    int64_t p = 0;
    while (p < 62 && (INT64_C(1) << p) < n)
        p++;
    return p;
}
