/* bound_latency.c - the least latency, from the units through which all paths lead.
 *
 * Between two such units of the trunk, a and b, either all runs on one device, or a and b are on
 * different ones, and something is sent on every path from a to b: a legal plan never comes back to a
 * device that it has left. So with d devices at most d - 1 of these stretches are parted. Where memory
 * asks for m devices, parted stretches have room for m - 1 more devices than one: a parted stretch has
 * one more, and one for each unit inside it. What is cheaper is taken for each.
 *
 * With unequal devices this is a walk along the stretches that knows the kind and how many were parted.
 * Memory has a price there (Lagrange): a unit on a kind of device pays for its weights, and what all
 * devices of the kind hold is given back. A device has a price too, if it is scarce, or a gift, if it is
 * to be used. Any prices give a bound.
 */
#include "solver/bound.h"

#include "problem/sums.h"
#include "solver/trunk.h"

#include <math.h>
#include <stdlib.h>

#define WORD CLV_TRUNK_WORD
/* As in bound.c. */
#define MARGIN 1e-9
/* Prices are looked for in so many thirds, each in so many turns. */
#define PRICE_STEPS 20
#define PRICE_TURNS 2
/* Steps of one walk, for which kinds are told apart at all, and for which prices are looked for. */
#define WALK_MAX  INT64_C(100000000)
#define PRICE_MAX INT64_C(2000000)
/* Widths of the trunk: a narrow one leaves out more, a wide one finds fewer units through which all paths
 * lead. */
static const int32_t widths[] = { 8, 64, 1024 };
#define N_WIDTHS (sizeof widths / sizeof *widths)
/* Sizes of what is alive beside the weights that tell large units from small ones: so many halves. */
#define LIVE_STEPS 8

#define SAME  (-1) /* one device for the whole stretch */
#define FIRST (-2) /* there is no device before */

/* What parting a stretch costs more than not, and how many devices more it may use. */
typedef struct {
    double cost;
    int32_t devices;
} parting;

typedef struct {
    const clv_partition *p;
    clv_trunk trunk;
    bool *used;     /* n_kinds: some device has it */
    double *price;  /* n_kinds: ns for a byte */
    double *gift;   /* n_kinds: ns for a device that has units through which all paths lead; negative:
                       a price */
    double *room;   /* n_kinds: bytes for weights on all its devices */
    double *demand; /* n_kinds: such devices that there must be */
    double *supply; /* n_kinds: that there are */
    int64_t *live;  /* n_units: bytes beside weights while it runs */
    int64_t *weight; /* n_units: weights, and what it holds all the time */
    uint64_t *past; /* places: bit k: place - 1 - k must run before, as far as the word tells */
    double *near;   /* n_nets: when it is written, in this stretch, on the device of its first unit */
    double *far;    /* n_nets: on another device */
    double *whole, *split; /* n_kinds: what a stretch takes on one device, and parted, its last unit on
                              the kind */
    double *least, *next;  /* [kind * n_devices + how many are parted]: up to this stretch */
    int16_t *choice;       /* [stretch * kinds * devices + as least]: kind of the device before; SAME;
                              FIRST. NULL: not wanted */
    int32_t n_stretches;
    parting *partings;
    int32_t n_partings, least_partings;
    bool by_kind;
    double latency_ns, bytes_ns; /* the fastest link */
    int32_t least_devices;       /* that units of the trunk are on */
} bound;

