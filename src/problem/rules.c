#include "problem/rules.h"

#include <assert.h>
#include <string.h>

static size_t cell(const clv_rule_counts *c, int32_t row, int32_t device)
{
    return (size_t)row * (size_t)c->p->n_devices + (size_t)device;
}

clv_status clv_rule_counts_new(const clv_partition_problem *p, clv_arena *arena,
                               clv_rule_counts *ret, clv_error *err)
{
    const clv_rules *r = p->rules;
    size_t d = (size_t)p->n_devices;
    assert(r);
    *ret = (clv_rule_counts){
        .p = p,
        .rules = r,
        .tagged = clv_arena_take_array(arena, (size_t)r->n_tags * d, sizeof(int32_t)),
        .mixed = clv_arena_take_array(arena, (size_t)r->n_families * d, sizeof(int32_t)),
        .staged = clv_arena_take_array(arena, (size_t)r->n_stage_sets * d, sizeof(int32_t)),
        .level = CLV_NEW_ARRAY(arena, int32_t, 3 * d),
        .order_stages = clv_rules_order_stages(r),
    };
    bool all = ret->tagged && ret->mixed && ret->staged && ret->level;
    return all ? CLV_OK : clv_fail_nomem(err, "the rules of a search");
}

void clv_rule_counts_clear(clv_rule_counts *c)
{
    size_t d = (size_t)c->p->n_devices * sizeof(int32_t);
    memset(c->tagged, 0, (size_t)c->rules->n_tags * d);
    memset(c->mixed, 0, (size_t)c->rules->n_families * d);
    memset(c->staged, 0, (size_t)c->rules->n_stage_sets * d);
}

void clv_rule_counts_add(clv_rule_counts *c, int32_t unit, int32_t device, int32_t sign)
{
    const clv_rules *r = c->rules;
    for (int32_t i = r->tag_first ? r->tag_first[unit] : 0;
         r->tag_first && i < r->tag_first[unit + 1]; i++) {
        int32_t *n = &c->tagged[cell(c, r->tags[i], device)];
        int32_t *mixed = &c->mixed[cell(c, r->family_of[r->tags[i]], device)];
        *mixed -= *n > 0;
        *n += sign;
        *mixed += *n > 0;
    }
    if (r->stage_set_of && r->stage_set_of[unit] >= 0)
        c->staged[cell(c, r->stage_set_of[unit], device)] += sign;
}

bool clv_rule_counts_is_apart(const clv_rule_counts *c, int32_t unit, int32_t device)
{
    const clv_rules *r = c->rules;
    for (int32_t i = r->tag_first ? r->tag_first[unit] : 0;
         r->tag_first && i < r->tag_first[unit + 1]; i++)
        if (c->mixed[cell(c, r->family_of[r->tags[i]], device)] > 1)
            return false;
    return true;
}

bool clv_rule_counts_stages_satisfied(clv_rule_counts *c, const uint64_t *rows)
{
    const clv_rules *r = c->rules;
    int32_t n = c->p->n_devices;
    if (!c->order_stages)
        return true;
    if (!clv_quotient_levels(rows, n, c->level, c->level + n))
        return false;
    for (int32_t d = 0; d < n && r->max_stages > 0; d++)
        if (c->level[d] >= r->max_stages)
            return false;
    for (int32_t tag = 0; tag < r->n_tags; tag++) {
        bool first = tag == 0 || r->family_of[tag] != r->family_of[tag - 1];
        if (!first || !r->in_order[r->family_of[tag]])
            continue;
        int32_t last_before = -1, first_after = INT32_MAX;
        for (int32_t d = 0; d < n; d++) {
            if (c->tagged[cell(c, tag, d)] > 0 && c->level[d] > last_before)
                last_before = c->level[d];
            if (c->tagged[cell(c, tag + 1, d)] > 0 && c->level[d] < first_after)
                first_after = c->level[d];
        }
        if (last_before >= first_after)
            return false;
    }
    for (int32_t set = 0; set < r->n_stage_sets; set++)
        for (int32_t d = 0; d < n; d++)
            if (c->staged[cell(c, set, d)] > 0 &&
                !clv_bit(r->stage_sets + (size_t)set * r->words, c->level[d]))
                return false;
    return true;
}

static bool satisfies(const clv_partition_problem *p, const int32_t *device_of, clv_arena *arena)
{
    const clv_rules *r = p->rules;
    clv_rule_counts c;
    for (int32_t u = 0; u < p->n_units; u++)
        if (!clv_rules_allow(r, u, device_of[u]))
            return false;
    for (int32_t g = 0; g < r->n_groups; g++)
        for (int32_t i = r->group_first[g] + 1; i < r->group_first[g + 1]; i++)
            if (device_of[r->group_units[i]] != device_of[r->group_units[r->group_first[g]]])
                return false;
    if (clv_rule_counts_new(p, arena, &c, NULL) != CLV_OK)
        return false;
    for (int32_t u = 0; u < p->n_units; u++)
        clv_rule_counts_add(&c, u, device_of[u], 1);
    for (int32_t u = 0; u < p->n_units; u++)
        if (!clv_rule_counts_is_apart(&c, u, device_of[u]))
            return false;
    if (!c.order_stages)
        return true;
    uint64_t *rows = CLV_NEW_ARRAY(arena, uint64_t, (size_t)p->n_devices * r->words);
    if (!rows)
        return false;
    clv_quotient_rows(p, device_of, rows);
    return clv_rule_counts_stages_satisfied(&c, rows);
}

bool clv_partition_satisfies_rules(const clv_partition_problem *p, const int32_t *device_of,
                                   clv_arena *arena)
{
    assert(p && (device_of || p->n_units == 0));
    if (!p->rules)
        return true;
    clv_mark mark = clv_arena_mark(arena);
    bool ret = satisfies(p, device_of, arena);
    clv_arena_rewind(arena, mark);
    return ret;
}
