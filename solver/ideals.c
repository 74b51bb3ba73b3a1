#include "solver/ideals.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME "order ideals"
/* Where the search gives up: memory of one limit, and blocks added to pieces (some 50 ns each) of
 * all limits together. */
#define BYTES_MAX ((size_t)400 << 20)
#define STEPS_MAX INT64_C(1000000000)
/* Steps between two looks at the clock. */
#define STEPS_LOOK 4096
/* Parts of the way from the bound to the best answer at which T is tried. */
static const double tries[] = { 1.0 / 32, 1.0 / 8, 1.0 / 3, 1 };
/* Times the bound at which the one line is tried, before any load is allowed. */
static const double stretches[] = { 1.02, 1.1, 1.5, 4 };

/* How an ideal was made: so many devices of each kind, the last of them of kind last. */
typedef struct {
    int32_t next; /* of the same ideal; -1 */
    int32_t from; /* label before; -1 */
    int32_t state, last;
    int64_t load; /* largest of a device */
} label;

typedef struct {
    uint64_t hash;
    int32_t next;  /* of the same size; -1 */
    int32_t first; /* label; -1 */
    int64_t rest;  /* value of all that is not in it */
} state;

/* A level of the growth of a piece. */
typedef struct {
    int32_t block, cursor; /* block that opened it; where to look for the next one */
    int64_t lost;          /* value of what cannot be in the piece any more */
    bool forced;           /* there is no need to look at pieces without the block */
} frame;

typedef struct {
    clv_place_run *run;
    const clv_blocks *b;
    const int32_t *after_first, *after, *before_first, *before;
    clv_arena *arena; /* of one T */
    size_t words;
    int64_t limit;      /* T */
    int64_t low;        /* no answer has all loads below it */
    bool count_only;    /* fewest devices: loads up to T are all alike */
    int64_t *value;     /* by block: the least time it takes anywhere */
    int64_t *paid_time; /* by block: the least on a kind that pays */
    int64_t all_value;
    int64_t **can_do;      /* [kind][devices]: value that so many can do within T */
    uint64_t *random;      /* by block */
    uint64_t *behind;      /* [block * words]: all that must come behind it, and itself */
    uint64_t *may_relieve; /* row: blocks for which is_relief() can hold at all */
    bool roomy;            /* all bytes together fit any device */

    state *states;
    uint64_t *rows; /* [state * words] */
    int32_t n_states, cap_states, cap_rows;
    label *labels;
    int32_t *counts; /* [label * n_kinds + kind] */
    int32_t n_labels, cap_labels, cap_counts;
    int32_t *slot; /* open addressing: state plus 1 */
    size_t n_slots;
    int32_t *of_size; /* first state of each size; -1 */

    /* the piece that grows */
    int32_t *waits;
    uint64_t *ready, *row, *gone; /* gone: [depth * words] */
    int32_t *net_before, *net_in;
    frame *frames;
    int64_t time, in, cut, bytes, took, front; /* front: of nets that leave the ideal it makes */
    int64_t n_steps;
    bool gave_up;
    int32_t *sources;     /* labels that may be followed by this kind */
    int64_t *source_room; /* value that may be left behind them */
    double *source_load;  /* value and transfers that may be left */
    int32_t n_sources, cap_sources;
} search;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "the search over ideals"); }

/* -- what devices can do -- */

typedef struct {
    int64_t value, time;
} item;

static int compare_items(const void *a, const void *b)
{
    const item *x = a, *y = b;
    double l = (double)x->value * (double)y->time, r = (double)y->value * (double)x->time;
    return l > r ? -1 : l < r;
}

/* Most value within a time, blocks in parts: never less than whole blocks give. Items by value for
 * their time; the last one counts whole, which only makes it more. */
static int64_t knapsack(const item *items, int32_t n, int64_t free_value, double time)
{
    int64_t value = free_value;
    for (int32_t i = 0; i < n && time > 0; i++) {
        double part = time / (double)items[i].time;
        if (part >= 1)
            value += items[i].value;
        else
            value += (int64_t)ceil(part * (double)items[i].value);
        time -= (double)items[i].time;
    }
    return value;
}

/* Blocks of a kind for the knapsack; *ret_free: value of those that take no time there. */
static int32_t list_items(const search *s, int32_t kind, item *items, int64_t *ret_free)
{
    int32_t n = 0;
    *ret_free = 0;
    for (int32_t u = 0; u < s->b->n; u++) {
        int64_t t = clv_block_time(s->b, kind, u);
        if (t > 0)
            items[n++] = (item){ s->value[u], t };
        else if (t == 0)
            *ret_free += s->value[u];
    }
    qsort(items, (size_t)n, sizeof *items, compare_items);
    return n;
}

