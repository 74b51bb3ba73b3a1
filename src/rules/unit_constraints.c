#include "rules/unit_constraints.h"

#include "base/map.h"
#include "base/union_find.h"
#include "graph/ops.h"
#include "problem/rules_close.h"

void clv_unit_constraints_drop_followers(clv_constraints *c, const clv_op *goes_with)
{
    for (int32_t i = 0; goes_with && i < c->n; i++) {
        clv_constraint *rule = &c->at[i];
        for (int32_t s = 0, from = 0, n = 0; s < rule->n_sets; s++) {
            for (; from < rule->set_first[s + 1]; from++)
                if (goes_with[rule->ops[from].i].i == rule->ops[from].i)
                    rule->ops[n++] = rule->ops[from];
            rule->set_first[s + 1] = n;
        }
    }
}

/* -- marks -- */

/* Refines a partition of the operators by one set after the other (as in partition refinement,
 * Paige and Tarjan 1987); a mark is a class. */
typedef struct {
    int32_t *mark;
    int32_t *split, *stamp;   /* by mark: what it becomes in the set at hand, and in which set */
    int32_t *parent, *set_of; /* by mark: what it was without its last set, and that set */
    int32_t n, cap, cap_stamp, cap_parent, cap_set;
    int32_t set;
    clv_arena *arena;
} marker;

static bool add_mark(marker *m, int32_t parent)
{
    if (!CLV_PUSH_ROOM(m->arena, m->split, m->n, m->cap) ||
        !CLV_PUSH_ROOM(m->arena, m->stamp, m->n, m->cap_stamp) ||
        !CLV_PUSH_ROOM(m->arena, m->parent, m->n, m->cap_parent) ||
        !CLV_PUSH_ROOM(m->arena, m->set_of, m->n, m->cap_set))
        return false;
    m->parent[m->n] = parent;
    m->set_of[m->n] = m->set;
    m->stamp[m->n++] = -1;
    return true;
}

/* Operators in the set part from those with the same mark that are not. */
static bool mark_set(marker *m, const clv_op *ops, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t was = m->mark[ops[i].i];
        if (m->stamp[was] != m->set) {
            m->stamp[was] = m->set;
            m->split[was] = m->n;
            if (!add_mark(m, was))
                return false;
        }
        m->mark[ops[i].i] = m->split[was];
    }
    m->set++;
    return true;
}

/* Are all sets of mark a sets of mark b? Sets fall on the way to mark 0. */
static bool is_part(const marker *m, int32_t a, int32_t b)
{
    for (; a != 0; a = m->parent[a]) {
        while (b != 0 && m->set_of[b] > m->set_of[a])
            b = m->parent[b];
        if (b == 0 || m->set_of[b] != m->set_of[a])
            return false;
    }
    return true;
}

static void unmark_constants(marker *m, const clv_graph *g)
{
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        bool free = op->kind >= 0 && clv_op_def_at(op->kind)->bytes == CLV_BYTES_CONST;
        for (int32_t k = 0; k < op->n_out && free; k++) {
            clv_tensor t = clv_op_output(g, op, k);
            const clv_tensor_info *info = t.i < 0 ? NULL : clv_tensor_at(g, t);
            for (int32_t r = 0; info && r < info->n_readers && free; r++)
                free = is_part(m, m->mark[i], m->mark[g->readers_of[info->first_reader + r].i]);
        }
        if (free)
            m->mark[i] = 0;
    }
}

clv_status clv_unit_constraints_mark(const clv_constraints *c, const clv_graph *g, clv_arena *arena,
                                     int32_t **ret_mark, clv_error *err)
{
    marker m = { .mark = CLV_NEW_ARRAY(arena, int32_t, g->n_ops), .arena = arena };
    bool room = m.mark && add_mark(&m, 0); /* mark 0 */
    for (int32_t i = 0; i < c->n && room; i++) {
        const clv_constraint *rule = &c->at[i];
        for (int32_t s = 0; s < rule->n_sets && room && !rule->unused; s++)
            room = mark_set(&m, rule->ops + rule->set_first[s],
                            rule->set_first[s + 1] - rule->set_first[s]);
    }
    if (!room)
        return clv_fail_nomem(err, "constraints");
    unmark_constants(&m, g);
    *ret_mark = m.mark;
    return CLV_OK;
}

/* -- numbers -- */

typedef struct {
    const clv_constraints *c;
    const bool *skip;
    const clv_subgraphs *units;
    const clv_partition_problem *p;
    clv_arena *arena;
    clv_rules *out;
} lowering;

static clv_status no_memory(clv_error *err)
{
    return clv_fail_nomem(err, "the rules of a problem");
}

