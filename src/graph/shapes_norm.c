/* shapes_norm.c - normalisations with more outputs than one, and the losses. */
#include "graph/rules.h"
#include "graph/shape_tools.h"

/* Outputs after the first are per-channel statistics, as long as input 3 (the mean). */
clv_status clv_shape_batch_norm(clv_rule *r)
{
    const clv_type *scale = clv_rule_in(r, 1), *mean = clv_rule_in(r, 3);
    clv_dim channels;
    CLV_TRY(clv_rule_set_same(r, 0, 0));
    CLV_TRY(clv_rule_same_dim(r, clv_type_dim(scale, 0), clv_type_dim(mean, 0),
                              "the number of channels", &channels));
    for (int32_t k = 1; k < clv_rule_n_out(r); k++)
        CLV_TRY(clv_rule_set(r, k, mean->dtype, 1, &channels));
    return CLV_OK;
}

/* Mean and inverse deviation keep the rank; the axes normalised over become 1. */
clv_status clv_shape_layer_norm(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dtype stash;
    CLV_TRY(clv_rule_attr_dtype(r, "stash_type", CLV_DT_FLOAT, &stash));
    CLV_TRY(clv_rule_set_same(r, 0, 0));
    clv_dim dims[CLV_RANK_MAX];
    int32_t rank = clv_type_rank(in), axis = 0;
    if (rank > 0)
        CLV_TRY(clv_rule_axis(r, clv_rule_attr_int(r, "axis", -1), rank, &axis));
    for (int32_t i = 0; i < rank; i++)
        dims[i] = i < axis ? in->dims[i] : 1;
    CLV_TRY(clv_rule_set(r, 1, stash, rank, dims));
    return clv_rule_set(r, 2, stash, rank, dims);
}

/* Input [N, C, d...] and target [N, d...] give a loss for each target, or one. */
clv_status clv_shape_nll_loss(clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0), *target = clv_rule_in(r, 1);
    if (!clv_str_is(clv_rule_attr_str(r, "reduction", "mean"), "none"))
        return clv_rule_set_scalar(r, 0, in->dtype);
    if (!clv_type_ranked(in) || in->rank < 2)
        return clv_rule_set_like(r, 0, in->dtype, target);
    if (clv_type_ranked(target) && target->rank != in->rank - 1)
        return clv_rule_fail(r, "its target has rank %d, must be %d", target->rank, in->rank - 1);
    clv_dim dims[CLV_RANK_MAX];
    for (int32_t i = 0; i < in->rank - 1; i++)
        CLV_TRY(clv_rule_same_dim(r, in->dims[i ? i + 1 : 0], clv_type_dim(target, i),
                                  "a dimension", &dims[i]));
    return clv_rule_set(r, 0, in->dtype, in->rank - 1, dims);
}

clv_status clv_shape_softmax_loss(clv_rule *r)
{
    CLV_TRY(clv_shape_nll_loss(r));
    return clv_rule_set_same(r, 1, 0);
}
