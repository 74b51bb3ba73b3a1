#include "graph/values_make.h"

#include "graph/shape_tools.h"
#include "graph/values.h"

/* The lowest numbers are codes of open dims; the lowest that is none stands for them, as it does in
 * tensors. */
static clv_status set_int_list(clv_rule *r, const int64_t *list, int32_t n, clv_error *err)
{
    clv_literal_out out = { .whole = true, .n = n };
    if (n > CLV_VALUE_MAX)
        return CLV_OK;
    for (int32_t j = 0; j < n; j++)
        out.i[j] = clv_dim_is_number(list[j]) ? list[j] : CLV_DIM_SYMBOL0 + INT32_MAX;
    return clv_literal_set(r, 0, &out, err);
}

static clv_status set_float_list(clv_rule *r, const float *list, int32_t n, clv_error *err)
{
    clv_literal_out out = { .whole = false, .n = n };
    if (n > CLV_VALUE_MAX)
        return CLV_OK;
    for (int32_t j = 0; j < n; j++)
        out.f[j] = (double)list[j];
    return clv_literal_set(r, 0, &out, err);
}

clv_status clv_fold_constant(clv_rule *r, clv_error *err)
{
    const clv_attr *attr;
    if ((attr = clv_rule_attr(r, "value")) && attr->kind == CLV_ATTR_TENSOR) {
        const clv_value *value = attr->tensor->sparse ? NULL : attr->tensor->value;
        if (!value)
            return CLV_OK;
        return value->i ? clv_rule_set_ints(r, 0, value->n, value->i, err)
                        : clv_rule_set_floats(r, 0, value->n, value->f, err);
    }
    if ((attr = clv_rule_attr(r, "value_int")) && attr->kind == CLV_ATTR_INT)
        return set_int_list(r, &attr->i, 1, err);
    if ((attr = clv_rule_attr(r, "value_ints")) && attr->kind == CLV_ATTR_INTS)
        return set_int_list(r, attr->ints, attr->n, err);
    if ((attr = clv_rule_attr(r, "value_float")) && attr->kind == CLV_ATTR_FLOAT)
        return set_float_list(r, &attr->f, 1, err);
    if ((attr = clv_rule_attr(r, "value_floats")) && attr->kind == CLV_ATTR_FLOATS)
        return set_float_list(r, attr->floats, attr->n, err);
    return CLV_OK;
}

/* An end of Shape's range of axes, counted from the back where negative, kept inside. */
static int32_t clamp_axis(int64_t axis, int32_t rank)
{
    if (axis < 0)
        axis += rank;
    return (int32_t)(axis < 0 ? 0 : axis > rank ? rank : axis);
}

clv_status clv_fold_shape(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    if (!clv_type_ranked(in))
        return CLV_OK;
    int32_t start = clamp_axis(clv_rule_attr_int(r, "start", 0), in->rank);
    int32_t end = clamp_axis(clv_rule_attr_int(r, "end", in->rank), in->rank);
    return start < end ? clv_rule_set_ints(r, 0, end - start, in->dims + start, err)
                       : clv_rule_set_ints(r, 0, 0, NULL, err);
}

clv_status clv_fold_size(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    if (!clv_type_ranked(in))
        return CLV_OK;
    clv_dim product = clv_dim_product(in->dims, in->rank);
    return clv_rule_set_ints(r, 0, 1, &product, err);
}

clv_status clv_fold_range(clv_rule *r, clv_error *err)
{
    clv_literal to, start, delta;
    if (!clv_literal_out_shape(r, 0, &to) || !clv_literal_in(r, 0, &start) ||
        !clv_literal_in(r, 2, &delta) || start.n != 1 || delta.n != 1 || !start.i != !delta.i ||
        !clv_literal_has_only_numbers(&start) || !clv_literal_has_only_numbers(&delta))
        return CLV_OK;
    clv_literal_out out = { .whole = start.i != NULL, .n = to.n };
    for (int32_t j = 0; j < to.n; j++) {
        if (start.i)
            out.i[j] = clv_dim_add(start.i[0], clv_dim_mul(delta.i[0], j));
        else
            out.f[j] = clv_elem_round(to.dtype, start.f[0] + j * delta.f[0]);
    }
    return clv_literal_set(r, 0, &out, err);
}

clv_status clv_fold_constant_of_shape(clv_rule *r, clv_error *err)
{
    clv_literal to;
    clv_literal_out out;
    const clv_attr *attr = clv_rule_attr(r, "value");
    bool given = attr && attr->kind == CLV_ATTR_TENSOR;
    const clv_value *value = given ? attr->tensor->value : NULL;
    if (!clv_literal_out_shape(r, 0, &to) || (given && (!value || value->n != 1)))
        return CLV_OK;
    out.whole = given && value->i;
    out.n = to.n;
    for (int32_t j = 0; j < to.n; j++) {
        if (out.whole)
            out.i[j] = value->i[0];
        else
            out.f[j] = given ? value->f[0] : 0;
    }
    return clv_literal_set(r, 0, &out, err);
}

clv_status clv_fold_if(clv_rule *r, clv_error *err)
{
    (void)err;
    clv_dim condition = clv_rule_scalar(r, 0);
    int32_t b = 0;
    if (!clv_dim_is_number(condition) || !r->types->body)
        return CLV_OK;
    const clv_graph *branch = clv_rule_body_graph(r, condition ? "then_branch" : "else_branch", &b);
    const clv_types *types =
        branch ? r->types->body[r->types->first_body[r->op - r->graph->ops] + b] : NULL;
    if (!types)
        return CLV_OK;
    for (int32_t k = 0; k < r->op->n_out && k < branch->n_outputs; k++)
        if (clv_rule_has_out(r, k))
            r->types->value[clv_op_output(r->graph, r->op, k).i] =
                types->value[branch->outputs[k].i];
    return CLV_OK;
}
