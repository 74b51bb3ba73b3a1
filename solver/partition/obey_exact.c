/* obey_exact.c - is there any legal assignment that obeys?
 *
 * First all orders of devices, device by device. A device takes all that it may: what only reads
 * what was taken before or by itself. Taking more never hurts those that come later, so only the
 * device that comes next, and where units must be apart, whose units a device takes, has to be
 * tried in all ways. A device that takes nothing may as well not be there; of devices that all
 * rules treat alike the first one stands for all.
 *
 * This leaves out that rules on stages speak of levels: a boundary is only taken for "the rest goes
 * to devices that come after", other rules on stages for nothing. If no order works out, nothing
 * does. If one does, but its stages do not obey, all assignments are tried, blob by blob.
 */
#include "solver/partition/obey_blobs.h"

#include <string.h>

/* Steps (some ns each) for each of the two searches: a second or so. */
#define STEPS_MAX INT64_C(200000000)

#define FREE      (-1)

typedef struct {
    clv_obey *o;
    int64_t steps;
    bool found, leaf; /* leaf: all was placed, whatever became of it */
    bool *used;       /* by device */
    int32_t *on;      /* by blob: device */
    int32_t *log, n_log;
    int32_t *left;  /* by family in order: blobs before the boundary that are not taken */
    int32_t *owner; /* by family: tag of the device at hand */
    /* all assignments */
    clv_rule_counts counts;
    int32_t *edges; /* [from * n_devices + to] */
    uint64_t *rows;
    int32_t *n_on; /* by device: blobs */
} exact;

static bool is_before(const clv_rules *r, int32_t tag)
{
    return tag == 0 || r->family_of[tag - 1] != r->family_of[tag];
}

/* -- orders of devices -- */

typedef struct {
    int32_t device, parent_log;
    int32_t *closed; /* by family in order: not all before it was taken when the device began */
    int32_t depth;
} place_now;

static bool place_next(exact *s, int32_t depth);

static void undo_to(exact *s, int32_t n_log)
{
    const clv_obey *o = s->o;
    while (s->n_log > n_log) {
        int32_t b = s->log[--s->n_log];
        s->on[b] = FREE;
        for (int32_t i = o->tag_first ? o->tag_first[b] : 0;
             o->tag_first && i < o->tag_first[b + 1]; i++) {
            int32_t tag = o->tags[i];
            if (o->rules->in_order[o->rules->family_of[tag]] && is_before(o->rules, tag))
                s->left[o->rules->family_of[tag]]++;
        }
    }
}

