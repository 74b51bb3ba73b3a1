#include "solver/partition/segments.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "problem/sums.h"

#define WORD CLV_BACKBONE_WORD
/* Steps of one pass over the segments for which kinds are kept apart. */
#define WALK_MAX INT64_C(100000000)
/* Large units have so much alive beside the weights: the most of all, and so many halves of it. */
#define LIVE_STEPS 8

/* The price of what a unit holds on a kind of device. */
static double price_ns(const clv_segments *b, int32_t unit, int32_t kind)
{
    return b->price_ns_per_byte[kind] > 0
               ? b->price_ns_per_byte[kind] * (double)b->weight_bytes[unit]
               : 0;
}

static double unit_ns_on(const clv_segments *b, int32_t unit, int32_t kind)
{
    size_t at = (size_t)kind * (size_t)b->p->n_units + (size_t)unit;
    return (double)b->p->time_ns[at] + price_ns(b, unit, kind);
}

static bool may_have(const clv_segments *b, int32_t place, int32_t kind)
{
    return b->used[kind] && (!b->only || b->only[place] < 0 || b->only[place] == kind);
}

static double fastest_ns(const clv_segments *b, int32_t unit)
{
    double least = INFINITY;
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        if (b->used[k])
            least = clv_lesser_ns(least, unit_ns_on(b, unit, k));
    return least;
}

static double wire_ns_over(int64_t bytes, double latency_ns, double byte_ns)
{
    return bytes > 0 ? latency_ns + ceil((double)bytes * byte_ns * (1 - CLV_BOUND_MARGIN)) : 0;
}

/* No transfer of so many bytes over such a link is faster. */
static double wire_ns_on(clv_link_speed link, int64_t bytes)
{
    return wire_ns_over(bytes, link.latency_ns, link.byte_ns);
}

/* The least time of a net whose writer is reached from the first unit's device over fast links, and
 * whose reader is behind a slow one. Where one link has both the latency and the time of a byte,
 * this net crosses it: the way to the writer did not. Where they are two links, the way to the
 * writer may have crossed one of them, so this net need only cross the other: the lesser counts. */
static double wire_ns_across(const clv_segments *b, int64_t bytes)
{
    if (b->slow.is_one)
        return wire_ns_on(b->slow, bytes);
    return clv_lesser_ns(wire_ns_over(bytes, b->fastest.latency_ns, b->slow.byte_ns),
                         wire_ns_over(bytes, b->slow.latency_ns, b->fastest.byte_ns));
}

/* -- one segment -- */

/* Where a unit is that is not on the first one's device. */
typedef enum {
    BESIDE, /* where fast links alone may lead to */
    BEHIND  /* behind the slow link */
} side;

/* When a net is there, from its unit's end on: never later. */
static double ready_at_end(const clv_segments *b, int32_t net, int32_t kind)
{
    size_t unit = (size_t)b->p->net_from[net];
    return (double)(clv_net_ready_ns(b->p, net, kind) -
                    b->p->time_ns[(size_t)kind * (size_t)b->p->n_units + unit]);
}

/* Arrival of a net that was written on the first unit's device before that unit ended. */
static double arrival_ns_from_before(const clv_segments *b, const clv_segment *s, int32_t net,
                                     int32_t place, double wire_ns)
{
    if (!(s->before_ns > 0) || place < s->before)
        return -INFINITY;
    double at = place > s->before ? b->near_ns[net] : ready_at_end(b, net, s->kind);
    return at - s->before_ns + wire_ns;
}

/* When a net may be there, for a unit of a kind on another device than the segment's first.
 * -INFINITY: it says nothing. A unit of another kind than the writer's has been sent it, wherever
 * the two are. */
