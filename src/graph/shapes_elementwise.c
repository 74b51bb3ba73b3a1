/* shapes_elementwise.c - operators that work element by element: same shape, or broadcast shapes.
 */
#include "graph/rules.h"
#include "graph/shape_tools.h"

clv_status clv_shape_same(clv_rule *r) { return clv_rule_set_same(r, 0, 0); }

clv_status clv_shape_unary_bool(clv_rule *r)
{
    return clv_rule_set_like(r, 0, CLV_DT_BOOL, clv_rule_in(r, 0));
}

/* Before version 7 the attribute `broadcast` lets input 1 stretch to input 0, never the other way.
 */
static bool only_stretches_second(const clv_rule *r)
{
    return r->version < 7 && clv_rule_attr_int(r, "broadcast", 0) != 0;
}

/* Output 0 from inputs first_in and later, all broadcast together. */
static clv_status set_broadcast(clv_rule *r, int32_t first_in, clv_dtype dtype)
{
    clv_dim dims[CLV_RANK_MAX];
    int32_t rank = 0;
    for (int32_t k = first_in; k < clv_rule_n_in(r); k++) {
        const clv_type *in = clv_rule_in(r, k);
        if (!clv_type_ranked(in))
            return clv_rule_set(r, 0, dtype, CLV_RANK_UNKNOWN, NULL);
        CLV_TRY(clv_rule_broadcast(r, rank, dims, in->rank, in->dims, &rank, dims));
    }
    return clv_rule_set(r, 0, dtype, rank, dims);
}

static clv_dtype first_dtype(const clv_rule *r, int32_t first_in)
{
    for (int32_t k = first_in; k < clv_rule_n_in(r); k++)
        if (clv_rule_in(r, k)->dtype != CLV_DT_UNDEFINED)
            return clv_rule_in(r, k)->dtype;
    return CLV_DT_UNDEFINED;
}

clv_status clv_shape_elementwise(clv_rule *r)
{
    if (only_stretches_second(r))
        return clv_rule_set_same(r, 0, 0);
    return set_broadcast(r, 0, first_dtype(r, 0));
}

clv_status clv_shape_compare(clv_rule *r)
{
    if (only_stretches_second(r))
        return clv_rule_set_like(r, 0, CLV_DT_BOOL, clv_rule_in(r, 0));
    return set_broadcast(r, 0, CLV_DT_BOOL);
}

clv_status clv_shape_where(clv_rule *r) { return set_broadcast(r, 0, first_dtype(r, 1)); }

/* Version 1 names the type in words. */
static clv_dtype dtype_by_name(clv_str name)
{
    for (int i = 1; i < CLV_N_DTYPES; i++)
        if (clv_str_is(name, clv_dtype_name((clv_dtype)i)))
            return (clv_dtype)i;
    return CLV_DT_UNDEFINED;
}

clv_status clv_shape_cast(clv_rule *r)
{
    clv_dtype to = dtype_by_name(clv_rule_attr_str(r, "to", ""));
    if (to == CLV_DT_UNDEFINED)
        CLV_TRY(clv_rule_attr_dtype(r, "to", CLV_DT_UNDEFINED, &to));
    return clv_rule_set_like(r, 0, to, clv_rule_in(r, 0));
}

clv_status clv_shape_cast_like(clv_rule *r)
{
    return clv_rule_set_like(r, 0, clv_rule_in(r, 1)->dtype, clv_rule_in(r, 0));
}

/* The new type is as wide as the old one, so the shape stays. */
clv_status clv_shape_bit_cast(clv_rule *r) { return clv_shape_cast(r); }

/* The mask was of the input's type before version 10. */
clv_status clv_shape_dropout(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    CLV_TRY(clv_rule_set_same(r, 0, 0));
    return clv_rule_set_like(r, 1, r->version < 10 ? in->dtype : CLV_DT_BOOL, in);
}
