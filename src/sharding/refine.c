/* refine.c - factors taken apart so that neighbours can agree.
 *
 * A Split of [b, s, 3 * h] into three takes a third of each of its outputs from each third of its
 * input: on a device its input is split within 3 outer pieces. The product before it has one factor
 * n for that dimension, and splits it into plain runs, which is another layout. Taken apart into
 * n' = 3 and n, it can split n within n', too; the columns of its weights then lie on the devices
 * in that order, and nobody has to move anything. So each dimension that begins with something
 * whole is taken apart behind it, back to the product (refine_chain.c).
 *
 * Where the part that comes first can be split as well, refine_fused.c finds what has to be taken
 * apart.
 */
#include <stdio.h>

#include "sharding/resolve.h"

/* -- one rule -- */

bool clv_factor_divisible(const clv_factor *one, int64_t outer)
{
    bool kind = one->kind == CLV_FACTOR_PARALLEL || one->kind == CLV_FACTOR_REDUCED;
    return kind && !one->by_index && one->size > outer && one->size % outer == 0 &&
           one->size / outer % one->granule == 0;
}

static int32_t count_places(const clv_factors *f)
{
    int32_t n = 0;
    for (int32_t k = 0; k < f->n_in + f->n_out; k++) {
        const clv_operand_factors *o = k < f->n_in ? &f->in[k] : &f->out[k - f->n_in];
        for (int32_t i = 0; i < o->rank; i++)
            n += o->dims[i].n;
    }
    for (int32_t i = 0; i < f->n_local; i++)
        n += f->local[i].of.n;
    return n;
}

static clv_dim_factors refined_dim(clv_dim_factors d, int32_t factor, int16_t outer, int16_t **room)
{
    clv_dim_factors ret = { .at = *room };
    for (int32_t i = 0; i < d.n; i++) {
        if (d.at[i] == factor)
            (*room)[ret.n++] = outer;
        (*room)[ret.n++] = d.at[i];
    }
    *room += ret.n;
    return ret;
}

static bool refine_operand(const clv_operand_factors *o, int32_t factor, int16_t outer,
                           int16_t **room, clv_arena *arena, clv_operand_factors *ret)
{
    clv_dim_factors *dims = CLV_NEW_ARRAY(arena, clv_dim_factors, o->rank);
    *ret = *o;
    ret->dims = dims;
    for (int32_t i = 0; dims && i < o->rank; i++)
        dims[i] = refined_dim(o->dims[i], factor, outer, room);
    return dims != NULL;
}

static bool is_taken(const clv_factors *f, const char *name)
{
    for (int32_t i = 0; i < f->n_factors; i++)
        if (strcmp(f->factors[i].name, name) == 0)
            return true;
    return false;
}

static void refine_factors(const clv_factors *f, int32_t factor, int64_t outer, clv_factor *ret)
{
    for (int32_t i = 0; i < f->n_factors; i++)
        ret[i] = f->factors[i];
    clv_factor *inner = &ret[factor], *one = &ret[f->n_factors];
    *one = *inner;
    one->size = outer;
    one->granule = 1;
    inner->size /= outer;
    for (size_t n = strlen(one->name); n + 1 < sizeof one->name && is_taken(f, one->name); n++)
        one->name[n] = '\'';
}

clv_status clv_factors_refine(const clv_factors *f, int32_t factor, int64_t outer, clv_arena *arena,
                              clv_factors *ret, clv_error *err)
{
    int16_t added = (int16_t)f->n_factors;
    clv_factors new = *f;
    int32_t n = f->n_in + f->n_out;
    clv_factor *factors = CLV_NEW_ARRAY(arena, clv_factor, f->n_factors + 1);
    clv_operand_factors *operands = CLV_NEW_ARRAY(arena, clv_operand_factors, n);
    clv_local *local = CLV_NEW_ARRAY(arena, clv_local, f->n_local);
    int16_t *room = CLV_NEW_ARRAY(arena, int16_t, 2 * (size_t)count_places(f));
    bool ok = factors && operands && local && room;
    if (ok)
        refine_factors(f, factor, outer, factors);
    for (int32_t k = 0; ok && k < n; k++)
        ok = refine_operand(k < f->n_in ? &f->in[k] : &f->out[k - f->n_in], factor, added, &room,
                            arena, &operands[k]);
    if (!ok)
        return clv_fail_nomem(err, "a sharding rule");
    for (int32_t i = 0; i < f->n_local; i++) {
        local[i] = f->local[i];
        local[i].of = refined_dim(f->local[i].of, factor, added, &room);
    }
    new.n_factors++;
    new.factors = factors;
    new.in = operands;
    new.out = operands + f->n_in;
    new.local = local;
    *ret = new;
    return CLV_OK;
}

/* -- a graph -- */

/* The product of the whole factors that a dimension begins with; 1 if it does not, or if nothing
 * after them can be split. */
static int64_t whole_before(const clv_factors *f, const clv_dim_factors *d)
{
    int64_t product = 1;
    for (int32_t i = 0; i < d->n; i++) {
        const clv_factor *one = &f->factors[d->at[i]];
        if (one->kind != CLV_FACTOR_WHOLE)
            return one->size > 1 ? product : 1;
        if (one->size < 1 || __builtin_mul_overflow(product, one->size, &product))
            return 1;
    }
    return 1;
}

static clv_status follow_operand(clv_chain_refiner *apart, const clv_factors *f,
                                 const clv_operand_factors *o, clv_tensor t, clv_arena *arena,
                                 clv_error *err)
{
    for (int32_t i = 0; t.i >= 0 && i < o->rank; i++) {
        int64_t outer = whole_before(f, &o->dims[i]);
        if (outer > 1)
            CLV_TRY(clv_refine_chain(apart, t, i, outer, true, arena, err));
    }
    return CLV_OK;
}

clv_status clv_factors_all(const clv_model *model, const clv_types *types, clv_arena *arena,
                           clv_factors **ret, clv_error *err)
{
    const clv_graph *g = types->graph;
    clv_factors *all = CLV_NEW_ARRAY(arena, clv_factors, g->n_ops);
    clv_chain_refiner *apart;
    if (!all)
        return clv_fail_nomem(err, "the sharding rules");
    CLV_TRY(clv_chain_refiner_new(g, all, arena, &apart, err));
    CLV_TRY(clv_factors_resolve_all(model, types, arena, all, err));
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_factors f = all[i]; /* as it is now: the chain may take others apart */
        for (int32_t k = 0; k < f.n_in + f.n_out; k++) {
            bool out = k >= f.n_in;
            clv_tensor t =
                out ? clv_op_output(g, &g->ops[i], k - f.n_in) : clv_op_input(g, &g->ops[i], k);
            CLV_TRY(follow_operand(apart, &f, out ? &f.out[k - f.n_in] : &f.in[k], t, arena, err));
        }
    }
    *ret = all;
    return clv_refine_fused(types, all, arena, err);
}