/* The i-th rule if it counts and is of that kind. */
static const clv_constraint *rule_of_kind(const lowering *l, int32_t i, clv_constraint_kind kind)
{
    const clv_constraint *rule = &l->c->at[i];
    bool counts = !rule->unused && !(l->skip && l->skip[i]);
    return counts && rule->kind == kind ? rule : NULL;
}

/* The i-th rule if it counts and its sets are tags: one family. */
static const clv_constraint *family_at(const lowering *l, int32_t i)
{
    const clv_constraint *rule = rule_of_kind(l, i, CLV_CONSTRAINT_APART);
    return rule ? rule : rule_of_kind(l, i, CLV_CONSTRAINT_BOUNDARY);
}

static clv_status new_full_sets(lowering *l, uint64_t **ret, clv_error *err)
{
    size_t words = l->c->words;
    *ret = clv_arena_take_array(l->arena, (size_t)l->p->n_units * words, sizeof **ret);
    if (!*ret)
        return no_memory(err);
    for (int32_t u = 0; u < l->p->n_units; u++)
        for (int32_t d = 0; d < l->p->n_devices; d++)
            clv_bit_set(*ret + (size_t)u * words, d);
    return CLV_OK;
}

/* The rule's devices, or stages, for the units of its operators. */
static void narrow(const lowering *l, const clv_constraint *rule, const uint64_t *set,
                   uint64_t *rows)
{
    for (int32_t i = 0; i < rule->set_first[1]; i++) {
        uint64_t *row = rows + (size_t)l->units->of[rule->ops[i].i] * l->c->words;
        for (size_t w = 0; w < l->c->words; w++)
            row[w] &= set[w];
    }
}

static clv_status lower_places(lowering *l, uint64_t **ret_stages, clv_error *err)
{
    uint64_t *devices = NULL;
    for (int32_t i = 0; i < l->c->n; i++) {
        const clv_constraint *rule = rule_of_kind(l, i, CLV_CONSTRAINT_PLACE);
        if (rule && rule->devices) {
            if (!devices)
                CLV_TRY(new_full_sets(l, &devices, err));
            narrow(l, rule, rule->devices, devices);
        }
        if (rule && rule->stages) {
            if (!*ret_stages)
                CLV_TRY(new_full_sets(l, ret_stages, err));
            narrow(l, rule, rule->stages, *ret_stages);
        }
    }
    l->out->devices = devices;
    return CLV_OK;
}

/* Equal sets of stages are one. */
static clv_status lower_stages(lowering *l, const uint64_t *rows, clv_error *err)
{
    clv_map known;
    size_t bytes = l->c->words * sizeof *rows;
    int32_t *set_of = CLV_NEW_ARRAY(l->arena, int32_t, l->p->n_units), cap = 0, n = 0;
    uint64_t *sets = NULL, *full = CLV_NEW_ARRAY(l->arena, uint64_t, l->c->words);
    if (!set_of || !full)
        return no_memory(err);
    for (int32_t d = 0; d < l->p->n_devices; d++)
        clv_bit_set(full, d);
    CLV_TRY(clv_map_init(&known, l->arena, 16, err));
    for (int32_t u = 0; u < l->p->n_units; u++) {
        const uint64_t *row = rows + (size_t)u * l->c->words;
        clv_str key = { (const char *)row, (int32_t)bytes };
        set_of[u] = -1;
        if (memcmp(row, full, bytes) == 0)
            continue;
        CLV_TRY(clv_map_put(&known, key, n, &set_of[u], err));
        if (set_of[u] < n)
            continue;
        for (size_t w = 0; w < l->c->words; w++) {
            int32_t at = n * (int32_t)l->c->words + (int32_t)w;
            if (!CLV_PUSH_ROOM(l->arena, sets, at, cap))
                return no_memory(err);
            sets[at] = row[w];
        }
        n++;
    }
    l->out->stage_set_of = set_of;
    l->out->stage_sets = sets;
    l->out->n_stage_sets = n;
    return CLV_OK;
}

static clv_status lower_groups(lowering *l, clv_error *err)
{
    int32_t *parent = CLV_NEW_ARRAY(l->arena, int32_t, l->p->n_units);
    clv_rule_groups groups;
    int32_t *group = CLV_NEW_ARRAY(l->arena, int32_t, l->p->n_units);
    bool any = false;
    if (!parent || !group)
        return no_memory(err);
    for (int32_t u = 0; u < l->p->n_units; u++) {
        parent[u] = u;
        group[u] = -1;
    }
    for (int32_t i = 0; i < l->c->n; i++) {
        const clv_constraint *rule = rule_of_kind(l, i, CLV_CONSTRAINT_TOGETHER);
        for (int32_t k = 1; rule && k < rule->set_first[1]; k++) {
            int32_t a = clv_find_root(parent, l->units->of[rule->ops[0].i]);
            int32_t b = clv_find_root(parent, l->units->of[rule->ops[k].i]);
            parent[a > b ? a : b] = a > b ? b : a;
            any = true;
        }
    }
    if (!any)
        return CLV_OK;
    for (int32_t u = 0; u < l->p->n_units; u++)
        if (parent[u] != u)
            group[u] = group[clv_find_root(parent, u)] = clv_find_root(parent, u);
    CLV_TRY(clv_rules_close(l->p, l->arena, group, &groups, err));
    l->out->n_groups = groups.n;
    l->out->group_of = group;
    l->out->group_first = groups.first;
    l->out->group_units = groups.units;
    return CLV_OK;
}