static double arrival_ns(const clv_segments *b, const clv_segment *s, int32_t net, int32_t kind,
                         side at)
{
    int32_t from = b->p->net_from[net], place = b->backbone.at[from];
    int64_t bytes = b->p->net_bytes[net];
    if (place < 0)
        return -INFINITY;
    int32_t kind_before = b->only ? b->only[place] : -1; /* of the writer; -1: not known */
    if (place <= s->first)
        kind_before = s->is_known ? s->kind : -1;
    double link_ns = 0; /* no transfer from one kind to the other is faster */
    if (kind_before >= 0 && b->direct)
        link_ns = wire_ns_on(b->direct[kind_before * b->p->n_kinds + kind], bytes);
    double apart_ns = kind_before != kind ? link_ns : 0;
    double wire_ns = !s->is_split ? 0 : wire_ns_on(at == BEHIND ? b->slow : b->fastest, bytes);
    wire_ns = s->is_split ? clv_larger_ns(wire_ns, link_ns) : 0;
    if (place < s->first)
        return arrival_ns_from_before(b, s, net, place, wire_ns);
    if (place > s->first && !s->is_split)
        return b->far_ns[net] + apart_ns;
    if (place > s->first) {
        double sent =
            b->sent_ns[net] + clv_larger_ns(apart_ns, at == BEHIND ? wire_ns_across(b, bytes) : 0);
        sent = b->is_slow ? sent : INFINITY;
        double there = at == BEHIND ? clv_lesser_ns(sent, b->far_ns[net] + apart_ns) : sent;
        return clv_lesser_ns(b->near_ns[net] + wire_ns, there);
    }
    double least = 0; /* written before the unit that just ended did */
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        if (b->used[k] && (!s->is_known || k == s->kind))
            least = clv_lesser_ns(least, ready_at_end(b, net, k));
    return least + wire_ns;
}

/* The unit's end on a kind, and when its nets are there: as clv_partition_estimate() runs a unit.
 */
static double time_far(clv_segments *b, const clv_segment *s, int32_t unit, int32_t kind,
                       bool first_kind, side at)
{
    const clv_partition_problem *p = b->p;
    int32_t read = p->reads_first[unit], end = p->reads_first[unit + 1];
    double start = s->first < 0 ? 0 : -INFINITY, price = price_ns(b, unit, kind);
    double *there = at == BEHIND ? b->far_ns : b->sent_ns;
    for (int32_t net = p->unit_first_net[unit]; net < p->unit_first_net[unit + 1]; net++) {
        int32_t before = p->net_reads ? p->reads_first[unit] + p->net_reads[net] : end;
        for (; read < before; read++)
            start = clv_larger_ns(start, arrival_ns(b, s, p->reads[read], kind, at) -
                                             (double)clv_read_after_ns(p, read, kind));
        double ready = start + (double)clv_net_ready_ns(p, net, kind) + price;
        there[net] = first_kind ? ready : clv_lesser_ns(there[net], ready);
    }
    for (; read < end; read++)
        start = clv_larger_ns(start, arrival_ns(b, s, p->reads[read], kind, at) -
                                         (double)clv_read_after_ns(p, read, kind));
    return start + unit_ns_on(b, unit, kind);
}

/* When a unit on the first one's device writes its nets: all that must run before it has run there.
 */
static void time_near(clv_segments *b, const clv_segment *s, int32_t place)
{
    const clv_partition_problem *p = b->p;
    int32_t unit = b->backbone.unit[place], n_before = place - s->first - 1;
    uint64_t past = b->past[place];
    if (n_before < WORD)
        past &= (UINT64_C(1) << n_before) - 1;
    double start = 0;
    for (; past; past &= past - 1) {
        int32_t before = place - 1 - __builtin_ctzll(past), u = b->backbone.unit[before];
        if (!s->is_known)
            start += fastest_ns(b, u);
        else
            start += may_have(b, before, s->kind) ? unit_ns_on(b, u, s->kind) : INFINITY;
    }
    for (int32_t net = p->unit_first_net[unit]; net < p->unit_first_net[unit + 1]; net++) {
        b->near_ns[net] = INFINITY;
        for (int32_t k = 0; k < p->n_kinds; k++)
            if (may_have(b, place, k) && (!s->is_known || k == s->kind))
                b->near_ns[net] =
                    clv_lesser_ns(b->near_ns[net], start + (double)clv_net_ready_ns(p, net, k) +
                                                       price_ns(b, unit, k));
    }
}

