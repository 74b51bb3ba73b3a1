#include "solver/partition/rule_exact.h"

/* Steps (some ns each) for each of the two searches: a second or so. */
#define STEPS_MAX INT64_C(200000000)

/* All assignments are tried of so many supernodes at most: recursion is as deep, and beyond that
 * the end would not be reached. */
#define ASSIGNED_MAX 2000

#define FREE         (-1)

typedef struct {
    const clv_supernodes *g;
    int32_t *device_of; /* of the caller */
    int64_t steps;
    bool has_leaf; /* all was placed once, whatever became of it */
    bool *used;    /* by device */
    int32_t *on;   /* by supernode: device */
    int32_t *log, n_log;
    int32_t
        *left; /* by family in order: supernodes before the boundary that are not assigned yet */
    int32_t *owner; /* by family: tag of the device at hand */
    /* all assignments */
    clv_rule_counts counts;
    int32_t *edges; /* [from * n_devices + to] */
    uint64_t *rows;
    int32_t *n_on; /* by device: supernodes */
} exact;

/* -- orders of devices -- */

typedef struct {
    int32_t device, parent_log;
    int32_t *closed; /* by family in order: not all before the boundary was assigned when the device
                        began */
    int32_t depth;
} device_turn;

static bool place_next(exact *s, int32_t depth);

static void undo_to(exact *s, int32_t n_log)
{
    const clv_supernodes *g = s->g;
    while (s->n_log > n_log) {
        int32_t b = s->log[--s->n_log];
        s->on[b] = FREE;
        for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++) {
            int32_t tag = g->tags[i];
            if (clv_tag_is_in_order(g, tag) && clv_tag_is_first(g, tag))
                s->left[g->rules->family_of[tag]]++;
        }
    }
}

/* May the device at hand have it, by its tags? *ret_open: a family for which that is open. */
static bool tags_allow(const exact *s, int32_t b, const device_turn *now, int32_t *ret_open)
{
    const clv_supernodes *g = s->g;
    bool allow = true;
    for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++) {
        int32_t tag = g->tags[i], f = g->rules->family_of[tag];
        if (g->rules->in_order[f]) {
            if (!clv_tag_is_first(g, tag) && now->closed[f])
                return false;
        } else if (s->owner[f] != tag) {
            if (s->owner[f] >= 0)
                return false;
            allow = false;
            if (*ret_open < 0)
                *ret_open = f;
        }
    }
    return allow;
}

static void assign_supernode(exact *s, int32_t b, int32_t device)
{
    const clv_supernodes *g = s->g;
    s->on[b] = device;
    s->log[s->n_log++] = b;
    for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++)
        if (clv_tag_is_in_order(g, g->tags[i]) && clv_tag_is_first(g, g->tags[i]))
            s->left[g->rules->family_of[g->tags[i]]]--;
}

/* One sweep assigns all that the device may have without a choice. *ret_open: a family that wants
 * one. */
static void assign_forced(exact *s, const device_turn *now, int32_t *ret_open)
{
    const clv_supernodes *g = s->g;
    *ret_open = -1;
    for (int32_t b = 0; b < g->n; b++) {
        s->steps++;
        if (s->on[b] != FREE || !clv_supernode_allows(g, b, now->device))
            continue;
        bool ready = true;
        for (int32_t i = g->read_first[b]; i < g->read_first[b + 1] && ready; i++, s->steps++)
            ready = s->on[g->reads[i]] != FREE;
        int32_t open = -1;
        if (!ready)
            continue;
        if (tags_allow(s, b, now, &open))
            assign_supernode(s, b, now->device);
        else if (*ret_open < 0)
            *ret_open = open;
    }
}

/* Is a supernode with this tag left that the device may have? */
static bool has_tag_left(exact *s, int32_t tag, int32_t device)
{
    const clv_supernodes *g = s->g;
    for (int32_t b = 0; b < g->n; b++) {
        s->steps++;
        if (s->on[b] != FREE || !clv_supernode_allows(g, b, device))
            continue;
        for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++)
            if (g->tags[i] == tag)
                return true;
    }
    return false;
}

/* The device gets all it may have, where there is a choice of tags in all ways; then the next
 * device. *ret_chose: there was a choice. */
static bool assign_in_all_ways(exact *s, const device_turn *now, bool *ret_chose)
{
    const clv_rules *r = s->g->rules;
    int32_t open, n_log = s->n_log;
    assign_forced(s, now, &open);
    if (open < 0) {
        bool done = s->n_log > now->parent_log && place_next(s, now->depth + 1);
        if (!done)
            undo_to(s, n_log);
        return done;
    }
    *ret_chose = true;
    for (int32_t tag = 0; tag < r->n_tags && s->steps < STEPS_MAX; tag++) {
        if (r->family_of[tag] != open || !has_tag_left(s, tag, now->device))
            continue;
        s->owner[open] = tag;
        if (assign_in_all_ways(s, now, ret_chose))
            return true;
        s->owner[open] = -1;
    }
    undo_to(s, n_log);
    return false;
}

