#include "solver/partition/ideal_dp.h"

#include <string.h>

#include "solver/partition/device_class.h"

#define WINDOW CLV_BACKBONE_WORD
/* Sets of used devices, by class; with more, all devices count as one class of the best.
 */
#define CELLS_MAX 65536
/* Ideals kept for one set of used devices. */
#define IDEALS_MAX 512
/* Units looked at in all: some tenths of a second. */
#define STEPS_MAX INT64_C(40000000)

typedef struct {
    int32_t kind, n, stride;            /* kind -1: the fastest for each unit */
    int64_t capacity_bytes, room_bytes; /* room: less what is reserved */
    int64_t *time_ns;                   /* n + 1: of all units before */
    int64_t *free_time_ns; /* n: of the units within the window that need not wait for this one */
} device_class;

typedef struct {
    uint64_t bits;         /* bit k: unit first + 1 + k is there */
    int32_t first;         /* the first that is missing; n: all are there */
    int32_t before, class; /* the ideal that it was made from, and by which class of devices */
} ideal;

struct clv_ideal_dp {
    const clv_partition_problem *p;
    const clv_backbone *b;
    clv_arena *arena;
    device_class classes[CLV_CLASSES_MAX];
    int32_t n_classes, n_cells;
    int64_t *weight_bytes;      /* n + 1: of all units before */
    int64_t *free_weight_bytes; /* n: as free_time_ns; n_free: how many they are */
    int32_t *n_free;
    int64_t *live_bytes; /* n: beside what it holds all the time */
    bool *is_writer;     /* n: of something that takes too long to be sent */
    uint64_t *tied;  /* n: bit k: what unit i - 1 - k writes for unit i takes too long to be sent */
    double *sent_ns; /* scratch, n */
    double latency_ns, byte_ns; /* the fastest link */
    int64_t most_live_bytes;    /* of any unit */
    ideal *ideals;
    int32_t *cell;                            /* n_cells + 1: where its ideals begin */
    int32_t n_ideals, cap_ideals, cell_first; /* cell_first: of the cell being filled */
    int32_t last;                             /* the ideal with all units, of the last yes; -1 */
    int64_t steps;
    bool gave_up, no_memory; /* a limit was reached */
};

/* -- classes -- */

/* Where there are too many, all devices are one class, as good as any of them. */
static void find_classes(clv_ideal_dp *s)
{
    const clv_partition_problem *p = s->p;
    clv_device_class found[CLV_CLASSES_MAX];
    int32_t n = clv_device_classes_find(p, found);
    for (int32_t i = 0; i < n; i++)
        s->classes[s->n_classes++] = (device_class){ .kind = found[i].kind,
                                                     .n = found[i].n,
                                                     .capacity_bytes = found[i].capacity_bytes };
    int64_t cells = 1;
    for (int32_t i = 0; i < s->n_classes && cells <= CELLS_MAX; i++)
        cells *= s->classes[i].n + 1;
    if (n > 0 && cells <= CELLS_MAX)
        return;
    device_class *c = &s->classes[0];
    *c = (device_class){ .kind = -1, .n = p->n_devices };
    for (int32_t d = 0; d < p->n_devices; d++)
        c->capacity_bytes =
            p->capacity_bytes[d] > c->capacity_bytes ? p->capacity_bytes[d] : c->capacity_bytes;
    s->n_classes = 1;
}

/* Sums over the units within the window that need not wait for each; n_free may be NULL. */
static void sum_free(const clv_backbone *t, const int64_t *before, int64_t *sum, int32_t *n_free)
{
    for (int32_t i = 0; i < t->n; i++) {
        uint64_t reached = 1;
        for (int32_t k = i + 1; k < t->n && k <= i + WINDOW; k++) {
            bool waits = (t->preds[k] & reached) != 0;
            sum[i] += waits ? 0 : before[k + 1] - before[k];
            if (n_free)
                n_free[i] += !waits;
            reached = reached << 1 | waits;
        }
    }
}

