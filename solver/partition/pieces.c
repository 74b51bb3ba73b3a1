/* pieces.c - an ideal is kept as the first unit that is missing and a word of bits for the units
 * behind it that are there: the trunk has no others.
 */
#include "solver/partition/pieces.h"

#include <string.h>

#include "solver/partition/classes.h"

#define WINDOW CLV_TRUNK_WORD
/* Sets of used devices, by class, that are looked at; beyond, all devices count as the best of all.
 */
#define CELLS_MAX 65536
/* Ideals kept for one set of used devices. */
#define IDEALS_MAX 512
/* Units looked at in all: some tenths of a second. */
#define WORK_MAX INT64_C(40000000)

typedef struct {
    int32_t kind, n, stride; /* kind -1: the fastest for each unit */
    int64_t capacity, room;  /* room: less what is reserved */
    int64_t *time;           /* n + 1: of all units before */
    int64_t *free_time;      /* n: of the units within the window that need not wait for this one */
} device_class;

typedef struct {
    uint64_t bits;         /* bit k: unit first + 1 + k is there */
    int32_t first;         /* the first that is missing; n: all are there */
    int32_t before, class; /* the ideal that it was made from, and by which class of devices */
} ideal;

struct clv_pieces {
    const clv_partition_problem *p;
    const clv_trunk *t;
    clv_arena *arena;
    device_class classes[CLV_CLASSES_MAX];
    int32_t n_classes, n_cells;
    int64_t *weight;      /* n + 1: of all units before */
    int64_t *free_weight; /* n: as free_time; n_free: how many they are */
    int32_t *n_free;
    int64_t *live;   /* n */
    bool *is_writer; /* n: of something that takes too long */
    uint64_t *glue;  /* n: bit k: what unit i - 1 - k writes for unit i takes too long to be sent */
    double *sent_ns; /* scratch, n */
    double latency_ns, byte_ns; /* the fastest link */
    int64_t most_alive;
    ideal *ideals;
    int32_t *cell;                            /* n_cells + 1: where its ideals begin */
    int32_t n_ideals, cap_ideals, cell_first; /* cell_first: of the cell being filled */
    int32_t last;                             /* the ideal with all units, of the last yes; -1 */
    int64_t work;
    bool spent, no_memory;
};

/* -- classes -- */

static int64_t unit_time(const clv_pieces *s, const device_class *c, int32_t place)
{
    const clv_partition_problem *p = s->p;
    size_t unit = (size_t)s->t->unit[place], n = (size_t)p->n_units;
    if (c->kind >= 0)
        return p->time_ns[(size_t)c->kind * n + unit];
    int64_t least = INT64_MAX;
    for (size_t k = 0; k < (size_t)p->n_kinds; k++)
        least = p->time_ns[k * n + unit] < least ? p->time_ns[k * n + unit] : least;
    return least;
}

/* All devices as one class, as good as any of them. */
static void merge_classes(clv_pieces *s)
{
    device_class *c = &s->classes[0];
    *c = (device_class){ .kind = -1, .n = s->p->n_devices };
    for (int32_t d = 0; d < s->p->n_devices; d++)
        c->capacity = s->p->capacity_bytes[d] > c->capacity ? s->p->capacity_bytes[d] : c->capacity;
    s->n_classes = 1;
}

static bool find_classes(clv_pieces *s)
{
    clv_device_class found[CLV_CLASSES_MAX];
    int32_t n = clv_find_classes(s->p, found);
    for (int32_t i = 0; i < n; i++)
        s->classes[s->n_classes++] =
            (device_class){ .kind = found[i].kind, .n = found[i].n, .capacity = found[i].capacity };
    int64_t cells = 1;
    for (int32_t i = 0; i < s->n_classes && cells <= CELLS_MAX; i++)
        cells *= s->classes[i].n + 1;
    return n > 0 && cells <= CELLS_MAX;
}

/* Sums over the units within the window that need not wait for each; n_free may be NULL. */
static void sum_free(const clv_trunk *t, const int64_t *before, int64_t *sum, int32_t *n_free)
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

static bool fill_class(clv_pieces *s, device_class *c)
{
    c->time = CLV_NEW_ARRAY(s->arena, int64_t, s->t->n + 1);
    c->free_time = CLV_NEW_ARRAY(s->arena, int64_t, s->t->n);
    if (!c->time || !c->free_time)
        return false;
    for (int32_t i = 0; i < s->t->n; i++)
        c->time[i + 1] = c->time[i] + unit_time(s, c, i);
    sum_free(s->t, c->time, c->free_time, NULL);
    return true;
}

/* Can a link carry any number of transfers at once? */
static bool is_free(const clv_partition_problem *p, size_t link)
{
    return p->link_first_port && p->link_first_port[link] == p->link_first_port[link + 1];
}