static double lesser(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

static double paid(const bound *b, int32_t unit, int32_t kind)
{
    return b->price[kind] > 0 ? b->price[kind] * (double)b->weight[unit] : 0;
}

static double time_on(const bound *b, int32_t unit, int32_t kind)
{
    size_t at = (size_t)kind * (size_t)b->p->n_units + (size_t)unit;
    return (double)b->p->time_ns[at] + paid(b, unit, kind);
}

static double fastest(const bound *b, int32_t unit)
{
    double least = INFINITY;
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        if (b->used[k])
            least = lesser(least, time_on(b, unit, k));
    return least;
}

/* No transfer of so many bytes is faster, on any link: one need not have both numbers. */
static double wire(const bound *b, int64_t bytes)
{
    return bytes > 0 ? b->latency_ns + floor((double)bytes * b->bytes_ns * (1 - MARGIN)) : 0;
}

/* -- one stretch -- */

/* Places first + 1 .. last; the unit at first has just ended, or is -1: the start of all. */
typedef struct {
    int32_t first, last;
    bool parted; /* every path is sent once; else nothing is counted for sending */
    bool is_end; /* the end of all units counts, not that of the last one */
} stretch;

/* When a net may be there, for a unit on another device than the stretch's first. -INFINITY: it says
 * nothing. */
static double arrival(const bound *b, const stretch *s, int32_t net)
{
    int32_t from = b->p->net_from[net], place = b->trunk.at[from];
    if (place < 0 || place < s->first)
        return -INFINITY;
    if (place > s->first)
        return s->parted ? lesser(b->near[net] + wire(b, b->p->net_bytes[net]), b->far[net])
                         : b->far[net];
    double least = 0; /* written before the unit that just ended ended */
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        if (b->used[k])
            least = lesser(least, (double)(clv_net_ready_ns(b->p, net, k) -
                                           b->p->time_ns[(size_t)k * (size_t)b->p->n_units +
                                                         (size_t)from]));
    return least + (s->parted ? wire(b, b->p->net_bytes[net]) : 0);
}

/* The unit's end on a kind, and when its nets are there: as clv_partition_estimate() runs a unit. */
static double run_far(bound *b, const stretch *s, int32_t unit, int32_t kind, bool first_kind)
{
    const clv_partition *p = b->p;
    int32_t read = p->reads_first[unit], end = p->reads_first[unit + 1];
    double start = s->first < 0 ? 0 : -INFINITY, price = paid(b, unit, kind);
    for (int32_t net = p->unit_first_net[unit]; net < p->unit_first_net[unit + 1]; net++) {
        int32_t before = p->net_reads ? p->reads_first[unit] + p->net_reads[net] : end;
        for (; read < before; read++)
            start = larger(start, arrival(b, s, p->reads[read]) -
                                      (double)clv_read_after_ns(p, read, kind));
        double ready = start + (double)clv_net_ready_ns(p, net, kind) + price;
        b->far[net] = first_kind ? ready : lesser(b->far[net], ready);
    }
    for (; read < end; read++)
        start = larger(start,
                       arrival(b, s, p->reads[read]) - (double)clv_read_after_ns(p, read, kind));
    return start + time_on(b, unit, kind);
}

/* When a unit on the first one's device writes its nets: all that must run before it has run there. */
static void run_near(bound *b, const stretch *s, int32_t place)
{
    const clv_partition *p = b->p;
    int32_t unit = b->trunk.unit[place], n_before = place - s->first - 1;
    uint64_t past = b->past[place];
    if (n_before < WORD)
        past &= (UINT64_C(1) << n_before) - 1;
    double start = 0;
    for (; past; past &= past - 1)
        start += fastest(b, b->trunk.unit[place - 1 - __builtin_ctzll(past)]);
    for (int32_t net = p->unit_first_net[unit]; net < p->unit_first_net[unit + 1]; net++) {
        b->near[net] = INFINITY;
        for (int32_t k = 0; k < p->n_kinds; k++)
            if (b->used[k])
                b->near[net] = lesser(b->near[net], start + (double)clv_net_ready_ns(p, net, k) +
                                                        paid(b, unit, k));
    }
}

/* When a stretch ends at the earliest if it is on more than one device, by the kind of its last unit. */
static void find_split(bound *b, const stretch *s)
{
    double latest = s->first < 0 ? 0 : -INFINITY;
    for (int32_t place = s->first + 1; place <= s->last; place++) {
        int32_t unit = b->trunk.unit[place];
        double end = INFINITY;
        bool first_kind = true;
        if (s->parted && place < s->last)
            run_near(b, s, place);
        for (int32_t k = 0; k < b->p->n_kinds; k++) {
            if (!b->used[k])
                continue;
            b->split[k] = run_far(b, s, unit, k, first_kind);
            end = lesser(end, b->split[k]);
            first_kind = false;
        }
        latest = larger(latest, end);
    }
    for (int32_t k = 0; k < b->p->n_kinds && s->is_end; k++)
        b->split[k] = latest;
}

static void find_whole(bound *b, const stretch *s)
{
    for (int32_t k = 0; k < b->p->n_kinds; k++) {
        b->whole[k] = 0;
        for (int32_t place = s->first + 1; place <= s->last && b->used[k]; place++)
            b->whole[k] += time_on(b, b->trunk.unit[place], k);
    }
}

static double least_of(const bound *b, const double *at)
{
    double least = INFINITY;
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        least = b->used[k] ? lesser(least, at[k]) : least;
    return least;
}

/* How many devices more than one it may use. At the ends of the trunk, where there is no other unit
 * through which all paths lead, only what is beside the one there is can be elsewhere. */
static int32_t more_devices(const stretch *s)
{
    return s->first < 0 ? s->last : s->last - s->first;
}

/* -- all stretches, kinds apart -- */

static void walk_on(bound *b, const stretch *s)
{
    int32_t n = b->p->n_devices;
    bool may_part = more_devices(s) > 0, is_start = s->first < 0;
    for (int32_t j = 0; j < n; j++) {
        double before = is_start && j == 1 ? 0 : INFINITY;
        int32_t kind_before = FIRST;
        for (int32_t k = 0; k < b->p->n_kinds && j > 0 && !is_start; k++)
            if (b->least[k * n + j - 1] < before) {
                before = b->least[k * n + j - 1];
                kind_before = k;
            }
        for (int32_t k = 0; k < b->p->n_kinds; k++) {
            double gift = s->is_end ? 0 : b->gift[k];
            double on = is_start ? (j == 0 ? -gift : INFINITY) : b->least[k * n + j];
            on += b->whole[k];
            double off = may_part ? before + b->split[k] - gift : INFINITY;
            if (b->choice)
                b->choice[((size_t)b->n_stretches * (size_t)b->p->n_kinds + (size_t)k) * (size_t)n +
                          (size_t)j] = (int16_t)(off < on ? kind_before : is_start ? FIRST : SAME);
            on = lesser(on, off);
            b->next[k * n + j] = b->used[k] ? on : INFINITY;
        }
    }
    b->n_stretches++;
    double *swap = b->least;
    b->least = b->next;
    b->next = swap;
}

static double end_walk(const bound *b)
{
    int32_t n = b->p->n_devices;
    double sum = INFINITY;
    for (int32_t j = b->least_partings < n ? b->least_partings : n - 1; j < n; j++)
        for (int32_t k = 0; k < b->p->n_kinds; k++)
            sum = lesser(sum, b->least[k * n + j]);
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        sum += b->gift[k] * (b->gift[k] > 0 ? b->demand[k] : b->supply[k]) -
               b->price[k] * b->room[k];
    return sum;
}

/* -- all stretches, kinds alike -- */

static int by_cost(const void *a, const void *b)
{
    const parting *x = a, *y = b;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

/* For costs that are not negative. */
static int by_cost_for_each(const void *a, const void *b)
{
    const parting *x = a, *y = b;
    double left = x->cost * y->devices, right = y->cost * x->devices;
    return (left > right) - (left < right);
}

/* The least that parting can cost: all stretches that gain by it, as many as devices allow; then, if
 * those have no room for the devices that are needed, parts of the cheapest others. */
static double part(bound *b)
{
    double sum = 0;
    int32_t n = b->n_partings, i = 0, need = b->least_devices - 1;
    qsort(b->partings, (size_t)n, sizeof *b->partings, by_cost);
    for (; i < n && b->partings[i].cost < 0; i++) {
        sum += i < b->p->n_devices - 1 ? b->partings[i].cost : 0;
        need -= b->partings[i].devices < need ? b->partings[i].devices : need;
    }
    if (need > 0)
        qsort(b->partings + i, (size_t)(n - i), sizeof *b->partings, by_cost_for_each);
    for (; i < n && need > 0; i++) {
        int32_t more = b->partings[i].devices < need ? b->partings[i].devices : need;
        sum += b->partings[i].cost * more / b->partings[i].devices;
        need -= more;
    }
    return sum;
}

/* -- both -- */

/* What it adds to the sum. */
static double add_stretch(bound *b, const stretch *s)
{
    if (s->first == s->last)
        return 0;
    find_whole(b, s);
    find_split(b, s);
    if (b->by_kind) {
        walk_on(b, s);
        return 0;
    }
    double whole = least_of(b, b->whole);
    if (more_devices(s) > 0)
        b->partings[b->n_partings++] =
            (parting){ least_of(b, b->split) - whole, more_devices(s) };
    return whole;
}

/* The bound at these prices. */
static double at_prices(bound *b)
{
    int32_t first = -1, n = b->trunk.n;
    double sum = 0;
    b->n_partings = b->n_stretches = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!b->trunk.cut[i])
            continue;
        sum += add_stretch(b, &(stretch){ first, i, first >= 0, false });
        first = i;
    }
    sum += add_stretch(b, &(stretch){ first, n - 1, false, true });
    return b->by_kind && n > 0 ? end_walk(b) : sum + part(b);
}

