#include "solver/partition/segment_splits.h"

#include <stdlib.h>
#include <string.h>

/* Numbers that the table may have. */
#define CELLS_MAX INT64_C(20000000)
/* Devices of their own that units between two nodes may be on; beyond, as many as there are. */
#define OWN_MAX 8
/* Times that kinds are tried, in all segments together: some tenths of a second. */
#define TRIES_MAX INT64_C(1000000)

/* -- classes -- */

static bool find_classes(clv_segment_dp_state *dp)
{
    clv_device_class found[CLV_CLASSES_MAX];
    dp->n_classes = clv_device_classes_find(dp->b->p, found);
    for (int32_t i = 0; i < dp->n_classes; i++)
        dp->classes[i] =
            (clv_run_class){ .kind = found[i].kind,
                             .n = found[i].n,
                             .capacity_bytes = found[i].capacity_bytes - dp->reserve_bytes };
    int64_t cells = 1;
    for (int32_t i = 0; i < dp->n_classes; i++) {
        int32_t *slot = &dp->slot_of[dp->classes[i].kind];
        *slot = *slot < 0 ? dp->n_slots++ : *slot;
        dp->kind_at[*slot] = dp->classes[i].kind;
    }
    for (int32_t i = 0; i < dp->n_classes && cells * dp->n_slots * dp->n_nodes <= CELLS_MAX; i++) {
        dp->classes[i].stride = (int32_t)cells;
        cells *= dp->classes[i].n + 1;
    }
    dp->n_cells = (int32_t)cells;
    return dp->n_classes > 0 && cells * dp->n_slots * dp->n_nodes <= CELLS_MAX;
}

static clv_segment segment_of(const clv_segment_dp_state *dp, int32_t i)
{
    bool is_end = i == dp->n_nodes - 1;
    return (clv_segment){ .first = dp->place[i - 1],
                          .last = is_end ? dp->b->backbone.n - 1 : dp->place[i],
                          .is_split = dp->place[i - 1] >= 0 && !is_end,
                          .is_end = is_end };
}

/* What the segment holds; and the most that is alive there. */
static int64_t segment_weight_bytes(const clv_segment_dp_state *dp, int32_t i, int64_t *ret_live)
{
    const clv_segments *b = dp->b;
    int64_t sum = 0;
    *ret_live = 0;
    for (int32_t k = dp->place[i - 1] + 1; k <= dp->place[i] && k < b->backbone.n; k++) {
        int32_t u = b->backbone.unit[k];
        sum += b->weight_bytes[u];
        *ret_live = b->live_bytes[u] > *ret_live ? b->live_bytes[u] : *ret_live;
    }
    return sum;
}

typedef struct {
    int64_t *sum;  /* n_nodes: of all segments up to the node */
    int64_t *live; /* n_nodes: the most in the segment that ends there */
} node_loads;

/* How far a run from each node reaches, by two pointers; window: a monotone queue of nodes with
 * most alive. */
static void find_reach(clv_segment_dp_state *dp, clv_run_class *c, const node_loads *m)
{
    const clv_segments *b = dp->b;
    int32_t head = 0, tail = 0, end = 0; /* nodes head .. tail - 1 of the window; run: s .. end */
    for (int32_t s = 0; s < dp->n_nodes; s++) {
        bool is_unit = s > 0 && s < dp->n_nodes - 1;
        int32_t unit = is_unit ? b->backbone.unit[dp->place[s]] : -1;
        int64_t own = is_unit ? b->weight_bytes[unit] : 0,
                alive = is_unit ? b->live_bytes[unit] : 0;
        while (head < tail && dp->window[head] <= s)
            head++;
        if (end <= s) {
            end = s;
            head = tail = 0;
        }
        while (end + 1 < dp->n_nodes) {
            int64_t most = m->live[end + 1] > alive ? m->live[end + 1] : alive;
            if (head < tail && m->live[dp->window[head]] > most)
                most = m->live[dp->window[head]];
            if (own + m->sum[end + 1] - m->sum[s] + most > c->capacity_bytes)
                break;
            end++;
            while (head < tail && m->live[dp->window[tail - 1]] <= m->live[end])
                tail--;
            dp->window[tail++] = end;
        }
        c->reach[s] = own + alive > c->capacity_bytes ? s - 1 : end;
    }
}

