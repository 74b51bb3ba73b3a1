/* values_make.c - values that come from a file, from a shape or from a rule: Constant, Shape, Size,
 * Range, ConstantOfShape, and the results of a branch that is known to be taken.
 */
#include <math.h>

#include "graph/rules.h"
#include "graph/shape_tools.h"
#include "graph/values.h"

static clv_status set_whole(clv_rule *r, const clv_value *value)
{
    if (!value)
        return CLV_OK;
    return value->i ? clv_rule_set_ints(r, 0, value->n, value->i)
                    : clv_rule_set_floats(r, 0, value->n, value->f);
}

/* The lowest numbers are codes of open dims; the lowest that is none stands for them, as it does in
 * tensors. */
static clv_status set_int_list(clv_rule *r, const int64_t *list, int32_t n)
{
    clv_elems_out out = { .whole = true, .n = n };
    if (n > CLV_VALUE_MAX)
        return CLV_OK;
    for (int32_t j = 0; j < n; j++)
        out.i[j] = clv_dim_is_number(list[j]) ? list[j] : CLV_DIM_SYMBOL0 + INT32_MAX;
    return clv_elems_set(r, 0, &out);
}

static clv_status set_float_list(clv_rule *r, const float *list, int32_t n)
{
    clv_elems_out out = { .whole = false, .n = n };
    if (n > CLV_VALUE_MAX)
        return CLV_OK;
    for (int32_t j = 0; j < n; j++)
        out.f[j] = (double)list[j];
    return clv_elems_set(r, 0, &out);
}

clv_status clv_fold_constant(clv_rule *r)
{
    const clv_attr *attr;
    if ((attr = clv_rule_attr(r, "value")) && attr->kind == CLV_ATTR_TENSOR)
        return attr->tensor->sparse ? CLV_OK : set_whole(r, attr->tensor->value);
    if ((attr = clv_rule_attr(r, "value_int")) && attr->kind == CLV_ATTR_INT)
        return set_int_list(r, &attr->i, 1);
    if ((attr = clv_rule_attr(r, "value_ints")) && attr->kind == CLV_ATTR_INTS)
        return set_int_list(r, attr->ints, attr->n);
    if ((attr = clv_rule_attr(r, "value_float")) && attr->kind == CLV_ATTR_FLOAT)
        return set_float_list(r, &attr->f, 1);
    if ((attr = clv_rule_attr(r, "value_floats")) && attr->kind == CLV_ATTR_FLOATS)
        return set_float_list(r, attr->floats, attr->n);
    return CLV_OK;
}

/* An end of Shape's range of axes, counted from the back where negative, kept inside. */
static int32_t clamp_axis(int64_t axis, int32_t rank)
{
    if (axis < 0)
        axis += rank;
    return (int32_t)(axis < 0 ? 0 : axis > rank ? rank : axis);
}

clv_status clv_fold_shape(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    if (!clv_type_ranked(in))
        return CLV_OK;
    int32_t start = clamp_axis(clv_rule_attr_int(r, "start", 0), in->rank);
    int32_t end = clamp_axis(clv_rule_attr_int(r, "end", in->rank), in->rank);
    return start < end ? clv_rule_set_ints(r, 0, end - start, in->dims + start)
                       : clv_rule_set_ints(r, 0, 0, NULL);
}

clv_status clv_fold_size(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    if (!clv_type_ranked(in))
        return CLV_OK;
    clv_dim product = clv_dim_product(in->dims, in->rank);
    return clv_rule_set_ints(r, 0, 1, &product);
}

/* -- Range -- */

static clv_status range_of_ints(clv_rule *r, clv_dim start, clv_dim delta, int32_t n)
{
    clv_elems_out out = { .whole = true, .n = n };
    for (int32_t j = 0; j < n; j++)
        out.i[j] = clv_dim_add(start, clv_dim_mul(delta, j));
    return clv_elems_set(r, 0, &out);
}

static clv_status range_of_floats(clv_rule *r, clv_dtype dtype, double start, double delta,
                                  int32_t n)
{
    clv_elems_out out = { .whole = false, .n = n };
    for (int32_t j = 0; j < n; j++)
        out.f[j] = clv_elem_round(dtype, start + j * delta);
    return clv_elems_set(r, 0, &out);
}

/* How many there are is in the output's shape. */
clv_status clv_fold_range(clv_rule *r)
{
    clv_elems to, start, delta;
    if (!clv_elems_shape_out(r, 0, &to) || !clv_elems_in(r, 0, &start) ||
        !clv_elems_in(r, 2, &delta) || start.n != 1 || delta.n != 1 || !start.i != !delta.i)
        return CLV_OK;
    if (!start.i)
        return range_of_floats(r, to.dtype, start.f[0], delta.f[0], to.n);
    if (!clv_dim_is_number(start.i[0]) || !clv_dim_is_number(delta.i[0]))
        return CLV_OK;
    return range_of_ints(r, start.i[0], delta.i[0], to.n);
}

/* -- one element, many times -- */

clv_status clv_fold_constant_of_shape(clv_rule *r)
{
    clv_elems to;
    clv_elems_out out;
    const clv_attr *attr = clv_rule_attr(r, "value");
    bool given = attr && attr->kind == CLV_ATTR_TENSOR;
    const clv_value *value = given ? attr->tensor->value : NULL;
    if (!clv_elems_shape_out(r, 0, &to) || (given && (!value || value->n != 1)))
        return CLV_OK;
    out.whole = given && value->i;
    out.n = to.n;
    for (int32_t j = 0; j < to.n; j++) {
        if (out.whole)
            out.i[j] = value->i[0];
        else
            out.f[j] = given ? value->f[0] : 0;
    }
    return clv_elems_set(r, 0, &out);
}

/* -- If -- */

clv_status clv_fold_if(clv_rule *r)
{
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
