#include "rules/joint_rules.h"

#include <string.h>

#include "plan/plan_note.h"

#define LABEL 128

clv_status clv_joint_rules_read(const clv_request *req, const clv_cluster *cluster,
                                clv_arena *arena, clv_constraints *ret, clv_error *err)
{
    int32_t n = cluster->n_devices;
    const char **names = CLV_NEW_ARRAY(arena, const char *, n);
    if (!names)
        return clv_fail_nomem(err, "constraints");
    for (int32_t d = 0; d < n; d++)
        names[d] = cluster->devices[d].name;
    return clv_constraints_parse(req->constraints, strlen(req->constraints), req->model->main,
                                 names, n, arena, ret, err);
}

static int32_t first_place(const clv_constraints *rules)
{
    int32_t i = 0;
    while (i < rules->n && !rules->at[i].devices)
        i++;
    return i;
}

bool clv_joint_rules_place(const clv_constraints *rules) { return first_place(rules) < rules->n; }

clv_status clv_joint_rules_check(const clv_constraints *rules, clv_error *err)
{
    char label[LABEL];
    if (!clv_joint_rules_place(rules))
        return CLV_OK;
    return clv_fail(err, CLV_EUSAGE,
                    "%s places nodes by \"on\" or \"not_on\", but with a mesh all devices of a "
                    "stage have them: expected \"stage\" or \"not_stage\"",
                    clv_rule_label(rules, first_place(rules), label, sizeof label));
}

/* A plan that leaves rules out and fits shows that it is for them that there is none. */
static clv_status tell_conflict(const char *conflict, clv_arena *arena, clv_plan *plan,
                                clv_error *err)
{
    if (plan->outcome != CLV_FITS)
        return clv_plan_note(
            plan, "without the rules on tensors no plan was found that fits either", arena, err);
    plan->outcome = CLV_INFEASIBLE;
    plan->conflict = conflict;
    return clv_plan_note(plan, "this plan leaves out what is asked of tensors", arena, err);
}

clv_status clv_joint_rules_tell(const clv_constraints *rules, const bool *idle,
                                const char *conflict, clv_arena *arena, clv_plan *plan,
                                clv_error *err)
{
    char label[LABEL];
    for (int32_t i = 0; i < rules->n && i < plan->n_rules; i++) {
        const clv_rule *rule = &rules->at[i];
        if (!rule->split || rule->unused)
            continue;
        if (conflict) {
            plan->rules[i].state = "left out";
        } else if (idle && idle[i]) {
            plan->rules[i].state = "unused";
            clv_rule_label(rules, i, label, sizeof label);
            CLV_TRY(clv_plan_note(
                plan,
                clv_arena_printf(arena,
                                 "%s binds nothing: what it names is known before the "
                                 "run, so that it is no part of it",
                                 label),
                arena, err));
        }
    }
    return conflict ? tell_conflict(conflict, arena, plan, err) : CLV_OK;
}
