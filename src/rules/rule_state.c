#include "rules/rule_state.h"

#include "plan/plan.h"

#define LABEL_MAX 128 /* characters of a rule's label */

const char *clv_rules_label(const clv_constraints *rules, int32_t rule, clv_arena *arena)
{
    char text[LABEL_MAX];
    return clv_arena_printf(arena, "%s", clv_constraint_label(rules, rule, text, sizeof text));
}

const char *clv_rules_list(const clv_constraints *rules, const bool *in, int32_t n,
                           clv_arena *arena)
{
    const char *text = "";
    for (int32_t i = 0, at = 0; text && i < rules->n; i++) {
        char label[LABEL_MAX];
        if (!in[i])
            continue;
        at++;
        const char *joint = at == 1 ? "" : at == n ? " and " : ", ";
        text = clv_arena_printf(arena, "%s%s%s", text, joint,
                                clv_constraint_label(rules, i, label, sizeof label));
    }
    return text;
}

clv_status clv_rule_state_note(clv_rule_state *s, const char *text, clv_arena *arena,
                               clv_error *err)
{
    if (!text || !CLV_PUSH_ROOM(arena, s->notes, s->n_notes, s->cap_notes))
        return clv_fail_nomem(err, "notes of a plan");
    s->notes[s->n_notes++] = text;
    return CLV_OK;
}

/* -- a plan held against its rules -- */

static clv_status lay_out(const clv_graph *g, const clv_plan *plan, clv_arena *arena,
                          clv_rule_placement *ret, clv_error *err)
{
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    int32_t *stage_of = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    *ret = (clv_rule_placement){ device_of, stage_of, plan->n_stages,
                                 CLV_NEW_ARRAY(arena, int32_t, plan->n_devices) };
    if (!device_of || !stage_of || !ret->set_on)
        return clv_fail_nomem(err, "the rules of a plan");
    for (int32_t i = 0; i < g->n_ops; i++)
        device_of[i] = plan->device_of_op[g->ops[i].file_index];
    for (int32_t d = 0; d < plan->n_devices; d++)
        stage_of[d] = plan->devices[d].stage;
    return CLV_OK;
}

clv_status clv_rule_state_find_broken(clv_rule_state *s, const clv_graph *g, const clv_plan *plan,
                                      clv_arena *arena, clv_error *err)
{
    clv_rule_placement placed;
    int32_t n = 0;
    bool *broken = CLV_NEW_ARRAY(arena, bool, s->rules.n);
    if (s->rules.n == 0)
        return CLV_OK;
    CLV_TRY(lay_out(g, plan, arena, &placed, err));
    if (!broken)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t rule; (rule = clv_constraints_first_broken(&s->rules, &placed, broken)) >= 0;
         n++) {
        char label[LABEL_MAX];
        broken[rule] = true;
        clv_constraint_label(&s->rules, rule, label, sizeof label);
        CLV_TRY(clv_rule_state_note(s,
                                    clv_arena_printf(arena, "the cut given by hand breaks %s: %s",
                                                     label, s->rules.at[rule].says),
                                    arena, err));
    }
    if (n == 0)
        return CLV_OK;
    const char *list = clv_rules_list(&s->rules, broken, n, arena);
    s->core = broken;
    s->conflict = list ? clv_arena_printf(arena, "the cut given by hand breaks %s", list) : NULL;
    return s->conflict ? CLV_OK : clv_fail_nomem(err, "the rules of a plan");
}

clv_status clv_rule_state_check(const clv_rule_state *s, const clv_graph *g, const clv_plan *plan,
                                clv_arena *arena, clv_error *err)
{
    clv_rule_placement placed;
    char label[LABEL_MAX];
    if (s->rules.n == 0)
        return CLV_OK;
    CLV_TRY(lay_out(g, plan, arena, &placed, err));
    int32_t broken = clv_constraints_first_broken(&s->rules, &placed, s->skip);
    if (broken < 0)
        return CLV_OK;
    return clv_fail(err, CLV_EINTERNAL, "the plan breaks %s: %s",
                    clv_constraint_label(&s->rules, broken, label, sizeof label),
                    s->rules.at[broken].says);
}

/* -- into the plan -- */

static const char *state_of(const clv_rule_state *s, int32_t rule)
{
    if (s->rules.at[rule].unused)
        return "unused";
    if (s->core && s->core[rule])
        return "conflict";
    return s->skip && s->skip[rule] ? "left out" : "in force";
}

clv_status clv_rule_state_mark_plan(const clv_rule_state *s, clv_plan *plan, clv_arena *arena,
                                    clv_error *err)
{
    plan->conflict = s->conflict;
    plan->rules = CLV_NEW_ARRAY(arena, clv_plan_rule, s->rules.n);
    if (!plan->rules)
        return clv_fail_nomem(err, "the rules of a plan");
    for (int32_t i = 0; i < s->rules.n; i++) {
        const clv_constraint *rule = &s->rules.at[i];
        plan->rules[plan->n_rules++] =
            (clv_plan_rule){ rule->name, rule->why, rule->says, state_of(s, i) };
    }
    for (int32_t i = 0; i < s->n_notes; i++)
        CLV_TRY(clv_plan_add_note(plan, s->notes[i], arena, err));
    for (int32_t i = 0; i < s->rules.n_warnings; i++)
        CLV_TRY(clv_plan_add_note(plan, s->rules.warnings[i], arena, err));
    return CLV_OK;
}
