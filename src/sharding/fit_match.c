#include "sharding/fit_match.h"

#include <stdio.h>

#include "graph/shape_tools.h"

static bool is_blank(const clv_term *t) { return t->name.n == 0; }

/* -- values that notes name -- */

static bool attr_number(const clv_attr *attr, int32_t at, int64_t *ret)
{
    bool one = attr && attr->kind == CLV_ATTR_INT && at < 0;
    bool many = attr && attr->kind == CLV_ATTR_INTS && at >= 0 && at < attr->n;
    if (one)
        *ret = attr->i;
    if (many)
        *ret = attr->ints[at];
    return one || many;
}

/* The value of a source. False: not known or not there. */
static bool read_source(const clv_rule *r, const clv_source *s, int64_t *ret)
{
    char name[64] = "";
    bool fits = s->kind == CLV_FROM_ATTR && s->attr.n < (int32_t)sizeof name;
    const clv_attr *attr = NULL;
    const int64_t *ints;
    int32_t n;
    if (fits) {
        snprintf(name, sizeof name, "%.*s", CLV_STR_ARG(s->attr));
        attr = clv_rule_attr(r, name);
    }
    if (s->otherwise &&
        ((s->kind == CLV_FROM_INPUT && !clv_rule_has_in(r, s->in)) || (fits && !attr))) {
        *ret = s->number;
        return true;
    }
    switch (s->kind) {
    case CLV_FROM_NUMBER:
        *ret = s->number;
        return true;
    case CLV_FROM_ATTR:
        return attr_number(attr, s->at, ret);
    case CLV_FROM_INPUT:
        if (!clv_rule_ints(r, s->in, &ints, &n) || (s->at < 0 ? n != 1 : s->at >= n))
            return false;
        *ret = ints[s->at < 0 ? 0 : s->at];
        return true;
    case CLV_FROM_LAST_DIM:
    default:
        *ret = clv_type_dim(clv_rule_in(r, s->in), -1);
        return clv_dim_is_number(*ret);
    }
}

/* -- operands and their texts -- */

/* Every operand that is there must stand in the rule and have a rank. */
static clv_status find_operand(clv_fit *f, bool out, int32_t k, clv_error *err)
{
    const clv_rule_text *text = &f->text;
    int32_t n = out ? text->n_out : text->n_in, repeat = out ? text->repeat_out : text->repeat_in;
    int32_t at = k < n ? k : repeat > 0 ? n - repeat + (k - n) % repeat : -1;
    clv_fit_operand *o = &f->operands[out ? f->n_in + k : k];
    const clv_graph *g = f->w->r->graph;
    clv_tensor t = out ? clv_op_output(g, f->w->r->op, k) : clv_op_input(g, f->w->r->op, k);
    const char *what = out ? "output" : "input", *why = NULL;
    *o = (clv_fit_operand){ .present = t.i >= 0, .rank = 0 };
    o->text = at < 0 ? NULL : &text->operands[out ? text->n_in + at : at];
    if (!o->present)
        return CLV_OK;
    o->type = out ? &f->w->r->types->of[t.i] : clv_type_read(f->w->r->types, f->w->r->op, k);
    o->rank = clv_type_rank(o->type);
    if (!o->text)
        why = "has an %s %d that its sharding rule does not have";
    else if (o->text->whole)
        o->rank = o->rank < 0 ? 0 : o->rank;
    else if (o->type->kind != CLV_TYPE_UNKNOWN && o->type->kind != CLV_TYPE_TENSOR)
        why = "has an %s %d that is no tensor: it is not split";
    else if (o->rank < 0)
        why = "has an %s %d of open shape: it is not split";
    return why ? clv_rule_keep_whole(f->w, clv_arena_printf(f->w->r->arena, why, what, k), err)
               : CLV_OK;
}

/* -- runs -- */