/* Sums for a class of devices. False: no memory. */
static bool sum_times(clv_ideal_dp *s, device_class *c)
{
    const clv_partition_problem *p = s->p;
    c->time_ns = CLV_NEW_ARRAY(s->arena, int64_t, s->b->n + 1);
    c->free_time_ns = CLV_NEW_ARRAY(s->arena, int64_t, s->b->n);
    if (!c->time_ns || !c->free_time_ns)
        return false;
    for (int32_t i = 0; i < s->b->n; i++) {
        int64_t least = INT64_MAX;
        for (int32_t k = 0; k < p->n_kinds; k++) {
            int64_t ns = p->time_ns[(size_t)k * (size_t)p->n_units + (size_t)s->b->unit[i]];
            if (k == c->kind || (c->kind < 0 && ns < least))
                least = ns;
        }
        c->time_ns[i + 1] = c->time_ns[i] + least;
    }
    sum_free(s->b, c->time_ns, c->free_time_ns, NULL);
    return true;
}

/* The least latency and the least time of a byte of all links, maybe of two links: no transfer
 * occupies a port for less. The margin is for rounding. */
static void find_fastest_link(clv_ideal_dp *s)
{
    const clv_partition_problem *p = s->p;
    bool any = false;
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++) {
            size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
            /* without ports a link can carry any number of transfers at once */
            bool is_free =
                p->link_first_port && p->link_first_port[link] == p->link_first_port[link + 1];
            double latency = is_free ? 0 : (double)p->link_latency_ns[link];
            double byte = is_free ? 0 : 1e9 / p->link_bytes_per_s[link] * (1 - CLV_BOUND_MARGIN);
            if (from == to)
                continue;
            s->latency_ns = any && s->latency_ns < latency ? s->latency_ns : latency;
            s->byte_ns = any && s->byte_ns < byte ? s->byte_ns : byte;
            any = true;
        }
}

/* Bytes that a unit holds all the time count as weights, and not again while it runs. */
static bool sum_memory(clv_ideal_dp *s, const int64_t *live_bytes, const int64_t *held_bytes)
{
    int32_t n = s->b->n;
    s->weight_bytes = CLV_NEW_ARRAY(s->arena, int64_t, n + 1);
    s->free_weight_bytes = CLV_NEW_ARRAY(s->arena, int64_t, n);
    s->n_free = CLV_NEW_ARRAY(s->arena, int32_t, n);
    s->live_bytes = CLV_NEW_ARRAY(s->arena, int64_t, n);
    s->is_writer = CLV_NEW_ARRAY(s->arena, bool, n);
    s->tied = CLV_NEW_ARRAY(s->arena, uint64_t, n);
    s->sent_ns = CLV_NEW_ARRAY(s->arena, double, n);
    if (!s->is_writer || !s->tied || !s->sent_ns || !s->weight_bytes || !s->free_weight_bytes ||
        !s->n_free || !s->live_bytes)
        return false;
    for (int32_t i = 0; i < n; i++) {
        int32_t u = s->b->unit[i];
        int64_t held = held_bytes ? held_bytes[u] : 0, live = live_bytes ? live_bytes[u] : 0;
        s->weight_bytes[i + 1] = s->weight_bytes[i] + s->p->weight_bytes[u] + held;
        s->live_bytes[i] = live > held ? live - held : 0;
        s->most_live_bytes =
            s->live_bytes[i] > s->most_live_bytes ? s->live_bytes[i] : s->most_live_bytes;
    }
    sum_free(s->b, s->weight_bytes, s->free_weight_bytes, s->n_free);
    return true;
}

clv_status clv_ideal_dp_new(const clv_partition_problem *p, const clv_backbone *backbone,
                            const clv_bound_options *o, clv_arena *arena, clv_ideal_dp **ret,
                            clv_error *err)
{
    clv_ideal_dp *s = CLV_NEW(arena, clv_ideal_dp);
    if (!s)
        return clv_fail_nomem(err, "a bound");
    *s = (clv_ideal_dp){ .p = p, .b = backbone, .arena = arena, .last = -1, .n_cells = 1 };
    find_classes(s);
    find_fastest_link(s);
    bool all = sum_memory(s, o->live_bytes, o->held_bytes);
    for (int32_t i = 0; i < s->n_classes && all; i++) {
        s->classes[i].room_bytes = s->classes[i].capacity_bytes - o->reserve_bytes;
        s->classes[i].stride = s->n_cells;
        s->n_cells *= s->classes[i].n + 1;
        all = sum_times(s, &s->classes[i]);
    }
    s->cell = CLV_NEW_ARRAY(arena, int32_t, s->n_cells + 1);
    if (!all || !s->cell)
        return clv_fail_nomem(err, "a bound");
    *ret = s;
    return CLV_OK;
}