/* O(kinds * (n log n + devices * n)). */
static void set_can_do(search *s, item *items)
{
    for (int32_t k = 0; k < s->b->n_kinds; k++) {
        int64_t free_value;
        int32_t n = list_items(s, k, items, &free_value);
        for (int32_t d = 1; d <= s->b->p->kinds[k].count; d++)
            s->can_do[k][d] = knapsack(items, n, free_value, (double)d * (double)s->limit);
    }
}

/* -- states -- */

static uint64_t scatter(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64, Steele et al. 2014 */
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t *row_of(const search *s, int32_t i) { return s->rows + (size_t)i * s->words; }

static clv_status grow_slots(search *s, clv_error *err)
{
    size_t n = s->n_slots ? 2 * s->n_slots : 1024;
    int32_t *slot = CLV_NEW_ARRAY(s->arena, int32_t, n);
    if (!slot)
        return nomem(err);
    for (int32_t i = 0; i < s->n_states; i++) {
        size_t at = s->states[i].hash & (n - 1);
        while (slot[at])
            at = (at + 1) & (n - 1);
        slot[at] = i + 1;
    }
    s->slot = slot;
    s->n_slots = n;
    return CLV_OK;
}

static clv_status push_state(search *s, uint64_t hash, const uint64_t *row, int32_t size,
                             int64_t rest, clv_error *err)
{
    if (s->n_states == s->cap_states) {
        int32_t cap = s->cap_states ? 2 * s->cap_states : 1024;
        state *states =
            clv_arena_grow(s->arena, s->states, (size_t)s->cap_states, (size_t)cap, sizeof *states);
        uint64_t *rows = states
                             ? clv_arena_grow(s->arena, s->rows, (size_t)s->cap_states * s->words,
                                              (size_t)cap * s->words, sizeof *rows)
                             : NULL;
        if (!states || !rows)
            return nomem(err);
        s->states = states;
        s->rows = rows;
        s->cap_states = cap;
    }
    memcpy(row_of(s, s->n_states), row, s->words * sizeof *row);
    s->states[s->n_states] = (state){ hash, s->of_size[size], -1, rest };
    s->of_size[size] = s->n_states++;
    return CLV_OK;
}

/* The state of this ideal, made if need be. */
static clv_status find_state(search *s, uint64_t hash, const uint64_t *row, int32_t size,
                             int64_t rest, int32_t *ret, clv_error *err)
{
    if (2 * ((size_t)s->n_states + 1) > s->n_slots)
        CLV_TRY(grow_slots(s, err));
    size_t at = hash & (s->n_slots - 1);
    for (; s->slot[at]; at = (at + 1) & (s->n_slots - 1)) {
        int32_t i = s->slot[at] - 1;
        if (s->states[i].hash == hash && memcmp(row_of(s, i), row, s->words * sizeof *row) == 0) {
            *ret = i;
            return CLV_OK;
        }
    }
    CLV_TRY(push_state(s, hash, row, size, rest, err));
    s->slot[at] = s->n_states;
    *ret = s->n_states - 1;
    return CLV_OK;
}

/* -- labels -- */

static const int32_t *counts_of(const search *s, int32_t l)
{
    return s->counts + (size_t)l * (size_t)s->b->n_kinds;
}

/* Is a label with these counts, one more of kind, no better than this one? */
static bool beats(const search *s, int32_t l, const int32_t *counts, int32_t kind, int64_t load)
{
    const int32_t *own = counts_of(s, l);
    if (s->labels[l].load > load)
        return false;
    for (int32_t k = 0; k < s->b->n_kinds; k++)
        if (own[k] > counts[k] + (k == kind))
            return false;
    return true;
}

static bool is_beaten(const search *s, int32_t l, const int32_t *counts, int32_t kind, int64_t load)
{
    const int32_t *own = counts_of(s, l);
    if (s->labels[l].load < load)
        return false;
    for (int32_t k = 0; k < s->b->n_kinds; k++)
        if (own[k] < counts[k] + (k == kind))
            return false;
    return true;
}

static clv_status push_label(search *s, int32_t to, int32_t from, int32_t kind, int64_t load,
                             clv_error *err)
{
    int32_t n_kinds = s->b->n_kinds;
    if (s->n_labels == s->cap_labels) {
        int32_t cap = s->cap_labels ? 2 * s->cap_labels : 1024;
        label *labels =
            clv_arena_grow(s->arena, s->labels, (size_t)s->cap_labels, (size_t)cap, sizeof *labels);
        int32_t *counts =
            labels ? clv_arena_grow(s->arena, s->counts, (size_t)s->cap_labels * (size_t)n_kinds,
                                    (size_t)cap * (size_t)n_kinds, sizeof *counts)
                   : NULL;
        if (!labels || !counts)
            return nomem(err);
        s->labels = labels;
        s->counts = counts;
        s->cap_labels = cap;
    }
    int32_t *own = s->counts + (size_t)s->n_labels * (size_t)n_kinds;
    for (int32_t k = 0; k < n_kinds; k++)
        own[k] = (from < 0 ? 0 : counts_of(s, from)[k]) + (k == kind);
    s->labels[s->n_labels] = (label){ s->states[to].first, from, to, kind, load };
    s->states[to].first = s->n_labels++;
    return CLV_OK;
}

/* Adds the label unless it is beaten; takes out those that it beats. */
static clv_status add_label(search *s, int32_t to, int32_t from, int32_t kind, int64_t load,
                            clv_error *err)
{
    const int32_t *counts = counts_of(s, from);
    for (int32_t l = s->states[to].first; l >= 0; l = s->labels[l].next)
        if (beats(s, l, counts, kind, load))
            return CLV_OK;
    int32_t *link = &s->states[to].first;
    while (*link >= 0) {
        if (is_beaten(s, *link, counts, kind, load))
            *link = s->labels[*link].next;
        else
            link = &s->labels[*link].next;
    }
    return push_label(s, to, from, kind, load, err);
}

/* -- a piece -- */

/* Puts a block into the piece (by 1) or takes it out (by -1). */
static void change(search *s, int32_t kind, int32_t u, int32_t by)
{
    const clv_blocks *b = s->b;
    s->time += by * clv_block_time(b, kind, u);
    s->bytes += by * b->bytes[u];
    s->took += by * s->value[u];
    s->row[u / 64] ^= UINT64_C(1) << (u % 64);
    s->ready[u / 64] ^= UINT64_C(1) << (u % 64);
    for (int32_t i = b->at_first[u]; i < b->at_first[u + 1]; i++) {
        int32_t e = b->at[i], size = b->net_first[e + 1] - b->net_first[e];
        int32_t low = by > 0 ? s->net_in[e] : s->net_in[e] - 1; /* blocks of it without this one */
        int64_t cost = by * b->net_cost[e];
        s->net_in[e] += by;
        if (s->net_before[e] > 0)
            s->in += low == 0 ? cost : 0;
        else
            s->cut += low == 0 ? cost : low + 1 == size ? -cost : 0;
        if (s->net_before[e] + low == 0)
            s->front += cost;
        if (s->net_before[e] + low + 1 == size)
            s->front -= cost;
    }
    for (int32_t i = s->after_first[u]; i < s->after_first[u + 1]; i++) {
        int32_t v = s->after[i];
        s->waits[v] -= by;
        if (s->waits[v] == 0)
            s->ready[v / 64] |= UINT64_C(1) << (v % 64);
        else
            s->ready[v / 64] &= ~(UINT64_C(1) << (v % 64));
    }
}

/* The lowest ready block from cursor on; n: none. */
static int32_t next_ready(const search *s, int32_t cursor)
{
    size_t w = (size_t)cursor / 64;
    if (w >= s->words)
        return s->b->n;
    uint64_t bits = s->ready[w] & (~UINT64_C(0) << (cursor % 64));
    while (bits == 0)
        if (++w == s->words)
            return s->b->n;
        else
            bits = s->ready[w];
    return (int32_t)(w * 64) + __builtin_ctzll(bits);
}

/* Block u, and all behind it, will not be in the piece as grown from this level. */
static void leave_out(search *s, int32_t depth, int32_t u)
{
    uint64_t *gone = s->gone + (size_t)depth * s->words;
    const uint64_t *behind = s->behind + (size_t)u * s->words;
    for (size_t w = (size_t)u / 64; w < s->words; w++) {
        uint64_t more = behind[w] & ~gone[w];
        gone[w] |= more;
        for (; more; more &= more - 1)
            s->frames[depth].lost += s->value[w * 64 + (size_t)__builtin_ctzll(more)];
    }
}

/* May u join the piece? Nothing that is grown later brings these sums down. */
static bool may_join(const search *s, int32_t kind, int32_t u)
{
    const clv_place_kind *k = &s->b->p->kinds[kind];
    int64_t t = clv_block_time(s->b, kind, u);
    return t >= 0 && s->time + t <= s->limit &&
           (k->capacity_bytes < 0 || s->bytes + s->b->bytes[u] <= k->capacity_bytes);
}

/* What u would add to the load of the piece. It gets no more when the piece grows. */
static int64_t added_load(const search *s, int32_t kind, int32_t u)
{
    const clv_blocks *b = s->b;
    int64_t load = clv_block_time(b, kind, u);
    for (int32_t i = b->at_first[u]; b->p->kinds[kind].pays && i < b->at_first[u + 1]; i++) {
        int32_t e = b->at[i];
        if (s->net_in[e] == 0)
            load += b->net_cost[e];
        else if (s->net_before[e] == 0 && s->net_in[e] + 1 == b->net_first[e + 1] - b->net_first[e])
            load -= b->net_cost[e];
    }
    return load;
}

/* Would whoever has u later be no worse off without it? It saves u's time and the nets that end
 * with u, and may have to pay those that begin with u, which it now has for itself. Stays true when
 * the piece grows. */
static bool is_relief(const search *s, int32_t u)
{
    const clv_blocks *b = s->b;
    int64_t more = -s->paid_time[u];
    for (int32_t i = b->at_first[u]; i < b->at_first[u + 1]; i++) {
        int32_t e = b->at[i], held = s->net_before[e] + s->net_in[e];
        if (held == 0)
            more += b->net_cost[e];
        else if (held + 1 == b->net_first[e + 1] - b->net_first[e])
            more -= b->net_cost[e];
    }
    return more <= 0;
}

/* Two ways in which a block u that the piece could take as well makes it not worth looking at:
 * whoever has u later is relieved of it, and the load with u is no more than low, which makes no
 * answer worse, or no more than without. */
typedef struct {
    bool dominated; /* the piece as it is now; larger ones without u need not be */
    int32_t forced; /* u: no larger piece is better without it, as it adds no load; -1: none */
} advice;

static advice look_around(const search *s, int32_t kind)
{
    advice a = { .forced = -1 };
    int64_t load = s->time + (s->b->p->kinds[kind].pays ? s->in + s->cut : 0);
    for (size_t w = 0; w < s->words && a.forced < 0; w++) {
        for (uint64_t bits = s->ready[w] & s->may_relieve[w]; bits; bits &= bits - 1) {
            int32_t u = (int32_t)(w * 64) + __builtin_ctzll(bits);
            if (!may_join(s, kind, u) || !is_relief(s, u))
                continue;
            int64_t added = added_load(s, kind, u);
            a.dominated |= added <= 0 || load + added <= s->low;
            if (added <= 0 && (s->roomy || s->b->bytes[u] == 0)) {
                a.forced = u;
                break;
            }
        }
    }
    return a;
}

/* The piece as it is now ends here: what labels come of it. */
static clv_status end_piece(search *s, int32_t kind, int32_t size, uint64_t hash, int64_t rest,
                            clv_error *err)
{
    bool pays = s->b->p->kinds[kind].pays;
    int64_t load = pays ? s->time + s->in + s->cut : s->time;
    int32_t to = -1;
    if (load > s->limit)
        return CLV_OK;
    for (int32_t i = 0; i < s->n_sources; i++) {
        if (rest > s->source_room[i] || (double)(rest + s->front) > s->source_load[i])
            continue;
        if (to < 0)
            CLV_TRY(find_state(s, hash, s->row, size, rest, &to, err));
        int64_t most = s->labels[s->sources[i]].load;
        if (!s->count_only && load > most)
            most = load;
        CLV_TRY(add_label(s, to, s->sources[i], kind, most, err));
    }
    return CLV_OK;
}

/* Has the budget ended, or the run? */
static bool is_over(search *s)
{
    if (++s->n_steps % STEPS_LOOK == 0 &&
        (clv_run_over(s->run) || s->n_steps > STEPS_MAX || clv_arena_bytes(s->arena) > BYTES_MAX))
        s->gave_up = true;
    return s->gave_up;
}

/* Grows all pieces of a kind from a state. need: value that must be in one. */
static clv_status grow_pieces(search *s, int32_t from, int32_t size, int32_t kind, int64_t need,
                              clv_error *err)
{
    bool pays = s->b->p->kinds[kind].pays;
    int64_t rest = s->states[from].rest;
    uint64_t hash = s->states[from].hash;
    int32_t depth = 0;
    s->frames[0] = (frame){ .block = -1 };
    memset(s->gone, 0, s->words * sizeof *s->gone);
    for (bool fresh = true; !is_over(s);) {
        frame *f = &s->frames[depth];
        int32_t u = -1;
        if (fresh) {
            advice a = look_around(s, kind);
            if (a.forced >= 0 && a.forced < f->cursor)
                f->cursor = s->b->n; /* left out before, and should not have been */
            else if (a.forced >= 0)
                u = a.forced;
            else if (depth > 0 && s->took >= need && !a.dominated)
                CLV_TRY(end_piece(s, kind, size + depth, hash, rest - s->took, err));
        }
        bool forced = u >= 0;
        if (!forced)
            u = rest - f->lost >= need ? next_ready(s, f->cursor) : s->b->n;
        fresh = false;
        if (u == s->b->n) {
            if (depth == 0)
                break;
            int32_t last = f->block;
            change(s, kind, last, -1);
            hash ^= s->random[last];
            leave_out(s, --depth, last);
            if (f->forced)
                s->frames[depth].cursor = s->b->n;
            continue;
        }
        if (!forced)
            f->cursor = u + 1;
        if (!may_join(s, kind, u)) {
            leave_out(s, depth, u);
            continue;
        }
        change(s, kind, u, 1);
        hash ^= s->random[u];
        memcpy(s->gone + (size_t)(depth + 1) * s->words, s->gone + (size_t)depth * s->words,
               s->words * sizeof *s->gone);
        s->frames[++depth] = (frame){ u, f->cursor, f->lost, forced };
        if (pays && s->time + s->in > s->limit)
            s->frames[depth].cursor = s->b->n;
        else
            fresh = true;
    }
    return CLV_OK;
}

/* -- one limit -- */

/* Counts for a piece that starts behind this state. O(n + arcs + pins). */
static void start_behind(search *s, int32_t from)
{
    const clv_blocks *b = s->b;
    memcpy(s->row, row_of(s, from), s->words * sizeof *s->row);
    memset(s->ready, 0, s->words * sizeof *s->ready);
    s->time = s->in = s->cut = s->bytes = s->took = s->front = 0;
    for (int32_t u = 0; u < b->n; u++) {
        s->waits[u] = 0;
        for (int32_t i = s->before_first[u]; i < s->before_first[u + 1]; i++)
            s->waits[u] += !(s->row[s->before[i] / 64] >> (s->before[i] % 64) & 1);
        if (s->waits[u] == 0 && !(s->row[u / 64] >> (u % 64) & 1))
            s->ready[u / 64] |= UINT64_C(1) << (u % 64);
    }
    for (int32_t e = 0; e < b->n_nets; e++) {
        s->net_before[e] = s->net_in[e] = 0;
        for (int32_t i = b->net_first[e]; i < b->net_first[e + 1]; i++)
            s->net_before[e] += (int32_t)(s->row[b->pins[i] / 64] >> (b->pins[i] % 64) & 1);
        if (s->net_before[e] > 0 && s->net_before[e] < b->net_first[e + 1] - b->net_first[e])
            s->front += b->net_cost[e];
    }
}

/* Labels that a device of this kind may follow, and what may be left behind it then. Returns the
 * most that may be left, -1 without any. */
static clv_status find_sources(search *s, int32_t from, int32_t kind, int64_t *ret_most,
                               clv_error *err)
{
    const clv_placement *p = s->b->p;
    *ret_most = -1;
    s->n_sources = 0;
    for (int32_t l = s->states[from].first; l >= 0; l = s->labels[l].next) {
        const int32_t *counts = counts_of(s, l);
        if (counts[kind] == p->kinds[kind].count)
            continue;
        int64_t room = 0;
        double load = 0;
        for (int32_t k = 0; k < p->n_kinds; k++) {
            int32_t left = p->kinds[k].count - counts[k] - (k == kind);
            room += s->can_do[k][left];
            /* whatever leaves the ideal is received by somebody, and paid if all pay */
            load += left == 0 || p->kinds[k].pays ? (double)left * (double)s->limit : INFINITY;
        }
        if (s->n_sources == s->cap_sources) {
            int32_t cap = s->cap_sources ? 2 * s->cap_sources : 64, old = s->cap_sources;
            s->sources =
                clv_arena_grow(s->arena, s->sources, (size_t)old, (size_t)cap, sizeof *s->sources);
            s->source_room = clv_arena_grow(s->arena, s->source_room, (size_t)old, (size_t)cap,
                                            sizeof *s->source_room);
            s->source_load = clv_arena_grow(s->arena, s->source_load, (size_t)old, (size_t)cap,
                                            sizeof *s->source_load);
            if (!s->sources || !s->source_room || !s->source_load)
                return nomem(err);
            s->cap_sources = cap;
        }
        s->sources[s->n_sources] = l;
        s->source_load[s->n_sources] = load;
        s->source_room[s->n_sources++] = room;
        *ret_most = room > *ret_most ? room : *ret_most;
    }
    return CLV_OK;
}

static clv_status expand(search *s, int32_t from, int32_t size, clv_error *err)
{
    if (s->states[from].first < 0)
        return CLV_OK;
    start_behind(s, from);
    for (int32_t k = 0; k < s->b->n_kinds && !s->gave_up; k++) {
        int64_t most;
        CLV_TRY(find_sources(s, from, k, &most, err));
        if (most >= 0)
            CLV_TRY(grow_pieces(s, from, size, k, s->states[from].rest - most, err));
    }
    return CLV_OK;
}

static clv_status take_scratch(search *s, clv_error *err)
{
    size_t n = (size_t)s->b->n, nets = (size_t)s->b->n_nets;
    s->waits = CLV_NEW_ARRAY(s->arena, int32_t, n);
    s->ready = CLV_NEW_ARRAY(s->arena, uint64_t, s->words);
    s->row = CLV_NEW_ARRAY(s->arena, uint64_t, s->words);
    s->gone = clv_arena_take_array(s->arena, (n + 1) * s->words, sizeof *s->gone);
    s->net_before = CLV_NEW_ARRAY(s->arena, int32_t, nets);
    s->net_in = CLV_NEW_ARRAY(s->arena, int32_t, nets);
    s->frames = CLV_NEW_ARRAY(s->arena, frame, n + 1);
    s->of_size = CLV_NEW_ARRAY(s->arena, int32_t, n + 1);
    if (!s->waits || !s->ready || !s->row || !s->gone || !s->net_before || !s->net_in ||
        !s->frames || !s->of_size)
        return nomem(err);
    for (size_t i = 0; i <= n; i++)
        s->of_size[i] = -1;
    return CLV_OK;
}

/* The label of the full ideal that is best; -1: none. */
static int32_t best_label(const search *s)
{
    int32_t full = s->of_size[s->b->n], best = -1;
    int64_t best_key = 0;
    for (int32_t l = full < 0 ? -1 : s->states[full].first; l >= 0; l = s->labels[l].next) {
        int64_t key = s->labels[l].load;
        if (s->count_only) {
            key = 0;
            for (int32_t k = 0; k < s->b->n_kinds; k++)
                key += counts_of(s, l)[k];
        }
        if (best < 0 || key < best_key) {
            best = l;
            best_key = key;
        }
    }
    return best;
}

/* Pieces onto devices of their kinds, the first piece on the first device. */
static clv_status offer(search *s, int32_t l, clv_error *err)
{
    const clv_placement *p = s->b->p;
    int32_t *of_block = CLV_NEW_ARRAY(s->arena, int32_t, s->b->n);
    int32_t *of_node = CLV_NEW_ARRAY(s->arena, int32_t, p->n_nodes);
    if (!of_block || !of_node)
        return nomem(err);
    for (; s->labels[l].from >= 0; l = s->labels[l].from) {
        const uint64_t *row = row_of(s, s->labels[l].state);
        int32_t kind = s->labels[l].last, device = counts_of(s, l)[kind] - 1;
        const uint64_t *before = row_of(s, s->labels[s->labels[l].from].state);
        for (int32_t k = 0; k < kind; k++)
            device += p->kinds[k].count;
        for (int32_t u = 0; u < s->b->n; u++)
            if ((row[u / 64] & ~before[u / 64]) >> (u % 64) & 1)
                of_block[u] = device;
    }
    clv_blocks_spread(s->b, of_block, of_node);
    return clv_run_offer(s->run, NAME, of_node, err);
}

typedef enum { NOTHING, FOUND, GAVE_UP } outcome;

static clv_status fill_states(search *s, clv_error *err)
{
    CLV_TRY(take_scratch(s, err));
    CLV_TRY(grow_slots(s, err));
    int32_t start;
    CLV_TRY(find_state(s, 0, s->row, 0, s->all_value, &start, err));
    CLV_TRY(push_label(s, start, -1, -1, 0, err));
    for (int32_t size = 0; size < s->b->n && !s->gave_up; size++)
        for (int32_t i = s->of_size[size]; i >= 0 && !s->gave_up; i = s->states[i].next)
            CLV_TRY(expand(s, i, size, err));
    return CLV_OK;
}

static void forget(search *s)
{
    s->states = NULL;
    s->rows = NULL;
    s->labels = NULL;
    s->counts = NULL;
    s->slot = NULL;
    s->sources = NULL;
    s->source_room = NULL;
    s->source_load = NULL;
    s->n_states = s->cap_states = s->n_labels = s->cap_labels = 0;
    s->cap_sources = 0;
    s->n_slots = 0;
}

/* All answers with no load above limit. FOUND: the best of them was offered, *ret_load its largest
 * load. */
static clv_status try_limit(search *s, int64_t limit, outcome *ret, int64_t *ret_load,
                            clv_error *err)
{
    item *items;
    clv_arena *own = s->arena;
    s->arena = clv_arena_new(clv_arena_alloc(own), 0);
    if (!s->arena) {
        s->arena = own;
        return nomem(err);
    }
    forget(s);
    s->limit = limit;
    items = CLV_NEW_ARRAY(s->arena, item, s->b->n);
    clv_status status = items ? CLV_OK : nomem(err);
    if (status == CLV_OK) {
        set_can_do(s, items);
        status = fill_states(s, err);
    }
    *ret = s->gave_up ? GAVE_UP : NOTHING;
    int32_t best = status == CLV_OK ? best_label(s) : -1;
    if (best >= 0 && !s->gave_up) {
        *ret = FOUND;
        *ret_load = s->labels[best].load;
    }
    if (best >= 0)
        status = offer(s, best, err);
    clv_arena_free(s->arena);
    s->arena = own;
    return status;
}

/* -- limits -- */

/* The smallest limit at which the work alone could be done: binary search. */
static int64_t least_limit(search *s, item *items)
{
    int64_t low = 0, high = CLV_TICKS_MAX;
    for (int32_t u = 0; u < s->b->n; u++)
        low = s->value[u] > low ? s->value[u] : low;
    while (low < high) {
        int64_t all = 0;
        s->limit = low + (high - low) / 2;
        for (int32_t k = 0; k < s->b->n_kinds; k++) {
            int64_t free_value;
            int32_t n = list_items(s, k, items, &free_value), count = s->b->p->kinds[k].count;
            if (count > 0)
                all += knapsack(items, n, free_value, (double)count * (double)s->limit);
        }
        if (all >= s->all_value)
            high = s->limit;
        else
            low = s->limit + 1;
    }
    return low;
}

static void raise(const search *s, int64_t limit)
{
    clv_run_raise(s->run, NAME, clv_blocks_unit(s->b, limit));
}

/* The best of all answers with loads from low up to high: limits that grow from low. */
static clv_status search_limits(search *s, int64_t low, int64_t high, clv_error *err)
{
    const size_t n_tries = sizeof tries / sizeof *tries;
    for (size_t i = 0; i < n_tries && low <= high; i++) {
        outcome o;
        int64_t load = 0, limit = low + (int64_t)((double)(high - low) * tries[i]);
        if (i + 1 == n_tries)
            limit = high; /* not what rounding makes of it */
        CLV_TRY(try_limit(s, limit, &o, &load, err));
        if (o == GAVE_UP)
            return CLV_OK;
        raise(s, o == FOUND ? load : limit + 1);
        if (o == FOUND)
            return CLV_OK;
        s->low = low = limit + 1;
    }
    if (low > CLV_TICKS_MAX)
        clv_run_raise(s->run, NAME, INFINITY); /* not with any load */
    return CLV_OK;
}

/* The best of the one line of blocks in their order. */
static clv_status search_chain(search *s, int64_t low, clv_error *err)
{
    outcome o = NOTHING;
    int64_t load;
    for (size_t i = 0; i < sizeof stretches / sizeof *stretches && o == NOTHING; i++) {
        double limit = (double)low * stretches[i];
        CLV_TRY(try_limit(s, limit < (double)CLV_TICKS_MAX ? (int64_t)limit : CLV_TICKS_MAX, &o,
                          &load, err));
    }
    return o == NOTHING ? try_limit(s, CLV_TICKS_MAX, &o, &load, err) : CLV_OK;
}

/* Fewest devices: one limit, which is given. */
static clv_status search_count(search *s, int64_t limit, bool proves, clv_error *err)
{
    outcome o;
    int64_t load;
    s->count_only = true;
    s->low = limit; /* all loads up to it are alike */
    CLV_TRY(try_limit(s, limit, &o, &load, err));
    if (!proves || o == GAVE_UP)
        return CLV_OK;
    clv_run_raise(s->run, NAME, o == FOUND ? clv_run_best(s->run) : INFINITY);
    return CLV_OK;
}

/* The blocks in their order as one chain. */
static clv_status make_chain(const search *s, clv_arena *arena, search *ret, clv_error *err)
{
    int32_t n = s->b->n;
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, n + 1), *next = CLV_NEW_ARRAY(arena, int32_t, n),
            *before_first = CLV_NEW_ARRAY(arena, int32_t, n + 1),
            *before = CLV_NEW_ARRAY(arena, int32_t, n);
    uint64_t *behind = clv_arena_take_array(arena, (size_t)n * s->words, sizeof *behind);
    if (!first || !next || !before_first || !before || !behind)
        return nomem(err);
    for (int32_t u = 0; u < n; u++) {
        first[u + 1] = u + 1 < n ? u + 1 : u;
        before_first[u + 1] = u;
        next[u] = u + 1;
        before[u] = u;
        for (int32_t v = u; v < n; v++)
            behind[(size_t)u * s->words + (size_t)v / 64] |= UINT64_C(1) << (v % 64);
    }
    *ret = *s;
    ret->after_first = first;
    ret->after = next;
    ret->before_first = before_first;
    ret->before = before;
    ret->behind = behind;
    return CLV_OK;
}

