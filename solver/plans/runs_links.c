/* runs_links.c - how fast devices reach each other: kind by kind, and across the parts of a cluster
 * that slow links join. A run of more devices than a part has crosses them, whichever they are.
 */
#include <math.h>
#include <stdlib.h>

#include "base/root.h"
#include "solver/plans/runs_walk.h"

/* Bandwidths that may tell parts apart. */
#define SPEEDS_MAX 8

static clv_runs_link link_of(const clv_partition *p, int32_t from, int32_t to)
{
    size_t at = (size_t)from * (size_t)p->n_devices + (size_t)to;
    return (clv_runs_link){ (double)p->link_latency_ns[at], 1e9 / p->link_bytes_per_s[at] };
}

static void keep_fastest(clv_runs_link *a, clv_runs_link b)
{
    a->latency_ns = fmin(a->latency_ns, b.latency_ns);
    a->byte_ns = fmin(a->byte_ns, b.byte_ns);
}

/* The fastest link between kinds; then, as what is sent may go by way of a third, the best way by
 * its slowest link. */
static void find_pairs(clv_runs_walk *w)
{
    const clv_partition *p = w->b->p;
    int32_t n = w->n_slots;
    for (int32_t i = 0; i < n * n; i++)
        w->pair[i] = (clv_runs_link){ INFINITY, INFINITY };
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++)
            if (from != to)
                keep_fastest(
                    &w->pair[w->slot_of[p->kind_of[from]] * n + w->slot_of[p->kind_of[to]]],
                    link_of(p, from, to));
    for (int32_t by = 0; by < n; by++)
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++)
                keep_fastest(&w->pair[a * n + b],
                             clv_runs_slower(w->pair[a * n + by], w->pair[by * n + b]));
}

/* Parts joined by links with so many ns a byte at most. *ret: the fastest link between two, each of
 * its numbers; *ret_size: devices of the largest part. */
static void join(const clv_partition *p, double byte_ns, int32_t *parent, clv_runs_link *ret,
                 int32_t *ret_size)
{
    *ret = (clv_runs_link){ INFINITY, INFINITY };
    *ret_size = 0;
    for (int32_t d = 0; d < p->n_devices; d++)
        parent[d] = d;
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++)
            if (from != to && link_of(p, from, to).byte_ns <= byte_ns)
                parent[clv_root(parent, from)] = clv_root(parent, to);
    for (int32_t from = 0; from < p->n_devices; from++) {
        int32_t size = 0;
        for (int32_t to = 0; to < p->n_devices; to++) {
            bool is_here = clv_root(parent, from) == clv_root(parent, to);
            size += is_here;
            if (!is_here)
                keep_fastest(ret, link_of(p, from, to));
        }
        *ret_size = size > *ret_size ? size : *ret_size;
    }
}

/* Different times of a byte, ascending; the first few. */
static int32_t list_speeds(const clv_partition *p, double *speed)
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

/* The parts between which links are slowest, compared to those within. */
static clv_status find_parts(clv_runs_walk *w, clv_error *err)
{
    const clv_partition *p = w->b->p;
    int32_t *parent = CLV_NEW_ARRAY(w->arena, int32_t, p->n_devices);
    double speed[SPEEDS_MAX], best = 1;
    if (!parent)
        return clv_fail_nomem(err, "a bound");
    int32_t n = list_speeds(p, speed);
    for (int32_t i = 0; i < n; i++) {
        clv_runs_link across;
        int32_t size;
        join(p, speed[i], parent, &across, &size);
        if (size == p->n_devices)
            break;
        if (across.byte_ns / speed[i] > best) {
            best = across.byte_ns / speed[i];
            w->across = across;
            w->part_size = size;
        }
    }
    return CLV_OK;
}

clv_status clv_runs_links(clv_runs_walk *w, clv_error *err)
{
    w->pair = CLV_NEW_ARRAY(w->arena, clv_runs_link, w->n_slots * w->n_slots);
    if (!w->pair)
        return clv_fail_nomem(err, "a bound");
    w->part_size = w->b->p->n_devices;
    w->across = (clv_runs_link){ w->b->latency_ns, w->b->bytes_ns };
    find_pairs(w);
    return find_parts(w, err);
}