/* No transfer keeps what it goes over from others for less: one link need not have both numbers. A
 * little less than 1 is for rounding. */
static void find_fastest_link(clv_pieces *s)
{
    const clv_partition_problem *p = s->p;
    bool any = false;
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++) {
            size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
            double latency = is_free(p, link) ? 0 : (double)p->link_latency_ns[link];
            double byte =
                is_free(p, link) ? 0 : 1e9 / p->link_bytes_per_s[link] * (1 - CLV_BOUND_MARGIN);
            if (from == to)
                continue;
            s->latency_ns = any && s->latency_ns < latency ? s->latency_ns : latency;
            s->byte_ns = any && s->byte_ns < byte ? s->byte_ns : byte;
            any = true;
        }
}

/* A unit's bytes that stay count like weights, and not once more while it runs. */
static bool fill_memory(clv_pieces *s, const int64_t *live_bytes, const int64_t *held_bytes)
{
    int32_t n = s->t->n;
    s->weight = CLV_NEW_ARRAY(s->arena, int64_t, n + 1);
    s->free_weight = CLV_NEW_ARRAY(s->arena, int64_t, n);
    s->n_free = CLV_NEW_ARRAY(s->arena, int32_t, n);
    s->live = CLV_NEW_ARRAY(s->arena, int64_t, n);
    s->is_writer = CLV_NEW_ARRAY(s->arena, bool, n);
    s->glue = CLV_NEW_ARRAY(s->arena, uint64_t, n);
    s->sent_ns = CLV_NEW_ARRAY(s->arena, double, n);
    if (!s->is_writer || !s->glue || !s->sent_ns)
        return false;
    if (!s->weight || !s->free_weight || !s->n_free || !s->live)
        return false;
    for (int32_t i = 0; i < n; i++) {
        int32_t u = s->t->unit[i];
        int64_t held = held_bytes ? held_bytes[u] : 0, live = live_bytes ? live_bytes[u] : 0;
        s->weight[i + 1] = s->weight[i] + s->p->weight_bytes[u] + held;
        s->live[i] = live > held ? live - held : 0;
        s->most_alive = s->live[i] > s->most_alive ? s->live[i] : s->most_alive;
    }
    sum_free(s->t, s->weight, s->free_weight, s->n_free);
    return true;
}

clv_status clv_pieces_new(const clv_partition_problem *p, const clv_trunk *trunk,
                          const clv_bound_options *o, clv_arena *arena, clv_pieces **ret,
                          clv_error *err)
{
    clv_pieces *s = CLV_NEW(arena, clv_pieces);
    if (!s)
        return clv_fail_nomem(err, "a bound");
    *s = (clv_pieces){ .p = p, .t = trunk, .arena = arena, .last = -1, .n_cells = 1 };
    if (!find_classes(s))
        merge_classes(s);
    find_fastest_link(s);
    bool all = fill_memory(s, o->live_bytes, o->held_bytes);
    for (int32_t i = 0; i < s->n_classes && all; i++) {
        s->classes[i].room = s->classes[i].capacity - o->reserve_bytes;
        s->classes[i].stride = s->n_cells;
        s->n_cells *= s->classes[i].n + 1;
        all = fill_class(s, &s->classes[i]);
    }
    s->cell = CLV_NEW_ARRAY(arena, int32_t, s->n_cells + 1);
    if (!all || !s->cell)
        return clv_fail_nomem(err, "a bound");
    *ret = s;
    return CLV_OK;
}

/* -- ideals -- */

/* Is b inside a? */
static bool holds(const ideal *a, const ideal *b)
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

static void keep(clv_pieces *s, ideal new)
{
    int32_t n = s->cell_first;
    for (int32_t i = s->cell_first; i < s->n_ideals; i++)
        if (holds(&s->ideals[i], &new))
            return;
    for (int32_t i = s->cell_first; i < s->n_ideals; i++)
        if (!holds(&new, &s->ideals[i]))
            s->ideals[n++] = s->ideals[i];
    s->n_ideals = n;
    if (n - s->cell_first >= IDEALS_MAX)
        s->spent = true;
    else if (!CLV_PUSH_ROOM(s->arena, s->ideals, s->n_ideals, s->cap_ideals))
        s->spent = s->no_memory = true;
    else
        s->ideals[s->n_ideals++] = new;
}

/* -- one device more -- */

typedef struct {
    clv_pieces *s;
    const device_class *c;
    ideal from;
    int64_t period;
} growth;

/* What the device holds so far, and what is left out. */
typedef struct {
    int64_t time, weight, live;
    uint64_t out, bits; /* out: bit k: unit place - 1 - k is missing; bits: as in ideal */
    int32_t first;      /* -1: nothing is missing yet */
} load;