/* The best value of one price or gift, the others as they are: the bound is concave in it. */
static double find_price(bound *b, double *price, double low, double high)
{
    double best_price = *price, best = at_prices(b);
    for (int32_t i = 0; i < PRICE_STEPS; i++) {
        double at[2] = { low + (high - low) / 3, high - (high - low) / 3 }, got[2];
        for (int32_t k = 0; k < 2; k++) {
            *price = at[k];
            got[k] = at_prices(b);
            if (got[k] > best) {
                best = got[k];
                best_price = at[k];
            }
        }
        if (got[0] < got[1])
            low = at[0];
        else
            high = at[1];
    }
    *price = best_price;
    return best;
}

static double total(const int64_t *at, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += (double)at[i];
    return sum;
}

static bool has_prices(const bound *b)
{
    int64_t steps = (int64_t)b->trunk.n * b->p->n_devices * b->p->n_kinds;
    return b->by_kind && steps <= PRICE_MAX;
}

/* Nothing is worth more than all time: no device, and no share of the weights. */
static double with_prices(bound *b)
{
    const clv_partition *p = b->p;
    double best = at_prices(b), weights = total(b->weight, p->n_units), all = 0;
    double free_best = best;
    if (!has_prices(b))
        return floor(best);
    for (int32_t k = 0; k < p->n_kinds; k++)
        if (b->used[k])
            all = larger(all, total(p->time_ns + (size_t)k * (size_t)p->n_units, p->n_units));
    for (int32_t turn = 0; turn < PRICE_TURNS; turn++)
        for (int32_t k = 0; k < p->n_kinds; k++) {
            if (b->used[k] && b->room[k] < weights)
                best = find_price(b, &b->price[k], 0, 4 * all / weights);
            if (b->used[k])
                best = find_price(b, &b->gift[k], -all / b->supply[k], all / b->supply[k]);
        }
    return best > free_best ? floor(best * (1 - MARGIN)) : floor(free_best);
}

