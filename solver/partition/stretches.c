#include "solver/partition/stretches.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "problem/estimate.h"
#include "problem/sums.h"

#define WORD CLV_TRUNK_WORD
/* Steps of one walk along the stretches for which kinds are told apart. */
#define WALK_MAX INT64_C(100000000)
/* Sizes of what is alive beside the weights that tell large units from small ones: so many halves.
 */
#define LIVE_STEPS 8

typedef clv_stretches bound;
typedef clv_stretch stretch;
typedef clv_parting parting;

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

static bool may_have(const bound *b, int32_t place, int32_t kind)
{
    return b->used[kind] && (!b->only || b->only[place] < 0 || b->only[place] == kind);
}

static double fastest(const bound *b, int32_t unit)
{
    double least = INFINITY;
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        if (b->used[k])
            least = lesser(least, time_on(b, unit, k));
    return least;
}

static double wire_over(int64_t bytes, double latency_ns, double bytes_ns)
{
    return bytes > 0 ? latency_ns + floor((double)bytes * bytes_ns * (1 - CLV_BOUND_MARGIN)) : 0;
}

/* No transfer of so many bytes is faster, on any link: one need not have both numbers. */
static double wire(const bound *b, int64_t bytes)
{
    return wire_over(bytes, b->latency_ns, b->bytes_ns);
}

/* The same where nothing but the slow link was between it and the first unit's device. */
static double slow_wire(const bound *b, int64_t bytes)
{
    return wire_over(bytes, b->slow_latency_ns, b->slow_bytes_ns);
}

/* The same for what has been sent before, by fast links. One slow link may have had the latency and
 * another one the bandwidth, and the first of the two may be in the time of what was sent before
 * already: this net crosses one of them. Where one link has both, what was sent before did not
 * cross it: the writer is where other links lead to from the first unit's device, the reader is
 * not, and so it is this net that crosses. */
static double cross(const bound *b, int64_t bytes)
{
    if (b->is_one_link)
        return slow_wire(b, bytes);
    return lesser(wire_over(bytes, b->latency_ns, b->slow_bytes_ns),
                  wire_over(bytes, b->slow_latency_ns, b->bytes_ns));
}

/* -- one stretch -- */

/* Where a unit is that is not on the first one's device. */
typedef enum {
    BESIDE, /* where fast links alone may lead to */
    BEHIND  /* behind the slow link */
} side;

/* When a net is there, from its unit's end on: never later. */
static double ready_at_end(const bound *b, int32_t net, int32_t kind)
{
    size_t unit = (size_t)b->p->net_from[net];
    return (double)(clv_net_ready_ns(b->p, net, kind) -
                    b->p->time_ns[(size_t)kind * (size_t)b->p->n_units + unit]);
}

/* The kind of device of the unit at a place, or -1: not known. */
static int32_t kind_at(const bound *b, const stretch *s, int32_t place)
{
    if (place <= s->first)
        return s->is_known ? s->kind : -1;
    return b->only ? b->only[place] : -1;
}

/* No transfer from one kind to the other is faster. from: -1 if it is not known. */
static double link_wire(const bound *b, int32_t from, int32_t to, int64_t bytes)
{
    int32_t at = from * b->p->n_kinds + to;
    if (from < 0 || !b->direct_bytes_ns)
        return 0;
    return wire_over(bytes, b->direct_latency_ns[at], b->direct_bytes_ns[at]);
}

/* Of a net that was written on the first unit's device before that ended. */
static double arrival_from_before(const bound *b, const stretch *s, int32_t net, int32_t place,
                                  double wire_ns)
{
    if (!(s->whole_ns > 0) || place < s->before)
        return -INFINITY;
    double at = place > s->before ? b->near[net] : ready_at_end(b, net, s->kind);
    return at - s->whole_ns + wire_ns;
}

/* When a net may be there, for a unit of a kind on another device than the stretch's first.
 * -INFINITY: it says nothing. A unit of another kind than the writer's has been sent it, wherever
 * the two are. */
static double arrival(const bound *b, const stretch *s, int32_t net, int32_t kind, side at)
{
    int32_t from = b->p->net_from[net], place = b->trunk.at[from];
    int64_t bytes = b->p->net_bytes[net];
    if (place < 0)
        return -INFINITY;
    int32_t kind_before = kind_at(b, s, place);
    double link_ns = link_wire(b, kind_before, kind, bytes);
    double apart_ns = kind_before != kind ? link_ns : 0;
    double wire_ns = !s->parted ? 0 : at == BEHIND ? slow_wire(b, bytes) : wire(b, bytes);
    wire_ns = s->parted ? larger(wire_ns, link_ns) : 0;
    if (place < s->first)
        return arrival_from_before(b, s, net, place, wire_ns);
    if (place > s->first && !s->parted)
        return b->far[net] + apart_ns;
    if (place > s->first) {
        double sent = b->sent[net] + larger(apart_ns, at == BEHIND ? cross(b, bytes) : 0);
        sent = b->is_slow ? sent : INFINITY;
        double there = at == BEHIND ? lesser(sent, b->far[net] + apart_ns) : sent;
        return lesser(b->near[net] + wire_ns, there);
    }
    double least = 0; /* written before the unit that just ended did */
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        if (b->used[k] && (!s->is_known || k == s->kind))
            least = lesser(least, ready_at_end(b, net, k));
    return least + wire_ns;
}