/* Is there an unused device for each supernode that is left? *ret_any: some are left. */
static bool has_devices_left(exact *s, bool *ret_any)
{
    const clv_supernodes *g = s->g;
    *ret_any = false;
    for (int32_t b = 0; b < g->n; b++) {
        if (s->on[b] != FREE)
            continue;
        bool any = false;
        for (int32_t d = 0; d < g->p->n_devices && !any; d++, s->steps++)
            any = !s->used[d] && clv_supernode_allows(g, b, d);
        if (!any)
            return false;
        *ret_any = true;
    }
    return true;
}

static bool has_more_for(exact *s, int32_t device)
{
    for (int32_t b = 0; b < s->g->n; b++, s->steps++)
        if (s->on[b] == FREE && clv_supernode_allows(s->g, b, device))
            return true;
    return false;
}

/* The device comes next. *ret_safe: it got all it may ever have, so no other has to be tried first
 * (dominance). */
static bool try_device(exact *s, int32_t device, int32_t depth, bool *ret_safe)
{
    int32_t n_families = s->g->rules->n_families, n_log = s->n_log;
    clv_mark mark = clv_arena_mark(s->g->arena);
    device_turn now = { .device = device, .parent_log = n_log, .depth = depth };
    int32_t *owner = CLV_NEW_ARRAY(s->g->arena, int32_t, n_families), *before = s->owner;
    now.closed = CLV_NEW_ARRAY(s->g->arena, int32_t, n_families);
    *ret_safe = false;
    if (!owner || !now.closed) {
        s->steps = STEPS_MAX; /* not to be taken for a proof */
        clv_arena_rewind(s->g->arena, mark);
        return false;
    }
    for (int32_t f = 0; f < n_families; f++) {
        owner[f] = -1;
        now.closed[f] = s->left[f] > 0;
    }
    bool chose = false;
    s->owner = owner;
    s->used[device] = true;
    bool found = assign_in_all_ways(s, &now, &chose);
    s->used[device] = false;
    s->owner = before;
    if (!found && !chose) { /* what it takes is the same again */
        int32_t open;
        s->owner = owner;
        assign_forced(s, &now, &open);
        *ret_safe = s->n_log > n_log && !has_more_for(s, device);
        s->owner = before;
        undo_to(s, n_log);
    }
    clv_arena_rewind(s->g->arena, mark);
    return found;
}

static bool place_next(exact *s, int32_t depth)
{
    const clv_supernodes *g = s->g;
    bool any, safe = false;
    if (s->steps >= STEPS_MAX || !has_devices_left(s, &any))
        return false;
    if (!any) {
        s->has_leaf = true;
        clv_supernodes_expand(g, s->on, s->device_of);
        return clv_partition_satisfies_rules(g->p, s->device_of, g->arena);
    }
    for (int32_t d = 0; d < g->p->n_devices && !safe && s->steps < STEPS_MAX; d++) {
        bool stands = !s->used[d];
        for (int32_t c = g->class_of[d]; c < d && stands; c++)
            stands = s->used[c] || g->class_of[c] != g->class_of[d];
        if (stands && try_device(s, d, depth, &safe))
            return true;
    }
    return false;
}

/* -- all assignments -- */

/* A supernode comes to a device (sign 1) or leaves it (-1). */
static void place(exact *s, int32_t b, int32_t device, int32_t sign)
{
    const clv_supernodes *g = s->g;
    for (int32_t i = g->read_first[b]; i < g->read_first[b + 1]; i++) {
        int32_t from = s->on[g->reads[i]];
        if (from == device)
            continue;
        int32_t *n = &s->edges[(size_t)from * (size_t)g->p->n_devices + (size_t)device];
        *n += sign;
        if (*n > 0)
            clv_bit_set(s->rows + (size_t)from * g->words, device);
        else
            clv_bit_clear(s->rows + (size_t)from * g->words, device);
    }
    s->n_on[device] += sign;
    for (int32_t i = g->unit_first[b]; i < g->unit_first[b + 1]; i++)
        clv_rule_counts_add(&s->counts, g->units[i], device, sign);
}

