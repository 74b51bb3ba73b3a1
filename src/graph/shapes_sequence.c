#include "graph/shapes_sequence.h"

#include "graph/shape_tools.h"

static const clv_type nothing_known = { .kind = CLV_TYPE_UNKNOWN, .rank = CLV_RANK_UNKNOWN };

/* The element type of input k, never NULL. */
static const clv_type *elem_of(const clv_rule *r, int32_t k)
{
    const clv_type *t = clv_rule_in(r, k);
    bool wraps = t->kind == CLV_TYPE_SEQUENCE || t->kind == CLV_TYPE_OPTIONAL;
    return wraps && t->elem ? t->elem : &nothing_known;
}

static clv_type tensor_of(clv_dtype dtype)
{
    return (clv_type){ .kind = CLV_TYPE_TENSOR, .dtype = dtype, .rank = CLV_RANK_UNKNOWN };
}

clv_status clv_shape_sequence_empty(clv_rule *r, clv_error *err)
{
    clv_dtype dtype;
    CLV_TRY(clv_rule_attr_dtype(r, "dtype", CLV_DT_FLOAT, &dtype, err));
    clv_type elem = tensor_of(dtype);
    return clv_rule_set_wrapped(r, 0, CLV_TYPE_SEQUENCE, &elem, err);
}

clv_status clv_shape_sequence_construct(clv_rule *r, clv_error *err)
{
    clv_type elem = *clv_rule_in(r, 0);
    for (int32_t k = 1; k < clv_rule_n_in(r); k++)
        CLV_TRY(clv_rule_merge(r, &elem, clv_rule_in(r, k), &elem, err));
    return clv_rule_set_wrapped(r, 0, CLV_TYPE_SEQUENCE, &elem, err);
}

/* The operator that writes input k, if it is of that type and in this graph; else NULL. */
static const clv_op_info *producer_of(const clv_rule *r, int32_t k, const char *type)
{
    clv_tensor t = clv_op_input(r->graph, r->op, k);
    clv_op op = t.i >= 0 ? r->graph->tensors[t.i].producer : CLV_NO_OP;
    return op.i >= 0 && clv_str_is(r->graph->ops[op.i].type, type) ? &r->graph->ops[op.i] : NULL;
}

clv_status clv_shape_sequence_insert(clv_rule *r, clv_error *err)
{
    clv_type elem;
    if (producer_of(r, 0, "SequenceEmpty")) /* its elements do not limit what is inserted */
        return clv_rule_set_wrapped(r, 0, CLV_TYPE_SEQUENCE, clv_rule_in(r, 1), err);
    CLV_TRY(clv_rule_merge(r, elem_of(r, 0), clv_rule_in(r, 1), &elem, err));
    return clv_rule_set_wrapped(r, 0, CLV_TYPE_SEQUENCE, &elem, err);
}

clv_status clv_shape_sequence_erase(clv_rule *r, clv_error *err)
{
    return clv_rule_set_same(r, 0, 0, err);
}

clv_status clv_shape_sequence_at(clv_rule *r, clv_error *err)
{
    return clv_rule_set_type(r, 0, elem_of(r, 0), err);
}

clv_status clv_shape_sequence_length(clv_rule *r, clv_error *err)
{
    return clv_rule_set_scalar(r, 0, CLV_DT_INT64, err);
}

/* The size of every part where all are alike; parts of one size may leave a smaller last one. */
static clv_dim part_size(clv_rule *r, clv_dim whole)
{
    const clv_value *v = clv_rule_value(r, 1);
    bool one_for_all = clv_type_rank(clv_rule_in(r, 1)) == 0;
    if (!v || !v->i || v->n == 0)
        return CLV_DIM_UNKNOWN;
    for (int32_t i = 0; i < v->n; i++)
        if (v->i[i] != v->i[0] || !clv_dim_is_number(v->i[i]))
            return CLV_DIM_UNKNOWN;
    if (one_for_all && (!clv_dim_is_number(whole) || v->i[0] <= 0 || whole % v->i[0] != 0))
        return CLV_DIM_UNKNOWN;
    return v->i[0];
}

clv_status clv_shape_split_to_sequence(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool keep = clv_rule_has_in(r, 1) || clv_rule_attr_int(r, "keepdims", 1) != 0;
    clv_type elem = tensor_of(in->dtype);
    clv_dim dims[CLV_RANK_MAX];
    int32_t axis, n = 0;
    if (clv_type_ranked(in)) {
        CLV_TRY(clv_rule_attr_axis(r, "axis", 0, in->rank, &axis, err));
        for (int32_t i = 0; i < in->rank; i++) {
            if (i != axis)
                dims[n++] = in->dims[i];
            else if (keep)
                dims[n++] = clv_rule_has_in(r, 1) ? part_size(r, in->dims[i]) : 1;
        }
        elem.rank = n;
        elem.dims = dims;
    }
    return clv_rule_set_wrapped(r, 0, CLV_TYPE_SEQUENCE, &elem, err);
}

