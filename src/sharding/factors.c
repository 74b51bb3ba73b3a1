#include "sharding/factors.h"

int32_t clv_factor_begins(const clv_factors *f, const clv_dim_factors *d, int64_t *outer)
{
    int64_t left = *outer;
    for (int32_t i = 0; i < d->n; i++) {
        int64_t size = f->factors[d->at[i]].size;
        if (size < 1)
            return -1;
        if (left < size) {
            *outer = left;
            return size % left == 0 ? d->at[i] : -1;
        }
        if (left % size != 0)
            return -1;
        left /= size;
    }
    return -1;
}

bool clv_factor_divisible(const clv_factor *one, int64_t outer)
{
    bool kind = one->kind == CLV_FACTOR_PARALLEL || one->kind == CLV_FACTOR_REDUCED;
    return kind && !one->by_index && one->size > outer && one->size % outer == 0 &&
           one->size / outer % one->granule == 0;
}

/* The list of factors with one more at the end: the outer part of one of them. NULL: no memory. */
static clv_factor *refined_factors(const clv_factors *f, int32_t factor, int64_t outer,
                                   clv_arena *arena)
{
    clv_factor *list = CLV_NEW_ARRAY(arena, clv_factor, f->n_factors + 1);
    if (!list)
        return NULL;
    for (int32_t i = 0; i < f->n_factors; i++)
        list[i] = f->factors[i];
    clv_factor *inner = &list[factor], *one = &list[f->n_factors];
    *one = *inner;
    one->size = outer;
    one->granule = 1;
    inner->size /= outer;
    bool taken = true; /* n', or where there is one already n'' */
    for (size_t n = strlen(one->name); taken && n + 1 < sizeof one->name; n++) {
        taken = false;
        for (int32_t i = 0; i < f->n_factors && !taken; i++)
            taken = strcmp(f->factors[i].name, one->name) == 0;
        if (taken)
            one->name[n] = '\'';
    }
    return list;
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

clv_status clv_factors_refine(const clv_factors *f, int32_t factor, int64_t outer, clv_arena *arena,
                              clv_factors *ret, clv_error *err)
{
    const int16_t added = (int16_t)f->n_factors;
    clv_factors new = *f;
    int32_t n = f->n_in + f->n_out, n_places = 0;
    clv_factor *factors = refined_factors(f, factor, outer, arena);
    clv_operand_factors *operands = CLV_NEW_ARRAY(arena, clv_operand_factors, n);
    clv_local *local = CLV_NEW_ARRAY(arena, clv_local, f->n_local);
    bool ok = factors && operands && local;
    for (int32_t k = 0; k < n && ok; k++) {
        operands[k] = k < f->n_in ? f->in[k] : f->out[k - f->n_in];
        for (int32_t i = 0; i < operands[k].rank; i++)
            n_places += operands[k].dims[i].n;
    }
    for (int32_t i = 0; i < f->n_local; i++)
        n_places += f->local[i].of.n;
    int16_t *room = CLV_NEW_ARRAY(arena, int16_t, 2 * (size_t)n_places);
    ok = ok && room;
    for (int32_t k = 0; k < n && ok; k++) {
        clv_dim_factors *dims = CLV_NEW_ARRAY(arena, clv_dim_factors, operands[k].rank);
        for (int32_t i = 0; dims && i < operands[k].rank; i++)
            dims[i] = refined_dim(operands[k].dims[i], factor, added, &room);
        operands[k].dims = dims;
        ok = dims != NULL;
    }
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
