#include "rules/split_filter.h"

#include "cost/shard_choices.h"

bool clv_is_weight(const clv_split_filter *s, clv_tensor t)
{
    return clv_tensor_at(s->g, t)->role == CLV_TENSOR_WEIGHT;
}

static bool counts(int32_t rule, int32_t one, int32_t two)
{
    return rule != CLV_RULE_NONE && (one == CLV_RULES_ALL || rule == one || rule == two);
}

bool clv_layout_obeys(const clv_split_filter *s, const clv_pin *p, const clv_layout *l, int32_t one,
                      int32_t two)
{
    for (int32_t a = 0; a < s->mesh->n_axes; a++) {
        if (p->want[a] == CLV_WANT_ANY || !counts(p->rule[a], one, two))
            continue;
        if (l->dim[a] != p->want[a])
            return false;
        for (int32_t b = 0; p->want[a] >= 0 && b < a; b++)
            if (p->rule[b] == p->rule[a] && l->dim[b] == l->dim[a] && l->nest[b] > l->nest[a])
                return false;
    }
    return true;
}

static bool factor_obeys(const clv_split_filter *s, clv_op op, const clv_factors *f, int16_t want,
                         int16_t factor)
{
    if (want != CLV_WANT_BATCH && want != CLV_WANT_SHARED)
        return factor == want;
    if (factor < 0)
        return want == CLV_WANT_BATCH;
    return clv_batch_is_factor(&s->batch, s->g, op, f, factor);
}

static bool factors_obey(const clv_split_filter *s, clv_op op, const clv_factors *f,
                         const clv_op_choice *c, int32_t one, int32_t two)
{
    const clv_pin *p = &s->op[op.i];
    for (int32_t a = 0; a < s->mesh->n_axes; a++)
        if (p->want[a] != CLV_WANT_ANY && counts(p->rule[a], one, two) &&
            !factor_obeys(s, op, f, p->want[a], c->factor[a]))
            return false;
    return true;
}

bool clv_choice_obeys(const clv_split_filter *s, clv_op op, const clv_factors *f,
                      const clv_op_choice *c, int32_t one, int32_t two)
{
    const clv_op_info *info = clv_op_at(s->g, op);
    if (!factors_obey(s, op, f, c, one, two))
        return false;
    for (int32_t k = 0; k < info->n_in; k++) {
        clv_tensor t = clv_op_input(s->g, info, k);
        if (t.i < 0 || !s->tensor_bound[t.i] || !clv_is_weight(s, t))
            continue;
        clv_layout l = clv_choice_in(f, s->mesh, c, k);
        if (!clv_layout_obeys(s, &s->tensor[t.i], &l, one, two))
            return false;
    }
    return true;
}

/* -- one operator -- */

bool clv_op_can_obey(const clv_split_filter *s, clv_op op, int32_t one, int32_t two)
{
    const clv_factors *f = &s->factors[op.i];
    clv_op_choice c = { { -1, -1, -1 } };
    do {
        if (clv_choice_obeys(s, op, f, &c, one, two) &&
            clv_choice_may(s->types, op, f, s->mesh, &c))
            return true;
    } while (clv_choice_next(f, s->mesh, &c));
    return false;
}

static int32_t add_rules(const clv_split_filter *s, const clv_pin *p, int32_t *on, int32_t n)
{
    for (int32_t a = 0; a < s->mesh->n_axes; a++) {
        int32_t at = 0;
        if (p->want[a] == CLV_WANT_ANY || n == CLV_RULES_ON)
            continue;
        while (at < n && on[at] < p->rule[a])
            at++;
        if (at < n && on[at] == p->rule[a])
            continue;
        for (int32_t i = n++; i > at; i--)
            on[i] = on[i - 1];
        on[at] = p->rule[a];
    }
    return n;
}

int32_t clv_rules_on(const clv_split_filter *s, clv_op op, int32_t on[static CLV_RULES_ON])
{
    const clv_op_info *info = clv_op_at(s->g, op);
    int32_t n = add_rules(s, &s->op[op.i], on, 0);
    for (int32_t k = 0; k < info->n_in; k++) {
        clv_tensor t = clv_op_input(s->g, info, k);
        if (t.i >= 0 && s->tensor_bound[t.i] && clv_is_weight(s, t))
            n = add_rules(s, &s->tensor[t.i], on, n);
    }
    return n;
}

/* -- as the problem asks -- */

static bool allow(void *ctx, clv_op op, const clv_factors *f, const clv_op_choice *choice)
{
    const clv_split_filter *s = ctx;
    return !s->op_bound[op.i] || clv_choice_obeys(s, op, f, choice, CLV_RULES_ALL, CLV_RULE_NONE);
}

static const clv_layout *like(void *ctx, clv_tensor t)
{
    const clv_split_filter *s = ctx;
    return s->tensor_bound[t.i] ? &s->like[t.i] : NULL;
}

static bool lies(void *ctx, clv_tensor t, const clv_layout *layout)
{
    const clv_split_filter *s = ctx;
    return clv_layout_obeys(s, &s->tensor[t.i], layout, CLV_RULES_ALL, CLV_RULE_NONE);
}

clv_choice_filter clv_split_filter_give(clv_split_filter *s)
{
    return (clv_choice_filter){ allow, like, lies, s };
}
