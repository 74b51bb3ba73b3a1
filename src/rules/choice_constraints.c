#include "rules/choice_constraints.h"

#include "cost/shard_choices.h"

/* -- what satisfies; one and two: the rules that count -- */

static bool counts(int32_t rule, int32_t one, int32_t two)
{
    return rule != CLV_NO_CONSTRAINT && (one == CLV_ALL_CONSTRAINTS || rule == one || rule == two);
}

static bool layout_satisfies(const clv_choice_constraints *c, const clv_axis_demands *demands,
                             const clv_layout *l, int32_t one, int32_t two)
{
    for (int32_t a = 0; a < c->mesh->n_axes; a++) {
        int16_t demand = demands->demand[a];
        if (demand == CLV_DEMAND_ANY || !counts(demands->rule[a], one, two))
            continue;
        if (l->dim[a] != demand)
            return false;
        for (int32_t b = 0; demand >= 0 && b < a; b++)
            if (demands->rule[b] == demands->rule[a] && l->dim[b] == l->dim[a] &&
                l->nest[b] > l->nest[a])
                return false;
    }
    return true;
}

static bool factors_satisfy(const clv_choice_constraints *c, clv_op op, const clv_factors *f,
                            const clv_op_choice *choice, int32_t one, int32_t two)
{
    const clv_axis_demands *demands = &c->op[op.i];
    for (int32_t a = 0; a < c->mesh->n_axes; a++) {
        int16_t demand = demands->demand[a], factor = choice->factor[a];
        if (demand == CLV_DEMAND_ANY || !counts(demands->rule[a], one, two))
            continue;
        bool is_batch = demand == CLV_DEMAND_BATCH || demand == CLV_DEMAND_BATCH_OR_NONE;
        if (!is_batch && factor != demand)
            return false;
        if (is_batch && factor < 0 && demand == CLV_DEMAND_BATCH)
            return false;
        if (is_batch && factor >= 0 && !clv_batch_dims_has_factor(&c->batch, c->g, op, f, factor))
            return false;
    }
    return true;
}

static bool choice_satisfies(const clv_choice_constraints *c, clv_op op, const clv_factors *f,
                             const clv_op_choice *choice, int32_t one, int32_t two)
{
    const clv_op_info *info = clv_op_at(c->g, op);
    if (!factors_satisfy(c, op, f, choice, one, two))
        return false;
    for (int32_t k = 0; k < info->n_in; k++) {
        clv_tensor t = clv_op_input(c->g, info, k);
        if (t.i < 0 || !c->tensor_bound[t.i] || !clv_tensor_is_weight(c->g, t))
            continue;
        clv_layout l = clv_choice_in(f, c->mesh, choice, k);
        if (!layout_satisfies(c, &c->tensor[t.i], &l, one, two))
            return false;
    }
    return true;
}

/* -- one operator -- */

bool clv_op_is_satisfiable(const clv_choice_constraints *c, clv_op op, int32_t one, int32_t two)
{
    const clv_factors *f = &c->factors[op.i];
    clv_op_choice choice = { { -1, -1, -1 } };
    do {
        if (choice_satisfies(c, op, f, &choice, one, two) &&
            clv_choice_may(c->types, op, f, c->mesh, &choice))
            return true;
    } while (clv_choice_next(f, c->mesh, false, &choice));
    return false;
}

/* Adds the rules of the demands to on, which stays ascending. */
static int32_t add_rules(const clv_choice_constraints *c, const clv_axis_demands *demands,
                         int32_t *on, int32_t n)
{
    for (int32_t a = 0; a < c->mesh->n_axes; a++) {
        int32_t at = 0;
        if (demands->demand[a] == CLV_DEMAND_ANY || n == CLV_CONSTRAINTS_ON_OP)
            continue;
        while (at < n && on[at] < demands->rule[a])
            at++;
        if (at < n && on[at] == demands->rule[a])
            continue;
        for (int32_t i = n++; i > at; i--)
            on[i] = on[i - 1];
        on[at] = demands->rule[a];
    }
    return n;
}

int32_t clv_constraints_on_op(const clv_choice_constraints *c, clv_op op,
                              int32_t on[static CLV_CONSTRAINTS_ON_OP])
{
    const clv_op_info *info = clv_op_at(c->g, op);
    int32_t n = add_rules(c, &c->op[op.i], on, 0);
    for (int32_t k = 0; k < info->n_in; k++) {
        clv_tensor t = clv_op_input(c->g, info, k);
        if (t.i >= 0 && c->tensor_bound[t.i] && clv_tensor_is_weight(c->g, t))
            n = add_rules(c, &c->tensor[t.i], on, n);
    }
    return n;
}

/* -- as the strategy problem asks (clv_choice_filter) -- */

static bool allow(void *ctx, clv_op op, const clv_factors *f, const clv_op_choice *choice)
{
    const clv_choice_constraints *c = ctx;
    return !c->op_bound[op.i] ||
           choice_satisfies(c, op, f, choice, CLV_ALL_CONSTRAINTS, CLV_NO_CONSTRAINT);
}

static const clv_layout *like(void *ctx, clv_tensor t)
{
    const clv_choice_constraints *c = ctx;
    return c->tensor_bound[t.i] ? &c->like[t.i] : NULL;
}

static bool lies(void *ctx, clv_tensor t, const clv_layout *layout)
{
    const clv_choice_constraints *c = ctx;
    return layout_satisfies(c, &c->tensor[t.i], layout, CLV_ALL_CONSTRAINTS, CLV_NO_CONSTRAINT);
}

clv_choice_filter clv_choice_constraints_filter(clv_choice_constraints *c)
{
    return (clv_choice_filter){ allow, like, lies, c };
}