/* Levels only rise as supernodes are added: is one too high already? */
static bool levels_are_possible(exact *s)
{
    const clv_rules *r = s->g->rules;
    int32_t n = s->g->p->n_devices, *level = s->counts.level;
    s->steps += (int64_t)n * n;
    if (!clv_quotient_levels(s->rows, n, level, level + n))
        return false;
    for (int32_t d = 0; d < n && r->max_stages > 0; d++)
        if (level[d] >= r->max_stages)
            return false;
    for (int32_t set = 0; set < r->n_stage_sets; set++) {
        const uint64_t *stages = r->stage_sets + (size_t)set * r->words;
        for (int32_t d = 0; d < n; d++) {
            if (s->counts.staged[(size_t)set * (size_t)n + (size_t)d] == 0)
                continue;
            int32_t stage = level[d];
            while (stage < n && !clv_bit(stages, stage))
                stage++;
            if (stage == n)
                return false;
        }
    }
    return true;
}

static bool is_apart(const exact *s, int32_t b, int32_t device)
{
    for (int32_t i = s->g->unit_first[b]; i < s->g->unit_first[b + 1]; i++)
        if (!clv_rule_counts_is_apart(&s->counts, s->g->units[i], device))
            return false;
    return true;
}

static bool assign_from(exact *s, int32_t b)
{
    const clv_supernodes *g = s->g;
    if (b == g->n) {
        clv_supernodes_expand(g, s->on, s->device_of);
        return clv_rule_counts_stages_satisfied(&s->counts, s->rows);
    }
    for (int32_t d = 0; d < g->p->n_devices && s->steps < STEPS_MAX; d++) {
        if (!clv_supernode_allows(g, b, d))
            continue;
        bool is_alike = false; /* an unused device of a class is as good as the first one of it */
        for (int32_t c = g->class_of[d]; c < d && !is_alike; c++)
            is_alike = s->n_on[c] == 0 && s->n_on[d] == 0 && g->class_of[c] == g->class_of[d];
        if (is_alike)
            continue;
        s->on[b] = d;
        place(s, b, d, 1);
        if (is_apart(s, b, d) && levels_are_possible(s) && assign_from(s, b + 1))
            return true;
        place(s, b, d, -1);
    }
    return false;
}

static bool open_assignments(exact *s)
{
    const clv_supernodes *g = s->g;
    size_t d = (size_t)g->p->n_devices;
    s->edges = CLV_NEW_ARRAY(g->arena, int32_t, d * d);
    s->rows = CLV_NEW_ARRAY(g->arena, uint64_t, d * g->words);
    s->n_on = CLV_NEW_ARRAY(g->arena, int32_t, d);
    return s->edges && s->rows && s->n_on &&
           clv_rule_counts_new(g->p, g->arena, &s->counts, NULL) == CLV_OK;
}

/* -- both -- */

static bool open_orders(exact *s)
{
    const clv_supernodes *g = s->g;
    s->used = CLV_NEW_ARRAY(g->arena, bool, g->p->n_devices);
    s->on = CLV_NEW_ARRAY(g->arena, int32_t, g->n);
    s->log = CLV_NEW_ARRAY(g->arena, int32_t, g->n);
    s->left = CLV_NEW_ARRAY(g->arena, int32_t, g->rules->n_families);
    if (!s->used || !s->on || !s->log || !s->left)
        return false;
    for (int32_t b = 0; b < g->n; b++)
        s->on[b] = FREE;
    for (int32_t i = 0; i < g->tag_first[g->n]; i++)
        if (clv_tag_is_in_order(g, g->tags[i]) && clv_tag_is_first(g, g->tags[i]))
            s->left[g->rules->family_of[g->tags[i]]]++;
    return true;
}

static clv_rule_outcome search(exact *s)
{
    if (!open_orders(s))
        return CLV_RULES_UNDECIDED;
    if (place_next(s, 0))
        return CLV_RULES_FEASIBLE;
    if (s->steps < STEPS_MAX && !s->has_leaf)
        return CLV_RULES_INFEASIBLE;
    if (!clv_rules_order_stages(s->g->rules) || s->g->n > ASSIGNED_MAX || !open_assignments(s))
        return CLV_RULES_UNDECIDED;
    s->steps = 0;
    if (assign_from(s, 0))
        return CLV_RULES_FEASIBLE;
    return s->steps < STEPS_MAX ? CLV_RULES_INFEASIBLE : CLV_RULES_UNDECIDED;
}

clv_rule_outcome clv_rule_exact(const clv_supernodes *g, int32_t *device_of)
{
    exact s = { .g = g, .device_of = device_of };
    clv_mark mark = clv_arena_mark(g->arena);
    clv_rule_outcome outcome = search(&s);
    clv_arena_rewind(g->arena, mark);
    return outcome;
}