clv_status clv_run_classes_find(clv_segment_dp_state *dp, bool *ret_few, clv_error *err)
{
    clv_arena *arena = dp->arena;
    node_loads m = { CLV_NEW_ARRAY(arena, int64_t, dp->n_nodes),
                     CLV_NEW_ARRAY(arena, int64_t, dp->n_nodes) };
    *ret_few = find_classes(dp);
    if (!*ret_few)
        return CLV_OK;
    bool enough = m.sum && m.live;
    for (int32_t i = 0; i < dp->n_classes; i++) {
        dp->classes[i].whole_ns = CLV_NEW_ARRAY(arena, double, dp->n_nodes);
        dp->classes[i].reach = CLV_NEW_ARRAY(arena, int32_t, dp->n_nodes);
        enough = enough && dp->classes[i].whole_ns && dp->classes[i].reach;
        dp->whole_of[dp->slot_of[dp->classes[i].kind]] = dp->classes[i].whole_ns;
    }
    if (!enough)
        return clv_fail_nomem(err, "a bound");
    for (int32_t i = 1; i < dp->n_nodes; i++) {
        clv_segment s = segment_of(dp, i);
        clv_segment_time_whole(dp->b, &s);
        for (int32_t k = 0; k < dp->n_classes; k++)
            dp->classes[k].whole_ns[i] =
                dp->classes[k].whole_ns[i - 1] + dp->b->whole_ns[dp->classes[k].kind];
        m.sum[i] = m.sum[i - 1] + segment_weight_bytes(dp, i, &m.live[i]);
    }
    for (int32_t i = 0; i < dp->n_classes; i++)
        find_reach(dp, &dp->classes[i], &m);
    return CLV_OK;
}

/* -- ways to split a segment -- */

/* The kinds tried for the units between, in one try of a segment. */
typedef struct {
    clv_segment s;
    int32_t i, n;                      /* the segment, and units in it that are given kinds */
    int8_t kinds[CLV_SPLIT_UNITS_MAX]; /* of those; -1: any */
    int32_t before, longer; /* slot of the run before, and has it the node before its last? */
} attempt;

static bool add_split(clv_segment_dp_state *dp, const int32_t *own)
{
    int32_t n_ways = 2 * dp->n_slots * dp->n_slots;
    clv_segment_split new = { .ns = CLV_NEW_ARRAY(dp->arena, double, n_ways),
                              .stay_ns = CLV_NEW_ARRAY(dp->arena, double, n_ways),
                              .leave_ns = CLV_NEW_ARRAY(dp->arena, double, n_ways),
                              .kinds =
                                  CLV_NEW_ARRAY(dp->arena, int8_t, n_ways * CLV_SPLIT_UNITS_MAX) };
    if (!new.ns || !new.stay_ns || !new.leave_ns || !new.kinds ||
        !CLV_PUSH_ROOM(dp->arena, dp->splits, dp->n_splits, dp->cap_splits))
        return false;
    for (int32_t i = 0; i < dp->n_classes; i++) {
        new.own[i] = own[i];
        new.cells += own[i] * dp->classes[i].stride;
    }
    for (int32_t i = 0; i < n_ways; i++)
        new.stay_ns[i] = new.leave_ns[i] = INFINITY;
    memset(new.kinds, -1, (size_t)n_ways * CLV_SPLIT_UNITS_MAX);
    dp->splits[dp->n_splits++] = new;
    return true;
}

/* All ways to have up to most devices of their own. */
static bool add_splits(clv_segment_dp_state *dp, int32_t most)
{
    int32_t own[CLV_CLASSES_MAX] = { 0 }, sum = 0;
    for (int32_t i = 0; i < dp->n_classes;) {
        if (!add_split(dp, own))
            return false;
        for (i = 0; i < dp->n_classes; i++) {
            if (sum < most && own[i] < dp->classes[i].n) {
                own[i]++;
                sum++;
                break;
            }
            sum -= own[i];
            own[i] = 0;
        }
    }
    return true;
}

/* Has each device of its own a unit of its kind? */
static bool has_units(const clv_segment_dp_state *dp, const clv_segment_split *it, const attempt *t)
{
    for (int32_t slot = 0; slot < dp->n_slots; slot++) {
        int32_t left = 0, kind = dp->kind_at[slot];
        for (int32_t i = 0; i < dp->n_classes; i++)
            left += dp->classes[i].kind == kind ? it->own[i] : 0;
        for (int32_t i = 0; i < t->n; i++)
            left -= t->kinds[i] == kind;
        if (left > 0)
            return false;
    }
    return true;
}

