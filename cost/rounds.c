#include "cost/rounds.h"

clv_line clv_round(const clv_rounds *r)
{
    clv_line round = { 0 };
    int32_t n_touched = 0;

    for (int32_t i = 0; i < r->n_groups * r->p; i++) {
        int32_t to = r->to[i % r->p];
        if (to < 0 || r->member[i] == r->member[i - i % r->p + to])
            continue;
        const clv_route *route =
            clv_route_between(r->cluster, r->member[i], r->member[i - i % r->p + to]);
        if (route->latency_ns > round.latency_ns)
            round.latency_ns = route->latency_ns;
        if (1e9 / route->bytes_per_s > round.ns_per_byte)
            round.ns_per_byte = 1e9 / route->bytes_per_s;
        for (int32_t k = 0; k < route->n_ports; k++)
            if (r->load[route->ports[k]]++ == 0)
                r->touched[n_touched++] = route->ports[k];
    }
    for (int32_t k = 0; k < n_touched; k++) {
        double ns = r->load[r->touched[k]] * 1e9 / r->cluster->ports[r->touched[k]].bytes_per_s;
        round.ns_per_byte = ns > round.ns_per_byte ? ns : round.ns_per_byte;
        r->load[r->touched[k]] = 0;
    }
    return round;
}

/* -- rounds that algorithms are made of -- */

#define HALVINGS_MAX 11 /* of CLV_DEVICES_MAX, rounded up */

/* Rounds over distances 1, 2, 4, ... below p: to the device so far ahead, and so far behind;
 * exchanged in pairs (a power of 2 only); from every second such device to the next one, and back.
 */
typedef struct {
    int32_t p, n;
    clv_line ahead[HALVINGS_MAX], behind[HALVINGS_MAX], pair[HALVINGS_MAX], out[HALVINGS_MAX],
        back[HALVINGS_MAX];
} round_kinds;

static bool is_power_of_2(int32_t n) { return (n & (n - 1)) == 0; }

static clv_line shifted(clv_rounds *r, int32_t by)
{
    for (int32_t i = 0; i < r->p; i++)
        r->to[i] = (i + by) % r->p;
    return clv_round(r);
}

static clv_line fanned(clv_rounds *r, int32_t distance, bool out)
{
    for (int32_t i = 0; i < r->p; i++)
        r->to[i] = -1;
    for (int32_t i = 0; i + distance < r->p; i += 2 * distance)
        r->to[out ? i : i + distance] = out ? i + distance : i;
    return clv_round(r);
}

static void find_rounds(clv_rounds *r, round_kinds *k)
{
    for (int32_t d = 1; d < r->p; d *= 2) {
        int32_t i = k->n++;
        k->ahead[i] = shifted(r, d);
        k->out[i] = fanned(r, d, true);
        if (is_power_of_2(r->p)) {
            for (int32_t j = 0; j < r->p; j++)
                r->to[j] = j ^ d;
            k->pair[i] = clv_round(r);
        } else {
            k->behind[i] = shifted(r, r->p - d);
            k->back[i] = fanned(r, d, false);
        }
    }
}

/* One more round, of so much of the whole. */
static void add_round(clv_line *sum, const clv_line *round, double share)
{
    sum->latency_ns = clv_comm_add_ns(sum->latency_ns, round->latency_ns);
    sum->ns_per_byte += round->ns_per_byte * share;
}

/* -- algorithms -- */

/* Each hands on to the next what it got last, around once, or twice for an all-reduce. */
static clv_line ring(const round_kinds *k, int32_t times)
{
    clv_line sum = { .by = CLV_BY_RING };
    for (int32_t i = 0; i < times * (k->p - 1); i++)
        add_round(&sum, &k->ahead[0], 0);
    sum.ns_per_byte = times * (k->p - 1) * k->ahead[0].ns_per_byte / k->p;
    return sum;
}

/* In an all-gather over 2^k devices the far ones exchange the little that each has at first, the
 * near ones much at last; a reduce-scatter is the same backwards. Otherwise Bruck's: each sends all
 * it has to the device a distance away, the distance doubling. */
static void halving(const round_kinds *k, bool scatter, clv_line *sum)
{
    sum->by = CLV_BY_HALVING;
    for (int32_t i = 0, have = 1; i < k->n; i++, have *= 2) {
        int32_t sent = have < k->p - have ? have : k->p - have;
        if (is_power_of_2(k->p))
            add_round(sum, &k->pair[k->n - 1 - i], (double)have / k->p);
        else
            add_round(sum, scatter ? &k->ahead[i] : &k->behind[i], (double)sent / k->p);
    }
}

/* Each to each, a round for a distance; or Bruck's: pieces travel by the powers of 2 that their
 * distance is made of. */
static void exchange(clv_rounds *r, const round_kinds *k, clv_lines *ret)
{
    clv_line direct = { .by = CLV_BY_DIRECT }, bruck = { .by = CLV_BY_HALVING };

    for (int32_t d = 1; d < k->p; d++) {
        clv_line round = is_power_of_2(d) ? (clv_line){ 0 } : shifted(r, d);
        for (int32_t i = 0; i < k->n; i++)
            if (d == 1 << i)
                round = k->ahead[i];
        add_round(&direct, &round, 1.0 / k->p);
    }
    for (int32_t i = 0; i < k->n; i++) {
        int32_t pieces = 0;
        for (int32_t d = 1; d < k->p; d++)
            pieces += (d & 1 << i) != 0;
        add_round(&bruck, &k->ahead[i], (double)pieces / k->p);
    }
    clv_lines_add(ret, direct);
    clv_lines_add(ret, bruck);
}

void clv_rounds_lines(clv_rounds *r, bool with_exchange, clv_line_set *ret)
{
    clv_line gather = { 0 }, scatter = { 0 }, both, tree = { .by = CLV_BY_TREE };
    clv_line whole = { .by = CLV_BY_TREE }, parts;
    round_kinds k = { .p = r->p };
    bool power = is_power_of_2(r->p);

    find_rounds(r, &k);
    halving(&k, false, &gather);
    halving(&k, true, &scatter);
    both = scatter;
    halving(&k, false, &both);
    parts = ring(&k, 1);
    for (int32_t i = 0, d = 1; i < k.n; i++, d *= 2) {
        /* reduces whole tensors: exchanged in pairs, or up a tree and down again */
        add_round(&tree, power ? &k.pair[i] : &k.back[i], 1);
        if (!power)
            add_round(&tree, &k.out[i], 1);
        /* broadcasts the whole down a tree; or parts, which are then gathered in a ring */
        add_round(&whole, &k.out[i], 1);
        add_round(&parts, &k.out[i], (double)(d < k.p - d ? d : k.p - d) / k.p);
    }
    clv_lines_add(&ret->of[CLV_ALL_GATHER], ring(&k, 1));
    clv_lines_add(&ret->of[CLV_ALL_GATHER], gather);
    clv_lines_add(&ret->of[CLV_REDUCE_SCATTER], ring(&k, 1));
    clv_lines_add(&ret->of[CLV_REDUCE_SCATTER], scatter);
    clv_lines_add(&ret->of[CLV_ALL_REDUCE], ring(&k, 2));
    clv_lines_add(&ret->of[CLV_ALL_REDUCE], both);
    clv_lines_add(&ret->of[CLV_ALL_REDUCE], tree);
    clv_lines_add(&ret->of[CLV_BROADCAST], whole);
    clv_lines_add(&ret->of[CLV_BROADCAST], parts);
    if (with_exchange)
        exchange(r, &k, &ret->of[CLV_ALL_TO_ALL]);
}
