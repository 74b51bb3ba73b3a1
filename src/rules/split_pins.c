/* split_pins.c - rules become, by tensor and axis, the dimension that the axis has to split, and by
 * operator and axis the factor; then each operator that they bear on is asked for a choice.
 */
#include "rules/split_pins.h"

#include <stdio.h>

#include "cost/shard_choices.h"
#include "rules/split_filter.h"
#include "rules/split_words.h"

#define LABEL 128

typedef struct {
    clv_split_pins pins;
    clv_split_filter f;
    const clv_constraints *rules;
    clv_arena *arena;
    clv_error *err;
    bool *idle;
} maker;

/* What a rule says of axes: a set, in the mesh's order. */
typedef struct {
    int32_t rule;
    int32_t n;
    int32_t axis[CLV_MESH_AXES_MAX];
    int64_t parts;
    char text[CLV_MESH_AXES_MAX * (CLV_MESH_NAME_MAX + 1)]; /* "dp.tp" */
} axes;

static clv_status nomem(const maker *m) { return clv_fail_nomem(m->err, "rules on tensors"); }

static const char *label(const maker *m, int32_t rule, char buf[static LABEL])
{
    if (rule == CLV_RULE_SWITCH)
        return "--data-parallel";
    return clv_rule_label(m->rules, rule, buf, LABEL);
}
#define RULE(rule) label(m, (rule), (char[LABEL]){ 0 })

static clv_str tensor_name(const maker *m, clv_tensor t) { return clv_tensor_at(m->f.g, t)->name; }
static clv_str op_name(const maker *m, clv_op op) { return clv_op_at(m->f.g, op)->label; }
static clv_str op_type(const maker *m, clv_op op) { return clv_op_at(m->f.g, op)->type; }

/* -- axes -- */

static void add_axis(const maker *m, axes *a, int32_t axis)
{
    size_t n = strlen(a->text);
    snprintf(a->text + n, sizeof a->text - n, "%s%s", a->n ? "." : "", m->f.mesh->name[axis]);
    a->axis[a->n++] = axis;
    a->parts *= m->f.mesh->size[axis];
}

static clv_status find_axis(const maker *m, int32_t rule, const char *name, int32_t *ret)
{
    char has[CLV_MESH_AXES_MAX * (CLV_MESH_NAME_MAX + 4)] = "";
    for (int32_t a = 0; a < m->f.mesh->n_axes; a++) {
        size_t n = strlen(has);
        if (strcmp(m->f.mesh->name[a], name) == 0) {
            *ret = a;
            return CLV_OK;
        }
        snprintf(has + n, sizeof has - n, "%s'%s'", a ? ", " : "", m->f.mesh->name[a]);
    }
    return clv_fail(m->err, CLV_EFORMAT, "%s: the mesh has no axis '%.80s', expected one of %s",
                    RULE(rule), name, has);
}

static clv_status find_axes(const maker *m, int32_t rule, axes *ret)
{
    const clv_split_rule *s = m->rules->at[rule].split;
    *ret = (axes){ .rule = rule, .parts = 1 };
    for (int32_t i = 0; i < s->n_axes; i++) {
        int32_t axis = 0;
        CLV_TRY(find_axis(m, rule, s->axes[i], &axis));
        if (ret->n > 0 && axis < ret->axis[ret->n - 1])
            return clv_fail(m->err, CLV_EFORMAT,
                            "%s: '%.80s' is an axis outside of '%.80s' in the mesh, expected the "
                            "order of the mesh",
                            RULE(rule), s->axes[i], s->axes[i - 1]);
        add_axis(m, ret, axis);
    }
    for (int32_t a = 0; s->n_axes == 0 && a < m->f.mesh->n_axes; a++)
        add_axis(m, ret, a);
    return CLV_OK;
}

/* -- pins -- */

static clv_status contradiction(const maker *m, int32_t first, int32_t second, clv_str name)
{
    bool given = first != CLV_RULE_SWITCH; /* rules in the order of the file */
    int32_t one = given && first > second && second != CLV_RULE_SWITCH ? second : first;
    int32_t two = one == first ? second : first;
    return clv_fail(m->err, CLV_EFORMAT, "%s and %s contradict each other on '%.*s'", RULE(one),
                    RULE(two), CLV_STR_ARG(name));
}