static int32_t *run_length(clv_fit *f, clv_str name)
{
    for (int32_t i = 0; i < f->n_runs; i++)
        if (clv_str_eq(f->runs[i].name, name))
            return &f->runs[i].length;
    f->runs[f->n_runs].name = name;
    f->runs[f->n_runs].length = -1;
    return &f->runs[f->n_runs++].length;
}

/* A length counts dimensions from the front; a negative one from the end of the first operand that
 * has the run, or of output 0. */
static clv_status read_run_note(clv_fit *f, const clv_note *note, clv_error *err)
{
    int64_t n;
    int32_t rank = -1;
    if (!read_source(f->w->r, &note->from, &n))
        return clv_rule_keep_whole(f->w, "has an axis that is not known: it is not split", err);
    for (int32_t k = 0; k < f->n_in + f->n_out && rank < 0 && !note->of_output; k++) {
        const clv_fit_operand *o = &f->operands[k];
        for (int32_t i = 0; o->present && !o->text->whole && i < o->text->n; i++) {
            const clv_term *t = &f->text.terms[f->text.dims[o->text->first + i].first];
            if (t->run && clv_str_eq(t->name, note->run))
                rank = o->rank;
        }
    }
    if (note->of_output)
        rank = clv_type_rank(clv_rule_out_type(f->w, 0));
    n += n < 0 && rank >= 0 ? rank : 0;
    if (rank < 0 || n < 0 || n > rank)
        return clv_rule_keep_whole(f->w, "has an axis that its input has not: it is not split",
                                   err);
    *run_length(f, note->run) = (int32_t)n;
    return CLV_OK;
}

/* How many of the dims of an operand are left for its one run of unknown length; -1: there are
 * several such runs, -2: the rank does not fit. *ret_at: that run, -1 if none. */
static int32_t left_for_run(clv_fit *f, const clv_fit_operand *o, int32_t *ret_at)
{
    int32_t left = o->rank, n_runs = 0;
    *ret_at = -1;
    for (int32_t i = 0; i < o->text->n; i++)
        n_runs += f->text.terms[f->text.dims[o->text->first + i].first].run;
    for (int32_t i = 0; i < o->text->n; i++) {
        const clv_term *t = &f->text.terms[f->text.dims[o->text->first + i].first];
        int32_t known = t->run && !is_blank(t) ? *run_length(f, t->name) : -1;
        if (!t->run)
            left--;
        else if (known >= 0 && n_runs > 1)
            left -= known;
        else if (*ret_at >= 0)
            return -1;
        else
            *ret_at = i;
    }
    if (*ret_at < 0 && left < 0 && o->text->broadcast)
        return 0;
    return left < 0 || (*ret_at < 0 && left > 0) ? -2 : left;
}

/* Lengths of all runs, the longest that an operand shows. */
static clv_status find_runs(clv_fit *f, clv_error *err)
{
    for (int32_t i = 0; i < f->text.n_notes && !f->w->why; i++)
        if (f->text.notes[i].kind == CLV_NOTE_RUN)
            CLV_TRY(read_run_note(f, &f->text.notes[i], err));
    for (bool changed = true; changed && !f->w->why;) {
        changed = false;
        for (int32_t k = 0; k < f->n_in + f->n_out; k++) {
            const clv_fit_operand *o = &f->operands[k];
            int32_t at, left;
            if (!o->present || o->text->whole || (left = left_for_run(f, o, &at)) < 0 || at < 0)
                continue;
            const clv_term *t = &f->text.terms[f->text.dims[o->text->first + at].first];
            int32_t *length = is_blank(t) ? NULL : run_length(f, t->name);
            changed |= length && left > *length;
            if (length && left > *length)
                *length = left;
        }
    }
    return CLV_OK;
}

/* -- factors by name -- */

static int32_t new_factor(clv_fit *f)
{
    if (!CLV_PUSH_ROOM(f->w->r->arena, f->factors, f->n_factors, f->cap_factors))
        return -1;
    clv_fit_factor *one = &f->factors[f->n_factors];
    *one = (clv_fit_factor){ .f = { .size = CLV_SIZE_UNSOLVED, .granule = 1 }, .place = -1 };
    return f->n_factors++;
}

