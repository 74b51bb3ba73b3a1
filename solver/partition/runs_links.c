/* runs_links.c - how fast devices reach each other: kind by kind, and across the parts of a cluster
 * that slow links join. A run of more devices than a part has crosses them, whichever they are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/union_find.h"
#include "solver/partition/runs_walk.h"

/* Bandwidths that may tell parts apart. */
#define SPEEDS_MAX 8

static clv_runs_link link_of(const clv_partition_problem *p, int32_t from, int32_t to)
{
    size_t at = (size_t)from * (size_t)p->n_devices + (size_t)to;
    return (clv_runs_link){ (double)p->link_latency_ns[at], 1e9 / p->link_bytes_per_s[at], true };
}

static void keep_fastest(clv_runs_link *a, clv_runs_link b)
{
    a->latency_ns = fmin(a->latency_ns, b.latency_ns);
    a->byte_ns = fmin(a->byte_ns, b.byte_ns);
}

/* The fastest link that a way from kind a to kind b begins with: out of the kind where b is
 * another one. */
static clv_runs_link first_link(const clv_runs_walk *w, const clv_runs_link *direct, int32_t a,
                                int32_t b)
{
    clv_runs_link least = { INFINITY, INFINITY, true };
    for (int32_t to = 0; to < w->n_slots; to++)
        if (to != a || a == b)
            keep_fastest(&least, direct[a * w->n_slots + to]);
    return least;
}

/* The fastest link between kinds; then, as what is sent may go by way of a third, the best way by
 * its slowest link. direct: scratch. */
static void find_pairs(clv_runs_walk *w, clv_runs_link *direct)
{
    const clv_partition_problem *p = w->b->p;
    int32_t n = w->n_slots;
    for (int32_t i = 0; i < n * n; i++)
        w->pair[i] = (clv_runs_link){ INFINITY, INFINITY, false };
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++)
            if (from != to)
                keep_fastest(
                    &w->pair[w->slot_of[p->kind_of[from]] * n + w->slot_of[p->kind_of[to]]],
                    link_of(p, from, to));
    memcpy(direct, w->pair, (size_t)(n * n) * sizeof *direct);
    for (int32_t by = 0; by < n; by++)
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++)
                keep_fastest(&w->pair[a * n + b],
                             clv_runs_slower(w->pair[a * n + by], w->pair[by * n + b]));
    for (int32_t i = 0; i < n * n; i++)
        w->pair[i].is_one = clv_runs_no_faster(first_link(w, direct, i / n, i % n), w->pair[i]);
}

/* The same kind by kind, for what is within stretches. Where there is no such link, any. */
static clv_status tell_stretches(const clv_runs_walk *w, const clv_runs_link *direct,
                                 clv_error *err)
{
    clv_stretches *b = w->b;
    int32_t n = b->p->n_kinds;
    b->direct_latency_ns = CLV_NEW_ARRAY(w->arena, double, n *n);
    b->direct_bytes_ns = CLV_NEW_ARRAY(w->arena, double, n *n);
    if (!b->direct_latency_ns || !b->direct_bytes_ns)
        return clv_fail_nomem(err, "a bound");
    for (int32_t from = 0; from < n; from++)
        for (int32_t to = 0; to < n; to++) {
            bool has = w->slot_of[from] >= 0 && w->slot_of[to] >= 0;
            clv_runs_link any = { b->latency_ns, b->bytes_ns, true };
            if (has && isfinite(direct[w->slot_of[from] * w->n_slots + w->slot_of[to]].byte_ns))
                any = direct[w->slot_of[from] * w->n_slots + w->slot_of[to]];
            b->direct_latency_ns[from * n + to] = any.latency_ns;
            b->direct_bytes_ns[from * n + to] = any.byte_ns;
        }
    return CLV_OK;
}

/* Parts joined by links with so many ns a byte at most: are there two? *ret: the fastest link
 * between two, each of its numbers. */
static bool join(const clv_partition_problem *p, double byte_ns, int32_t *parent,
                 clv_runs_link *ret)
{
    bool has_parts = false;
    *ret = (clv_runs_link){ INFINITY, INFINITY, true };
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
                keep_fastest(ret, link_of(p, from, to));
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
static void size_parts(clv_runs_walk *w, int32_t *parent, int32_t *count)
{
    const clv_partition_problem *p = w->b->p;
    int32_t n = p->n_devices, largest = 0;
    w->is_pure = true;
    for (int32_t d = 0; d < n; d++)
        count[w->slot_of[p->kind_of[d]] * n + clv_find_root(parent, d)]++;
    for (int32_t d = 0; d < n; d++) {
        int32_t size = 0;
        for (int32_t k = 0; k < w->n_slots; k++) {
            int32_t here = count[k * n + d];
            w->is_pure = w->is_pure && (here == 0 || size == 0);
            w->part_size[k] = here > w->part_size[k] ? here : w->part_size[k];
            size += here;
        }
        largest = size > largest ? size : largest;
    }
    for (int32_t k = 0; k < w->n_slots; k++)
        w->part_size[k] = w->is_pure ? w->part_size[k] : largest;
}

/* The parts between which links are slowest, compared to those within. */
static clv_status find_parts(clv_runs_walk *w, clv_error *err)
{
    const clv_partition_problem *p = w->b->p;
    int32_t *parent = CLV_NEW_ARRAY(w->arena, int32_t, p->n_devices);
    int32_t *count = CLV_NEW_ARRAY(w->arena, int32_t, w->n_slots * p->n_devices);
    double speed[SPEEDS_MAX], best = 1;
    int32_t at = -1;
    clv_runs_link across;
    if (!parent || !count)
        return clv_fail_nomem(err, "a bound");
    int32_t n = list_speeds(p, speed);
    for (int32_t i = 0; i < n && join(p, speed[i], parent, &across); i++)
        if (across.byte_ns / speed[i] > best) {
            best = across.byte_ns / speed[i];
            w->across = across;
            at = i;
        }
    w->has_parts = at >= 0;
    if (at >= 0)
        join(p, speed[at], parent, &across);
    size_parts(w, parent, count);
    return CLV_OK;
}

clv_status clv_runs_links(clv_runs_walk *w, clv_error *err)
{
    clv_runs_link *direct = CLV_NEW_ARRAY(w->arena, clv_runs_link, w->n_slots * w->n_slots);
    w->pair = CLV_NEW_ARRAY(w->arena, clv_runs_link, w->n_slots * w->n_slots);
    if (!w->pair || !direct)
        return clv_fail_nomem(err, "a bound");
    w->across = (clv_runs_link){ w->b->latency_ns, w->b->bytes_ns, true };
    find_pairs(w, direct);
    CLV_TRY(tell_stretches(w, direct, err));
    return find_parts(w, err);
}
