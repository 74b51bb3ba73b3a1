#include "rules/hidden_dims.h"

#include <string.h>

#define DIMS_MAX 64 /* bits of a mask */

/* The only factor of a dimension that is more than one element; -1: none, or several. */
static int32_t only_factor(const clv_factors *f, const clv_dim_factors *d)
{
    int32_t only = -1;
    for (int32_t i = 0; i < d->n; i++) {
        if (f->factors[d->at[i]].size == 1)
            continue;
        if (only >= 0)
            return -1;
        only = d->at[i];
    }
    return only;
}

/* Operand k of an operator, inputs before outputs; false behind the last. */
static bool operand_at(const clv_graph *g, clv_op op, const clv_factors *f, int32_t k,
                       clv_tensor *ret_tensor, const clv_operand_factors **ret)
{
    const clv_op_info *info = clv_op_at(g, op);
    int32_t n_in = f->n_in < info->n_in ? f->n_in : info->n_in;
    int32_t n_out = f->n_out < info->n_out ? f->n_out : info->n_out;
    if (k >= n_in + n_out)
        return false;
    *ret = k < n_in ? &f->in[k] : &f->out[k - n_in];
    *ret_tensor = k < n_in ? clv_op_input(g, info, k) : clv_op_output(g, info, k - n_in);
    return true;
}

bool clv_hidden_dims_has_factor(const clv_hidden_dims *hidden, clv_op op, const clv_factors *f,
                                int32_t factor)
{
    const clv_operand_factors *operand;
    clv_tensor t;
    if (f->factors[factor].by_index)
        return false;
    for (int32_t k = 0; operand_at(hidden->g, op, f, k, &t, &operand); k++)
        for (int32_t d = 0; t.i >= 0 && d < operand->rank && d < DIMS_MAX; d++)
            if ((hidden->dims[t.i] >> d & 1) && only_factor(f, &operand->dims[d]) == factor)
                return true;
    return false;
}

/* Does the operator go over the factor as a norm does? */
static bool is_normalised(const clv_op_info *op, const clv_factor *factor)
{
    static const char suffix[] = "Normalization";
    const int32_t n = (int32_t)sizeof suffix - 1;
    bool is_norm = op->type.n >= n && memcmp(op->type.at + op->type.n - n, suffix, (size_t)n) == 0;
    return factor->kind == CLV_FACTOR_WHOLE
               ? is_norm
               : factor->kind == CLV_FACTOR_REDUCED && factor->reduce == CLV_REDUCE_MEAN;
}

/* Wherever an operand has the factor alone; true: something is new. */
static bool mark(const clv_hidden_dims *hidden, clv_op op, const clv_factors *f, int32_t factor)
{
    const clv_operand_factors *operand;
    clv_tensor t;
    bool is_new = false;
    for (int32_t k = 0; operand_at(hidden->g, op, f, k, &t, &operand); k++)
        for (int32_t d = 0; t.i >= 0 && d < operand->rank && d < DIMS_MAX; d++) {
            uint64_t bit = UINT64_C(1) << d;
            if (only_factor(f, &operand->dims[d]) != factor || (hidden->dims[t.i] & bit))
                continue;
            hidden->dims[t.i] |= bit;
            is_new = true;
        }
    return is_new;
}

static bool mark_operator(const clv_hidden_dims *hidden, clv_op op, const clv_factors *f)
{
    bool is_new = false;
    for (int32_t i = 0; i < f->n_factors; i++)
        if (is_normalised(clv_op_at(hidden->g, op), &f->factors[i]) ||
            clv_hidden_dims_has_factor(hidden, op, f, i))
            is_new |= mark(hidden, op, f, i);
    return is_new;
}

clv_status clv_hidden_dims_find(const clv_graph *g, const clv_factors *factors, clv_arena *arena,
                                clv_hidden_dims *ret, clv_error *err)
{
    *ret = (clv_hidden_dims){ g, CLV_NEW_ARRAY(arena, uint64_t, g->n_tensors) };
    if (!ret->dims)
        return clv_fail_nomem(err, "the hidden dimension of a model");
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (int32_t i = 0; i < g->n_ops; i++)
            is_new |= mark_operator(ret, (clv_op){ i }, &factors[i]);
        for (int32_t i = g->n_ops - 1; i >= 0; i--)
            is_new |= mark_operator(ret, (clv_op){ i }, &factors[i]);
    }
    return CLV_OK;
}
