#include "problem/overlay.h"

#include <stdlib.h>

#include "base/compare.h"
#include "problem/sums.h"

typedef struct {
    int32_t from, to;
} pair;

typedef struct {
    const clv_partition_problem *p;
    clv_overlay *fold;
    clv_arena *arena;
    int32_t *last_use; /* nets of the forward pass: last folded unit that has to do with it */
    pair *order;       /* folded units from, to: a gradient goes from `to` back to `from` */
    int32_t n_order, cap_order;
} folder;

/* The folded unit of a backward one: that of the forward unit whose weights it reads; else that of
 * the last forward unit that reads what it reads of the forward pass (the input of a layer is read
 * by the layer and by the gradient of its weights); never behind a backward unit that it reads
 * from, so that gradients only go from later stages to earlier ones. */
static int32_t folded_unit_of(const folder *f, int32_t u, int32_t weight_of)
{
    const clv_partition_problem *p = f->p;
    const clv_overlay *fold = f->fold;
    int32_t limit = fold->folded.n_units - 1, place = -1;
    bool after_backward = false;
    for (int32_t k = p->reads_first[u]; k < p->reads_first[u + 1]; k++) {
        int32_t net = p->reads[k], from = p->net_from[net];
        if (fold->backward[from]) {
            limit = fold->of[from] < limit ? fold->of[from] : limit;
            after_backward = true;
        } else {
            place = f->last_use[net] > place ? f->last_use[net] : place;
        }
    }
    if (weight_of >= 0 && !fold->backward[weight_of])
        place = fold->of[weight_of];
    if (place < 0)
        return after_backward ? limit : fold->folded.n_units - 1;
    return place < limit ? place : limit;
}

static void number_units(folder *f, const int32_t *weight_of)
{
    const clv_partition_problem *p = f->p;
    clv_overlay *fold = f->fold;
    for (int32_t u = 0; u < p->n_units; u++) {
        if (fold->backward[u])
            continue;
        fold->forward[fold->folded.n_units] = u;
        fold->of[u] = fold->folded.n_units++;
    }
    for (int32_t net = 0; net < p->n_nets; net++) {
        f->last_use[net] = fold->of[p->net_from[net]];
        for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++)
            if (!fold->backward[p->net_to[i]])
                f->last_use[net] = fold->of[p->net_to[i]];
    }
    for (int32_t u = 0; u < p->n_units; u++)
        if (fold->backward[u])
            fold->of[u] = folded_unit_of(f, u, weight_of[u]);
}

/* A gradient that goes from a later unit to an earlier one keeps their stages in that order. */
static clv_status find_order(folder *f, clv_error *err)
{
    const clv_partition_problem *p = f->p;
    const clv_overlay *fold = f->fold;
    for (int32_t net = 0; net < p->n_nets; net++)
        for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++) {
            int32_t late = fold->of[p->net_from[net]], early = fold->of[p->net_to[i]];
            if (!fold->backward[p->net_from[net]] || early >= late)
                continue;
            if (!CLV_PUSH_ROOM(f->arena, f->order, f->n_order, f->cap_order))
                return clv_fail_nomem(err, "a training problem");
            f->order[f->n_order++] = (pair){ early, late };
        }
    return CLV_OK;
}