/* -- ideals -- */

/* Is b inside a? */
static bool contains(const ideal *a, const ideal *b)
{
    int32_t shift = a->first - b->first;
    if (shift < 0)
        return false;
    if (shift == 0)
        return (b->bits & ~a->bits) == 0;
    if (shift > WINDOW)
        return true;
    uint64_t rest = b->bits >> (shift - 1); /* from a's missing unit on */
    return (rest & 1) == 0 && (rest >> 1 & ~a->bits) == 0;
}

/* Of the ideals of a cell only the maximal ones are kept. */
static void add_ideal(clv_ideal_dp *s, ideal new)
{
    int32_t n = s->cell_first;
    for (int32_t i = s->cell_first; i < s->n_ideals; i++)
        if (contains(&s->ideals[i], &new))
            return;
    for (int32_t i = s->cell_first; i < s->n_ideals; i++)
        if (!contains(&new, &s->ideals[i]))
            s->ideals[n++] = s->ideals[i];
    s->n_ideals = n;
    if (n - s->cell_first >= IDEALS_MAX)
        s->gave_up = true;
    else if (!CLV_PUSH_ROOM(s->arena, s->ideals, s->n_ideals, s->cap_ideals))
        s->gave_up = s->no_memory = true;
    else
        s->ideals[s->n_ideals++] = new;
}

/* -- one device more -- */

typedef struct {
    clv_ideal_dp *s;
    const device_class *c;
    ideal from;
    int64_t period_ns;
} extension;

/* What the device holds so far, and what is left out. */
typedef struct {
    int64_t time_ns, weight_bytes, live_bytes;
    uint64_t out, bits; /* out: bit k: unit place - 1 - k is missing; bits: as in ideal */
    int32_t first;      /* -1: nothing is missing yet */
} stage;

static bool ideal_has(const ideal *from, int32_t place)
{
    int32_t k = place - from->first - 1;
    return k >= 0 && k < WINDOW && (from->bits >> k & 1);
}

static stage add_unit(const extension *e, stage now, int32_t place, bool counts)
{
    if (counts) {
        now.time_ns += e->c->time_ns[place + 1] - e->c->time_ns[place];
        now.weight_bytes += e->s->weight_bytes[place + 1] - e->s->weight_bytes[place];
        now.live_bytes =
            e->s->live_bytes[place] > now.live_bytes ? e->s->live_bytes[place] : now.live_bytes;
    }
    if (now.first >= 0)
        now.bits |= UINT64_C(1) << (place - now.first - 1);
    now.out <<= 1;
    return now;
}

static stage skip_unit(stage now, int32_t place)
{
    if (now.first < 0)
        now.first = place;
    now.out = now.out << 1 | 1;
    return now;
}

/* Unit place is left out: is one there that it is tied to? */
static bool breaks_tie(const extension *e, const stage *now, int32_t place)
{
    int32_t n_known = place - e->from.first; /* units before those are in no stage to come */
    uint64_t known = n_known < WINDOW ? (UINT64_C(1) << n_known) - 1 : UINT64_MAX;
    return (e->s->tied[place] & known & ~now->out) != 0;
}

/* Dominance: an ideal is not maximal if the device has room for a unit that it leaves out. Can the
 * device, without the unit, still become so full that the unit has no room? */