/* -- the order behind it -- */

/* kinds: of the devices along the trunk, n_devices at most. Returns how many. The walk must have been
 * done with choice. */
static int32_t trace(const bound *b, int32_t *kinds)
{
    int32_t n = b->p->n_devices, n_runs = 0, at = -1;
    size_t width = (size_t)b->p->n_kinds * (size_t)n;
    for (int32_t i = 0; i < b->p->n_kinds * n; i++)
        if (i % n >= b->least_partings && (at < 0 || b->least[i] < b->least[at]))
            at = i;
    for (int32_t s = b->n_stretches - 1; s >= 0 && at >= 0; s--) {
        int32_t before = b->choice[(size_t)s * width + (size_t)at];
        if (before == SAME)
            continue;
        kinds[n_runs++] = at / n;
        at = before == FIRST ? -1 : before * n + at % n - 1;
    }
    for (int32_t i = 0; i < n_runs / 2; i++) {
        int32_t swap = kinds[i];
        kinds[i] = kinds[n_runs - 1 - i];
        kinds[n_runs - 1 - i] = swap;
    }
    return n_runs;
}

/* Devices of those kinds, the first of each first; another one where a kind has no more; then the rest. */
static void order_by(const bound *b, const int32_t *kinds, int32_t n_runs, bool *taken, int32_t *order)
{
    const clv_partition *p = b->p;
    for (int32_t i = 0; i < p->n_devices; i++) {
        int32_t d = 0;
        while (d < p->n_devices && (taken[d] || (i < n_runs && p->kind_of[d] != kinds[i])))
            d++;
        for (int32_t other = 0; d == p->n_devices; other++)
            if (!taken[other])
                d = other;
        taken[d] = true;
        order[i] = d;
    }
}

