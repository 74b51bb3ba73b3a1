/* last_token.c - one pass over the operators: what follows products with the vocabulary, and
 * whether anything reads it that may want more than the last token.
 */
#include "graph/last_token.h"

#include <string.h>

#include "graph/constant.h"
#include "graph/ops.h"

#define WHAT "logits"

typedef struct {
    bool other; /* read by what may want all tokens, or of another shape on its way */
    bool returned;
    clv_token_ids ids;
} logits;

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    const clv_prompt *prompt;
    const bool *constant; /* n_ops */
    int32_t *of;          /* n_tensors: the operator whose logits it holds; -1 */
    logits *by;           /* n_ops: of products */
} finder;

/* -- shapes -- */

/* Is it [.., tokens, any], or all tokens in one dimension? */
static bool has_rows(const clv_type *type, const clv_token_ids *ids)
{
    int64_t elems = type->kind == CLV_TYPE_TENSOR ? clv_type_elems(type) : -1, rows;
    if (type->rank < 2 || elems <= 0 ||
        __builtin_mul_overflow(ids->sequences, ids->tokens, &rows) ||
        elems / type->dims[type->rank - 1] != rows)
        return false;
    return type->dims[type->rank - 2] == ids->tokens || type->dims[type->rank - 2] == rows;
}

/* The same with a row for each sequence. */
static clv_status take_last(clv_type *type, const clv_token_ids *ids, clv_arena *arena,
                            clv_error *err)
{
    clv_dim *dims = CLV_NEW_ARRAY(arena, clv_dim, type->rank);
    if (!dims)
        return clv_fail_nomem(err, WHAT);
    memcpy(dims, type->dims, (size_t)type->rank * sizeof *dims);
    dims[type->rank - 2] = dims[type->rank - 2] == ids->tokens ? 1 : ids->sequences;
    type->dims = dims;
    return CLV_OK;
}

/* One element or one row, whatever the token. */
static bool is_row(const clv_type *type)
{
    bool one = type->kind == CLV_TYPE_TENSOR && type->rank != CLV_RANK_UNKNOWN;
    for (int32_t i = 0; one && i < type->rank - 1; i++)
        one = type->dims[i] == 1;
    return one;
}

/* -- operators -- */

static bool is_set(const finder *f, const clv_op_info *op, const char *attribute)
{
    const clv_attr *at = clv_op_attr(f->g, op, attribute);
    return at && (at->kind != CLV_ATTR_INT || at->i != 0);
}

/* Rows of input 0 with a weight; never turned, so that rows stay rows. */
static bool is_product(const finder *f, const clv_op_info *op)
{
    clv_flops_kind kind = op->kind >= 0 ? clv_op_def_at(op->kind)->flops : CLV_FLOPS_NONE;
    if (kind != CLV_FLOPS_MATMUL && kind != CLV_FLOPS_GEMM && kind != CLV_FLOPS_MATMUL_NBITS)
        return false;
    clv_tensor rows = clv_op_input(f->g, op, 0);
    return rows.i >= 0 && clv_op_output(f->g, op, 0).i >= 0 &&
           !clv_is_constant(f->g, f->constant, rows) &&
           clv_is_constant(f->g, f->constant, clv_op_input(f->g, op, 1)) &&
           !is_set(f, op, "transA") && !is_set(f, op, "transBatchA");
}

/* Does an operator leave logits what they are, token by token? Input k is them. */
static bool passes(const finder *f, const clv_op_info *op, int32_t k)
{
    static const char *const types[] = { "Cast", "CastLike", "Add", "Sub", "Mul", "Div",  "Neg",
                                         "Tanh", "Clip",     "Min", "Max", "Sum", "Where" };
    bool known = clv_op_viewed(f->g, op).i >= 0 && k == 0;
    if (known || op->domain.n > 0 || op->n_out != 1)
        return known;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        known = known || clv_str_is(op->type, types[i]);
    for (int32_t i = 0; known && i < op->n_in; i++) {
        clv_tensor t = clv_op_input(f->g, op, i);
        known = i == k || t.i < 0 || is_row(&f->types->of[t.i]);
    }
    return known;
}

/* Is all that it makes known before the run, as the shape of logits is? */
static bool is_folded(const finder *f, const clv_op_info *op)
{
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(f->g, op, k);
        if (t.i >= 0 && !f->types->value[t.i])
            return false;
    }
    return op->n_out > 0;
}

/* -- the walk -- */

static bool holds_logits(const finder *f, clv_tensor t, const clv_token_ids *ids)
{
    const clv_type *type = &f->types->of[t.i];
    return has_rows(type, ids) && type->dims[type->rank - 1] == f->prompt->vocabulary;
}