static bool may_leave(const extension *e, const stage *with, int32_t place)
{
    const clv_ideal_dp *s = e->s;
    int32_t end = (with->first < 0 ? place : with->first) + WINDOW + 1;
    end = end < s->b->n ? end : s->b->n;
    if (s->is_writer[place])
        return true;
    if (s->n_free[place] == 0 || end == place + 1)
        return false;
    int64_t time = e->c->time_ns[end] - e->c->time_ns[place + 1];
    time = e->c->free_time_ns[place] < time ? e->c->free_time_ns[place] : time;
    int64_t weight = s->weight_bytes[end] - s->weight_bytes[place + 1];
    weight = s->free_weight_bytes[place] < weight ? s->free_weight_bytes[place] : weight;
    return with->time_ns + time > e->period_ns ||
           with->weight_bytes + weight + s->most_live_bytes > e->c->room_bytes;
}

/* Enumerates maximal ideals, unit after unit: each that may be left out branches. */
static void extend_ideal(const extension *e, stage now, int32_t place)
{
    clv_ideal_dp *s = e->s;
    for (; place < s->b->n && (now.first < 0 || place <= now.first + WINDOW) && !s->gave_up;
         place++) {
        if (++s->steps > STEPS_MAX)
            s->gave_up = true;
        bool old = place < e->from.first || ideal_has(&e->from, place);
        stage with = add_unit(e, now, place, !old);
        bool fits =
            with.time_ns <= e->period_ns && with.live_bytes + with.weight_bytes <= e->c->room_bytes;
        if (old) {
            now = with;
        } else if ((now.out & s->b->preds[place]) || !fits) {
            if (breaks_tie(e, &now, place))
                return;
            now = skip_unit(now, place);
        } else {
            if (may_leave(e, &with, place) && !breaks_tie(e, &now, place))
                extend_ideal(e, skip_unit(now, place), place + 1);
            now = with;
        }
    }
    if (!s->gave_up)
        add_ideal(s, (ideal){ now.bits, now.first < 0 ? s->b->n : now.first, e->from.before,
                              (int32_t)(e->c - s->classes) });
}

/* -- all devices -- */

/* What two units have to send each other goes over one link: where that takes longer than the
 * period they are tied to one device. */
static void find_ties(clv_ideal_dp *s, int64_t period_ns)
{
    const clv_partition_problem *p = s->p;
    memset(s->is_writer, 0, (size_t)s->b->n * sizeof *s->is_writer);
    for (int32_t i = 0; i < s->b->n; i++) {
        int32_t u = s->b->unit[i];
        s->tied[i] = 0;
        for (int32_t pass = 0; pass < 2; pass++)
            for (int32_t k = p->reads_first[u]; k < p->reads_first[u + 1]; k++) {
                int64_t bytes = p->net_bytes[p->reads[k]];
                int32_t from = s->b->at[p->net_from[p->reads[k]]], back = i - 1 - from;
                if (from < 0 || back >= WINDOW)
                    continue;
                if (pass == 0 && bytes > 0)
                    s->sent_ns[from] += s->latency_ns + (double)bytes * s->byte_ns;
                if (pass == 1 && s->sent_ns[from] > (double)period_ns) {
                    s->tied[i] |= UINT64_C(1) << back;
                    s->is_writer[from] = true;
                }
            }
        for (int32_t k = p->reads_first[u]; k < p->reads_first[u + 1]; k++)
            if (s->b->at[p->net_from[p->reads[k]]] >= 0)
                s->sent_ns[s->b->at[p->net_from[p->reads[k]]]] = 0;
    }
}

/* The ideals of one set of used devices, from those with one device less. */
static void build_cell(clv_ideal_dp *s, int32_t cell, int64_t period_ns)
{
    for (int32_t i = 0; i < s->n_classes && !s->gave_up; i++) {
        const device_class *c = &s->classes[i];
        if (cell / c->stride % (c->n + 1) == 0)
            continue;
        int32_t one_less = cell - c->stride;
        for (int32_t k = s->cell[one_less]; k < s->cell[one_less + 1] && !s->gave_up; k++) {
            extension e = { s, c, s->ideals[k], period_ns };
            e.from.before = k;
            extend_ideal(&e, (stage){ .first = -1 }, e.from.first);
        }
    }
}

