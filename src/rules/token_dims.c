#include "rules/token_dims.h"

#include "graph/states.h"

/* Is a factor among the outermost ones of a dimension, of as many parts as are tokens? */
static bool is_among(const clv_factors *f, const clv_dim_factors *d, int64_t parts, int32_t factor)
{
    int64_t before = 1;
    for (int32_t i = 0; i < d->n && parts > 1; i++) {
        int64_t size = f->factors[d->at[i]].size;
        if (size < 1 || before > parts / size)
            return false;
        if (d->at[i] == factor)
            return true;
        before *= size;
    }
    return false;
}

bool clv_token_dims_has_factor(const clv_token_dims *tokens, clv_op op, const clv_factors *f,
                               int32_t factor)
{
    const clv_op_info *info = clv_op_at(tokens->g, op);
    for (int32_t k = 0; k < f->n_in && k < info->n_in; k++) {
        clv_tensor t = clv_op_input(tokens->g, info, k);
        const clv_operand_factors *in = &f->in[k];
        for (int32_t d = 0; t.i >= 0 && d < in->rank && d < CLV_TOKEN_RANK; d++)
            if (is_among(f, &in->dims[d], tokens->parts[t.i][d], factor))
                return true;
    }
    return false;
}

/* Its outermost factors that are tokens; what is known of it already stays. */
static int64_t parts_of(const clv_token_dims *tokens, clv_op op, const clv_factors *f,
                        const clv_dim_factors *d, int64_t known)
{
    int64_t parts = 1;
    for (int32_t i = 0; i < d->n; i++) {
        int64_t size = f->factors[d->at[i]].size;
        if (size != 1 && !clv_token_dims_has_factor(tokens, op, f, d->at[i]))
            break;
        parts *= size > 0 ? size : 1;
    }
    return parts > known ? parts : known;
}

static void mark_outputs(const clv_token_dims *tokens, clv_op op, const clv_factors *f)
{
    const clv_op_info *info = clv_op_at(tokens->g, op);
    for (int32_t k = 0; k < f->n_out && k < info->n_out; k++) {
        clv_tensor t = clv_op_output(tokens->g, info, k);
        const clv_operand_factors *out = &f->out[k];
        for (int32_t d = 0; t.i >= 0 && d < out->rank && d < CLV_TOKEN_RANK; d++)
            tokens->parts[t.i][d] = parts_of(tokens, op, f, &out->dims[d], tokens->parts[t.i][d]);
    }
}

static void mark(const clv_token_dims *tokens, const clv_types *types, clv_tensor t, int32_t dim)
{
    const clv_type *type = &types->of[t.i];
    if (type->kind == CLV_TYPE_TENSOR && dim < type->rank && dim < CLV_TOKEN_RANK &&
        type->dims[dim] > 0)
        tokens->parts[t.i][dim] = type->dims[dim];
}

static void mark_input(const clv_token_dims *tokens, const clv_types *types, clv_tensor t)
{
    int32_t rank = types->of[t.i].rank;
    mark(tokens, types, t, 0);
    if (rank == 2 || rank == 3)
        mark(tokens, types, t, 1);
    if (rank == 4)
        mark(tokens, types, t, 2);
}

clv_status clv_token_dims_find(const clv_types *types, const clv_factors *factors, clv_arena *arena,
                               clv_token_dims *ret, clv_error *err)
{
    const clv_graph *g = types->graph;
    clv_states states;
    *ret = (clv_token_dims){ g, clv_arena_take_array(arena, (size_t)g->n_tensors,
                                                     sizeof *ret->parts) };
    if (!ret->parts)
        return clv_fail_nomem(err, "tokens of a model");
    CLV_TRY(clv_states_find(types, arena, &states, err));
    for (int32_t i = 0; i < g->n_inputs; i++)
        if (clv_tensor_at(g, g->inputs[i])->role == CLV_TENSOR_INPUT)
            mark_input(ret, types, g->inputs[i]);
    for (int32_t i = 0; i < states.n; i++)
        if (states.at[i].positions >= 0)
            mark(ret, types, states.at[i].out, states.at[i].positions);
    for (int32_t i = 0; i < g->n_ops; i++)
        if (factors[i].n_factors > 0)
            mark_outputs(ret, (clv_op){ i }, &factors[i]);
    return CLV_OK;
}
