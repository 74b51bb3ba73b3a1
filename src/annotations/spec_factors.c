#include "annotations/spec_factors.h"

/* Before the piece of a dimension that is cut there are `outer` elements of further pieces. */
static clv_status begin_piece(const clv_factors **f, const clv_dim_factors *d, int64_t outer,
                              clv_arena *arena, clv_error *err)
{
    int32_t factor = clv_factor_begins(*f, d, &outer);
    if (factor < 0 || outer == 1 || !clv_factor_divisible(&(*f)->factors[factor], outer))
        return CLV_OK;
    clv_factors *refined = CLV_NEW(arena, clv_factors);
    if (!refined)
        return clv_fail_nomem(err, "checking specs");
    CLV_TRY(clv_factors_refine(*f, factor, outer, arena, refined, err));
    *f = refined;
    return CLV_OK;
}

/* k: inputs first, then outputs. */
static const clv_operand_factors *operand_of(const clv_factors *f, int32_t k)
{
    return k < f->n_in ? &f->in[k] : &f->out[k - f->n_in];
}

static clv_status begin_pieces(const clv_spec_operand *x, int32_t k, const clv_factors **f,
                               clv_arena *arena, clv_error *err)
{
    const clv_shards *s = x->shards;
    int64_t outer = 1;
    for (int32_t i = 0; i < s->rank && s->n > 0; i++) {
        int32_t dim = s->axis_of[i];
        const clv_operand_factors *o = operand_of(*f, k);
        outer = i > 0 && s->axis_of[i - 1] == dim ? outer * s->dims[i - 1] : 1;
        if (outer > 1 && s->at[0].size[i] < s->dims[i] && dim < o->rank)
            CLV_TRY(begin_piece(f, &o->dims[dim], outer, arena, err));
    }
    return CLV_OK;
}

clv_status clv_factors_for_specs(const clv_spec_node *node, clv_arena *arena,
                                 const clv_factors **ret, clv_error *err)
{
    const clv_factors *f = node->factors;
    for (int32_t k = 0; k < f->n_in + f->n_out; k++) {
        const clv_spec_operand *x = k < f->n_in ? &node->in[k] : &node->out[k - f->n_in];
        if (x->name && x->spec && x->shards)
            CLV_TRY(begin_pieces(x, k, &f, arena, err));
    }
    *ret = f;
    return CLV_OK;
}