/* Counts into first[unit + 1], or with tags fills and moves first[unit]. last: by unit, the tag
 * seen last, so that each counts once. */
static void walk_tags(const lowering *l, int32_t *first, int32_t *tags, int32_t *last)
{
    int32_t tag = 0;
    for (int32_t u = 0; u < l->p->n_units; u++)
        last[u] = -1;
    for (int32_t i = 0; i < l->c->n; i++) {
        const clv_constraint *rule = family_at(l, i);
        if (!rule)
            continue;
        for (int32_t s = 0; s < rule->n_sets; s++, tag++)
            for (int32_t k = rule->set_first[s]; k < rule->set_first[s + 1]; k++) {
                int32_t u = l->units->of[rule->ops[k].i];
                if (last[u] == tag)
                    continue;
                last[u] = tag;
                if (tags)
                    tags[first[u]++] = tag;
                else
                    first[u + 1]++;
            }
    }
}

static clv_status number_tags(lowering *l, clv_error *err)
{
    clv_rules *r = l->out;
    for (int32_t i = 0; i < l->c->n; i++) {
        const clv_constraint *rule = family_at(l, i);
        if (!rule)
            continue;
        r->n_families++;
        r->n_tags += rule->n_sets;
    }
    int32_t *family_of = CLV_NEW_ARRAY(l->arena, int32_t, r->n_tags), f = 0, tag = 0;
    bool *in_order = CLV_NEW_ARRAY(l->arena, bool, r->n_families);
    if (!family_of || !in_order)
        return no_memory(err);
    for (int32_t i = 0; i < l->c->n; i++) {
        const clv_constraint *rule = family_at(l, i);
        if (!rule)
            continue;
        in_order[f] = rule->kind == CLV_CONSTRAINT_BOUNDARY;
        for (int32_t s = 0; s < rule->n_sets; s++)
            family_of[tag++] = f;
        f++;
    }
    r->family_of = family_of;
    r->in_order = in_order;
    return CLV_OK;
}

static clv_status lower_families(lowering *l, clv_error *err)
{
    size_t n = (size_t)l->p->n_units;
    CLV_TRY(number_tags(l, err));
    if (l->out->n_families == 0)
        return CLV_OK;
    int32_t *first = CLV_NEW_ARRAY(l->arena, int32_t, n + 1);
    int32_t *last = CLV_NEW_ARRAY(l->arena, int32_t, n + 1);
    if (!first || !last)
        return no_memory(err);
    walk_tags(l, first, NULL, last);
    for (size_t u = 0; u < n; u++)
        first[u + 1] += first[u];
    int32_t *tags = CLV_NEW_ARRAY(l->arena, int32_t, first[n]);
    if (!tags)
        return no_memory(err);
    walk_tags(l, first, tags, last); /* leaves first[u] where u ends */
    for (size_t u = n; u > 0; u--)
        first[u] = first[u - 1];
    first[0] = 0;
    l->out->tag_first = first;
    l->out->tags = tags;
    return CLV_OK;
}

clv_status clv_unit_constraints_lower(const clv_constraints *c, const bool *skip,
                                      const clv_subgraphs *units, clv_partition_problem *p,
                                      clv_arena *arena, clv_error *err)
{
    lowering l = { c, skip, units, p, arena, CLV_NEW(arena, clv_rules) };
    uint64_t *stages = NULL;
    if (!l.out)
        return no_memory(err);
    l.out->words = c->words;
    CLV_TRY(lower_places(&l, &stages, err));
    if (stages)
        CLV_TRY(lower_stages(&l, stages, err));
    CLV_TRY(lower_groups(&l, err));
    CLV_TRY(lower_families(&l, err));
    for (int32_t i = 0; i < c->n; i++) {
        const clv_constraint *rule = rule_of_kind(&l, i, CLV_CONSTRAINT_MAX_STAGES);
        if (rule && (l.out->max_stages == 0 || rule->max_stages < l.out->max_stages))
            l.out->max_stages = rule->max_stages;
    }
    p->rules = l.out;
    return CLV_OK;
}