static bool is_there(const ideal *from, int32_t place)
{
    int32_t k = place - from->first - 1;
    return k >= 0 && k < WINDOW && (from->bits >> k & 1);
}

static int64_t time_of(const device_class *c, int32_t place)
{
    return c->time[place + 1] - c->time[place];
}

static load add_unit(const growth *g, load x, int32_t place, bool counts)
{
    if (counts) {
        x.time += time_of(g->c, place);
        x.weight += g->s->weight[place + 1] - g->s->weight[place];
        x.live = g->s->live[place] > x.live ? g->s->live[place] : x.live;
    }
    if (x.first >= 0)
        x.bits |= UINT64_C(1) << (place - x.first - 1);
    x.out <<= 1;
    return x;
}

static load leave_unit(load x, int32_t place)
{
    if (x.first < 0)
        x.first = place;
    x.out = x.out << 1 | 1;
    return x;
}

static bool is_within(const growth *g, const load *x)
{
    return x->time <= g->period && x->live + x->weight <= g->c->room;
}

/* Unit place is left out: is one there that has to be on the same device? */
static bool is_torn(const growth *g, const load *x, int32_t place)
{
    int32_t n_known = place - g->from.first; /* units before those are in no piece to come */
    uint64_t known = n_known < WINDOW ? (UINT64_C(1) << n_known) - 1 : UINT64_MAX;
    return (g->s->glue[place] & known & ~x->out) != 0;
}

/* A set that has room for a unit that it leaves out is inside another one. Can this piece, without
 * the unit, still become so full that the unit has no room? */
static bool may_leave(const growth *g, const load *with, int32_t place)
{
    const clv_pieces *s = g->s;
    int32_t end = (with->first < 0 ? place : with->first) + WINDOW + 1;
    end = end < s->t->n ? end : s->t->n;
    if (s->is_writer[place])
        return true;
    if (s->n_free[place] == 0 || end == place + 1)
        return false;
    int64_t time = g->c->time[end] - g->c->time[place + 1];
    time = g->c->free_time[place] < time ? g->c->free_time[place] : time;
    int64_t weight = s->weight[end] - s->weight[place + 1];
    weight = s->free_weight[place] < weight ? s->free_weight[place] : weight;
    return with->time + time > g->period || with->weight + weight + s->most_alive > g->c->room;
}

/* Decides unit after unit, up to the end of what an ideal may hold. */
static void grow(const growth *g, load x, int32_t place)
{
    clv_pieces *s = g->s;
    for (; place < s->t->n && (x.first < 0 || place <= x.first + WINDOW) && !s->spent; place++) {
        if (++s->work > WORK_MAX)
            s->spent = true;
        bool old = place < g->from.first || is_there(&g->from, place);
        load with = add_unit(g, x, place, !old);
        if (old) {
            x = with;
        } else if ((x.out & s->t->preds[place]) || !is_within(g, &with)) {
            if (is_torn(g, &x, place))
                return;
            x = leave_unit(x, place);
        } else {
            if (may_leave(g, &with, place) && !is_torn(g, &x, place))
                grow(g, leave_unit(x, place), place + 1);
            x = with;
        }
    }
    if (!s->spent)
        keep(s, (ideal){ x.bits, x.first < 0 ? s->t->n : x.first, g->from.before,
                         (int32_t)(g->c - s->classes) });
}

/* -- all devices -- */

/* What two units have to send each other goes over one link. */
static void find_glue(clv_pieces *s, int64_t period_ns)
{
    const clv_partition_problem *p = s->p;
    memset(s->is_writer, 0, (size_t)s->t->n * sizeof *s->is_writer);
    for (int32_t i = 0; i < s->t->n; i++) {
        int32_t u = s->t->unit[i];
        s->glue[i] = 0;
        for (int32_t pass = 0; pass < 2; pass++)
            for (int32_t k = p->reads_first[u]; k < p->reads_first[u + 1]; k++) {
                int64_t bytes = p->net_bytes[p->reads[k]];
                int32_t from = s->t->at[p->net_from[p->reads[k]]], back = i - 1 - from;
                if (from < 0 || back >= WINDOW)
                    continue;
                if (pass == 0 && bytes > 0)
                    s->sent_ns[from] += s->latency_ns + (double)bytes * s->byte_ns;
                if (pass == 1 && s->sent_ns[from] > (double)period_ns) {
                    s->glue[i] |= UINT64_C(1) << back;
                    s->is_writer[from] = true;
                }
            }
        for (int32_t k = p->reads_first[u]; k < p->reads_first[u + 1]; k++)
            if (s->t->at[p->net_from[p->reads[k]]] >= 0)
                s->sent_ns[s->t->at[p->net_from[p->reads[k]]]] = 0;
    }
}