static clv_status find_order(bound *b, clv_arena *scratch, int32_t *order, clv_error *err)
{
    const clv_partition *p = b->p;
    size_t width = (size_t)p->n_kinds * (size_t)p->n_devices;
    int32_t *kinds = CLV_NEW_ARRAY(scratch, int32_t, p->n_devices);
    bool *taken = CLV_NEW_ARRAY(scratch, bool, p->n_devices);
    b->choice = CLV_NEW_ARRAY(scratch, int16_t, width * ((size_t)b->trunk.n + 1));
    if (!kinds || !taken || !b->choice)
        return clv_fail_nomem(err, "a bound");
    at_prices(b);
    order_by(b, kinds, trace(b, kinds), taken, order);
    return CLV_OK;
}

/* -- memory -- */

/* The most weights of the trunk that lie between two units with so much alive through which all paths
 * lead: what a device can hold that has none of those. *ret_live: the least that one of those has alive. */
static int64_t largest_gap(const bound *b, int64_t large, int64_t *ret_live)
{
    int64_t most = 0, sum = 0;
    *ret_live = INT64_MAX;
    for (int32_t i = 0; i < b->trunk.n; i++) {
        int32_t u = b->trunk.unit[i];
        if (b->trunk.cut[i] && b->live[u] >= large) {
            *ret_live = b->live[u] < *ret_live ? b->live[u] : *ret_live;
            sum = 0;
            continue;
        }
        sum = clv_add_sat(sum, b->weight[u]);
        most = sum > most ? sum : most;
    }
    return most;
}

/* What a device with this capacity can hold of the trunk: either no large unit, and then no more than is
 * between two of them, or one, with all that it has alive. */
static int64_t room_of(const bound *b, int64_t capacity)
{
    int64_t large = 0, room = capacity;
    for (int32_t i = 0; i < b->trunk.n; i++)
        if (b->trunk.cut[i] && b->live[b->trunk.unit[i]] > large)
            large = b->live[b->trunk.unit[i]];
    for (int32_t step = 0; step < LIVE_STEPS && large > 0; step++, large /= 2) {
        int64_t live, gap = largest_gap(b, large, &live);
        int64_t with = capacity - live, without = gap < capacity ? gap : capacity;
        int64_t here = with > without ? with : without;
        room = here < room ? here : room;
    }
    return room > 0 ? room : 0;
}

