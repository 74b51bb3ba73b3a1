#include "rules/mesh_rules.h"

#include "plan/plan.h"

#define LABEL_MAX 128 /* characters of a rule's label */

/* The first rule on single devices; rules->n: there is none. */
static int32_t first_on_devices(const clv_constraints *rules)
{
    int32_t i = 0;
    while (i < rules->n && !rules->at[i].devices)
        i++;
    return i;
}

bool clv_mesh_rules_name_devices(const clv_constraints *rules)
{
    return first_on_devices(rules) < rules->n;
}

clv_status clv_mesh_rules_check(const clv_constraints *rules, clv_error *err)
{
    char label[LABEL_MAX];
    if (!clv_mesh_rules_name_devices(rules))
        return CLV_OK;
    return clv_fail(err, CLV_EUSAGE,
                    "%s places nodes by \"on\" or \"not_on\", but with a mesh all devices of a "
                    "stage have them: expected \"stage\" or \"not_stage\"",
                    clv_constraint_label(rules, first_on_devices(rules), label, sizeof label));
}

clv_status clv_mesh_rules_mark_plan(const clv_constraints *rules, const bool *idle,
                                    const char *conflict, clv_plan *plan, clv_arena *arena,
                                    clv_error *err)
{
    for (int32_t i = 0; i < rules->n && i < plan->n_rules; i++) {
        char label[LABEL_MAX];
        if (!rules->at[i].split || rules->at[i].unused)
            continue;
        if (conflict) {
            plan->rules[i].state = "left out";
        } else if (idle && idle[i]) {
            plan->rules[i].state = "unused";
            CLV_TRY(clv_plan_add_note(
                plan,
                clv_arena_printf(arena,
                                 "%s binds nothing: what it names is known before the "
                                 "run, so that it is no part of it",
                                 clv_constraint_label(rules, i, label, sizeof label)),
                arena, err));
        }
    }
    if (!conflict)
        return CLV_OK;
    /* a plan that leaves rules out and fits shows that it is for them that there is none */
    if (plan->outcome != CLV_FITS)
        return clv_plan_add_note(
            plan, "without the rules on tensors no plan was found that fits either", arena, err);
    plan->outcome = CLV_INFEASIBLE;
    plan->conflict = conflict;
    return clv_plan_add_note(plan, "this plan leaves out what is asked of tensors", arena, err);
}