static clv_status put(const maker *m, clv_pin *p, const axes *over, int16_t want, clv_str name)
{
    for (int32_t i = 0; i < over->n; i++) {
        int32_t a = over->axis[i];
        if (m->f.mesh->size[a] < 2 || p->want[a] == want)
            continue;
        if (p->want[a] != CLV_WANT_ANY)
            return contradiction(m, p->rule[a], over->rule, name);
        p->want[a] = want;
        p->rule[a] = over->rule;
    }
    return CLV_OK;
}

static void mark_bound(maker *m, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(m->f.g, t);
    m->pins.any = m->f.tensor_bound[t.i] = true;
    for (int32_t r = 0; clv_is_weight(&m->f, t) && r < info->n_readers; r++)
        m->f.op_bound[m->f.g->readers_of[info->first_reader + r].i] = true;
}

/* Does the operator have a choice that makes output k, or needs input k, split so? */
static bool can_split(const maker *m, clv_op op, bool out, int32_t k, const axes *over, int32_t dim)
{
    const clv_factors *f = &m->f.factors[op.i];
    clv_op_choice c = { { -1, -1, -1 } };
    do {
        clv_layout l =
            out ? clv_choice_out(f, m->f.mesh, &c, k) : clv_choice_in(f, m->f.mesh, &c, k);
        bool so = true;
        for (int32_t i = 0; so && i < over->n; i++)
            so = m->f.mesh->size[over->axis[i]] < 2 || l.dim[over->axis[i]] == dim;
        if (so && clv_choice_may(m->f.types, op, f, m->f.mesh, &c))
            return true;
    } while (clv_choice_next(f, m->f.mesh, &c));
    return false;
}

static clv_status cannot(const maker *m, clv_op op, bool out, int32_t k, const axes *over,
                         int32_t dim)
{
    const clv_factors *f = &m->f.factors[op.i];
    const clv_op_info *info = clv_op_at(m->f.g, op);
    const clv_operand_factors *o = NULL;
    clv_str t =
        tensor_name(m, out ? clv_op_output(m->f.g, info, k) : clv_op_input(m->f.g, info, k));
    char why[CLV_SPLIT_WORDS];
    if (k < (out ? f->n_out : f->n_in))
        o = out ? &f->out[k] : &f->in[k];
    clv_split_why_dim(f, op_type(m, op), o, dim, over->parts, why);
    if (out)
        return clv_fail(m->err, CLV_EFORMAT, "%s: '%.*s' cannot split dim %d over %s: %s",
                        RULE(over->rule), CLV_STR_ARG(op_name(m, op)), (int)dim, over->text, why);
    return clv_fail(m->err, CLV_EFORMAT, "%s: '%.*s' cannot split dim %d of '%.*s' over %s: %s",
                    RULE(over->rule), CLV_STR_ARG(op_name(m, op)), (int)dim, CLV_STR_ARG(t),
                    over->text, why);
}

/* Whoever writes a tensor, or reads a weight, is able to. */
static clv_status check_neighbours(const maker *m, clv_tensor t, const axes *over, int32_t dim)
{
    const clv_tensor_info *info = clv_tensor_at(m->f.g, t);
    clv_op from = info->producer;
    for (int32_t k = 0; from.i >= 0 && k < clv_op_at(m->f.g, from)->n_out; k++)
        if (clv_op_output(m->f.g, clv_op_at(m->f.g, from), k).i == t.i &&
            !can_split(m, from, true, k, over, dim))
            return cannot(m, from, true, k, over, dim);
    for (int32_t r = 0; clv_is_weight(&m->f, t) && r < info->n_readers; r++) {
        clv_op op = m->f.g->readers_of[info->first_reader + r];
        const clv_op_info *reader = clv_op_at(m->f.g, op);
        for (int32_t k = 0; k < reader->n_in; k++)
            if (clv_op_input(m->f.g, reader, k).i == t.i && !can_split(m, op, false, k, over, dim))
                return cannot(m, op, false, k, over, dim);
    }
    return CLV_OK;
}

static bool takes_part(const maker *m, clv_tensor t)
{
    return clv_is_weight(&m->f, t) || !clv_shard_is_known(m->f.types, t);
}