static int largest_first(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* Rooms of kinds; and so many devices at least hold the weights of the trunk, the roomiest first. */
static void find_rooms(bound *b, int64_t *room)
{
    const clv_partition *p = b->p;
    int64_t weights = 0, held = 0;
    for (int32_t d = 0; d < p->n_devices; d++) {
        int32_t like = 0;
        while (p->capacity_bytes[like] != p->capacity_bytes[d])
            like++;
        room[d] = like < d ? room[like] : room_of(b, p->capacity_bytes[d]);
        b->room[p->kind_of[d]] += (double)room[d];
    }
    for (int32_t i = 0; i < b->trunk.n; i++)
        weights = clv_add_sat(weights, b->weight[b->trunk.unit[i]]);
    qsort(room, (size_t)p->n_devices, sizeof *room, largest_first);
    while (b->least_devices < p->n_devices && held < weights)
        held = clv_add_sat(held, room[b->least_devices++]);
}

/* Where all devices are to be used, those that the trunk is not on have other units; and those of a kind
 * that have no unit through which all paths lead. */
static void find_demand(bound *b)
{
    const clv_partition *p = b->p;
    int32_t others = p->n_units - b->trunk.n, beside = p->n_units;
    if (p->n_units < p->n_devices)
        return;
    if (b->least_devices < p->n_devices - others)
        b->least_devices = p->n_devices - others;
    for (int32_t i = 0; i < b->trunk.n; i++)
        beside -= b->trunk.cut[i];
    for (int32_t k = 0; k < p->n_kinds; k++)
        b->demand[k] = larger(0, b->supply[k] - beside);
}

static int most_first(const void *a, const void *b)
{
    const parting *x = a, *y = b;
    return (x->devices < y->devices) - (x->devices > y->devices);
}

/* So many stretches at least are parted, for so many devices. */
static void find_least_partings(bound *b)
{
    int32_t first = -1, n = 0, need = b->least_devices - 1;
    for (int32_t i = 0; i < b->trunk.n; i++) {
        if (!b->trunk.cut[i] && i + 1 < b->trunk.n)
            continue;
        b->partings[n++] = (parting){ 0, more_devices(&(stretch){ first, i, false, false }) };
        first = i;
    }
    qsort(b->partings, (size_t)n, sizeof *b->partings, most_first);
    for (int32_t i = 0; i < n && need > 0; i++, b->least_partings++)
        need -= b->partings[i].devices;
}

/* -- the call -- */

static void find_fastest_link(bound *b)
{
    const clv_partition *p = b->p;
    b->latency_ns = b->bytes_ns = INFINITY;
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++) {
            size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
            if (from == to)
                continue;
            b->latency_ns = lesser(b->latency_ns, (double)p->link_latency_ns[link]);
            b->bytes_ns = lesser(b->bytes_ns, 1e9 / p->link_bytes_per_s[link]);
        }
    if (p->n_devices == 1)
        b->latency_ns = b->bytes_ns = 0;
}

static void find_past(bound *b)
{
    const clv_trunk *t = &b->trunk;
    for (int32_t i = 0; i < t->n; i++) {
        b->past[i] = t->preds[i];
        for (uint64_t m = t->preds[i]; m; m &= m - 1) {
            int32_t k = __builtin_ctzll(m);
            if (k + 1 < WORD)
                b->past[i] |= b->past[i - 1 - k] << (k + 1);
        }
    }
}

/* A unit that waits after it has written a net ends no certain time after the net is there, so stretches
 * do not begin with it. */
static void drop_early_writers(bound *b)
{
    const clv_partition *p = b->p;
    for (int32_t i = 0; i < b->trunk.n && p->net_reads; i++) {
        int32_t u = b->trunk.unit[i], n_reads = p->reads_first[u + 1] - p->reads_first[u];
        for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++)
            b->trunk.cut[i] &= p->net_reads[net] == n_reads;
    }
}

static bool take_bound(const clv_partition *p, clv_arena *scratch, bound *b)
{
    *b = (bound){ .p = p,
                  .used = CLV_NEW_ARRAY(scratch, bool, p->n_kinds),
                  .price = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                  .gift = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                  .room = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                  .demand = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                  .supply = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                  .whole = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                  .split = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                  .least = CLV_NEW_ARRAY(scratch, double, p->n_kinds *p->n_devices),
                  .next = CLV_NEW_ARRAY(scratch, double, p->n_kinds *p->n_devices),
                  .live = CLV_NEW_ARRAY(scratch, int64_t, p->n_units),
                  .weight = CLV_NEW_ARRAY(scratch, int64_t, p->n_units),
                  .past = CLV_NEW_ARRAY(scratch, uint64_t, p->n_units),
                  .near = CLV_NEW_ARRAY(scratch, double, p->n_nets),
                  .far = CLV_NEW_ARRAY(scratch, double, p->n_nets),
                  .partings = CLV_NEW_ARRAY(scratch, parting, p->n_units + 1) };
    return b->used && b->price && b->gift && b->room && b->demand && b->supply && b->whole &&
           b->split && b->least && b->next && b->live && b->weight && b->past && b->near && b->far && b->partings;
}

