#include "lower/emit_quantize.h"

#include "lower/emit_tensor.h"

#define WHAT "writing a QuantizeLinear"

static clv_dtype made_by(const clv_emit *e, const clv_op_info *op)
{
    clv_tensor out = clv_op_output(e->s->model->main, op, 0);
    return out.i < 0 ? CLV_DT_UNDEFINED : e->s->types->of[out.i].dtype;
}

bool clv_emit_is_quantize_to_2_bits(const clv_emit *e, const clv_op_info *op)
{
    return clv_str_is(op->type, "QuantizeLinear") && clv_dtype_bits(made_by(e, op)) == 2;
}

/* The operator as it is, but for the type: its output is of 16 bits, as is its zero point. */
static clv_status quantize(const clv_emit_scope *scope, const clv_new_node *node, clv_dtype narrow,
                           clv_dtype wider, clv_str *ret, clv_error *err)
{
    enum { ZERO_POINT = 2 };
    clv_emit *e = scope->e;
    clv_str *in = CLV_NEW_ARRAY(e->arena, clv_str, node->n_in), *out = CLV_NEW(e->arena, clv_str);
    clv_new_attr *attrs = CLV_NEW_ARRAY(e->arena, clv_new_attr, node->n_attrs + 1);
    clv_new_node own = *node;
    if (!in || !out || !attrs)
        return clv_fail_nomem(err, WHAT);
    memcpy(in, node->in, (size_t)node->n_in * sizeof *in);
    if (node->n_in > ZERO_POINT && in[ZERO_POINT].n)
        CLV_TRY(clv_emit_widen(scope, narrow, wider, &in[ZERO_POINT], err));
    if (node->n_attrs)
        memcpy(attrs, node->attrs, (size_t)node->n_attrs * sizeof *attrs);
    attrs[own.n_attrs++] = (clv_new_attr){ .name = clv_str_of("output_dtype"),
                                           .kind = CLV_NEW_INT,
                                           .i = (int64_t)wider };
    CLV_TRY(clv_emit_fresh(e, clv_str_of("cleave//quantized"), scope->position, true, out, err));
    own.in = in;
    own.attrs = attrs;
    own.out = out;
    *ret = *out;
    return clv_emit_push(e, &own, err);
}

/* The range is that of the narrow type; runtimes have no Clip of 16 bits. */
static clv_status clip(const clv_emit_scope *scope, clv_dtype narrow, clv_str *io, clv_error *err)
{
    const clv_emit_type single = { CLV_DT_INT32, 0, NULL };
    const int32_t low = narrow == CLV_DT_INT2 ? -2 : 0, high = low + 3;
    clv_str least, most;
    CLV_TRY(clv_emit_constant(scope->e, &single, &low, sizeof low, &least, err));
    CLV_TRY(clv_emit_constant(scope->e, &single, &high, sizeof high, &most, err));
    CLV_TRY(clv_emit_cast(scope, *io, CLV_DT_INT32, io, err));
    return clv_emit_node(scope, "Clip", CLV_NAMES(*io, least, most), io, err);
}

clv_status clv_emit_quantize_to_2_bits(clv_emit *e, const clv_spmd_instr *instr, int32_t position,
                                       const clv_new_node *node, clv_error *err)
{
    int32_t value = e->s->operands[instr->first_out];
    clv_dtype narrow = made_by(e, clv_op_at(e->s->model->main, instr->op));
    clv_dtype wider = narrow == CLV_DT_INT2 ? CLV_DT_INT16 : CLV_DT_UINT16;
    clv_str *made = clv_emit_name(e, value, position);
    const clv_emit_scope scope = { e, e->s->values[value].name, position };
    CLV_TRY(quantize(&scope, node, narrow, wider, made, err));
    CLV_TRY(clip(&scope, narrow, made, err));
    return clv_emit_cast(&scope, *made, narrow, made, err);
}