void clv_segment_time_split(clv_segments *b, const clv_segment *s)
{
    /* The end of all is not before the end of the unit at first, nor before the start of all. */
    double latest = s->first < 0 || s->is_end ? 0 : -INFINITY;
    clv_segment before = {
        .first = s->before, .last = s->first, .is_known = s->is_known, .kind = s->kind
    };
    if (s->before_ns > 0)
        for (int32_t place = s->before + 1; place < s->first; place++)
            time_near(b, &before, place);
    for (int32_t place = s->first + 1; place <= s->last; place++) {
        int32_t unit = b->backbone.unit[place];
        double end = INFINITY;
        bool first_kind = true;
        if (s->is_split && place < s->last)
            time_near(b, s, place);
        for (int32_t k = 0; k < b->p->n_kinds; k++) {
            if (!may_have(b, place, k))
                continue;
            if (b->is_slow && s->is_split && place < s->last)
                time_far(b, s, unit, k, first_kind, BESIDE);
            b->split_ns[k] = time_far(b, s, unit, k, first_kind, BEHIND);
            end = clv_lesser_ns(end, b->split_ns[k]);
            first_kind = false;
        }
        latest = clv_larger_ns(latest, end);
    }
    for (int32_t k = 0; k < b->p->n_kinds && s->is_end; k++)
        b->split_ns[k] = latest;
}

void clv_segments_set_slow_link(clv_segments *b, clv_link_speed slow)
{
    b->slow = (clv_link_speed){ clv_larger_ns(slow.latency_ns, b->fastest.latency_ns),
                                clv_larger_ns(slow.byte_ns, b->fastest.byte_ns), slow.is_one };
    b->is_slow = b->slow.latency_ns > b->fastest.latency_ns || b->slow.byte_ns > b->fastest.byte_ns;
}

void clv_segment_time_whole(clv_segments *b, const clv_segment *s)
{
    for (int32_t k = 0; k < b->p->n_kinds; k++) {
        b->whole_ns[k] = 0;
        for (int32_t place = s->first + 1; place <= s->last && b->used[k]; place++)
            b->whole_ns[k] += unit_ns_on(b, b->backbone.unit[place], k);
    }
}

int32_t clv_segment_extra_devices(const clv_segment *s)
{
    return s->first < 0 ? s->last : s->last - s->first;
}

/* -- memory -- */

/* The most weights of the backbone that lie between two units with so much alive through which all
 * paths lead: what a device can hold that has none of those. *ret_live: the least that one of those
 * has alive. */
static int64_t largest_gap_bytes(const clv_segments *b, int64_t large, int64_t *ret_live)
{
    int64_t most = 0, sum = 0;
    *ret_live = INT64_MAX;
    for (int32_t i = 0; i < b->backbone.n; i++) {
        int32_t u = b->backbone.unit[i];
        if (b->backbone.is_cut[i] && b->live_bytes[u] >= large) {
            *ret_live = b->live_bytes[u] < *ret_live ? b->live_bytes[u] : *ret_live;
            sum = 0;
            continue;
        }
        sum = clv_add_sat(sum, b->weight_bytes[u]);
        most = sum > most ? sum : most;
    }
    return most;
}

/* What a device with this capacity can hold of the backbone: either no large unit, and then no more
 * than is between two of them, or one, with all that it has alive. */
static int64_t room_bytes_of(const clv_segments *b, int64_t capacity)
{
    int64_t large = 0, room = capacity;
    for (int32_t i = 0; i < b->backbone.n; i++)
        if (b->backbone.is_cut[i] && b->live_bytes[b->backbone.unit[i]] > large)
            large = b->live_bytes[b->backbone.unit[i]];
    for (int32_t step = 0; step < LIVE_STEPS && large > 0; step++, large /= 2) {
        int64_t live, gap = largest_gap_bytes(b, large, &live);
        int64_t with = capacity - live, without = gap < capacity ? gap : capacity;
        int64_t here = with > without ? with : without;
        room = here < room ? here : room;
    }
    return room > 0 ? room : 0;
}

