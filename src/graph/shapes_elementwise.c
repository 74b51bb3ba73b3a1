#include "graph/shapes_elementwise.h"

#include "graph/shape_tools.h"

clv_status clv_shape_same(clv_rule *r, clv_error *err) { return clv_rule_set_same(r, 0, 0, err); }

clv_status clv_shape_unary_bool(clv_rule *r, clv_error *err)
{
    return clv_rule_set_like(r, 0, CLV_DT_BOOL, clv_rule_in(r, 0), err);
}

/* Before version 7 the attribute `broadcast` lets input 1 stretch to input 0, never the other way.
 */
static bool only_second_broadcasts(const clv_rule *r)
{
    return r->version < 7 && clv_rule_attr_int(r, "broadcast", 0) != 0;
}

/* Output 0 from inputs 0, step, 2 * step, ..., all broadcast together. */
static clv_status set_broadcast(clv_rule *r, int32_t step, int32_t n, clv_dtype dtype,
                                clv_error *err)
{
    clv_shape shape;
    shape.rank = 0;
    for (int32_t i = 0; i < n; i++) {
        const clv_type *in = clv_rule_in(r, i * step);
        if (!clv_type_ranked(in))
            return clv_rule_set_unranked(r, 0, dtype, err);
        CLV_TRY(clv_rule_broadcast(r, &shape, in, err));
    }
    return clv_rule_set(r, 0, dtype, shape.rank, shape.dims, err);
}

static clv_dtype first_dtype(const clv_rule *r, int32_t first_in)
{
    for (int32_t k = first_in; k < clv_rule_n_in(r); k++)
        if (clv_rule_in(r, k)->dtype != CLV_DT_UNDEFINED)
            return clv_rule_in(r, k)->dtype;
    return CLV_DT_UNDEFINED;
}

clv_status clv_shape_elementwise(clv_rule *r, clv_error *err)
{
    if (only_second_broadcasts(r))
        return clv_rule_set_same(r, 0, 0, err);
    return set_broadcast(r, 1, clv_rule_n_in(r), first_dtype(r, 0), err);
}

clv_status clv_shape_compare(clv_rule *r, clv_error *err)
{
    if (only_second_broadcasts(r))
        return clv_shape_unary_bool(r, err);
    return set_broadcast(r, 1, clv_rule_n_in(r), CLV_DT_BOOL, err);
}

clv_status clv_shape_where(clv_rule *r, clv_error *err)
{
    return set_broadcast(r, 1, clv_rule_n_in(r), first_dtype(r, 1), err);
}

clv_status clv_shape_dropout(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    CLV_TRY(clv_rule_set_same(r, 0, 0, err));
    return clv_rule_set_like(r, 1, r->version < 10 ? in->dtype : CLV_DT_BOOL, in, err);
}

clv_status clv_shape_bias_dropout(clv_rule *r, clv_error *err)
{
    CLV_TRY(clv_rule_set_same(r, 0, 0, err));
    return clv_rule_set_like(r, 1, CLV_DT_BOOL, clv_rule_in(r, 0), err);
}

clv_status clv_shape_bias_split_gelu(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX], last = clv_type_dim(in, -1);
    if (!clv_type_ranked(in) || in->rank == 0)
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (clv_dim_is_number(last) && last % 2 != 0)
        return clv_rule_fail(r, err, "the last dimension is %lld, expected an even number",
                             (long long)last);
    clv_dims_copy(dims, in->dims, in->rank);
    dims[in->rank - 1] = clv_dim_div(last, 2);
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

/* -- another dtype -- */

clv_status clv_shape_cast(clv_rule *r, clv_error *err)
{
    clv_str name = clv_rule_attr_str(r, "to", ""); /* version 1 names the type in words */
    clv_dtype to = CLV_DT_UNDEFINED;
    for (int i = 1; i < CLV_N_DTYPES && to == CLV_DT_UNDEFINED; i++)
        if (clv_str_is(name, clv_dtype_name((clv_dtype)i)))
            to = (clv_dtype)i;
    if (to == CLV_DT_UNDEFINED)
        CLV_TRY(clv_rule_attr_dtype(r, "to", CLV_DT_UNDEFINED, &to, err));
    return clv_rule_set_like(r, 0, to, clv_rule_in(r, 0), err);
}

clv_status clv_shape_cast_like(clv_rule *r, clv_error *err)
{
    return clv_rule_set_like(r, 0, clv_rule_in(r, 1)->dtype, clv_rule_in(r, 0), err);
}

clv_status clv_shape_bit_cast(clv_rule *r, clv_error *err) { return clv_shape_cast(r, err); }

clv_status clv_shape_murmur_hash3(clv_rule *r, clv_error *err)
{
    bool positive = clv_rule_attr_int(r, "positive", 1) != 0;
    return clv_rule_set_like(r, 0, positive ? CLV_DT_UINT32 : CLV_DT_INT32, clv_rule_in(r, 0), err);
}

/* -- quantised -- */

clv_status clv_shape_quantize_linear(clv_rule *r, clv_error *err)
{
    clv_dtype dtype;
    CLV_TRY(clv_rule_attr_dtype(r, "output_dtype", CLV_DT_UINT8, &dtype, err));
    if (clv_rule_has_in(r, 2))
        dtype = clv_rule_in(r, 2)->dtype;
    return clv_rule_set_like(r, 0, dtype, clv_rule_in(r, 0), err);
}

clv_status clv_shape_dequantize_linear(clv_rule *r, clv_error *err)
{
    clv_dtype dtype = clv_rule_in(r, 1)->dtype;
    if (dtype == CLV_DT_UNDEFINED && r->version >= 10 && r->version < 19)
        dtype = CLV_DT_FLOAT;
    CLV_TRY(clv_rule_attr_dtype(r, "output_dtype", dtype, &dtype, err));
    return clv_rule_set_like(r, 0, dtype, clv_rule_in(r, 0), err);
}

clv_status clv_shape_dynamic_quantize_linear(clv_rule *r, clv_error *err)
{
    CLV_TRY(clv_rule_set_like(r, 0, CLV_DT_UINT8, clv_rule_in(r, 0), err));
    CLV_TRY(clv_rule_set_scalar(r, 1, CLV_DT_FLOAT, err));
    return clv_rule_set_scalar(r, 2, CLV_DT_UINT8, err);
}

clv_status clv_shape_qlinear_binary(clv_rule *r, clv_error *err)
{
    return set_broadcast(r, 3, 2, clv_rule_in(r, 0)->dtype, err);
}

clv_status clv_shape_qlinear_where(clv_rule *r, clv_error *err)
{
    const clv_type *condition = clv_rule_in(r, 0), *x = clv_rule_in(r, 1), *y = clv_rule_in(r, 4);
    clv_shape values, shape;
    if (!clv_type_ranked(condition) || !clv_type_ranked(x) || !clv_type_ranked(y))
        return clv_rule_set_unranked(r, 0, x->dtype, err);
    clv_shape_copy(&values, x);
    CLV_TRY(clv_rule_broadcast(r, &values, y, err));
    clv_shape_copy(&shape, condition);
    clv_type choice = { .rank = values.rank, .dims = values.dims };
    CLV_TRY(clv_rule_broadcast(r, &shape, &choice, err));
    return clv_rule_set(r, 0, x->dtype, shape.rank, shape.dims, err);
}