/* The unit's end on a kind, and when its nets are there: as clv_partition_estimate() runs a unit.
 */
static double run_far(bound *b, const stretch *s, int32_t unit, int32_t kind, bool first_kind,
                      side at)
{
    const clv_partition_problem *p = b->p;
    int32_t read = p->reads_first[unit], end = p->reads_first[unit + 1];
    double start = s->first < 0 ? 0 : -INFINITY, price = paid(b, unit, kind);
    double *there = at == BEHIND ? b->far : b->sent;
    for (int32_t net = p->unit_first_net[unit]; net < p->unit_first_net[unit + 1]; net++) {
        int32_t before = p->net_reads ? p->reads_first[unit] + p->net_reads[net] : end;
        for (; read < before; read++)
            start = larger(start, arrival(b, s, p->reads[read], kind, at) -
                                      (double)clv_read_after_ns(p, read, kind));
        double ready = start + (double)clv_net_ready_ns(p, net, kind) + price;
        there[net] = first_kind ? ready : lesser(there[net], ready);
    }
    for (; read < end; read++)
        start = larger(start, arrival(b, s, p->reads[read], kind, at) -
                                  (double)clv_read_after_ns(p, read, kind));
    return start + time_on(b, unit, kind);
}

/* What the unit at a place takes on the first one's device. */
static double time_near(const bound *b, const stretch *s, int32_t place)
{
    int32_t unit = b->trunk.unit[place];
    if (!s->is_known)
        return fastest(b, unit);
    return may_have(b, place, s->kind) ? time_on(b, unit, s->kind) : INFINITY;
}

/* When a unit on the first one's device writes its nets: all that must run before it has run there.
 */
static void run_near(bound *b, const stretch *s, int32_t place)
{
    const clv_partition_problem *p = b->p;
    int32_t unit = b->trunk.unit[place], n_before = place - s->first - 1;
    uint64_t past = b->past[place];
    if (n_before < WORD)
        past &= (UINT64_C(1) << n_before) - 1;
    double start = 0;
    for (; past; past &= past - 1)
        start += time_near(b, s, place - 1 - __builtin_ctzll(past));
    for (int32_t net = p->unit_first_net[unit]; net < p->unit_first_net[unit + 1]; net++) {
        b->near[net] = INFINITY;
        for (int32_t k = 0; k < p->n_kinds; k++)
            if (may_have(b, place, k) && (!s->is_known || k == s->kind))
                b->near[net] = lesser(b->near[net], start + (double)clv_net_ready_ns(p, net, k) +
                                                        paid(b, unit, k));
    }
}

void clv_stretch_split(bound *b, const stretch *s)
{
    /* The end of all is not before the end of the unit at first, nor before the start of all. */
    double latest = s->first < 0 || s->is_end ? 0 : -INFINITY;
    stretch before = {
        .first = s->before, .last = s->first, .is_known = s->is_known, .kind = s->kind
    };
    if (s->whole_ns > 0)
        for (int32_t place = s->before + 1; place < s->first; place++)
            run_near(b, &before, place);
    for (int32_t place = s->first + 1; place <= s->last; place++) {
        int32_t unit = b->trunk.unit[place];
        double end = INFINITY;
        bool first_kind = true;
        if (s->parted && place < s->last)
            run_near(b, s, place);
        for (int32_t k = 0; k < b->p->n_kinds; k++) {
            if (!may_have(b, place, k))
                continue;
            if (b->is_slow && s->parted && place < s->last)
                run_far(b, s, unit, k, first_kind, BESIDE);
            b->split[k] = run_far(b, s, unit, k, first_kind, BEHIND);
            end = lesser(end, b->split[k]);
            first_kind = false;
        }
        latest = larger(latest, end);
    }
    for (int32_t k = 0; k < b->p->n_kinds && s->is_end; k++)
        b->split[k] = latest;
}

void clv_stretch_slow(bound *b, double latency_ns, double bytes_ns, bool is_one_link)
{
    b->is_one_link = is_one_link;
    b->slow_latency_ns = larger(latency_ns, b->latency_ns);
    b->slow_bytes_ns = larger(bytes_ns, b->bytes_ns);
    b->is_slow = b->slow_latency_ns > b->latency_ns || b->slow_bytes_ns > b->bytes_ns;
}

