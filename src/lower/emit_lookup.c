#include "lower/emit_lookup.h"

#include "lower/emit_tensor.h"

#define WHAT "writing a lookup"

bool clv_emit_is_lookup(const clv_op_info *op)
{
    return clv_str_is(op->type, "Gather") || clv_str_is(op->type, "GatherElements") ||
           clv_str_is(op->type, "GatherBlockQuantized") || clv_str_is(op->type, "TorchEmbedding");
}

/* A number of an integer type. */
static clv_status number(const clv_emit_scope *scope, clv_dtype dtype, int64_t value, clv_str *ret,
                         clv_error *err)
{
    const clv_emit_type type = { dtype, 0, NULL };
    int32_t narrow = (int32_t)value;
    if (dtype == CLV_DT_INT32)
        return clv_emit_constant(scope->e, &type, &narrow, sizeof narrow, ret, err);
    return clv_emit_constant(scope->e, &type, &value, sizeof value, ret, err);
}

/* *io: the numbers; then those from the device's first row on, 0 where the row is not its own.
 * *mine: where it is. */
static clv_status count_from_own(const clv_emit_scope *scope, clv_dtype dtype,
                                 const clv_table_rows *rows, clv_str *mine, clv_str *io,
                                 clv_error *err)
{
    clv_str zero, all, first, n, below, from_end, over, at = *io;
    CLV_TRY(number(scope, dtype, 0, &zero, err));
    CLV_TRY(number(scope, dtype, rows->n, &all, err));
    CLV_TRY(number(scope, dtype, rows->low, &first, err));
    CLV_TRY(number(scope, dtype, rows->high - rows->low, &n, err));
    /* a negative number counts from the end */
    CLV_TRY(clv_emit_node(scope, "Less", CLV_NAMES(at, zero), &below, err));
    CLV_TRY(clv_emit_node(scope, "Add", CLV_NAMES(at, all), &from_end, err));
    CLV_TRY(clv_emit_node(scope, "Where", CLV_NAMES(below, from_end, at), &at, err));
    CLV_TRY(clv_emit_node(scope, "Sub", CLV_NAMES(at, first), &at, err));
    CLV_TRY(clv_emit_node(scope, "Less", CLV_NAMES(at, zero), &below, err));
    CLV_TRY(clv_emit_node(scope, "Less", CLV_NAMES(at, n), &over, err));
    CLV_TRY(clv_emit_node(scope, "Not", CLV_NAMES(below), &below, err));
    CLV_TRY(clv_emit_node(scope, "And", CLV_NAMES(below, over), mine, err));
    return clv_emit_node(scope, "Where", CLV_NAMES(*mine, at, zero), io, err);
}

/* Runtimes have kernels to choose among these, and bring float16 along; others are chosen among in
 * a type that has all their numbers. */
static clv_dtype chosen_in(clv_dtype dtype)
{
    if (dtype == CLV_DT_BFLOAT16)
        return CLV_DT_FLOAT;
    if (dtype == CLV_DT_BOOL || dtype == CLV_DT_INT8 || dtype == CLV_DT_INT16 ||
        dtype == CLV_DT_UINT16)
        return CLV_DT_INT32;
    return dtype == CLV_DT_UINT32 || dtype == CLV_DT_UINT64 ? CLV_DT_INT64 : dtype;
}

