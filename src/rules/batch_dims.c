#include "rules/batch_dims.h"

/* The factor of a dimension that has so many elements in front of it; -1: none. */
static int32_t factor_behind(const clv_factors *f, const clv_dim_factors *d, int64_t outer)
{
    int64_t before = 1;
    for (int32_t i = 0; i < d->n && before <= outer; i++) {
        int64_t size = f->factors[d->at[i]].size;
        if (before == outer && size != 1)
            return d->at[i];
        if (size < 1 || __builtin_mul_overflow(before, size, &before))
            break;
    }
    return -1;
}

bool clv_batch_dims_has_factor(const clv_batch_dims *b, const clv_graph *g, clv_op op,
                               const clv_factors *f, int32_t factor)
{
    const clv_op_info *info = clv_op_at(g, op);
    for (int32_t k = 0; k < f->n_in && k < info->n_in; k++) {
        clv_tensor t = clv_op_input(g, info, k);
        if (t.i < 0 || b->at[t.i].outer == 0 || b->at[t.i].dim >= f->in[k].rank)
            continue;
        const clv_batch_place *in = &b->at[t.i];
        if (factor_behind(f, &f->in[k].dims[in->dim], in->outer) == factor)
            return true;
    }
    return false;
}

/* The place of the batch in a dimension of an output; outer 0: it is not there. */
static int64_t outer_of(const clv_batch_dims *b, const clv_graph *g, clv_op op,
                        const clv_factors *f, const clv_dim_factors *d)
{
    int64_t outer = 1;
    for (int32_t i = 0; i < d->n; i++) {
        int64_t size = f->factors[d->at[i]].size;
        if (size != 1 && clv_batch_dims_has_factor(b, g, op, f, d->at[i]))
            return outer;
        if (size < 1 || __builtin_mul_overflow(outer, size, &outer))
            break;
    }
    return 0;
}

static void mark_outputs(const clv_batch_dims *b, const clv_graph *g, clv_op op,
                         const clv_factors *f)
{
    const clv_op_info *info = clv_op_at(g, op);
    for (int32_t k = 0; k < f->n_out && k < info->n_out; k++) {
        clv_tensor t = clv_op_output(g, info, k);
        const clv_operand_factors *out = &f->out[k];
        for (int32_t d = 0; t.i >= 0 && b->at[t.i].outer == 0 && d < out->rank; d++)
            b->at[t.i] = (clv_batch_place){ d, outer_of(b, g, op, f, &out->dims[d]) };
    }
}

clv_status clv_batch_dims_find(const clv_types *types, const clv_factors *factors, clv_arena *arena,
                               clv_batch_dims *ret, clv_error *err)
{
    const clv_graph *g = types->graph;
    *ret = (clv_batch_dims){ .at = CLV_NEW_ARRAY(arena, clv_batch_place, g->n_tensors) };
    if (!ret->at)
        return clv_fail_nomem(err, "the batch of a model");
    for (int32_t i = 0; i < g->n_inputs; i++) {
        const clv_type *type = &types->of[g->inputs[i].i];
        bool has = type->kind == CLV_TYPE_TENSOR && type->rank > 0 && type->dims[0] > 0;
        if (!has || clv_tensor_at(g, g->inputs[i])->role != CLV_TENSOR_INPUT)
            continue;
        ret->size = ret->size ? ret->size : type->dims[0];
        if (type->dims[0] == ret->size)
            ret->at[g->inputs[i].i] = (clv_batch_place){ 0, 1 };
    }
    for (int32_t i = 0; i < g->n_ops; i++)
        if (factors[i].n_factors > 0)
            mark_outputs(ret, g, (clv_op){ i }, &factors[i]);
    return CLV_OK;
}
