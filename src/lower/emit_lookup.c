/* emit_lookup.c - rows of a table chosen by number, on a device that has some of the rows: numbers
 * are counted from its first row, those of other devices look up row 0, and give 0.
 */
#include "lower/emit.h"

typedef struct {
    clv_emit *e;
    int32_t position;
    clv_str want;
    clv_dtype dtype; /* of the numbers */
} looking;

static clv_status node(const looking *l, const char *type, clv_str a, clv_str b, clv_str *ret)
{
    return clv_emit_node(l->e, type, (clv_str[]){ a, b }, 2, NULL, 0, l->want, l->position, ret);
}

static clv_status choose(const looking *l, clv_str which, clv_str yes, clv_str no, clv_str *ret)
{
    return clv_emit_node(l->e, "Where", (clv_str[]){ which, yes, no }, 3, NULL, 0, l->want,
                         l->position, ret);
}

static clv_status number(const looking *l, int64_t value, clv_str *ret)
{
    int32_t narrow = (int32_t)value;
    if (l->dtype == CLV_DT_INT32)
        return clv_emit_constant(l->e, l->dtype, 0, NULL, &narrow, sizeof narrow, ret);
    return clv_emit_constant(l->e, l->dtype, 0, NULL, &value, sizeof value, ret);
}

bool clv_emit_is_lookup(const clv_op_info *op)
{
    return clv_str_is(op->type, "Gather") || clv_str_is(op->type, "GatherElements") ||
           clv_str_is(op->type, "GatherBlockQuantized") || clv_str_is(op->type, "TorchEmbedding");
}

/* Numbers from the device's first row on, 0 where the row is not its own; *mine: where it is. */
static clv_status own_numbers(const looking *l, clv_str numbers, int64_t low, int64_t high,
                              int64_t rows, clv_str *mine, clv_str *ret)
{
    clv_str zero, all, first, n, below, from_end, over;
    CLV_TRY(number(l, 0, &zero));
    CLV_TRY(number(l, rows, &all));
    CLV_TRY(number(l, low, &first));
    CLV_TRY(number(l, high - low, &n));
    CLV_TRY(node(l, "Less", numbers, zero, &below)); /* a negative number counts from the end */
    CLV_TRY(node(l, "Add", numbers, all, &from_end));
    CLV_TRY(choose(l, below, from_end, numbers, &numbers));
    CLV_TRY(node(l, "Sub", numbers, first, &numbers));
    CLV_TRY(node(l, "Less", numbers, zero, &below));
    CLV_TRY(node(l, "Less", numbers, n, &over));
    CLV_TRY(clv_emit_node(l->e, "Not", &below, 1, NULL, 0, l->want, l->position, &below));
    CLV_TRY(node(l, "And", below, over, mine));
    return choose(l, *mine, numbers, zero, ret);
}

/* The numbers' dims at the device, with 1 for what stands before and behind them in the result. */
static clv_status spread(const looking *l, clv_tensor numbers, const clv_layout *layout,
                         int32_t before, int32_t rank, clv_str *mine)
{
    int64_t dims[CLV_RANK_MAX], view[2 * CLV_RANK_MAX];
    int32_t n = l->e->s->types->of[numbers.i].rank;
    clv_spmd_dims(l->e->s, numbers, layout, l->position, dims);
    for (int32_t i = 0; i < rank; i++)
        view[i] = i >= before && i < before + n ? dims[i - before] : 1;
    return clv_emit_reshape(l->e, *mine, CLV_DT_BOOL, rank, view, l->want, l->position, mine);
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
static clv_status mine_or_zero(const looking *l, clv_str mine, clv_str found, clv_dtype dtype,
                               const clv_str *out)
{
    clv_emit *e = l->e;
    clv_dtype wide = chosen_in(dtype);
    uint8_t bytes[16];
    int32_t size = clv_fill_bytes(wide, CLV_FILL_ZERO, bytes);
    clv_str *in = CLV_NEW_ARRAY(e->arena, clv_str, 3);
    clv_new_attr *to = CLV_NEW(e->arena, clv_new_attr);
    clv_new_node last = { .source = CLV_NO_OP, .out = out, .n_out = 1, .in = in };
    if (!in || !to)
        return clv_fail_nomem(e->err, "writing a lookup");
    *to = (clv_new_attr){ .name = clv_str_of("to"), .kind = CLV_NEW_INT, .i = (int64_t)dtype };
    in[0] = mine;
    in[1] = found;
    if (wide != dtype)
        CLV_TRY(clv_emit_cast(e, found, wide, l->want, l->position, &in[1]));
    CLV_TRY(clv_emit_constant(e, wide, 0, NULL, bytes, size, &in[2]));
    last.type = clv_str_of("Where");
    last.n_in = 3;
    if (wide != dtype) {
        CLV_TRY(choose(l, mine, in[1], in[2], &in[0]));
        last.type = clv_str_of("Cast");
        last.n_in = last.n_attrs = 1;
        last.attrs = to;
    }
    CLV_TRY(clv_emit_node_name(e, wide == dtype ? "Where" : "Cast", out[0], &last.name));
    return clv_emit_push(e, &last);
}

clv_status clv_emit_lookup(clv_emit *e, const clv_spmd_instr *instr, int32_t position,
                           const clv_new_node *made, int32_t table_axis, int64_t low, int64_t high,
                           int64_t rows)
{
    enum { OPSET_WHERE = 9 };
    const clv_spmd_value *numbers = &e->s->values[e->s->operands[instr->first_in + 1]];
    const clv_spmd_value *result = &e->s->values[e->s->operands[instr->first_out]];
    const clv_type *type = &e->s->types->of[result->tensor.i];
    looking l = { e, position, result->name, e->s->types->of[numbers->tensor.i].dtype };
    clv_str *in = CLV_NEW_ARRAY(e->arena, clv_str, made->n_in), *found = CLV_NEW(e->arena, clv_str);
    clv_str mine;
    uint8_t zero[16];
    clv_new_node node_ = *made;
    if (!in || !found)
        return clv_fail_nomem(e->err, "writing a lookup");
    if (e->opset < OPSET_WHERE || clv_fill_bytes(type->dtype, CLV_FILL_ZERO, zero) == 0)
        return clv_fail(
            e->err, CLV_EUNSUPP,
            "operator '%.*s' looks up rows of type %s of a table that is split by rows, "
            "which takes operator set 9 and numbers",
            CLV_STR_ARG(clv_op_at(e->s->model->main, instr->op)->label),
            clv_dtype_name(type->dtype));
    memcpy(in, made->in, (size_t)made->n_in * sizeof *in);
    CLV_TRY(own_numbers(&l, in[1], low, high, rows, &mine, &in[1]));
    CLV_TRY(clv_emit_fresh(e, clv_str_of("cleave//found"), position, true, found));
    node_.in = in;
    node_.out = found;
    CLV_TRY(clv_emit_push(e, &node_));
    if (!clv_str_is(clv_op_at(e->s->model->main, instr->op)->type, "GatherElements"))
        CLV_TRY(spread(&l, numbers->tensor, &numbers->layout, table_axis, type->rank, &mine));
    return mine_or_zero(&l, mine, *found, type->dtype, made->out);
}