static clv_status find_behind(search *s, clv_error *err)
{
    int32_t n = s->b->n;
    s->behind = clv_arena_take_array(s->arena, (size_t)n * s->words, sizeof *s->behind);
    if (!s->behind)
        return nomem(err);
    for (int32_t u = n - 1; u >= 0; u--) {
        uint64_t *row = s->behind + (size_t)u * s->words;
        row[u / 64] |= UINT64_C(1) << (u % 64);
        for (int32_t i = s->after_first[u]; i < s->after_first[u + 1]; i++)
            for (size_t w = 0; w < s->words; w++)
                row[w] |= s->behind[(size_t)s->after[i] * s->words + w];
    }
    return CLV_OK;
}

/* Nets that all begin with u can only be paid more when it goes; the others less at best. */
static bool may_relieve(const search *s, int32_t u)
{
    const clv_blocks *b = s->b;
    const uint64_t *behind = s->behind + (size_t)u * s->words;
    int64_t more = -s->paid_time[u];
    for (int32_t i = b->at_first[u]; i < b->at_first[u + 1]; i++) {
        bool begins = true;
        for (int32_t n = b->net_first[b->at[i]]; n < b->net_first[b->at[i] + 1]; n++)
            begins = begins && behind[b->pins[n] / 64] >> (b->pins[n] % 64) & 1;
        more += begins ? b->net_cost[b->at[i]] : -b->net_cost[b->at[i]];
    }
    return more <= 0;
}