/* The ideals of one set of used devices, from those with one device less. */
static void fill_cell(clv_pieces *s, int32_t cell, int64_t period_ns)
{
    for (int32_t i = 0; i < s->n_classes && !s->spent; i++) {
        const device_class *c = &s->classes[i];
        if (cell / c->stride % (c->n + 1) == 0)
            continue;
        int32_t one_less = cell - c->stride;
        for (int32_t k = s->cell[one_less]; k < s->cell[one_less + 1] && !s->spent; k++) {
            growth g = { s, c, s->ideals[k], period_ns };
            g.from.before = k;
            grow(&g, (load){ .first = -1 }, g.from.first);
        }
    }
}

/* The ideal of the cell just filled that has all units; -1: none. */
static int32_t find_whole(const clv_pieces *s)
{
    for (int32_t i = s->cell_first; i < s->n_ideals; i++)
        if (s->ideals[i].first == s->t->n)
            return i;
    return -1;
}

clv_status clv_pieces_ask(clv_pieces *s, int64_t period_ns, clv_pieces_answer *ret, clv_error *err)
{
    s->last = -1;
    s->n_ideals = s->cell_first = 0;
    find_glue(s, period_ns);
    s->spent = s->work > WORK_MAX;
    for (int32_t cell = 0; cell < s->n_cells && s->last < 0 && !s->spent; cell++) {
        s->cell[cell] = s->cell_first = s->n_ideals;
        if (cell == 0)
            keep(s, (ideal){ .before = -1, .class = -1 });
        else
            fill_cell(s, cell, period_ns);
        s->cell[cell + 1] = s->n_ideals;
        s->last = s->spent ? -1 : find_whole(s);
    }
    if (s->no_memory)
        return clv_fail_nomem(err, "a bound");
    *ret = s->last >= 0 ? CLV_PIECES_YES : s->spent ? CLV_PIECES_UNKNOWN : CLV_PIECES_NO;
    return CLV_OK;
}

/* -- the plan -- */

/* The next device of a class behind device d. */
static int32_t next_of_class(const clv_pieces *s, const device_class *c, int32_t d)
{
    const clv_partition_problem *p = s->p;
    while (++d < p->n_devices && (p->kind_of[d] != c->kind || p->capacity_bytes[d] != c->capacity))
        continue;
    return d;
}

/* piece[unit]: how many devices come before its own. */
static bool place_units(const clv_pieces *s, const int32_t *chain, int32_t n, int32_t *piece)
{
    const clv_partition_problem *p = s->p;
    for (int32_t u = 0; u < p->n_units; u++)
        piece[u] = -1;
    for (int32_t k = 0, place = 0; k < n; k++) {
        const ideal *at = &s->ideals[chain[k]];
        for (int32_t i = place; i < s->t->n && i <= at->first + WINDOW; i++)
            if (piece[s->t->unit[i]] < 0 && (i < at->first || is_there(at, i)))
                piece[s->t->unit[i]] = k;
        place = at->first;
    }
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t least = 0;
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++) {
            int32_t writer = p->net_from[p->reads[i]];
            least = piece[writer] > least ? piece[writer] : least;
        }
        if (piece[u] >= 0 && piece[u] < least)
            return false;
        piece[u] = piece[u] < 0 ? least : piece[u];
    }
    return true;
}

/* The ideals from the first device to the last, in chain. Returns how many. */
static int32_t list_ideals(const clv_pieces *s, int32_t *chain)
{
    int32_t n = 0;
    for (int32_t i = s->last; s->ideals[i].before >= 0; i = s->ideals[i].before)
        n++;
    for (int32_t i = s->last, k = n; k > 0; i = s->ideals[i].before)
        chain[--k] = i;
    return n;
}

bool clv_pieces_plan(const clv_pieces *s, int32_t *device_of, int64_t *ret_period_ns)
{
    const clv_partition_problem *p = s->p;
    if (s->last < 0 || s->classes[0].kind < 0)
        return false;
    clv_mark mark = clv_arena_mark(s->arena);
    int32_t *chain = CLV_NEW_ARRAY(s->arena, int32_t, p->n_devices);
    int32_t *device = CLV_NEW_ARRAY(s->arena, int32_t, p->n_devices);
    int64_t *busy = CLV_NEW_ARRAY(s->arena, int64_t, p->n_devices);
    bool legal = chain && device && busy;
    int32_t n = legal ? list_ideals(s, chain) : 0, last[CLV_CLASSES_MAX] = { -1, -1, -1, -1 };
    legal = legal && place_units(s, chain, n, device_of);
    for (int32_t k = 0; k < n && legal; k++) {
        int32_t class = s->ideals[chain[k]].class;
        device[k] = last[class] = next_of_class(s, &s->classes[class], last[class]);
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
