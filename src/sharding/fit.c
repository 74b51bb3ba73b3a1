/* fit.c - the answer: factors that are worth naming, dimensions in them, what changes. */
#include <stdio.h>

#include "graph/shape_tools.h"
#include "sharding/fit_match.h"

/* Does an output of the rule, there or left out in this operator, have the factor? */
static bool in_outputs(const clv_fit *f, const clv_fit_factor *one)
{
    const clv_rule_text *t = &f->text;
    for (int32_t k = t->n_in; k < t->n_in + t->n_out; k++) {
        const clv_operand_text *o = &t->operands[k];
        for (int32_t i = 0; i < o->n; i++) {
            const clv_dim_text *d = &t->dims[o->first + i];
            for (int32_t j = 0; j < d->n; j++) {
                const clv_term *term = &t->terms[d->first + j];
                if (term->run ? one->run.n > 0 && clv_str_eq(term->name, one->run)
                              : term->name.n > 0 && clv_str_is(term->name, one->f.name))
                    return true;
            }
        }
    }
    return false;
}

static void settle_kind(const clv_fit *f, clv_fit_factor *one)
{
    if (one->given || in_outputs(f, one))
        return;
    one->f.kind = CLV_FACTOR_REDUCED;
    one->f.reduce = CLV_REDUCE_SUM;
}

/* A factor of size 1 says nothing; nor does one in no dimension. */
static void place_factors(clv_fit *f, clv_factors *ret, clv_factor *out)
{
    for (int32_t i = 0; i < f->n_dims; i++) {
        const clv_fit_dim *d = &f->dims[i];
        for (int32_t j = 0; !d->blank && j < d->n; j++) {
            clv_fit_factor *one = &f->factors[f->ids[d->first + j]];
            if (one->f.size == 1 || one->place >= 0)
                continue;
            settle_kind(f, one);
            if (one->f.name[0] == '\0')
                snprintf(one->f.name, sizeof one->f.name, "_%d", (int)(ret->n_factors % 10000));
            one->place = ret->n_factors;
            out[ret->n_factors++] = one->f;
        }
    }
}

static clv_dim_factors give_dim(const clv_fit *f, const clv_fit_dim *d, int16_t **room)
{
    clv_dim_factors ret = { .at = *room };
    for (int32_t j = 0; !d->blank && j < d->n; j++) {
        int32_t place = f->factors[f->ids[d->first + j]].place;
        if (place >= 0)
            (*room)[ret.n++] = (int16_t)place;
    }
    *room += ret.n;
    return ret;
}

static clv_status give_operand(const clv_fit *f, const clv_fit_operand *o, int16_t **room,
                               clv_operand_factors *ret)
{
    int32_t rank = o->present && o->rank > 0 ? o->rank : 0;
    clv_dim_factors *dims = CLV_NEW_ARRAY(f->w->arena, clv_dim_factors, rank);
    if (!dims)
        return clv_fail_nomem(f->w->err, "a sharding rule");
    *ret = (clv_operand_factors){ .rank = rank, .dims = dims };
    ret->once = o->present && o->text->once;
    for (int32_t i = 0; i < rank && !o->text->whole; i++)
        dims[i] = give_dim(f, &f->dims[o->first + i], room);
    return CLV_OK;
}

/* -- what changes on a shard -- */

static bool splits(const clv_factors *ret, clv_dim_factors d)
{
    for (int32_t i = 0; i < d.n; i++)
        if (ret->factors[d.at[i]].kind != CLV_FACTOR_WHOLE)
            return true;
    return false;
}

static clv_status add_local(clv_fit *f, clv_factors *ret, int32_t *cap, const clv_source *from,
                            int32_t at, clv_dim_factors of, bool zero)
{
    clv_local *list = (clv_local *)ret->local;
    if (!splits(ret, of))
        return CLV_OK;
    if (!CLV_PUSH_ROOM(f->w->arena, list, ret->n_local, *cap))
        return clv_fail_nomem(f->w->err, "a sharding rule");
    ret->local = list;
    clv_local *one = &list[ret->n_local++];
    bool attr = from->kind == CLV_FROM_ATTR;
    *one = (clv_local){ .in = attr ? -1 : from->in, .at = at, .of = of, .zero = zero };
    one->attr = attr ? clv_arena_printf(f->w->arena, "%.*s", CLV_STR_ARG(from->attr)) : NULL;
    return attr && !one->attr ? clv_fail_nomem(f->w->err, "a sharding rule") : CLV_OK;
}

/* Elements of the list that an attribute or input is; -1: not there, or not known. */
static int32_t list_length(const clv_fit *f, const clv_source *from)
{
    char name[64];
    const int64_t *list;
    int32_t n;
    if (from->kind == CLV_FROM_INPUT)
        return clv_rule_has_in(f->w->r, from->in) ? clv_rule_length(f->w->r, from->in) : -1;
    snprintf(name, sizeof name, "%.*s", CLV_STR_ARG(from->attr));
    return clv_rule_attr_ints(f->w->r, name, &list, &n) ? n : -1;
}

/* A wanted shape: its last elements are the dimensions of output 0. */
static clv_status give_shape(clv_fit *f, clv_factors *ret, int32_t *cap, const clv_source *from)
{
    const clv_operand_factors *out = &ret->out[0];
    int32_t n = list_length(f, from);
    for (int32_t i = 0; ret->n_out > 0 && n >= 0 && i < out->rank; i++)
        if (n - out->rank + i >= 0)
            CLV_TRY(add_local(f, ret, cap, from, n - out->rank + i, out->dims[i], false));
    return CLV_OK;
}

static clv_status give_locals(clv_fit *f, clv_factors *ret, int16_t **room)
{
    int32_t cap = 0;
    for (int32_t i = 0; i < f->text.n_notes; i++) {
        const clv_note *note = &f->text.notes[i];
        bool named = note->from.kind == CLV_FROM_ATTR || note->from.kind == CLV_FROM_INPUT;
        if (note->kind == CLV_NOTE_SHAPE)
            CLV_TRY(give_shape(f, ret, &cap, &note->from));
        if (!named || f->note_dim[i] < 0)
            continue;
        clv_fit_dim d = f->dims[f->note_dim[i]];
        d.blank = false;
        CLV_TRY(add_local(f, ret, &cap, &note->from, note->from.at, give_dim(f, &d, room),
                          note->kind == CLV_NOTE_NO_PAD));
    }
    return CLV_OK;
}

clv_status clv_fit_give(clv_fit *f, clv_factors *ret)
{
    clv_arena *arena = f->w->arena;
    int32_t n = f->n_in + f->n_out;
    clv_factor *factors = CLV_NEW_ARRAY(arena, clv_factor, f->n_factors);
    clv_operand_factors *operands = CLV_NEW_ARRAY(arena, clv_operand_factors, n);
    int16_t *room = CLV_NEW_ARRAY(arena, int16_t, f->n_ids);
    if (!factors || !operands || !room)
        return clv_fail_nomem(f->w->err, "a sharding rule");
    if (f->n_factors > INT16_MAX)
        return clv_rule_keep_whole(f->w, "has more than %d factors: it is not split", INT16_MAX);
    *ret = (clv_factors){ .n_in = f->n_in,
                          .n_out = f->n_out,
                          .factors = factors,
                          .in = operands,
                          .out = operands + f->n_in,
                          .by_shape = f->text.by_shape };
    place_factors(f, ret, factors);
    for (int32_t k = 0; k < n; k++)
        CLV_TRY(give_operand(f, &f->operands[k], &room, &operands[k]));
    return give_locals(f, ret, &room);
}
