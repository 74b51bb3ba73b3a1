#include "rules/batch_dims.h"

/* The outermost factor of a dimension that is more than one element; -1: none. */
static int32_t outermost_factor(const clv_factors *f, const clv_dim_factors *d)
{
    for (int32_t i = 0; i < d->n; i++)
        if (f->factors[d->at[i]].size != 1)
            return d->at[i];
    return -1;
}

bool clv_batch_dims_has_factor(const clv_batch_dims *b, const clv_graph *g, clv_op op,
                               const clv_factors *f, int32_t factor)
{
    const clv_op_info *info = clv_op_at(g, op);
    for (int32_t k = 0; k < f->n_in && k < info->n_in; k++) {
        clv_tensor t = clv_op_input(g, info, k);
        const clv_operand_factors *in = &f->in[k];
        for (int32_t d = 0; t.i >= 0 && b->dims[t.i] && d < in->rank; d++)
            if ((b->dims[t.i] >> d & 1) && outermost_factor(f, &in->dims[d]) == factor)
                return true;
    }
    return false;
}

static void mark_outputs(const clv_batch_dims *b, const clv_graph *g, clv_op op,
                         const clv_factors *f)
{
    const clv_op_info *info = clv_op_at(g, op);
    for (int32_t k = 0; k < f->n_out && k < info->n_out; k++) {
        clv_tensor t = clv_op_output(g, info, k);
        const clv_operand_factors *out = &f->out[k];
        for (int32_t d = 0; t.i >= 0 && d < out->rank; d++) {
            int32_t factor = outermost_factor(f, &out->dims[d]);
            if (factor >= 0 && clv_batch_dims_has_factor(b, g, op, f, factor))
                b->dims[t.i] |= UINT64_C(1) << d;
        }
    }
}

clv_status clv_batch_dims_find(const clv_types *types, const clv_factors *factors, clv_arena *arena,
                               clv_batch_dims *ret, clv_error *err)
{
    const clv_graph *g = types->graph;
    *ret = (clv_batch_dims){ .dims = CLV_NEW_ARRAY(arena, uint64_t, g->n_tensors) };
    if (!ret->dims)
        return clv_fail_nomem(err, "the batch of a model");
    for (int32_t i = 0; i < g->n_inputs; i++) {
        const clv_type *type = &types->of[g->inputs[i].i];
        bool has = type->kind == CLV_TYPE_TENSOR && type->rank > 0 && type->dims[0] > 0;
        if (!has || clv_tensor_at(g, g->inputs[i])->role != CLV_TENSOR_INPUT)
            continue;
        ret->size = ret->size ? ret->size : type->dims[0];
        if (type->dims[0] == ret->size)
            ret->dims[g->inputs[i].i] = 1;
    }
    for (int32_t i = 0; i < g->n_ops; i++)
        if (factors[i].n_factors > 0)
            mark_outputs(ret, g, (clv_op){ i }, &factors[i]);
    return CLV_OK;
}