/* Length of the joined axis, or of the new one: known when the sequence was written out here. */
static clv_dim joined_length(const clv_rule *r, int32_t axis, bool new_axis)
{
    const clv_op_info *construct = producer_of(r, 0, "SequenceConstruct");
    clv_dim length = 0;
    if (!construct)
        return CLV_DIM_UNKNOWN;
    if (new_axis)
        return clv_op_n_explicit(construct);
    for (int32_t k = 0; k < clv_op_n_explicit(construct); k++) {
        clv_tensor t = clv_op_input(r->graph, construct, k);
        length = clv_dim_add(length,
                             t.i >= 0 ? clv_type_dim(&r->types->of[t.i], axis) : CLV_DIM_UNKNOWN);
    }
    return length;
}

clv_status clv_shape_concat_from_sequence(clv_rule *r, clv_error *err)
{
    const clv_type *elem = elem_of(r, 0);
    bool new_axis = clv_rule_attr_int(r, "new_axis", 0) != 0;
    clv_dim dims[CLV_RANK_MAX];
    int32_t axis, rank, from = 0;
    if (!clv_type_ranked(elem) || elem->rank + new_axis > CLV_RANK_MAX)
        return clv_rule_set_unranked(r, 0, elem->dtype, err);
    rank = elem->rank + new_axis;
    CLV_TRY(clv_rule_attr_axis(r, "axis", 0, rank, &axis, err));
    for (int32_t i = 0; i < rank; i++) {
        dims[i] = i == axis ? joined_length(r, axis, new_axis) : elem->dims[from];
        from += i != axis || !new_axis;
    }
    return clv_rule_set(r, 0, elem->dtype, rank, dims, err);
}

clv_status clv_shape_sequence_map(clv_rule *r, clv_error *err)
{
    int32_t n = clv_rule_n_in(r), body;
    clv_type *types = CLV_NEW_ARRAY(r->arena, clv_type, n);
    const clv_value **values = CLV_NEW_ARRAY(r->arena, const clv_value *, n);
    const clv_graph *graph = clv_rule_body_graph(r, "body", &body);
    const clv_types *results;
    if (!types || !values)
        return clv_fail_nomem(err, "the inputs of a body");
    if (!graph)
        return CLV_OK;
    if (n != graph->n_inputs)
        return clv_rule_fail(r, err, "%d inputs, the body has %d", n, graph->n_inputs);
    for (int32_t k = 0; k < n; k++) {
        bool mapped = clv_rule_in(r, k)->kind == CLV_TYPE_SEQUENCE;
        types[k] = k == 0 || mapped ? *elem_of(r, k) : *clv_rule_in(r, k);
        values[k] = k == 0 || mapped ? NULL : clv_rule_value(r, k);
    }
    CLV_TRY(clv_rule_body(r, body, &(clv_body_inputs){ n, types, values }, &results, err));
    for (int32_t k = 0; k < clv_rule_n_out(r) && k < graph->n_outputs; k++)
        CLV_TRY(clv_rule_set_wrapped(r, k, CLV_TYPE_SEQUENCE, clv_body_output(results, k), err));
    return CLV_OK;
}

clv_status clv_shape_optional(clv_rule *r, clv_error *err)
{
    const clv_attr *type = clv_rule_attr(r, "type");
    if (clv_rule_has_in(r, 0))
        return clv_rule_set_wrapped(r, 0, CLV_TYPE_OPTIONAL, clv_rule_in(r, 0), err);
    if (type && type->kind == CLV_ATTR_TYPE)
        return clv_rule_set_wrapped(r, 0, CLV_TYPE_OPTIONAL, type->type, err);
    return CLV_OK;
}

clv_status clv_shape_optional_get_element(clv_rule *r, clv_error *err)
{
    if (clv_rule_in(r, 0)->kind == CLV_TYPE_OPTIONAL)
        return clv_rule_set_type(r, 0, elem_of(r, 0), err);
    return clv_rule_set_same(r, 0, 0, err);
}

clv_status clv_shape_optional_has_element(clv_rule *r, clv_error *err)
{
    return clv_rule_set_scalar(r, 0, CLV_DT_BOOL, err);
}