static clv_status open_bound(const clv_partition *p, const clv_bound_options *o, int32_t near,
                             clv_arena *scratch, bound *b, clv_error *err)
{
    int64_t *room = CLV_NEW_ARRAY(scratch, int64_t, p->n_devices);
    if (!room || !take_bound(p, scratch, b))
        return clv_fail_nomem(err, "a bound");
    CLV_TRY(clv_trunk_new(p, near, false, scratch, &b->trunk, err));
    int32_t n_used = 0;
    for (int32_t d = 0; d < p->n_devices; d++)
        n_used += b->supply[p->kind_of[d]]++ < 1;
    for (int32_t k = 0; k < p->n_kinds; k++)
        b->used[k] = b->supply[k] > 0;
    b->by_kind = n_used > 1 && (int64_t)b->trunk.n * p->n_devices * p->n_kinds <= WALK_MAX;
    for (int32_t u = 0; u < p->n_units; u++) {
        int64_t held = o->held_bytes ? o->held_bytes[u] : 0;
        int64_t live = o->live_bytes ? o->live_bytes[u] : 0;
        b->weight[u] = p->weight_bytes[u] + held;
        b->live[u] = live > held ? live - held : 0;
    }
    find_fastest_link(b);
    find_past(b);
    find_rooms(b, room);
    drop_early_writers(b);
    if (o->use_all)
        find_demand(b);
    find_least_partings(b);
    return CLV_OK;
}

/* Every path of the whole problem, nothing sent. The trunk is lost. */
static double longest_path(bound *b)
{
    for (int32_t u = 0; u < b->p->n_units; u++)
        b->trunk.unit[u] = b->trunk.at[u] = u;
    find_split(b, &(stretch){ -1, b->p->n_units - 1, false, true });
    return b->p->n_units > 0 ? least_of(b, b->split) : 0;
}

/* With one width of the trunk, and prices or none. */
static clv_status bound_with(const clv_partition *p, const clv_bound_options *o, int32_t near,
                             bool priced, clv_arena *scratch, double *ret, int32_t *order,
                             bool *found, clv_error *err)
{
    clv_mark mark = clv_arena_mark(scratch);
    bound b;
    CLV_TRY(open_bound(p, o, near, scratch, &b, err));
    *ret = floor(at_prices(&b));
    if (priced && has_prices(&b) && b.trunk.n > 0) {
        *ret = with_prices(&b);
        CLV_TRY(find_order(&b, scratch, order, err));
        *found = true;
    }
    for (int32_t k = 0; k < p->n_kinds; k++)
        b.price[k] = b.gift[k] = 0;
    *ret = larger(*ret, longest_path(&b));
    clv_arena_rewind(scratch, mark);
    return CLV_OK;
}

/* The width that proves most without prices, and then with prices. */
static clv_status bound_best(const clv_partition *p, const clv_bound_options *o, clv_arena *scratch,
                             double *best, int32_t *order, bool *found, clv_error *err)
{
    int32_t near = o->near;
    double here = 0;
    *best = 0;
    for (size_t i = 0; i < N_WIDTHS && o->near == 0; i++) {
        CLV_TRY(bound_with(p, o, widths[i], false, scratch, &here, order, found, err));
        if (here > *best || near == 0)
            near = widths[i];
        *best = larger(*best, here);
    }
    CLV_TRY(bound_with(p, o, near, true, scratch, &here, order, found, err));
    *best = larger(*best, here);
    return CLV_OK;
}

clv_status clv_bound_latency(const clv_partition *p, const clv_bound_options *options,
                             clv_arena *arena, int32_t *order, clv_bound *ret, clv_error *err)
{
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    int64_t work = 0;
    double best = 0;
    bool found = false;
    if (!scratch)
        return clv_fail_nomem(err, "a bound");
    clv_status status = clv_bound_work(p, scratch, &work, err);
    if (status == CLV_OK)
        status = bound_best(p, options, scratch, &best, order, &found, err);
    clv_arena_free(scratch);
    CLV_TRY(status);
    *ret = (clv_bound){ (int64_t)larger(best, (double)work), found };
    return CLV_OK;
}