void clv_stretch_whole(bound *b, const stretch *s)
{
    for (int32_t k = 0; k < b->p->n_kinds; k++) {
        b->whole[k] = 0;
        for (int32_t place = s->first + 1; place <= s->last && b->used[k]; place++)
            b->whole[k] += time_on(b, b->trunk.unit[place], k);
    }
}

int32_t clv_stretch_devices(const stretch *s)
{
    return s->first < 0 ? s->last : s->last - s->first;
}

/* -- memory -- */

/* The most weights of the trunk that lie between two units with so much alive through which all
 * paths lead: what a device can hold that has none of those. *ret_live: the least that one of those
 * has alive. */
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

/* What a device with this capacity can hold of the trunk: either no large unit, and then no more
 * than is between two of them, or one, with all that it has alive. */
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

/* Rooms of kinds; and so many devices at least hold the weights of the trunk, the roomiest first.
 */
static void find_rooms(bound *b, int64_t *room)
{
    const clv_partition_problem *p = b->p;
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
    qsort(room, (size_t)p->n_devices, sizeof *room, clv_compare_int64_down);
    while (b->least_devices < p->n_devices && held < weights)
        held = clv_add_sat(held, room[b->least_devices++]);
}

/* Where all devices are to be used, those that the trunk is not on have other units; and those of a
 * kind that have no unit through which all paths lead. */
static void find_demand(bound *b)
{
    const clv_partition_problem *p = b->p;
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
        b->partings[n++] =
            (parting){ 0, clv_stretch_devices(&(stretch){ .first = first, .last = i }) };
        first = i;
    }
    qsort(b->partings, (size_t)n, sizeof *b->partings, most_first);
    for (int32_t i = 0; i < n && need > 0; i++, b->least_partings++)
        need -= b->partings[i].devices;
}

/* -- opening -- */

static void find_fastest_link(bound *b)
{
    const clv_partition_problem *p = b->p;
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
    clv_stretch_slow(b, 0, 0, true);
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

/* A unit that waits after it has written a net ends no certain time after the net is there, so
 * stretches do not begin with it. */
static void drop_early_writers(bound *b)
{
    const clv_partition_problem *p = b->p;
    for (int32_t i = 0; i < b->trunk.n && p->net_reads; i++) {
        int32_t u = b->trunk.unit[i], n_reads = p->reads_first[u + 1] - p->reads_first[u];
        for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++)
            b->trunk.cut[i] &= p->net_reads[net] == n_reads;
    }
}

/* Nor does a stretch end with a unit that may end before the stretch begins: all that it reads in
 * the stretch is written before its writers have read anything, or is known through units that are
 * left out of the trunk. */
static void drop_loose_ends(bound *b)
{
    int32_t first = -1;
    for (int32_t i = 0; i < b->trunk.n; i++) {
        if (!b->trunk.cut[i])
            continue;
        clv_stretch_split(b, &(stretch){ .first = first, .last = i, .parted = first >= 0 });
        for (int32_t k = 0; k < b->p->n_kinds; k++)
            b->trunk.cut[i] &= !b->used[k] || isfinite(b->split[k]);
        first = b->trunk.cut[i] ? i : first;
    }
}

static bool take_bound(const clv_partition_problem *p, clv_arena *scratch, bound *b)
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
                  .least = CLV_NEW_ARRAY(scratch, double, p->n_kinds * p->n_devices),
                  .next = CLV_NEW_ARRAY(scratch, double, p->n_kinds * p->n_devices),
                  .live = CLV_NEW_ARRAY(scratch, int64_t, p->n_units),
                  .weight = CLV_NEW_ARRAY(scratch, int64_t, p->n_units),
                  .past = CLV_NEW_ARRAY(scratch, uint64_t, p->n_units),
                  .near = CLV_NEW_ARRAY(scratch, double, p->n_nets),
                  .far = CLV_NEW_ARRAY(scratch, double, p->n_nets),
                  .sent = CLV_NEW_ARRAY(scratch, double, p->n_nets),
                  .partings = CLV_NEW_ARRAY(scratch, parting, p->n_units + 1) };
    return b->used && b->price && b->gift && b->room && b->demand && b->supply && b->whole &&
           b->split && b->least && b->next && b->live && b->weight && b->past && b->near &&
           b->far && b->sent && b->partings;
}

clv_status clv_stretches_open(const clv_partition_problem *p, const clv_bound_options *o,
                              int32_t near, clv_arena *scratch, clv_stretches *b, clv_error *err)
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
    drop_loose_ends(b);
    if (o->use_all)
        find_demand(b);
    find_least_partings(b);
    return CLV_OK;
}
