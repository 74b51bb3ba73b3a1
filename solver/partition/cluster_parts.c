#include "solver/partition/cluster_parts.h"

#include <math.h>
#include <string.h>

#include "base/union_find.h"

/* Bandwidths at which the cluster may be cut into parts. */
#define SPEEDS_MAX 8

static clv_link_speed link_of(const clv_partition_problem *p, int32_t from, int32_t to)
{
    size_t at = (size_t)from * (size_t)p->n_devices + (size_t)to;
    return (clv_link_speed){ (double)p->link_latency_ns[at], 1e9 / p->link_bytes_per_s[at], true };
}

/* The better of each number. */
static void keep_faster(clv_link_speed *a, clv_link_speed b)
{
    a->latency_ns = fmin(a->latency_ns, b.latency_ns);
    a->byte_ns = fmin(a->byte_ns, b.byte_ns);
}

/* The fastest link between kinds; then, as what is sent may go by way of a third kind, the way
 * whose slowest link is fastest. direct: scratch. */
static void find_pairs(clv_segment_dp_state *dp, clv_link_speed *direct)
{
    const clv_partition_problem *p = dp->b->p;
    int32_t n = dp->n_slots;
    for (int32_t i = 0; i < n * n; i++)
        dp->pair[i] = (clv_link_speed){ INFINITY, INFINITY, false };
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++)
            if (from != to)
                keep_faster(
                    &dp->pair[dp->slot_of[p->kind_of[from]] * n + dp->slot_of[p->kind_of[to]]],
                    link_of(p, from, to));
    memcpy(direct, dp->pair, (size_t)(n * n) * sizeof *direct);
    for (int32_t by = 0; by < n; by++)
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++)
                keep_faster(&dp->pair[a * n + b],
                            clv_link_slower(dp->pair[a * n + by], dp->pair[by * n + b]));
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            /* the fastest link that a way begins with: out of the kind where b is another one */
            clv_link_speed first = { INFINITY, INFINITY, true }, *pair = &dp->pair[a * n + b];
            for (int32_t to = 0; to < n; to++)
                if (to != a || a == b)
                    keep_faster(&first, direct[a * n + to]);
            pair->is_one = clv_link_is_no_faster(first, *pair);
        }
}

/* The same by numbers of kinds, for units within segments. Where there is no such link, the fastest
 * of all. */
static clv_status set_direct_links(const clv_segment_dp_state *dp, const clv_link_speed *direct,
                                   clv_error *err)
{
    clv_segments *b = dp->b;
    int32_t n = b->p->n_kinds;
    b->direct = CLV_NEW_ARRAY(dp->arena, clv_link_speed, n * n);
    if (!b->direct)
        return clv_fail_nomem(err, "a bound");
    for (int32_t from = 0; from < n; from++)
        for (int32_t to = 0; to < n; to++) {
            bool has = dp->slot_of[from] >= 0 && dp->slot_of[to] >= 0;
            clv_link_speed *link = &b->direct[from * n + to];
            *link = b->fastest;
            if (has && isfinite(direct[dp->slot_of[from] * dp->n_slots + dp->slot_of[to]].byte_ns))
                *link = direct[dp->slot_of[from] * dp->n_slots + dp->slot_of[to]];
        }
    return CLV_OK;
}

/* Joins devices by links of byte_ns at most to parts: are there two? *ret: the fastest link between
 * parts, each number for itself. */
static bool join_parts(const clv_partition_problem *p, double byte_ns, int32_t *parent,
                       clv_link_speed *ret)
{
    bool has_parts = false;
    *ret = (clv_link_speed){ INFINITY, INFINITY, true };
    for (int32_t d = 0; d < p->n_devices; d++)
        parent[d] = d;
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++)
            if (from != to && link_of(p, from, to).byte_ns <= byte_ns)
                parent[clv_find_root(parent, from)] = clv_find_root(parent, to);
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++)
            if (clv_find_root(parent, from) != clv_find_root(parent, to)) {
                has_parts = true;
                keep_faster(ret, link_of(p, from, to));
            }
    return has_parts;
}

/* Different times of a byte, ascending; the first few. */
static int32_t list_speeds(const clv_partition_problem *p, double *speed)
{
    int32_t n = 0;
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++) {
            double ns = from == to ? INFINITY : link_of(p, from, to).byte_ns;
            int32_t at = n;
            while (at > 0 && speed[at - 1] > ns)
                at--;
            if (from == to || at == SPEEDS_MAX || (at > 0 && !(speed[at - 1] < ns)))
                continue;
            n += n < SPEEDS_MAX;
            for (int32_t i = n - 1; i > at; i--)
                speed[i] = speed[i - 1];
            speed[at] = ns;
        }
    return n;
}

/* Sizes of the parts. count: scratch, slots * n_devices, all 0. */
static void measure_parts(clv_segment_dp_state *dp, int32_t *parent, int32_t *count)
{
    const clv_partition_problem *p = dp->b->p;
    int32_t n = p->n_devices, largest = 0;
    dp->is_pure = true;
    for (int32_t d = 0; d < n; d++)
        count[dp->slot_of[p->kind_of[d]] * n + clv_find_root(parent, d)]++;
    for (int32_t d = 0; d < n; d++) {
        int32_t size = 0;
        for (int32_t k = 0; k < dp->n_slots; k++) {
            int32_t here = count[k * n + d];
            dp->is_pure = dp->is_pure && (here == 0 || size == 0);
            dp->part_size[k] = here > dp->part_size[k] ? here : dp->part_size[k];
            size += here;
        }
        largest = size > largest ? size : largest;
    }
    for (int32_t k = 0; k < dp->n_slots; k++)
        dp->part_size[k] = dp->is_pure ? dp->part_size[k] : largest;
}

/* The parts between which links are slowest, compared to those within. */
static clv_status find_parts(clv_segment_dp_state *dp, clv_error *err)
{
    const clv_partition_problem *p = dp->b->p;
    int32_t *parent = CLV_NEW_ARRAY(dp->arena, int32_t, p->n_devices);
    int32_t *count = CLV_NEW_ARRAY(dp->arena, int32_t, dp->n_slots * p->n_devices);
    double speed[SPEEDS_MAX], best = 1;
    int32_t at = -1;
    clv_link_speed across;
    if (!parent || !count)
        return clv_fail_nomem(err, "a bound");
    int32_t n = list_speeds(p, speed);
    for (int32_t i = 0; i < n && join_parts(p, speed[i], parent, &across); i++)
        if (across.byte_ns / speed[i] > best) {
            best = across.byte_ns / speed[i];
            dp->across = across;
            at = i;
        }
    dp->has_parts = at >= 0;
    if (at >= 0)
        join_parts(p, speed[at], parent, &across);
    measure_parts(dp, parent, count);
    return CLV_OK;
}

clv_status clv_cluster_parts_find(clv_segment_dp_state *dp, clv_error *err)
{
    clv_link_speed *direct = CLV_NEW_ARRAY(dp->arena, clv_link_speed, dp->n_slots * dp->n_slots);
    dp->pair = CLV_NEW_ARRAY(dp->arena, clv_link_speed, dp->n_slots * dp->n_slots);
    if (!dp->pair || !direct)
        return clv_fail_nomem(err, "a bound");
    dp->across = dp->b->fastest;
    find_pairs(dp, direct);
    CLV_TRY(set_direct_links(dp, direct, err));
    return find_parts(dp, err);
}