static bool is_roomy(const clv_blocks *b)
{
    int64_t all = 0;
    for (int32_t u = 0; u < b->n; u++)
        all += b->bytes[u];
    for (int32_t k = 0; k < b->n_kinds; k++)
        if (b->p->kinds[k].capacity_bytes >= 0 && b->p->kinds[k].capacity_bytes < all)
            return false;
    return true;
}

static clv_status open_search(search *s, clv_error *err)
{
    const clv_blocks *b = s->b;
    s->words = ((size_t)b->n + 63) / 64;
    s->after_first = b->after_first;
    s->after = b->after;
    s->before_first = b->before_first;
    s->before = b->before;
    s->value = CLV_NEW_ARRAY(s->arena, int64_t, b->n);
    s->paid_time = CLV_NEW_ARRAY(s->arena, int64_t, b->n);
    s->random = CLV_NEW_ARRAY(s->arena, uint64_t, b->n);
    s->can_do = CLV_NEW_ARRAY(s->arena, int64_t *, b->n_kinds);
    if (!s->value || !s->paid_time || !s->random || !s->can_do)
        return nomem(err);
    for (int32_t k = 0; k < b->n_kinds; k++) {
        s->can_do[k] = CLV_NEW_ARRAY(s->arena, int64_t, b->p->kinds[k].count + 1);
        if (!s->can_do[k])
            return nomem(err);
    }
    for (int32_t u = 0; u < b->n; u++) {
        s->random[u] = scatter((uint64_t)u);
        s->value[u] = s->paid_time[u] = CLV_TICKS_MAX;
        for (int32_t k = 0; k < b->n_kinds; k++) {
            int64_t t = clv_block_time(b, k, u);
            if (b->p->kinds[k].count == 0 || t == CLV_BLOCK_NEVER)
                continue;
            s->value[u] = t < s->value[u] ? t : s->value[u];
            if (b->p->kinds[k].pays && t < s->paid_time[u])
                s->paid_time[u] = t;
        }
        assert(s->value[u] < CLV_TICKS_MAX); /* the portfolio has looked */
        s->all_value += s->value[u];
    }
    s->roomy = is_roomy(b);
    CLV_TRY(find_behind(s, err));
    s->may_relieve = CLV_NEW_ARRAY(s->arena, uint64_t, s->words);
    if (!s->may_relieve)
        return nomem(err);
    for (int32_t u = 0; u < b->n; u++)
        if (may_relieve(s, u))
            s->may_relieve[u / 64] |= UINT64_C(1) << (u % 64);
    return CLV_OK;
}