static void keep_least(clv_segment_dp_state *dp, const attempt *t, int32_t slot, double ns,
                       double leave_ns)
{
    int32_t way = clv_split_way(dp, t->before, t->longer, slot);
    for (int32_t i = dp->first_split[t->i]; i < dp->first_split[t->i + 1]; i++) {
        clv_segment_split *it = &dp->splits[i];
        if (t->n > 0 && !has_units(dp, it, t))
            continue;
        it->leave_ns[way] = fmin(leave_ns, it->leave_ns[way]);
        if (ns >= it->stay_ns[way])
            continue;
        it->stay_ns[way] = ns;
        memcpy(it->kinds + (ptrdiff_t)way * CLV_SPLIT_UNITS_MAX, t->kinds, sizeof t->kinds);
    }
}

/* When the split segment ends on a kind, with a link at least that slow between its ends.
 */
static double split_at(clv_segment_dp_state *dp, const clv_segment *s, int32_t slot,
                       clv_link_speed speed)
{
    clv_segments *b = dp->b;
    if (s->first >= s->last)
        return 0; /* nothing behind the last node */
    clv_segments_set_slow_link(b, speed);
    clv_segment_time_split(b, s);
    clv_segments_set_slow_link(b, (clv_link_speed){ 0, 0, true });
    return b->split_ns[dp->kind_at[slot]];
}

/* A segment split, the run before it on one kind and the next on another. Where a part of the
 * cluster is left as well, a slow link is between the two. */
static void try_slots(clv_segment_dp_state *dp, attempt *t)
{
    bool is_between = t->i > 1 && t->i < dp->n_nodes - 1;
    for (int32_t k = 0; k < dp->n_slots; k++) {
        clv_link_speed speed = { .is_one = true };
        if (is_between)
            speed = dp->pair[t->before * dp->n_slots + k];
        double ns = split_at(dp, &t->s, k, speed), leave_ns = ns;
        if (is_between && dp->has_parts)
            leave_ns = split_at(dp, &t->s, k, clv_link_slower(speed, dp->across));
        keep_least(dp, t, k, ns, leave_ns);
    }
}

/* Tries the run before on each kind, and with one node or two known of it. */
static void try_before(clv_segment_dp_state *dp, attempt *t)
{
    bool is_between = t->i > 1 && t->i < dp->n_nodes - 1;
    for (int32_t q = 0; q < dp->n_slots; q++)
        for (int32_t longer = 0; longer < 2; longer++) {
            const double *whole = dp->whole_of[q];
            t->before = q;
            t->longer = longer;
            if (is_between) {
                t->s.is_known = true;
                t->s.kind = dp->kind_at[q];
                t->s.before = dp->place[t->i - 2];
                t->s.before_ns = longer ? whole[t->i - 1] - whole[t->i - 2] : 0;
            }
            try_slots(dp, t);
        }
}

/* The times of all splits of a segment, the kinds of its first n units given in all ways. */
static void try_kinds(clv_segment_dp_state *dp, int32_t i, int32_t n)
{
    attempt t = { .s = segment_of(dp, i), .i = i, .n = n };
    int8_t *only = dp->b->only + t.s.first + 1;
    int32_t slots[CLV_SPLIT_UNITS_MAX] = { 0 };
    memset(t.kinds, -1, sizeof t.kinds);
    for (int32_t k = 0; k < n || n == 0;) {
        for (k = 0; k < n; k++)
            only[k] = t.kinds[k] = (int8_t)dp->kind_at[slots[k]];
        try_before(dp, &t);
        if (n == 0)
            break;
        for (k = 0; k < n && ++slots[k] == dp->n_slots; k++)
            slots[k] = 0;
    }
    for (int32_t k = 0; k < n; k++)
        only[k] = -1;
}

clv_status clv_segment_splits_find(clv_segment_dp_state *dp, clv_error *err)
{
    int64_t tries = (int64_t)dp->n_nodes * dp->n_slots * dp->n_slots * 4;
    int32_t tried = 0; /* of so many units between two nodes all kinds are tried */
    while (dp->use_all && tried < CLV_SPLIT_UNITS_MAX && (tries *= dp->n_slots) <= TRIES_MAX)
        tried++;
    for (int32_t i = 1; i < dp->n_nodes; i++) {
        int32_t n = clv_segment_n_inner(dp, i);
        dp->first_split[i] = dp->n_splits;
        dp->is_open[i] = dp->use_all && n > OWN_MAX;
        dp->any_open |= dp->is_open[i];
        if (!add_splits(dp, dp->use_all && n <= OWN_MAX ? n : 0))
            return clv_fail_nomem(err, "a bound");
        dp->first_split[i + 1] = dp->n_splits;
        try_kinds(dp, i, n <= tried ? n : 0);
    }
    return CLV_OK;
}