static void add_marks(clv_fit_factor *one, const clv_term *t)
{
    if (t->given) {
        one->given = true;
        one->f.kind = t->kind;
        one->f.reduce = t->reduce;
        one->f.before = t->before;
        one->f.after = t->after;
    }
    one->f.by_index |= t->by_index;
    one->f.even |= t->even;
    one->f.granule = t->granule > one->f.granule ? t->granule : one->f.granule;
}

/* The factor of a term; in a run the one at that place of it. A number, and "_" in a product, is a
 * factor of its own that nobody splits. */
static int32_t factor_of(clv_fit *f, const clv_term *t, int32_t in_run)
{
    char name[sizeof((clv_factor *)0)->name] = "";
    int32_t id;
    if (is_blank(t)) {
        id = new_factor(f);
        if (id < 0)
            return -1;
        f->factors[id].f.size = t->number > 0 ? t->number : CLV_SIZE_UNSOLVED;
        f->factors[id].f.kind = CLV_FACTOR_WHOLE;
        f->factors[id].given = true;
        return id;
    }
    if (!t->run)
        snprintf(name, sizeof name, "%.*s", CLV_STR_ARG(t->name));
    else if (clv_str_is(t->name, "."))
        snprintf(name, sizeof name, "d%d", in_run);
    else
        snprintf(name, sizeof name, "%.*s%d", CLV_STR_ARG(t->name), in_run);
    for (id = 0; id < f->n_factors; id++)
        if (strcmp(f->factors[id].f.name, name) == 0)
            break;
    if (id == f->n_factors && (id = new_factor(f)) >= 0)
        memcpy(f->factors[id].f.name, name, sizeof name);
    if (id >= 0 && t->run)
        f->factors[id].run = t->name;
    if (id >= 0)
        add_marks(&f->factors[id], t);
    return id;
}

/* -- dimensions -- */

/* One dimension, or number of a note, as the product of terms. */
static clv_status add_dim(clv_fit *f, clv_fit_dim dim, int32_t first, int32_t n, int32_t in_run,
                          clv_error *err)
{
    const clv_term *t = &f->text.terms[first];
    if (!CLV_PUSH_ROOM(f->w->r->arena, f->dims, f->n_dims, f->cap_dims))
        return clv_fail_nomem(err, "a sharding rule");
    clv_fit_dim *d = &f->dims[f->n_dims++];
    *d = dim;
    d->first = f->n_ids;
    if (n == 1 && is_blank(t)) {
        d->blank = true;
        if (t->number > 0 && clv_dim_is_number(dim.size) && dim.size != t->number)
            return clv_rule_keep_whole(
                f->w,
                clv_arena_printf(f->w->r->arena,
                                 "has a dimension of %lld where its sharding rule has %lld",
                                 (long long)dim.size, (long long)t->number),
                err);
        return CLV_OK;
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t id = factor_of(f, &t[i], in_run);
        if (id < 0 || !CLV_PUSH_ROOM(f->w->r->arena, f->ids, f->n_ids, f->cap_ids))
            return clv_fail_nomem(err, "a sharding rule");
        f->ids[f->n_ids++] = id;
    }
    d->n = f->n_ids - d->first;
    return CLV_OK;
}

/* The text of dim i of an operand, the last two swapped where an attribute says so. */
static const clv_dim_text *dim_text(const clv_fit *f, const clv_operand_text *t, int32_t i)
{
    char name[64];
    if (t->transposed.n > 0 && i >= t->n - 2 && t->transposed.n < (int32_t)sizeof name) {
        snprintf(name, sizeof name, "%.*s", CLV_STR_ARG(t->transposed));
        if (clv_rule_attr_int(f->w->r, name, 0) != 0)
            i = 2 * t->n - 3 - i;
    }
    return &f->text.dims[t->first + i];
}