/* Rooms of kinds; and so many devices at least hold the weights of the backbone, the roomiest
 * first.
 */
static void find_rooms(clv_segments *b, int64_t *room)
{
    const clv_partition_problem *p = b->p;
    int64_t weights = 0, held = 0;
    for (int32_t d = 0; d < p->n_devices; d++) {
        int32_t like = 0;
        while (p->capacity_bytes[like] != p->capacity_bytes[d])
            like++;
        room[d] = like < d ? room[like] : room_bytes_of(b, p->capacity_bytes[d]);
        b->room_bytes[p->kind_of[d]] += (double)room[d];
    }
    for (int32_t i = 0; i < b->backbone.n; i++)
        weights = clv_add_sat(weights, b->weight_bytes[b->backbone.unit[i]]);
    qsort(room, (size_t)p->n_devices, sizeof *room, clv_compare_int64_down);
    while (b->least_devices < p->n_devices && held < weights)
        held = clv_add_sat(held, room[b->least_devices++]);
}

/* Where all devices are to be used, those that the backbone is not on have other units; and those
 * of a kind that have no unit through which all paths lead. */
static void find_demand(clv_segments *b)
{
    const clv_partition_problem *p = b->p;
    int32_t others = p->n_units - b->backbone.n, beside = p->n_units;
    if (p->n_units < p->n_devices)
        return;
    if (b->least_devices < p->n_devices - others)
        b->least_devices = p->n_devices - others;
    for (int32_t i = 0; i < b->backbone.n; i++)
        beside -= b->backbone.is_cut[i];
    for (int32_t k = 0; k < p->n_kinds; k++)
        b->demand[k] = clv_larger_ns(0, b->supply[k] - beside);
}

static int most_first(const void *a, const void *b)
{
    const clv_split_cost *x = a, *y = b;
    return (x->devices < y->devices) - (x->devices > y->devices);
}

/* So many segments at least are split, for so many devices. */
static void find_least_splits(clv_segments *b)
{
    int32_t first = -1, n = 0, need = b->least_devices - 1;
    for (int32_t i = 0; i < b->backbone.n; i++) {
        if (!b->backbone.is_cut[i] && i + 1 < b->backbone.n)
            continue;
        b->split_costs[n++] = (clv_split_cost){ 0, clv_segment_extra_devices(&(clv_segment){
                                                       .first = first, .last = i }) };
        first = i;
    }
    qsort(b->split_costs, (size_t)n, sizeof *b->split_costs, most_first);
    for (int32_t i = 0; i < n && need > 0; i++, b->least_splits++)
        need -= b->split_costs[i].devices;
}

/* -- opening -- */

static void find_fastest_link(clv_segments *b)
{
    const clv_partition_problem *p = b->p;
    clv_link_speed *fastest = &b->fastest;
    *fastest = (clv_link_speed){ INFINITY, INFINITY, true };
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++) {
            size_t link = (size_t)from * (size_t)p->n_devices + (size_t)to;
            if (from == to)
                continue;
            fastest->latency_ns =
                clv_lesser_ns(fastest->latency_ns, (double)p->link_latency_ns[link]);
            fastest->byte_ns = clv_lesser_ns(fastest->byte_ns, 1e9 / p->link_bytes_per_s[link]);
        }
    if (p->n_devices == 1)
        fastest->latency_ns = fastest->byte_ns = 0;
    clv_segments_set_slow_link(b, (clv_link_speed){ 0, 0, true });
}