/* May the device at hand take it by its tags? *ret_open: a family for which that is open. */
static bool tags_allow(const exact *s, int32_t b, const place_now *now, int32_t *ret_open)
{
    const clv_obey *o = s->o;
    bool allow = true;
    for (int32_t i = o->tag_first ? o->tag_first[b] : 0; o->tag_first && i < o->tag_first[b + 1];
         i++) {
        int32_t tag = o->tags[i], f = o->rules->family_of[tag];
        if (o->rules->in_order[f]) {
            if (!is_before(o->rules, tag) && now->closed[f])
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

static void take_blob(exact *s, int32_t b, int32_t device)
{
    const clv_obey *o = s->o;
    s->on[b] = device;
    s->log[s->n_log++] = b;
    for (int32_t i = o->tag_first ? o->tag_first[b] : 0; o->tag_first && i < o->tag_first[b + 1];
         i++)
        if (o->rules->in_order[o->rules->family_of[o->tags[i]]] && is_before(o->rules, o->tags[i]))
            s->left[o->rules->family_of[o->tags[i]]]--;
}

/* One sweep takes all that can be taken without a choice. *ret_open: a family that wants one. */
static void take_all(exact *s, const place_now *now, int32_t *ret_open)
{
    const clv_obey *o = s->o;
    *ret_open = -1;
    for (int32_t b = 0; b < o->n; b++) {
        s->steps++;
        if (s->on[b] != FREE || !clv_blob_allows(o, b, now->device))
            continue;
        bool ready = true;
        for (int32_t i = o->read_first[b]; i < o->read_first[b + 1] && ready; i++, s->steps++)
            ready = s->on[o->reads[i]] != FREE;
        int32_t open = -1;
        if (!ready)
            continue;
        if (tags_allow(s, b, now, &open))
            take_blob(s, b, now->device);
        else if (*ret_open < 0)
            *ret_open = open;
    }
}

/* Is there something of this tag left that the device may take? */
static bool has_tag_left(exact *s, int32_t tag, int32_t device)
{
    const clv_obey *o = s->o;
    for (int32_t b = 0; b < o->n; b++) {
        s->steps++;
        if (s->on[b] != FREE || !clv_blob_allows(o, b, device))
            continue;
        for (int32_t i = o->tag_first[b]; i < o->tag_first[b + 1]; i++)
            if (o->tags[i] == tag)
                return true;
    }
    return false;
}

static bool fill(exact *s, const place_now *now, bool *ret_chose)
{
    const clv_rules *r = s->o->rules;
    int32_t open, n_log = s->n_log;
    take_all(s, now, &open);
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
        if (fill(s, now, ret_chose))
            return true;
        s->owner[open] = -1;
    }
    undo_to(s, n_log);
    return false;
}

static bool check_leaf(exact *s)
{
    s->leaf = true;
    clv_blobs_spread(s->o, s->on, s->o->trial);
    s->found = clv_partition_satisfies_rules(s->o->p, s->o->trial, s->o->arena);
    return s->found;
}

/* Nothing is left that no unused device may take, and what the device may take is told. */
static bool can_go_on(exact *s, bool *ret_any)
{
    const clv_obey *o = s->o;
    *ret_any = false;
    for (int32_t b = 0; b < o->n; b++) {
        if (s->on[b] != FREE)
            continue;
        bool any = false;
        for (int32_t d = 0; d < o->p->n_devices && !any; d++, s->steps++)
            any = !s->used[d] && clv_blob_allows(o, b, d);
        if (!any)
            return false;
        *ret_any = true;
    }
    return true;
}

static bool has_more_for(exact *s, int32_t device)
{
    for (int32_t b = 0; b < s->o->n; b++, s->steps++)
        if (s->on[b] == FREE && clv_blob_allows(s->o, b, device))
            return true;
    return false;
}

/* The device comes next. *ret_safe: it took all it ever can, so no other has to be tried first. */
static bool try_device(exact *s, int32_t device, int32_t depth, bool *ret_safe)
{
    int32_t n_families = s->o->rules->n_families, n_log = s->n_log;
    clv_mark mark = clv_arena_mark(s->o->arena);
    place_now now = { .device = device, .parent_log = n_log, .depth = depth };
    int32_t *owner = CLV_NEW_ARRAY(s->o->arena, int32_t, n_families), *before = s->owner;
    now.closed = CLV_NEW_ARRAY(s->o->arena, int32_t, n_families);
    *ret_safe = false;
    if (!owner || !now.closed) {
        s->steps = STEPS_MAX; /* not to be taken for a proof */
        clv_arena_rewind(s->o->arena, mark);
        return false;
    }
    for (int32_t f = 0; f < n_families; f++) {
        owner[f] = -1;
        now.closed[f] = s->left[f] > 0;
    }
    bool chose = false;
    s->owner = owner;
    s->used[device] = true;
    bool found = fill(s, &now, &chose);
    s->used[device] = false;
    s->owner = before;
    if (!found && !chose) { /* what it takes is the same again */
        int32_t open;
        s->owner = owner;
        take_all(s, &now, &open);
        *ret_safe = s->n_log > n_log && !has_more_for(s, device);
        s->owner = before;
        undo_to(s, n_log);
    }
    clv_arena_rewind(s->o->arena, mark);
    return found;
}

static bool place_next(exact *s, int32_t depth)
{
    const clv_obey *o = s->o;
    bool any, safe = false;
    if (s->steps >= STEPS_MAX || !can_go_on(s, &any))
        return false;
    if (!any)
        return check_leaf(s);
    for (int32_t d = 0; d < o->p->n_devices && !safe && s->steps < STEPS_MAX; d++) {
        bool stands = !s->used[d];
        for (int32_t c = o->class_of[d]; c < d && stands; c++)
            stands = s->used[c] || o->class_of[c] != o->class_of[d];
        if (stands && try_device(s, d, depth, &safe))
            return true;
    }
    return false;
}

/* -- all assignments -- */

static void add_edges(exact *s, int32_t b, int32_t device, int32_t sign)
{
    const clv_obey *o = s->o;
    for (int32_t i = o->read_first[b]; i < o->read_first[b + 1]; i++) {
        int32_t from = s->on[o->reads[i]];
        if (from == device)
            continue;
        int32_t *n = &s->edges[(size_t)from * (size_t)o->p->n_devices + (size_t)device];
        *n += sign;
        if (*n > 0)
            clv_bit_set(s->rows + (size_t)from * o->words, device);
        else
            clv_bit_clear(s->rows + (size_t)from * o->words, device);
    }
}

static void put(exact *s, int32_t b, int32_t device, int32_t sign)
{
    const clv_obey *o = s->o;
    add_edges(s, b, device, sign);
    s->n_on[device] += sign;
    for (int32_t i = o->unit_first[b]; i < o->unit_first[b + 1]; i++)
        clv_rule_counts_add(&s->counts, o->units[i], device, sign);
}

/* Levels only rise as blobs are added: is one too high already? */
static bool levels_may_do(exact *s)
{
    const clv_rules *r = s->o->rules;
    int32_t n = s->o->p->n_devices, *level = s->counts.level;
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
    for (int32_t i = s->o->unit_first[b]; i < s->o->unit_first[b + 1]; i++)
        if (!clv_rule_counts_is_apart(&s->counts, s->o->units[i], device))
            return false;
    return true;
}

/* An unused device of a class is as good as the first one of it. */
static bool stands_for_class(const exact *s, int32_t device)
{
    const clv_obey *o = s->o;
    for (int32_t c = o->class_of[device]; c < device; c++)
        if (s->n_on[c] == 0 && s->n_on[device] == 0 && o->class_of[c] == o->class_of[device])
            return false;
    return true;
}

static bool assign_from(exact *s, int32_t b)
{
    const clv_obey *o = s->o;
    if (b == o->n) {
        clv_blobs_spread(o, s->on, o->trial);
        s->found = clv_rule_counts_stages_satisfied(&s->counts, s->rows);
        return s->found;
    }
    for (int32_t d = 0; d < o->p->n_devices && s->steps < STEPS_MAX; d++) {
        if (!clv_blob_allows(o, b, d) || !stands_for_class(s, d))
            continue;
        s->on[b] = d;
        put(s, b, d, 1);
        if (is_apart(s, b, d) && levels_may_do(s) && assign_from(s, b + 1))
            return true;
        put(s, b, d, -1);
    }
    return false;
}

/* Recursion is as deep as there are blobs; beyond this many nobody waits for the end anyway. */
#define ASSIGN_BLOBS_MAX 2000

static bool open_assignments(exact *s)
{
    const clv_obey *o = s->o;
    size_t d = (size_t)o->p->n_devices;
    s->edges = CLV_NEW_ARRAY(o->arena, int32_t, d * d);
    s->rows = CLV_NEW_ARRAY(o->arena, uint64_t, d * o->words);
    s->n_on = CLV_NEW_ARRAY(o->arena, int32_t, d);
    return s->edges && s->rows && s->n_on &&
           clv_rule_counts_new(o->p, o->arena, &s->counts, NULL) == CLV_OK;
}

static clv_obey_outcome try_assignments(exact *s)
{
    if (s->o->n > ASSIGN_BLOBS_MAX || !open_assignments(s))
        return CLV_OBEY_UNKNOWN;
    s->steps = 0;
    if (assign_from(s, 0))
        return CLV_OBEY_FOUND;
    return s->steps < STEPS_MAX ? CLV_OBEY_NONE : CLV_OBEY_UNKNOWN;
}

/* -- both -- */

static bool open_orders(exact *s)
{
    const clv_obey *o = s->o;
    s->used = CLV_NEW_ARRAY(o->arena, bool, o->p->n_devices);
    s->on = CLV_NEW_ARRAY(o->arena, int32_t, o->n);
    s->log = CLV_NEW_ARRAY(o->arena, int32_t, o->n);
    s->left = CLV_NEW_ARRAY(o->arena, int32_t, o->rules->n_families);
    if (!s->used || !s->on || !s->log || !s->left)
        return false;
    for (int32_t b = 0; b < o->n; b++)
        s->on[b] = FREE;
    for (int32_t i = 0; o->tag_first && i < o->tag_first[o->n]; i++)
        if (o->rules->in_order[o->rules->family_of[o->tags[i]]] && is_before(o->rules, o->tags[i]))
            s->left[o->rules->family_of[o->tags[i]]]++;
    return true;
}

static clv_obey_outcome search(exact *s)
{
    if (!open_orders(s))
        return CLV_OBEY_UNKNOWN;
    if (place_next(s, 0))
        return CLV_OBEY_FOUND;
    if (s->steps < STEPS_MAX && !s->leaf)
        return CLV_OBEY_NONE;
    return clv_rules_order_stages(s->o->rules) ? try_assignments(s) : CLV_OBEY_UNKNOWN;
}

clv_obey_outcome clv_blobs_search(clv_obey *o, int32_t *device_of)
{
    exact s = { .o = o };
    clv_mark mark = clv_arena_mark(o->arena);
    clv_obey_outcome outcome = search(&s);
    if (outcome == CLV_OBEY_FOUND && o->p->n_units > 0)
        memcpy(device_of, o->trial, (size_t)o->p->n_units * sizeof *device_of);
    clv_arena_rewind(o->arena, mark);
    return outcome;
}