static clv_status add_dims(clv_fit *f, clv_fit_operand *o, clv_error *err)
{
    int32_t run_at, at = 0, left = left_for_run(f, o, &run_at);
    if (left < 0)
        return clv_rule_keep_whole(
            f->w,
            clv_arena_printf(f->w->r->arena,
                             "has an operand of rank %d, which does not fit its sharding rule",
                             o->rank),
            err);
    int32_t lacking =
        run_at < 0 && o->text->broadcast && o->rank < o->text->n ? o->text->n - o->rank : 0;
    o->first = f->n_dims;
    for (int32_t i = lacking; i < o->text->n && !f->w->why; i++) {
        const clv_dim_text *d = dim_text(f, o->text, i);
        const clv_term *t = &f->text.terms[d->first];
        int32_t whole = t->run && !is_blank(t) ? *run_length(f, t->name) : 0;
        int32_t n = !t->run ? 1 : i == run_at ? left : whole;
        for (int32_t j = 0; j < n && !f->w->why; j++, at++)
            CLV_TRY(add_dim(f, (clv_fit_dim){ .size = o->type->dims[at], .may_be_one = true },
                            d->first, d->n, whole - n + j, err));
    }
    return CLV_OK;
}

static clv_status add_notes(clv_fit *f, clv_error *err)
{
    f->note_dim = CLV_NEW_ARRAY(f->w->r->arena, int32_t, f->text.n_notes);
    if (!f->note_dim)
        return clv_fail_nomem(err, "a sharding rule");
    for (int32_t i = 0; i < f->text.n_notes && !f->w->why; i++) {
        const clv_note *note = &f->text.notes[i];
        int64_t value = CLV_DIM_UNKNOWN;
        f->note_dim[i] = -1;
        if (note->kind != CLV_NOTE_SIZE && note->kind != CLV_NOTE_NO_PAD)
            continue;
        bool known = note->kind == CLV_NOTE_NO_PAD || read_source(f->w->r, &note->from, &value);
        if (!known || (note->kind == CLV_NOTE_SIZE && value < 1))
            return clv_rule_keep_whole(
                f->w,
                clv_arena_printf(f->w->r->arena,
                                 "lacks a number that its sharding rule needs: %.*s",
                                 CLV_STR_ARG(note->from.attr)),
                err);
        f->note_dim[i] = f->n_dims;
        CLV_TRY(add_dim(f, (clv_fit_dim){ .size = value }, note->first, note->n, 0, err));
        f->dims[f->n_dims - 1].blank |= note->kind == CLV_NOTE_NO_PAD;
    }
    return CLV_OK;
}

clv_status clv_fit_match(clv_rule_context *w, clv_str body, clv_fit *ret, clv_error *err)
{
    clv_fit f = { .w = w };
    CLV_TRY(clv_rule_text_read(body, w->r->arena, &f.text, err));
    f.n_in = clv_rule_n_in(w->r);
    f.n_out = w->r->op->n_out;
    f.runs = clv_arena_take_array(w->r->arena, (size_t)f.text.n_terms + 1, sizeof *f.runs);
    f.operands = CLV_NEW_ARRAY(w->r->arena, clv_fit_operand, f.n_in + f.n_out);
    if (!f.runs || !f.operands)
        return clv_fail_nomem(err, "a sharding rule");
    for (int32_t k = 0; k < f.n_in + f.n_out && !w->why; k++)
        CLV_TRY(find_operand(&f, k >= f.n_in, k < f.n_in ? k : k - f.n_in, err));
    if (!w->why)
        CLV_TRY(find_runs(&f, err));
    for (int32_t k = 0; k < f.n_in + f.n_out && !w->why; k++)
        if (f.operands[k].present && !f.operands[k].text->whole)
            CLV_TRY(add_dims(&f, &f.operands[k], err));
    if (!w->why)
        CLV_TRY(add_notes(&f, err));
    *ret = f;
    return CLV_OK;
}
