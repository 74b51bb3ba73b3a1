/* fit.c - the answer: factors that are worth naming, dimensions in them, what changes. */
#include "sharding/fit.h"

#include <stdio.h>

#include "graph/shape_tools.h"
#include "sharding/fit_sizes.h"

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

/* A factor of size 1 says nothing; nor does one in no dimension. */
static void place_factors(clv_fit *f, clv_factors *ret, clv_factor *out)
{
    for (int32_t i = 0; i < f->n_dims; i++) {
        const clv_fit_dim *d = &f->dims[i];
        for (int32_t j = 0; !d->blank && j < d->n; j++) {
            clv_fit_factor *one = &f->factors[f->ids[d->first + j]];
            if (one->f.size == 1 || one->place >= 0)
                continue;
            if (!one->given && !in_outputs(f, one)) {
                one->f.kind = CLV_FACTOR_REDUCED;
                one->f.reduce = CLV_REDUCE_SUM;
            }
            if (one->f.name[0] == '\0')
                snprintf(one->f.name, sizeof one->f.name, "_%d", (int)(ret->n_factors % 10000));
            one->place = ret->n_factors;
            out[ret->n_factors++] = one->f;
        }
    }
}

static clv_dim_factors factors_of_dim(const clv_fit *f, const clv_fit_dim *d, int16_t **room)
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

/* -- what changes on a shard -- */

typedef struct {
    clv_local *at;
    int32_t n, cap;
} locals;

/* What the number at `at` of a source becomes, if a factor of it may be split. */
static clv_status add_local(const clv_fit *f, const clv_factors *factors, const clv_source *from,
                            clv_local local, locals *list, clv_error *err)
{
    bool splits = false, attr = from->kind == CLV_FROM_ATTR;
    for (int32_t i = 0; i < local.of.n; i++)
        splits |= factors->factors[local.of.at[i]].kind != CLV_FACTOR_WHOLE;
    if (!splits)
        return CLV_OK;
    local.in = attr ? -1 : from->in;
    local.attr = attr ? clv_arena_str(f->w->arena, from->attr) : NULL;
    if ((attr && !local.attr) || !CLV_PUSH_ROOM(f->w->arena, list->at, list->n, list->cap))
        return clv_fail_nomem(err, "a sharding rule");
    list->at[list->n++] = local;
    return CLV_OK;
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

static clv_status find_locals(const clv_fit *f, clv_factors *ret, int16_t **room, clv_error *err)
{
    locals list = { 0 };
    for (int32_t i = 0; i < f->text.n_notes; i++) {
        const clv_note *note = &f->text.notes[i];
        bool named = note->from.kind == CLV_FROM_ATTR || note->from.kind == CLV_FROM_INPUT;
        if (note->kind == CLV_NOTE_SHAPE && ret->n_out > 0) {
            /* a wanted shape: its last elements are the dimensions of output 0 */
            int32_t rank = ret->out[0].rank, n = list_length(f, &note->from);
            for (int32_t d = n < rank ? rank - n : 0; n >= 0 && d < rank; d++)
                CLV_TRY(add_local(f, ret, &note->from,
                                  (clv_local){ .at = n - rank + d, .of = ret->out[0].dims[d] },
                                  &list, err));
        }
        if (!named || f->note_dim[i] < 0)
            continue;
        clv_fit_dim d = f->dims[f->note_dim[i]];
        d.blank = false;
        clv_local local = { .at = note->from.at,
                            .of = factors_of_dim(f, &d, room),
                            .zero = note->kind == CLV_NOTE_NO_PAD };
        CLV_TRY(add_local(f, ret, &note->from, local, &list, err));
    }
    ret->local = list.at;
    ret->n_local = list.n;
    return CLV_OK;
}

clv_status clv_rule_fit(clv_rule_context *w, clv_str body, clv_factors *ret, clv_error *err)
{
    clv_fit f;
    CLV_TRY(clv_fit_match(w, body, &f, err));
    if (!w->why)
        CLV_TRY(clv_fit_solve(&f, err));
    if (w->why)
        return CLV_OK;
    int32_t n = f.n_in + f.n_out;
    clv_factor *factors = CLV_NEW_ARRAY(w->arena, clv_factor, f.n_factors);
    clv_operand_factors *operands = CLV_NEW_ARRAY(w->arena, clv_operand_factors, n);
    int16_t *room = CLV_NEW_ARRAY(w->arena, int16_t, f.n_ids);
    if (!factors || !operands || !room)
        return clv_fail_nomem(err, "a sharding rule");
    if (f.n_factors > INT16_MAX)
        return clv_rule_keep_whole(
            w,
            clv_arena_printf(w->r->arena, "has more than %d factors: it is not split", INT16_MAX),
            err);
    *ret = (clv_factors){ .n_in = f.n_in,
                          .n_out = f.n_out,
                          .factors = factors,
                          .in = operands,
                          .out = operands + f.n_in,
                          .by_shape = f.text.by_shape };
    place_factors(&f, ret, factors);
    for (int32_t k = 0; k < n; k++) {
        const clv_fit_operand *o = &f.operands[k];
        int32_t rank = o->present && o->rank > 0 ? o->rank : 0;
        clv_dim_factors *dims = CLV_NEW_ARRAY(w->arena, clv_dim_factors, rank);
        if (!dims)
            return clv_fail_nomem(err, "a sharding rule");
        for (int32_t i = 0; i < rank && !o->text->whole; i++)
            dims[i] = factors_of_dim(&f, &f.dims[o->first + i], &room);
        operands[k] = (clv_operand_factors){ .rank = rank,
                                             .dims = dims,
                                             .once = o->present && o->text->once };
    }
    return find_locals(&f, ret, &room, err);
}