/* The dimension from the front. */
static clv_status find_dim(const maker *m, clv_tensor t, const axes *over, int32_t dim,
                           int32_t *ret)
{
    clv_tensor_split split;
    clv_str name = tensor_name(m, t);
    if (!clv_split_of_type(&m->f.types->of[t.i], &split))
        return clv_fail(m->err, CLV_EFORMAT, "%s: the shape of '%.*s' is not known",
                        RULE(over->rule), CLV_STR_ARG(name));
    *ret = dim < 0 ? dim + split.rank : dim;
    if (*ret < 0 || *ret >= split.rank)
        return clv_fail(m->err, CLV_EFORMAT,
                        "%s: '%.*s' has %d dimension%s, so no dim %d that %s could split",
                        RULE(over->rule), CLV_STR_ARG(name), (int)split.rank,
                        split.rank == 1 ? "" : "s", (int)dim, over->text);
    if (split.dims[*ret] >= over->parts)
        return CLV_OK;
    return clv_fail(m->err, CLV_EFORMAT,
                    "%s: dim %d of '%.*s' has %lld elements, fewer than the %lld parts of %s",
                    RULE(over->rule), (int)*ret, CLV_STR_ARG(name), (long long)split.dims[*ret],
                    (long long)over->parts, over->text);
}

static clv_status split_tensor(maker *m, clv_tensor t, const axes *over, int32_t given_dim)
{
    int32_t dim = 0;
    if (!takes_part(m, t))
        return CLV_OK;
    CLV_TRY(find_dim(m, t, over, given_dim, &dim));
    CLV_TRY(check_neighbours(m, t, over, dim));
    CLV_TRY(put(m, &m->f.tensor[t.i], over, (int16_t)dim, tensor_name(m, t)));
    m->idle[over->rule] = false;
    mark_bound(m, t);
    return CLV_OK;
}

static clv_status keep_tensor(maker *m, clv_tensor t, const axes *over)
{
    if (over->rule >= 0)
        m->idle[over->rule] = false;
    if (!takes_part(m, t))
        return CLV_OK;
    mark_bound(m, t);
    return put(m, &m->f.tensor[t.i], over, CLV_WANT_NONE, tensor_name(m, t));
}

static clv_status bind_op(maker *m, clv_op op, const axes *over, int16_t want)
{
    if (over->rule >= 0)
        m->idle[over->rule] = false;
    m->f.op_bound[op.i] = true;
    m->pins.any = true;
    return put(m, &m->f.op[op.i], over, want, op_name(m, op));
}

/* -- rules -- */

static bool op_takes_part(const maker *m, clv_op op)
{
    const clv_op_info *info = clv_op_at(m->f.g, op);
    bool any = info->n_out == 0;
    for (int32_t k = 0; k < info->n_out && !any; k++) {
        clv_tensor t = clv_op_output(m->f.g, info, k);
        any = t.i >= 0 && !clv_shard_is_known(m->f.types, t);
    }
    return any;
}

static clv_status split_factor(maker *m, clv_op op, const axes *over, const char *name)
{
    const clv_factors *f = &m->f.factors[op.i];
    clv_op_choice c = { { -1, -1, -1 } };
    char words[CLV_SPLIT_WORDS];
    int16_t factor = 0;
    clv_str who = op_name(m, op), type = op_type(m, op);
    while (factor < f->n_factors && strcmp(f->factors[factor].name, name) != 0)
        factor++;
    if (factor == f->n_factors)
        return clv_fail(m->err, CLV_EFORMAT, "%s: '%.*s' (%.*s) has no factor '%s' for %s: %s%s",
                        RULE(over->rule), CLV_STR_ARG(who), CLV_STR_ARG(type), name, over->text,
                        f->why_whole ? "" : "it has ",
                        f->why_whole ? f->why_whole : clv_split_list_factors(f, words));
    for (int32_t i = 0; i < over->n; i++)
        c.factor[over->axis[i]] = factor;
    if (!clv_choice_may(m->f.types, op, f, m->f.mesh, &c) ||
        (f->factors[factor].kind != CLV_FACTOR_PARALLEL &&
         f->factors[factor].kind != CLV_FACTOR_REDUCED))
        return clv_fail(m->err, CLV_EFORMAT, "%s: '%.*s' cannot split its factor '%s' over %s: %s",
                        RULE(over->rule), CLV_STR_ARG(who), name, over->text,
                        clv_split_why_factor(f, type, factor, over->parts, words));
    return bind_op(m, op, over, factor);
}