/* In ticks, the largest load worth having: below the best answer. */
static int64_t top_limit(const search *s)
{
    double best = clv_run_best(s->run);
    return isinf(best) ? CLV_TICKS_MAX : clv_blocks_ticks(s->b, best) - 1;
}

clv_status clv_solve_ideals(clv_place_run *run, const clv_blocks *b, clv_arena *arena,
                            clv_error *err)
{
    const clv_place_rules *rules = &clv_run_options(run)->rules;
    search s = { .run = run, .b = b, .arena = arena }, chain;
    item *items = CLV_NEW_ARRAY(arena, item, b->n);
    if (!items)
        return nomem(err);
    CLV_TRY(open_search(&s, err));
    CLV_TRY(make_chain(&s, arena, &chain, err));
    if (rules->objective == CLV_PLACE_DEVICES) {
        int64_t limit = rules->max_load > 0 ? clv_blocks_ticks(b, rules->max_load) : CLV_TICKS_MAX;
        CLV_TRY(search_count(&chain, limit, false, err));
        return clv_run_over(run) ? CLV_OK : search_count(&s, limit, true, err);
    }
    int64_t low = least_limit(&s, items);
    raise(&s, low);
    s.low = chain.low = low;
    CLV_TRY(search_chain(&chain, low, err));
    if (clv_run_over(run))
        return CLV_OK;
    return search_limits(&s, low, top_limit(&s), err);
}
