/* test_overlay.c - random training problems: what a cut of the forward pass means for both passes.
 */
#include "problem/estimate.h"
#include "problem/overlay.h"
#include "problem/quotient.h"

#include <criterion/criterion.h>

#define LAYERS_MAX 12
#define UNITS_MAX  (3 * LAYERS_MAX)
#define NETS_MAX   (8 * UNITS_MAX)
#define DEVICES    4
#define CASES      2000

static uint64_t state;

static int32_t below(int32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int32_t)((state >> 33) % (uint64_t)n);
}

/* Forward units 0 .. n-1 read earlier ones; unit n + k is the backward unit of n - 1 - k: it reads
 * those of its readers, and mostly what its forward unit makes or reads; then updates. */
typedef struct {
    clv_partition_problem p;
    int32_t layers, n_edges;
    int32_t from[NETS_MAX], to[NETS_MAX];
    int32_t net_from[UNITS_MAX], net_first[UNITS_MAX + 1], net_to[NETS_MAX],
        unit_first_net[UNITS_MAX + 1], reads_first[UNITS_MAX + 1], reads[NETS_MAX];
    int64_t net_bytes[UNITS_MAX], weight[UNITS_MAX], flops[UNITS_MAX], time[UNITS_MAX];
    int64_t capacity[DEVICES], latency[DEVICES * DEVICES];
    double speed[DEVICES * DEVICES];
    int32_t kind_of[DEVICES], weight_of[UNITS_MAX];
    bool backward[UNITS_MAX];
} problem;

static void edge(problem *x, int32_t from, int32_t to)
{
    for (int32_t i = 0; i < x->n_edges; i++)
        if (x->from[i] == from && x->to[i] == to)
            return;
    x->from[x->n_edges] = from;
    x->to[x->n_edges++] = to;
}

static void make_edges(problem *x)
{
    int32_t n = x->layers;
    for (int32_t u = 1; u < n; u++) {
        int32_t n_in = 1 + below(2);
        for (int32_t k = 0; k < n_in; k++) {
            int32_t from = k == 0 ? u - 1 : below(u);
            edge(x, from, u);
            edge(x, 2 * n - 1 - u, 2 * n - 1 - from); /* its gradient */
        }
    }
    edge(x, n - 1, n);
    for (int32_t u = 0; u < n; u++) {
        if (below(4))
            edge(x, u, 2 * n - 1 - u);
        if (u > 0 && below(2))
            edge(x, u - 1, 2 * n - 1 - u);
        edge(x, 2 * n - 1 - u, 2 * n + u);
        x->weight_of[2 * n + u] = u;
        x->weight_of[2 * n - 1 - u] = below(2) ? u : -1;
    }
}

static void make_nets(problem *x, int32_t n_units)
{
    int32_t n_to = 0;
    for (int32_t u = 0; u < n_units; u++) {
        x->unit_first_net[u] = x->p.n_nets;
        int32_t first = n_to;
        for (int32_t to = u + 1; to < n_units; to++)
            for (int32_t i = 0; i < x->n_edges; i++)
                if (x->from[i] == u && x->to[i] == to)
                    x->net_to[n_to++] = to;
        if (n_to == first)
            continue;
        x->net_from[x->p.n_nets] = u;
        x->net_bytes[x->p.n_nets] = 1 + below(1000);
        x->net_first[++x->p.n_nets] = n_to;
    }
    x->unit_first_net[n_units] = x->p.n_nets;
    int32_t n = 0;
    for (int32_t u = 0; u < n_units; u++) {
        x->reads_first[u] = n;
        for (int32_t net = 0; net < x->p.n_nets; net++)
            for (int32_t i = x->net_first[net]; i < x->net_first[net + 1]; i++)
                if (x->net_to[i] == u)
                    x->reads[n++] = net;
    }
    x->reads_first[n_units] = n;
}

static void make(problem *x)
{
    *x = (problem){ .layers = 2 + below(LAYERS_MAX - 1) };
    int32_t n_units = 3 * x->layers;
    for (int32_t u = 0; u < n_units; u++) {
        x->weight_of[u] = -1;
        x->weight[u] = below(100);
        x->flops[u] = below(100);
        x->time[u] = 1 + below(100);
        x->backward[u] = u == x->layers; /* the others are found */
    }
    for (int32_t k = 0; k < DEVICES * DEVICES; k++) {
        x->latency[k] = 5;
        x->speed[k] = 1e10;
    }
    for (int32_t d = 0; d < DEVICES; d++)
        x->capacity[d] = 1 << 20;
    make_edges(x);
    make_nets(x, n_units);
    x->p = (clv_partition_problem){ .n_units = n_units,
                                    .n_devices = DEVICES,
                                    .n_kinds = 1,
                                    .n_nets = x->p.n_nets,
                                    .kind_of = x->kind_of,
                                    .capacity_bytes = x->capacity,
                                    .weight_bytes = x->weight,
                                    .flops = x->flops,
                                    .time_ns = x->time,
                                    .net_from = x->net_from,
                                    .net_bytes = x->net_bytes,
                                    .net_first = x->net_first,
                                    .net_to = x->net_to,
                                    .unit_first_net = x->unit_first_net,
                                    .reads_first = x->reads_first,
                                    .reads = x->reads,
                                    .link_latency_ns = x->latency,
                                    .link_bytes_per_s = x->speed };
}

