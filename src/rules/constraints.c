#include "rules/constraints.h"

#include <stdio.h>

#include "problem/quotient.h"

const char *clv_constraint_label(const clv_constraints *c, int32_t rule, char *buf, size_t size)
{
    const char *name = c->at[rule].name;
    if (name)
        snprintf(buf, size, "rules[%d] '%.80s'", (int)rule, name);
    else
        snprintf(buf, size, "rules[%d]", (int)rule);
    return buf;
}

/* -- who breaks them -- */

static bool place_holds(const clv_constraint *rule, const clv_rule_placement *p, int32_t n_devices)
{
    for (int32_t i = 0; i < rule->set_first[1]; i++) {
        int32_t d = p->device_of[rule->ops[i].i], stage = p->stage_of[d];
        if (rule->devices && !clv_bit(rule->devices, d))
            return false;
        if (rule->stages && (stage >= n_devices || !clv_bit(rule->stages, stage)))
            return false;
    }
    return true;
}

static bool together_holds(const clv_constraint *rule, const clv_rule_placement *p)
{
    for (int32_t i = 1; i < rule->set_first[1]; i++)
        if (p->device_of[rule->ops[i].i] != p->device_of[rule->ops[0].i])
            return false;
    return true;
}

static bool apart_holds(const clv_constraint *rule, const clv_rule_placement *p, int32_t n_devices)
{
    for (int32_t d = 0; d < n_devices; d++)
        p->set_on[d] = -1;
    for (int32_t set = 0; set < rule->n_sets; set++)
        for (int32_t i = rule->set_first[set]; i < rule->set_first[set + 1]; i++) {
            int32_t d = p->device_of[rule->ops[i].i];
            if (p->set_on[d] >= 0 && p->set_on[d] != set)
                return false;
            p->set_on[d] = set;
        }
    return true;
}

static bool boundary_holds(const clv_constraint *rule, const clv_rule_placement *p)
{
    int32_t last = -1, first = INT32_MAX;
    for (int32_t i = 0; i < rule->set_first[2]; i++) {
        int32_t stage = p->stage_of[p->device_of[rule->ops[i].i]];
        if (i < rule->set_first[1])
            last = stage > last ? stage : last;
        else
            first = stage < first ? stage : first;
    }
    return last < first;
}

static bool holds(const clv_constraint *rule, const clv_rule_placement *p, int32_t n_devices)
{
    switch (rule->kind) {
    case CLV_CONSTRAINT_PLACE:
        return place_holds(rule, p, n_devices);
    case CLV_CONSTRAINT_TOGETHER:
        return together_holds(rule, p);
    case CLV_CONSTRAINT_APART:
        return apart_holds(rule, p, n_devices);
    case CLV_CONSTRAINT_BOUNDARY:
        return boundary_holds(rule, p);
    case CLV_CONSTRAINT_MAX_STAGES:
        return p->n_stages <= rule->max_stages;
    case CLV_CONSTRAINT_SPLIT:
    case CLV_CONSTRAINT_WHOLE:
    case CLV_CONSTRAINT_DATA_PARALLEL:
        return true; /* whatever the placement */
    }
    return false;
}

int32_t clv_constraints_first_broken(const clv_constraints *c, const clv_rule_placement *p,
                                     const bool *skip)
{
    for (int32_t i = 0; i < c->n; i++)
        if (!c->at[i].unused && !(skip && skip[i]) && !holds(&c->at[i], p, c->n_devices))
            return i;
    return -1;
}