static int by_from_and_to(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

typedef struct {
    int32_t *net_from, *net_first, *net_to, *unit_first_net, *reads_first, *reads;
    int64_t *net_bytes, *weight_bytes, *flops, *time_ns;
    int32_t n_nets, n_to;
} tables;

/* Ends a net whose readers were put behind each other: ascending, each once. Without readers, no
 * net. */
static void end_net(tables *t, int32_t from, int64_t bytes, int32_t first)
{
    int32_t n = first;
    if (t->n_to - first > 1)
        qsort(t->net_to + first, (size_t)(t->n_to - first), sizeof *t->net_to, clv_compare_int32);
    for (int32_t i = first; i < t->n_to; i++)
        if (i == first || t->net_to[i] != t->net_to[n - 1])
            t->net_to[n++] = t->net_to[i];
    t->n_to = n;
    if (n == first)
        return;
    t->net_from[t->n_nets] = from;
    t->net_bytes[t->n_nets++] = bytes;
    t->net_first[t->n_nets] = n;
}

static void fold_nets(const folder *f, tables *t)
{
    const clv_partition_problem *p = f->p;
    const clv_overlay *fold = f->fold;
    int32_t at = 0;
    for (int32_t u = 0; u < fold->folded.n_units; u++) {
        int32_t whole = fold->forward[u], first;
        t->unit_first_net[u] = t->n_nets;
        for (int32_t net = p->unit_first_net[whole]; net < p->unit_first_net[whole + 1]; net++) {
            first = t->n_to;
            for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++)
                if (fold->of[p->net_to[i]] > u)
                    t->net_to[t->n_to++] = fold->of[p->net_to[i]];
            end_net(t, u, p->net_bytes[net], first);
        }
        for (first = t->n_to; at < f->n_order && f->order[at].from == u; at++)
            t->net_to[t->n_to++] = f->order[at].to;
        end_net(t, u, 0, first);
    }
    t->unit_first_net[fold->folded.n_units] = t->n_nets;
}

static void fold_sums(const folder *f, tables *t)
{
    const clv_partition_problem *p = f->p;
    size_t n = (size_t)f->fold->folded.n_units;
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t to = f->fold->of[u];
        t->weight_bytes[to] = clv_add_sat(t->weight_bytes[to], p->weight_bytes[u]);
        t->flops[to] = clv_add_sat(t->flops[to], p->flops[u]);
        for (int32_t k = 0; k < p->n_kinds; k++) {
            int64_t *ns = &t->time_ns[(size_t)k * n + (size_t)to];
            *ns = clv_add_sat(*ns, p->time_ns[(size_t)k * (size_t)p->n_units + (size_t)u]);
        }
    }
}

static clv_status build_tables(folder *f, clv_error *err)
{
    const clv_partition_problem *p = f->p;
    clv_arena *a = f->arena;
    clv_partition_problem *to = &f->fold->folded;
    int32_t n = to->n_units, n_nets = p->n_nets + n, n_to = p->net_first[p->n_nets] + f->n_order;
    tables t = { .net_from = CLV_NEW_ARRAY(a, int32_t, n_nets),
                 .net_first = CLV_NEW_ARRAY(a, int32_t, n_nets + 1),
                 .net_to = CLV_NEW_ARRAY(a, int32_t, n_to),
                 .unit_first_net = CLV_NEW_ARRAY(a, int32_t, n + 1),
                 .reads_first = CLV_NEW_ARRAY(a, int32_t, n + 1),
                 .reads = CLV_NEW_ARRAY(a, int32_t, n_to),
                 .net_bytes = CLV_NEW_ARRAY(a, int64_t, n_nets),
                 .weight_bytes = CLV_NEW_ARRAY(a, int64_t, n),
                 .flops = CLV_NEW_ARRAY(a, int64_t, n),
                 .time_ns = CLV_NEW_ARRAY(a, int64_t, (size_t)n * (size_t)p->n_kinds) };
    int32_t *next = CLV_NEW_ARRAY(a, int32_t, n);
    if (!t.net_from || !t.net_first || !t.net_to || !t.unit_first_net || !t.reads_first ||
        !t.reads || !t.net_bytes || !t.weight_bytes || !t.flops || !t.time_ns || !next)
        return clv_fail_nomem(err, "a training problem");
    if (f->n_order > 1)
        qsort(f->order, (size_t)f->n_order, sizeof *f->order, by_from_and_to);
    fold_nets(f, &t);
    fold_sums(f, &t);
    for (int32_t i = 0; i < t.n_to; i++) /* counting sort: nets of each reader, ascending */
        t.reads_first[t.net_to[i] + 1]++;
    for (int32_t u = 0; u < n; u++)
        next[u] = t.reads_first[u + 1] += t.reads_first[u];
    for (int32_t net = t.n_nets - 1; net >= 0; net--)
        for (int32_t i = t.net_first[net]; i < t.net_first[net + 1]; i++)
            t.reads[--next[t.net_to[i]]] = net;
    *to = (clv_partition_problem){ .n_units = n,
                                   .n_devices = p->n_devices,
                                   .n_kinds = p->n_kinds,
                                   .n_nets = t.n_nets,
                                   .kind_of = p->kind_of,
                                   .capacity_bytes = p->capacity_bytes,
                                   .weight_bytes = t.weight_bytes,
                                   .flops = t.flops,
                                   .time_ns = t.time_ns,
                                   .net_from = t.net_from,
                                   .net_bytes = t.net_bytes,
                                   .net_first = t.net_first,
                                   .net_to = t.net_to,
                                   .unit_first_net = t.unit_first_net,
                                   .reads_first = t.reads_first,
                                   .reads = t.reads,
                                   .link_latency_ns = p->link_latency_ns,
                                   .link_bytes_per_s = p->link_bytes_per_s,
                                   .n_ports = p->n_ports,
                                   .link_first_port = p->link_first_port,
                                   .link_ports = p->link_ports };
    return CLV_OK;
}