static clv_status split_outputs(maker *m, clv_op op, const axes *over, int32_t dim)
{
    const clv_op_info *info = clv_op_at(m->f.g, op);
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(m->f.g, info, k);
        if (t.i >= 0)
            CLV_TRY(split_tensor(m, t, over, dim));
    }
    return CLV_OK;
}

static clv_status take_rule(maker *m, int32_t rule)
{
    const clv_rule *r = &m->rules->at[rule];
    const clv_split_rule *s = r->split;
    axes over;
    CLV_TRY(find_axes(m, rule, &over));
    m->idle[rule] = true;
    for (int32_t i = 0; i < s->n_tensors; i++)
        CLV_TRY(r->kind == CLV_RULE_WHOLE ? keep_tensor(m, s->tensors[i], &over)
                                          : split_tensor(m, s->tensors[i], &over, s->dim));
    for (int32_t i = 0; i < s->n_ops; i++) {
        if (!op_takes_part(m, s->ops[i]))
            continue;
        if (r->kind == CLV_RULE_WHOLE)
            CLV_TRY(bind_op(m, s->ops[i], &over, CLV_WANT_NONE));
        else
            CLV_TRY(s->factor ? split_factor(m, s->ops[i], &over, s->factor)
                              : split_outputs(m, s->ops[i], &over, s->dim));
    }
    return CLV_OK;
}

/* -- the batch -- */

/* Can the operator share the batch out, with its weights as copies, and no sum over it? */
static bool can_share(const maker *m, clv_op op, const axes *over)
{
    const clv_factors *f = &m->f.factors[op.i];
    const clv_op_info *info = clv_op_at(m->f.g, op);
    bool can = false;
    for (int16_t i = 0; i < f->n_factors && !can; i++) {
        clv_op_choice c = { { -1, -1, -1 } };
        if (f->factors[i].kind != CLV_FACTOR_PARALLEL || f->factors[i].by_index ||
            !clv_batch_is_factor(&m->f.batch, m->f.g, op, f, i))
            continue;
        for (int32_t a = 0; a < over->n; a++)
            c.factor[over->axis[a]] = i;
        can = clv_choice_may(m->f.types, op, f, m->f.mesh, &c);
        for (int32_t k = 0; k < info->n_in && can; k++) {
            clv_tensor t = clv_op_input(m->f.g, info, k);
            clv_layout l = clv_choice_in(f, m->f.mesh, &c, k);
            can = t.i < 0 || !clv_is_weight(&m->f, t) || clv_layout_equal(&l, &CLV_LAYOUT_COPIES);
        }
    }
    return can;
}

/* An operator that has to split something is left to do so if that is the batch. */
static clv_status bind_to_batch(maker *m, clv_op op, const axes *over)
{
    clv_pin *p = &m->f.op[op.i];
    int16_t want_batch = can_share(m, op, over) ? CLV_WANT_SHARED : CLV_WANT_BATCH;
    for (int32_t i = 0; i < over->n; i++) {
        int32_t a = over->axis[i];
        int16_t want = p->want[a];
        if (want >= 0 && !clv_batch_is_factor(&m->f.batch, m->f.g, op, &m->f.factors[op.i], want))
            return contradiction(m, p->rule[a], over->rule, op_name(m, op));
        axes one = { .rule = over->rule, .n = 1, .axis = { a } };
        if (want == CLV_WANT_ANY)
            CLV_TRY(bind_op(m, op, &one, want_batch));
    }
    return CLV_OK;
}

static clv_status bind_results(maker *m, clv_tensor t, const axes *over)
{
    const clv_pin *p = &m->f.tensor[t.i];
    for (int32_t i = 0; i < over->n; i++) {
        int32_t a = over->axis[i];
        if (p->want[a] >= 0 && !(m->f.batch.dims[t.i] >> p->want[a] & 1))
            return contradiction(m, p->rule[a], over->rule, tensor_name(m, t));
    }
    return CLV_OK;
}

static clv_status split_input(maker *m, clv_tensor t, const axes *over)
{
    mark_bound(m, t);
    return put(m, &m->f.tensor[t.i], over, 0, tensor_name(m, t));
}