clv_status clv_ideal_dp_decide(clv_ideal_dp *s, int64_t period_ns, clv_ideal_dp_decision *ret,
                               clv_error *err)
{
    s->last = -1;
    s->n_ideals = s->cell_first = 0;
    find_ties(s, period_ns);
    s->gave_up = s->steps > STEPS_MAX;
    for (int32_t cell = 0; cell < s->n_cells && s->last < 0 && !s->gave_up; cell++) {
        s->cell[cell] = s->cell_first = s->n_ideals;
        if (cell == 0)
            add_ideal(s, (ideal){ .before = -1, .class = -1 });
        else
            build_cell(s, cell, period_ns);
        s->cell[cell + 1] = s->n_ideals;
        for (int32_t i = s->cell_first; i < s->n_ideals && s->last < 0 && !s->gave_up; i++)
            s->last = s->ideals[i].first == s->b->n ? i : -1;
    }
    if (s->no_memory)
        return clv_fail_nomem(err, "a bound");
    *ret = s->last >= 0 ? CLV_IDEAL_DP_YES : s->gave_up ? CLV_IDEAL_DP_UNKNOWN : CLV_IDEAL_DP_NO;
    return CLV_OK;
}

/* -- the plan -- */

/* stage_of[unit]: how many devices come before its own. */
static bool place_units(const clv_ideal_dp *s, const int32_t *chain, int32_t n, int32_t *stage_of)
{
    const clv_partition_problem *p = s->p;
    for (int32_t u = 0; u < p->n_units; u++)
        stage_of[u] = -1;
    for (int32_t k = 0, place = 0; k < n; k++) {
        const ideal *at = &s->ideals[chain[k]];
        for (int32_t i = place; i < s->b->n && i <= at->first + WINDOW; i++)
            if (stage_of[s->b->unit[i]] < 0 && (i < at->first || ideal_has(at, i)))
                stage_of[s->b->unit[i]] = k;
        place = at->first;
    }
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t least = 0;
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++) {
            int32_t writer = p->net_from[p->reads[i]];
            least = stage_of[writer] > least ? stage_of[writer] : least;
        }
        if (stage_of[u] >= 0 && stage_of[u] < least)
            return false;
        stage_of[u] = stage_of[u] < 0 ? least : stage_of[u];
    }
    return true;
}

bool clv_ideal_dp_plan(const clv_ideal_dp *s, int32_t *device_of, int64_t *ret_period_ns)
{
    const clv_partition_problem *p = s->p;
    if (s->last < 0 || s->classes[0].kind < 0)
        return false;
    clv_mark mark = clv_arena_mark(s->arena);
    int32_t *chain = CLV_NEW_ARRAY(s->arena, int32_t, p->n_devices);
    int32_t *device = CLV_NEW_ARRAY(s->arena, int32_t, p->n_devices);
    int64_t *busy = CLV_NEW_ARRAY(s->arena, int64_t, p->n_devices);
    bool legal = chain && device && busy;
    int32_t n = 0, last[CLV_CLASSES_MAX] = { -1, -1, -1, -1 };
    for (int32_t i = s->last; s->ideals[i].before >= 0 && legal; i = s->ideals[i].before)
        n++;
    for (int32_t i = s->last, k = n; k > 0; i = s->ideals[i].before)
        chain[--k] = i; /* from the first device to the last */
    legal = legal && place_units(s, chain, n, device_of);
    for (int32_t k = 0; k < n && legal; k++) {
        int32_t class = s->ideals[chain[k]].class, d = last[class] + 1;
        const device_class *c = &s->classes[class];
        while (d < p->n_devices &&
               (p->kind_of[d] != c->kind || p->capacity_bytes[d] != c->capacity_bytes))
            d++;
        device[k] = last[class] = d;
    }
    int64_t period = 0;
    for (int32_t u = 0; u < p->n_units && legal; u++) {
        int32_t d = device_of[u] = device[device_of[u]];
        busy[d] += p->time_ns[(size_t)p->kind_of[d] * (size_t)p->n_units + (size_t)u];
        period = busy[d] > period ? busy[d] : period;
    }
    clv_arena_rewind(s->arena, mark);
    if (legal && ret_period_ns)
        *ret_period_ns = period;
    return legal;
}