static void hold(finder *f, clv_tensor t, int32_t product)
{
    logits *l = &f->by[product];
    f->of[t.i] = product;
    l->other |= !holds_logits(f, t, &l->ids);
    l->returned |= clv_tensor_at(f->g, t)->is_output;
}

static void start(finder *f, int32_t op)
{
    const clv_op_info *info = &f->g->ops[op];
    clv_tensor out = clv_op_output(f->g, info, 0);
    const clv_type *in = &f->types->of[clv_op_input(f->g, info, 0).i];
    for (int32_t i = 0; i < f->prompt->n; i++) {
        const clv_token_ids *ids = &f->prompt->at[i];
        if (ids->tokens < 2 || !has_rows(in, ids) || !holds_logits(f, out, ids))
            continue;
        f->by[op].ids = *ids;
        hold(f, out, op);
        return;
    }
}

static void visit(finder *f, int32_t op)
{
    const clv_op_info *info = &f->g->ops[op];
    clv_tensor out = clv_op_output(f->g, info, 0);
    for (int32_t k = 0; k < info->n_in; k++) {
        clv_tensor t = clv_op_input(f->g, info, k);
        int32_t product = t.i < 0 ? -1 : f->of[t.i];
        if (product < 0 || is_folded(f, info))
            continue;
        if (passes(f, info, k) && out.i >= 0)
            hold(f, out, product);
        else
            f->by[product].other = true;
    }
    if (out.i >= 0 && f->of[out.i] < 0 && is_product(f, info))
        start(f, op);
}

static bool is_wanted(const finder *f, int32_t product)
{
    return product >= 0 && f->by[product].returned && !f->by[product].other;
}

/* -- the types -- */

static clv_status shrink(const finder *f, clv_types *made, clv_type *of, int64_t *bytes,
                         clv_arena *arena, clv_error *err)
{
    const clv_type **read = CLV_NEW_ARRAY(arena, const clv_type *, f->g->n_ops);
    if (!read)
        return clv_fail_nomem(err, WHAT);
    made->read = read;
    for (int32_t t = 0; t < f->g->n_tensors; t++) {
        if (!is_wanted(f, f->of[t]))
            continue;
        CLV_TRY(take_last(&of[t], &f->by[f->of[t]].ids, arena, err));
        (void)clv_dtype_bytes(of[t].dtype, clv_type_elems(&of[t]), &bytes[t]);
    }
    for (int32_t i = 0; i < f->g->n_ops; i++) {
        clv_type *rows = is_wanted(f, i) ? CLV_NEW(arena, clv_type) : NULL;
        if (is_wanted(f, i) && !rows)
            return clv_fail_nomem(err, WHAT);
        if (!rows)
            continue;
        *rows = f->types->of[clv_op_input(f->g, &f->g->ops[i], 0).i];
        CLV_TRY(take_last(rows, &f->by[i].ids, arena, err));
        read[i] = rows;
    }
    return CLV_OK;
}

static clv_status make(const finder *f, clv_arena *arena, const clv_types **ret, clv_error *err)
{
    size_t n = (size_t)f->g->n_tensors;
    clv_types *made = CLV_NEW(arena, clv_types);
    clv_type *of = CLV_NEW_ARRAY(arena, clv_type, n);
    int64_t *bytes = CLV_NEW_ARRAY(arena, int64_t, n);
    if (!made || !of || !bytes)
        return clv_fail_nomem(err, WHAT);
    *made = *f->types;
    made->of_file = f->types;
    memcpy(of, made->of, n * sizeof *of);
    memcpy(bytes, made->bytes, n * sizeof *bytes);
    made->of = of;
    made->bytes = bytes;
    *ret = made;
    return shrink(f, made, of, bytes, arena, err);
}

clv_status clv_types_last_token(const clv_types *types, const clv_prompt *prompt, clv_arena *arena,
                                const clv_types **ret, clv_error *err)
{
    const clv_graph *g = types->graph;
    bool *constant, any = false;
    *ret = types;
    if (clv_prompt_tokens(prompt) < 2)
        return CLV_OK;
    CLV_TRY(clv_constant_ops(g, arena, &constant, err));
    finder f = { types,
                 g,
                 prompt,
                 constant,
                 CLV_NEW_ARRAY(arena, int32_t, g->n_tensors),
                 CLV_NEW_ARRAY(arena, logits, g->n_ops) };
    if (!f.of || !f.by)
        return clv_fail_nomem(err, WHAT);
    for (int32_t t = 0; t < g->n_tensors; t++)
        f.of[t] = -1;
    for (int32_t i = 0; i < g->n_ops; i++)
        visit(&f, i);
    for (int32_t i = 0; i < g->n_ops; i++)
        any |= is_wanted(&f, i);
    return any ? make(&f, arena, ret, err) : CLV_OK;
}