/* Inputs are split by batch, weights are copies, and operators split the batch where they can, else
 * nothing. */
static clv_status take_batch(maker *m, const axes *over)
{
    if (m->f.batch.size < over->parts)
        return clv_fail(
            m->err, CLV_EFORMAT,
            "%s: the batch, the leading dimension of the model's inputs, is %lld, fewer "
            "than the %lld parts of %s",
            RULE(over->rule), (long long)m->f.batch.size, (long long)over->parts, over->text);
    if (over->rule >= 0)
        m->idle[over->rule] = false;
    for (int32_t t = 0; t < m->f.g->n_tensors; t++) {
        clv_tensor id = { t };
        clv_tensor_role role = clv_tensor_at(m->f.g, id)->role;
        if (role == CLV_TENSOR_WEIGHT)
            CLV_TRY(keep_tensor(m, id, over));
        else if (role == CLV_TENSOR_INPUT && m->f.batch.dims[t])
            CLV_TRY(split_input(m, id, over));
        else
            CLV_TRY(bind_results(m, id, over));
    }
    for (int32_t i = 0; i < m->f.g->n_ops; i++)
        if (op_takes_part(m, (clv_op){ i }))
            CLV_TRY(bind_to_batch(m, (clv_op){ i }, over));
    return CLV_OK;
}

static clv_status take_batches(maker *m, bool outermost)
{
    bool found = false;
    for (int32_t i = outermost ? CLV_RULE_SWITCH : 0; i < m->rules->n;
         i = i == CLV_RULE_SWITCH ? 0 : i + 1) {
        axes over = { .rule = CLV_RULE_SWITCH, .parts = 1 };
        if (i >= 0 && (m->rules->at[i].kind != CLV_RULE_DATA_PARALLEL || m->rules->at[i].unused))
            continue;
        if (i >= 0)
            CLV_TRY(find_axes(m, i, &over));
        else
            add_axis(m, &over, 0);
        if (!found)
            CLV_TRY(clv_batch_find(m->f.types, m->f.factors, m->arena, &m->f.batch, m->err));
        found = true;
        CLV_TRY(take_batch(m, &over));
    }
    return CLV_OK;
}

/* -- is there a choice left? -- */

/* One rule alone was looked at before, dimension by dimension; what is left of it is an operator
 * that reads two of its weights, or one twice. */
static clv_status tell_impossible(maker *m, clv_op op)
{
    int32_t on[CLV_RULES_ON], n = clv_rules_on(&m->f, op, on);
    char list[CLV_SPLIT_WORDS] = "";
    clv_str name = op_name(m, op);
    size_t length = 0;
    for (int32_t i = 0; i < n; i++)
        if (!clv_op_can_obey(&m->f, op, on[i], on[i]))
            return clv_fail(m->err, CLV_EFORMAT,
                            "%s: '%.*s' (%.*s) cannot split all that the rule names at once",
                            RULE(on[i]), CLV_STR_ARG(name), CLV_STR_ARG(op_type(m, op)));
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < i; k++)
            if (!clv_op_can_obey(&m->f, op, on[k], on[i]))
                return contradiction(m, on[k], on[i], name);
    for (int32_t i = 0; i < n && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                   i == 0       ? ""
                                   : i == n - 1 ? " and "
                                                : ", ",
                                   RULE(on[i]));
    m->pins.conflict = clv_arena_printf(m->arena, "no way to split '%.*s' obeys %s together",
                                        CLV_STR_ARG(name), list);
    return m->pins.conflict ? CLV_OK : nomem(m);
}

static clv_status check_ops(maker *m)
{
    for (int32_t i = 0; i < m->f.g->n_ops && !m->pins.conflict; i++) {
        clv_op op = { i };
        if (m->f.op_bound[i] && op_takes_part(m, op) &&
            !clv_op_can_obey(&m->f, op, CLV_RULES_ALL, CLV_RULE_NONE))
            CLV_TRY(tell_impossible(m, op));
    }
    return CLV_OK;
}