/* What was found where the row is the device's own, 0 elsewhere, under the name that it has. */
static clv_status mine_or_zero(const clv_emit_scope *scope, clv_dtype dtype, clv_str mine,
                               clv_str found, const clv_str *out, clv_error *err)
{
    clv_emit *e = scope->e;
    const clv_emit_type single = { chosen_in(dtype), 0, NULL };
    bool cast = single.dtype != dtype;
    uint8_t bytes[CLV_FILL_BYTES];
    int32_t size = clv_fill_bytes(single.dtype, CLV_FILL_ZERO, bytes);
    clv_str *in = CLV_NEW_ARRAY(e->arena, clv_str, 3);
    clv_new_attr *to = CLV_NEW(e->arena, clv_new_attr);
    clv_new_node last = { .source = CLV_NO_OP, .out = out, .n_out = 1, .in = in, .n_in = 3 };
    if (!in || !to)
        return clv_fail_nomem(err, WHAT);
    in[0] = mine;
    in[1] = found;
    if (cast)
        CLV_TRY(clv_emit_cast(scope, found, single.dtype, &in[1], err));
    CLV_TRY(clv_emit_constant(e, &single, bytes, size, &in[2], err));
    if (cast) {
        CLV_TRY(clv_emit_node(scope, "Where", (clv_names){ in, 3 }, &in[0], err));
        *to = (clv_new_attr){ .name = clv_str_of("to"), .kind = CLV_NEW_INT, .i = (int64_t)dtype };
        last.n_in = last.n_attrs = 1;
        last.attrs = to;
    }
    last.type = clv_str_of(cast ? "Cast" : "Where");
    CLV_TRY(clv_emit_node_name(e, cast ? "Cast" : "Where", out[0], &last.name, err));
    return clv_emit_push(e, &last, err);
}

clv_status clv_emit_lookup(clv_emit *e, const clv_spmd_instr *instr, int32_t position,
                           const clv_new_node *node, const clv_table_rows *rows, clv_error *err)
{
    enum { OPSET_WHERE = 9 };
    const clv_op_info *op = clv_op_at(e->s->model->main, instr->op);
    const clv_spmd_value *numbers = &e->s->values[e->s->operands[instr->first_in + 1]];
    const clv_spmd_value *result = &e->s->values[e->s->operands[instr->first_out]];
    const clv_type *of_numbers = &e->s->types->of[numbers->tensor.i];
    const clv_type *of_result = &e->s->types->of[result->tensor.i];
    const clv_emit_scope scope = { e, result->name, position };
    clv_str *in = CLV_NEW_ARRAY(e->arena, clv_str, node->n_in), *found = CLV_NEW(e->arena, clv_str);
    clv_str mine;
    uint8_t zero[CLV_FILL_BYTES];
    int64_t dims[CLV_RANK_MAX], spread[2 * CLV_RANK_MAX];
    clv_new_node own = *node;
    if (!in || !found)
        return clv_fail_nomem(err, WHAT);
    if (e->opset < OPSET_WHERE || clv_fill_bytes(of_result->dtype, CLV_FILL_ZERO, zero) == 0)
        return clv_fail(
            err, CLV_EUNSUPP,
            "operator '%.*s' looks up rows of type %s of a table that is split by rows, "
            "which takes operator set 9 and numbers",
            CLV_STR_ARG(op->label), clv_dtype_name(of_result->dtype));
    memcpy(in, node->in, (size_t)node->n_in * sizeof *in);
    CLV_TRY(count_from_own(&scope, of_numbers->dtype, rows, &mine, &in[1], err));
    CLV_TRY(clv_emit_fresh(e, clv_str_of("cleave//found"), position, true, found, err));
    own.in = in;
    own.out = found;
    CLV_TRY(clv_emit_push(e, &own, err));
    if (!clv_str_is(op->type, "GatherElements")) {
        /* the numbers' dims at the device, with 1 for what is before and behind them in the result
         */
        const clv_emit_type view = { CLV_DT_BOOL, of_result->rank, spread };
        clv_spmd_dims(e->s, numbers->tensor, &numbers->layout, position, dims);
        for (int32_t i = 0; i < of_result->rank; i++) {
            int32_t d = i - rows->dim;
            spread[i] = d >= 0 && d < of_numbers->rank ? dims[d] : 1;
        }
        CLV_TRY(clv_emit_reshape(&scope, mine, &view, &mine, err));
    }
    return mine_or_zero(&scope, of_result->dtype, mine, *found, node->out, err);
}