clv_status clv_overlay_build(const clv_partition_problem *p, bool *backward,
                             const int32_t *weight_of, clv_arena *arena, clv_overlay **ret,
                             clv_error *err)
{
    int32_t n = p->n_units, n_backward = 0;
    *ret = NULL;
    for (int32_t u = 0; u < n; u++) { /* nets lead to later units, so one pass is enough */
        for (int32_t k = p->reads_first[u]; k < p->reads_first[u + 1] && !backward[u]; k++)
            backward[u] = backward[p->net_from[p->reads[k]]];
        n_backward += backward[u];
    }
    if (n_backward == 0 || n_backward == n)
        return CLV_OK;
    clv_overlay *fold = CLV_NEW(arena, clv_overlay);
    folder f = { .p = p, .fold = fold, .arena = arena };
    if (!fold)
        return clv_fail_nomem(err, "a training problem");
    *fold = (clv_overlay){ .whole = p,
                           .backward = backward,
                           .of = CLV_NEW_ARRAY(arena, int32_t, n),
                           .forward = CLV_NEW_ARRAY(arena, int32_t, n - n_backward) };
    f.last_use = CLV_NEW_ARRAY(arena, int32_t, p->n_nets);
    if (!fold->of || !fold->forward || !f.last_use)
        return clv_fail_nomem(err, "a training problem");
    number_units(&f, weight_of);
    CLV_TRY(find_order(&f, err));
    CLV_TRY(build_tables(&f, err));
    *ret = fold;
    return CLV_OK;
}

clv_status clv_overlay_live(clv_overlay *fold, const int64_t *live_bytes, clv_arena *arena,
                            clv_error *err)
{
    if (!live_bytes)
        return CLV_OK;
    fold->live_bytes = CLV_NEW_ARRAY(arena, int64_t, fold->folded.n_units);
    if (!fold->live_bytes)
        return clv_fail_nomem(err, "a training problem");
    for (int32_t u = 0; u < fold->whole->n_units; u++) {
        int64_t *most = &fold->live_bytes[fold->of[u]];
        *most = live_bytes[u] > *most ? live_bytes[u] : *most;
    }
    return CLV_OK;
}

void clv_overlay_expand(const clv_overlay *fold, const int32_t *folded_device_of,
                        int32_t *device_of)
{
    for (int32_t u = 0; u < fold->whole->n_units; u++)
        device_of[u] = folded_device_of[fold->of[u]];
}