/* The plainest layout that obeys; none may be cut where it cannot be. */
static clv_status fill_layouts(maker *m)
{
    for (int32_t t = 0; t < m->f.g->n_tensors; t++) {
        const clv_pin *p = &m->f.tensor[t];
        clv_tensor_split split;
        clv_error why;
        int32_t rule = CLV_RULE_NONE;
        if (!m->f.tensor_bound[t] || clv_is_weight(&m->f, (clv_tensor){ t }))
            continue;
        m->f.like[t] = CLV_LAYOUT_COPIES;
        for (int32_t a = 0; a < m->f.mesh->n_axes; a++)
            if (p->want[a] >= 0) {
                clv_layout_split(&m->f.like[t], a, p->want[a], 1);
                rule = p->rule[a];
            }
        if (rule == CLV_RULE_NONE || !clv_split_of_type(&m->f.types->of[t], &split))
            continue;
        if (clv_layout_check(&m->f.like[t], m->f.mesh, split.rank, &split, &why) != CLV_OK)
            return clv_fail(m->err, CLV_EFORMAT, "%s: '%.*s' cannot be split so: %.200s",
                            RULE(rule), CLV_STR_ARG(tensor_name(m, (clv_tensor){ t })),
                            why.message);
        m->f.like[t] = clv_layout_plain(&m->f.like[t], m->f.mesh);
    }
    return CLV_OK;
}

/* -- all -- */

static bool speaks(const clv_rule *rule) { return rule->split && !rule->unused; }

bool clv_split_pins_asked(const clv_constraints *rules)
{
    bool any = false;
    for (int32_t i = 0; i < rules->n && !any; i++)
        any = speaks(&rules->at[i]);
    return any;
}

bool clv_split_pins_need_mesh(const clv_constraints *rules)
{
    bool any = false;
    for (int32_t i = 0; i < rules->n && !any; i++)
        any = speaks(&rules->at[i]) && rules->at[i].kind != CLV_RULE_WHOLE;
    return any;
}

static bool take_room(maker *m)
{
    static const clv_pin free_pin = { { CLV_WANT_ANY, CLV_WANT_ANY, CLV_WANT_ANY },
                                      { CLV_RULE_NONE, CLV_RULE_NONE, CLV_RULE_NONE } };
    m->f.tensor = CLV_NEW_ARRAY(m->arena, clv_pin, m->f.g->n_tensors);
    m->f.op = CLV_NEW_ARRAY(m->arena, clv_pin, m->f.g->n_ops);
    m->f.tensor_bound = CLV_NEW_ARRAY(m->arena, bool, m->f.g->n_tensors);
    m->f.op_bound = CLV_NEW_ARRAY(m->arena, bool, m->f.g->n_ops);
    m->f.like = CLV_NEW_ARRAY(m->arena, clv_layout, m->f.g->n_tensors);
    m->idle = CLV_NEW_ARRAY(m->arena, bool, m->rules->n);
    if (!m->f.tensor || !m->f.op || !m->f.tensor_bound || !m->f.op_bound || !m->f.like || !m->idle)
        return false;
    for (int32_t t = 0; t < m->f.g->n_tensors; t++)
        m->f.tensor[t] = free_pin;
    for (int32_t i = 0; i < m->f.g->n_ops; i++)
        m->f.op[i] = free_pin;
    return true;
}

clv_status clv_split_pins_make(const clv_constraints *rules, bool data_parallel,
                               const clv_types *types, const clv_factors *factors,
                               const clv_mesh *mesh, clv_arena *arena, clv_split_pins **ret,
                               clv_error *err)
{
    maker *m = CLV_NEW(arena, maker);
    if (!m)
        return clv_fail_nomem(err, "rules on tensors");
    *m = (maker){ .rules = rules,
                  .f = { .types = types, .g = types->graph, .factors = factors, .mesh = mesh },
                  .arena = arena,
                  .err = err };
    if (!take_room(m))
        return nomem(m);
    for (int32_t i = 0; i < rules->n; i++)
        if (speaks(&rules->at[i]) && rules->at[i].kind != CLV_RULE_DATA_PARALLEL)
            CLV_TRY(take_rule(m, i));
    CLV_TRY(take_batches(m, data_parallel));
    CLV_TRY(fill_layouts(m));
    CLV_TRY(check_ops(m));
    m->pins.idle = m->idle;
    m->pins.filter = clv_split_filter_give(&m->f);
    *ret = &m->pins;
    return CLV_OK;
}