static void find_past(clv_segments *b)
{
    const clv_backbone *t = &b->backbone;
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
 * segments do not begin with it. */
static void drop_early_writers(clv_segments *b)
{
    const clv_partition_problem *p = b->p;
    for (int32_t i = 0; i < b->backbone.n && p->net_reads; i++) {
        int32_t u = b->backbone.unit[i], n_reads = p->reads_first[u + 1] - p->reads_first[u];
        for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++)
            b->backbone.is_cut[i] &= p->net_reads[net] == n_reads;
    }
}

/* Nor does a segment end with a unit that may end before the segment begins: all that it reads in
 * the segment is written before its writers have read anything, or is known through units that are
 * left out of the backbone. */
static void drop_loose_ends(clv_segments *b)
{
    int32_t first = -1;
    for (int32_t i = 0; i < b->backbone.n; i++) {
        if (!b->backbone.is_cut[i])
            continue;
        clv_segment_time_split(b,
                               &(clv_segment){ .first = first, .last = i, .is_split = first >= 0 });
        for (int32_t k = 0; k < b->p->n_kinds; k++)
            b->backbone.is_cut[i] &= !b->used[k] || isfinite(b->split_ns[k]);
        first = b->backbone.is_cut[i] ? i : first;
    }
}

static bool allocate(const clv_partition_problem *p, clv_arena *scratch, clv_segments *b)
{
    *b = (clv_segments){ .p = p,
                         .used = CLV_NEW_ARRAY(scratch, bool, p->n_kinds),
                         .price_ns_per_byte = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                         .reward_ns = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                         .room_bytes = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                         .demand = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                         .supply = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                         .whole_ns = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                         .split_ns = CLV_NEW_ARRAY(scratch, double, p->n_kinds),
                         .live_bytes = CLV_NEW_ARRAY(scratch, int64_t, p->n_units),
                         .weight_bytes = CLV_NEW_ARRAY(scratch, int64_t, p->n_units),
                         .past = CLV_NEW_ARRAY(scratch, uint64_t, p->n_units),
                         .near_ns = CLV_NEW_ARRAY(scratch, double, p->n_nets),
                         .far_ns = CLV_NEW_ARRAY(scratch, double, p->n_nets),
                         .sent_ns = CLV_NEW_ARRAY(scratch, double, p->n_nets),
                         .split_costs = CLV_NEW_ARRAY(scratch, clv_split_cost, p->n_units + 1) };
    return b->used && b->price_ns_per_byte && b->reward_ns && b->room_bytes && b->demand &&
           b->supply && b->whole_ns && b->split_ns && b->live_bytes && b->weight_bytes && b->past &&
           b->near_ns && b->far_ns && b->sent_ns && b->split_costs;
}

clv_status clv_segments_open(const clv_partition_problem *p, const clv_bound_options *o,
                             int32_t near, clv_arena *scratch, clv_segments *b, clv_error *err)
{
    int64_t *room = CLV_NEW_ARRAY(scratch, int64_t, p->n_devices);
    if (!room || !allocate(p, scratch, b))
        return clv_fail_nomem(err, "a bound");
    CLV_TRY(clv_backbone_new(p, near, false, scratch, &b->backbone, err));
    int32_t n_used = 0;
    for (int32_t d = 0; d < p->n_devices; d++)
        n_used += b->supply[p->kind_of[d]]++ < 1;
    for (int32_t k = 0; k < p->n_kinds; k++)
        b->used[k] = b->supply[k] > 0;
    b->by_kind = n_used > 1 && (int64_t)b->backbone.n * p->n_devices * p->n_kinds <= WALK_MAX;
    for (int32_t u = 0; u < p->n_units; u++) {
        int64_t held = o->held_bytes ? o->held_bytes[u] : 0;
        int64_t live = o->live_bytes ? o->live_bytes[u] : 0;
        b->weight_bytes[u] = p->weight_bytes[u] + held;
        b->live_bytes[u] = live > held ? live - held : 0;
    }
    find_fastest_link(b);
    find_past(b);
    find_rooms(b, room);
    drop_early_writers(b);
    drop_loose_ends(b);
    if (o->use_all)
        find_demand(b);
    find_least_splits(b);
    return CLV_OK;
}
