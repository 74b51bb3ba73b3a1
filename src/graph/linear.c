#include "graph/linear.h"

#include "graph/ops.h"

/* Parts of sums are kept and added in these; narrower ones have scales, or too few digits. */
static bool has_sums(clv_dtype dtype)
{
    return dtype == CLV_DT_FLOAT || dtype == CLV_DT_DOUBLE || dtype == CLV_DT_FLOAT16 ||
           dtype == CLV_DT_BFLOAT16;
}

/* What is scattered is linear in what lies there and in what comes, where it takes its place or is
 * added to it; not where it is multiplied or compared. */
static bool scatters_otherwise(const clv_graph *g, const clv_op_info *op)
{
    const clv_attr *a = clv_op_attr(g, op, "reduction");
    return a &&
           !(a->kind == CLV_ATTR_STRING && (clv_str_is(a->s, "none") || clv_str_is(a->s, "add")));
}

static bool is_one_type(const clv_types *types, const clv_op_info *op)
{
    const clv_graph *g = types->graph;
    clv_tensor first = clv_op_output(g, op, 0);
    if (first.i < 0 || !has_sums(types->of[first.i].dtype))
        return false;
    for (int32_t k = 0; k < op->n_in + op->n_out; k++) {
        clv_tensor t = k < op->n_in ? clv_op_input(g, op, k) : clv_op_output(g, op, k - op->n_in);
        if (t.i >= 0 && (k >= op->n_in || clv_dtype_is_float(types->of[t.i].dtype)) &&
            types->of[t.i].dtype != types->of[first.i].dtype)
            return false;
    }
    return true;
}

clv_linearity clv_op_linearity(const clv_types *types, clv_op op)
{
    const clv_op_info *info = clv_op_at(types->graph, op);
    unsigned flags = info->kind >= 0 ? clv_op_def_at(info->kind)->flags : 0;
    clv_linearity is = flags & CLV_OPF_LINEAR     ? CLV_LINEAR
                       : flags & CLV_OPF_ADDITIVE ? CLV_ADDITIVE
                       : flags & CLV_OPF_BILINEAR ? CLV_BILINEAR
                                                  : CLV_NOT_LINEAR;
    if (is == CLV_NOT_LINEAR || !is_one_type(types, info) || scatters_otherwise(types->graph, info))
        return CLV_NOT_LINEAR;
    return is;
}

bool clv_is_linear_in(const clv_types *types, clv_op op, clv_linearity linearity, int32_t k)
{
    const clv_op_info *info = clv_op_at(types->graph, op);
    clv_tensor t = clv_op_input(types->graph, info, k);
    if (t.i < 0 || !clv_dtype_is_float(types->of[t.i].dtype))
        return false;
    switch (linearity) {
    case CLV_LINEAR:
        return k == 0;
    case CLV_BILINEAR:
        return k < 2;
    case CLV_ADDITIVE:
        return true;
    case CLV_NOT_LINEAR:
        break;
    }
    return false;
}
