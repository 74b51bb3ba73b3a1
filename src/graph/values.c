#include "graph/values.h"

#include <string.h>

#include "graph/shape_tools.h"

/* Also of what is empty, the other sizes are small: folds multiply them without looking. */
static bool small_shape(const clv_type *type, clv_literal *ret)
{
    int64_t n = clv_type_elems(type), others = 1;
    if (type->kind != CLV_TYPE_TENSOR || n < 0 || n > CLV_VALUE_MAX)
        return false;
    *ret = (clv_literal){ .n = (int32_t)n, .rank = type->rank, .dtype = type->dtype };
    for (int32_t i = 0; i < type->rank; i++) {
        ret->dims[i] = type->dims[i];
        if (type->dims[i] > CLV_VALUE_MAX / others)
            return false;
        others *= type->dims[i] > 0 ? type->dims[i] : 1;
    }
    return true;
}

bool clv_literal_in(const clv_rule *r, int32_t k, clv_literal *ret)
{
    const clv_value *value = clv_rule_value(r, k);
    if (!value || !small_shape(clv_rule_in(r, k), ret) || ret->n != value->n)
        return false;
    ret->i = value->i;
    ret->f = value->f;
    return true;
}

bool clv_literal_in_or_open(const clv_rule *r, int32_t k, clv_literal_out *room, clv_literal *ret)
{
    if (clv_literal_in(r, k, ret))
        return true;
    clv_dtype dtype = clv_rule_in(r, k)->dtype;
    bool whole = dtype == CLV_DT_INT64 || dtype == CLV_DT_INT32 || dtype == CLV_DT_BOOL;
    if (clv_rule_value(r, k) || !whole || !small_shape(clv_rule_in(r, k), ret))
        return false;
    clv_dims_open(room->i, ret->n);
    ret->i = room->i;
    return true;
}

bool clv_literal_out_shape(const clv_rule *r, int32_t k, clv_literal *ret)
{
    return clv_rule_has_out(r, k) &&
           small_shape(&r->types->of[clv_op_output(r->graph, r->op, k).i], ret);
}

clv_status clv_literal_set(clv_rule *r, int32_t k, const clv_literal_out *out, clv_error *err)
{
    return out->whole ? clv_rule_set_ints(r, k, out->n, out->i, err)
                      : clv_rule_set_floats(r, k, out->n, out->f, err);
}

clv_status clv_literal_pick(clv_rule *r, int32_t k, const clv_literal *in, int32_t n,
                            const int32_t *index, clv_error *err)
{
    clv_literal_out out = { .whole = in->i != NULL, .n = n };
    for (int32_t j = 0; j < n; j++) {
        if (index[j] < 0 && !in->i)
            return CLV_OK;
        if (index[j] < 0)
            out.i[j] = CLV_DIM_UNKNOWN;
        else
            clv_literal_copy(&out, j, in, index[j]);
    }
    return clv_literal_set(r, k, &out, err);
}

bool clv_literal_has_only_numbers(const clv_literal *e)
{
    for (int32_t j = 0; e->i && j < e->n; j++)
        if (!clv_dim_is_number(e->i[j]))
            return false;
    return true;
}

bool clv_rule_try_axis(const clv_rule *r, int64_t otherwise, int32_t rank, int32_t *ret)
{
    int64_t axis = clv_rule_attr_int(r, "axis", otherwise);
    if (axis < -(int64_t)rank || axis >= rank)
        return false;
    *ret = (int32_t)(axis < 0 ? axis + rank : axis);
    return true;
}

void clv_literal_index(const clv_literal *e, int32_t at, int64_t *ret)
{
    int64_t left = at;
    for (int32_t i = e->rank - 1; i >= 0; i--) {
        ret[i] = e->dims[i] ? left % e->dims[i] : 0;
        left = e->dims[i] ? left / e->dims[i] : 0;
    }
}

int32_t clv_literal_broadcast(const clv_literal *e, const clv_literal *to, int32_t at)
{
    int64_t index[CLV_RANK_MAX];
    clv_literal_index(to, at, index);
    int64_t place = 0;
    for (int32_t i = 0; i < e->rank; i++)
        place = place * e->dims[i] + (e->dims[i] == 1 ? 0 : index[i + to->rank - e->rank]);
    return (int32_t)place;
}

clv_dim clv_elem_fit(clv_dtype dtype, clv_dim x)
{
    int bits = clv_dtype_bits(dtype);
    bool is_unsigned = dtype == CLV_DT_UINT8 || dtype == CLV_DT_UINT16 || dtype == CLV_DT_UINT32 ||
                       dtype == CLV_DT_UINT64 || dtype == CLV_DT_UINT4 || dtype == CLV_DT_UINT2;
    if (!clv_dim_is_number(x))
        return x;
    if (is_unsigned && x < 0)
        return CLV_DIM_UNKNOWN;
    if (dtype == CLV_DT_BOOL)
        return x != 0;
    if (bits >= 64 || bits == 0)
        return x;
    int64_t limit = INT64_C(1) << (is_unsigned ? bits : bits - 1);
    return x >= limit || x < -limit ? CLV_DIM_UNKNOWN : x;
}

clv_dim clv_elem_min(clv_dim a, clv_dim b)
{
    bool open = !clv_dim_is_number(a) || !clv_dim_is_number(b);
    return a == b ? a : open ? CLV_DIM_UNKNOWN : a < b ? a : b;
}

clv_dim clv_elem_max(clv_dim a, clv_dim b)
{
    bool open = !clv_dim_is_number(a) || !clv_dim_is_number(b);
    return a == b ? a : open ? CLV_DIM_UNKNOWN : a > b ? a : b;
}

bool clv_dropout_draws(bool has_mode, const clv_value *mode, const clv_value *ratio)
{
    bool rests = !has_mode || (mode && mode->n == 1 && mode->i && mode->i[0] == 0);
    bool keeps_all = ratio && ratio->n == 1 && ratio->f && !(ratio->f[0] > 0);

    return !rests && !keeps_all;
}

double clv_elem_round(clv_dtype dtype, double x)
{
    return dtype == CLV_DT_DOUBLE ? x : (double)(float)x;
}