/* Random, but legal: runs of units, on devices in a random order. */
static void cut(const clv_partition_problem *p, int32_t *device_of)
{
    int32_t order[DEVICES], at = 0;
    for (int32_t d = 0; d < DEVICES; d++) {
        int32_t k = below(d + 1);
        order[d] = order[k];
        order[k] = d;
    }
    for (int32_t u = 0; u < p->n_units; u++) {
        at += u > 0 && at < DEVICES - 1 && below(3) == 0;
        device_of[u] = order[at];
    }
}

static void check_turns(const problem *x, const clv_overlay *o, const int32_t *device_of,
                        const int32_t *stage)
{
    const clv_partition_problem *p = &x->p;
    for (int32_t net = 0; net < p->n_nets; net++)
        for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++) {
            int32_t a = p->net_from[net], b = p->net_to[i];
            int32_t from = device_of[a], to = device_of[b];
            cr_assert(!o->backward[a] || o->backward[b], "from the backward to the forward pass");
            if (from == to || o->backward[a] != o->backward[b])
                continue;
            cr_assert(o->backward[a] ? stage[from] > stage[to] : stage[from] < stage[to],
                      "%d on %d to %d on %d", (int)a, (int)from, (int)b, (int)to);
        }
}

Test(overlay, every_legal_cut_of_the_forward_pass_is_one_of_both)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    static problem x;
    state = 1;
    for (int32_t i = 0; i < CASES; i++) {
        clv_overlay *o = NULL;
        int32_t folded[UNITS_MAX], whole[UNITS_MAX], stage[DEVICES];
        clv_estimate small, large;
        make(&x);
        cr_assert_eq(clv_overlay_build(&x.p, x.backward, x.weight_of, arena, &o, NULL), CLV_OK);
        cr_assert_not_null(o);
        cr_assert_eq(o->folded.n_units, x.layers);
        cut(&o->folded, folded);
        cr_assert(clv_partition_is_acyclic(&o->folded, folded, arena));
        clv_overlay_expand(o, folded, whole);
        clv_partition_stages(&o->folded, folded, arena, stage);
        check_turns(&x, o, whole, stage);
        cr_assert_eq(clv_partition_estimate(&o->folded, folded, arena, &small, NULL), CLV_OK);
        cr_assert_eq(clv_partition_estimate(&x.p, whole, arena, &large, NULL), CLV_OK);
        cr_assert_leq(small.period_ns, large.period_ns, "a bound of the period stays one");
        cr_assert_eq(small.max_weight_bytes, large.max_weight_bytes);
        clv_arena_free(arena);
        arena = clv_arena_new(NULL, 0);
    }
    clv_arena_free(arena);
}

Test(overlay, updates_are_where_their_weights_are_unless_gradients_are_earlier)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    static problem x;
    state = 2;
    for (int32_t i = 0; i < 100; i++) {
        clv_overlay *o = NULL;
        make(&x);
        cr_assert_eq(clv_overlay_build(&x.p, x.backward, x.weight_of, arena, &o, NULL), CLV_OK);
        for (int32_t u = 0; u < x.layers; u++) {
            int32_t gradient = o->of[2 * x.layers - 1 - u];
            cr_assert_eq(o->of[2 * x.layers + u], gradient < u ? gradient : u);
        }
    }
    clv_arena_free(arena);
}

Test(overlay, there_is_none_without_two_passes)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    static problem x;
    clv_overlay *o = NULL;
    state = 3;
    make(&x);
    x.backward[x.layers] = false;
    cr_assert_eq(clv_overlay_build(&x.p, x.backward, x.weight_of, arena, &o, NULL), CLV_OK);
    cr_assert_null(o);
    for (int32_t u = 0; u < x.p.n_units; u++)
        x.backward[u] = true;
    cr_assert_eq(clv_overlay_build(&x.p, x.backward, x.weight_of, arena, &o, NULL), CLV_OK);
    cr_assert_null(o);
    clv_arena_free(arena);
}
