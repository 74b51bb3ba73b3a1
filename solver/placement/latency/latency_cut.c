/* latency_cut.c - Dinic's algorithm on the network of latency_cut.h. */
#include "solver/placement/latency/latency_cut.h"

#include <string.h>

/* More than any finite cut: all times together stay below 2^55 ticks. */
#define ENDLESS (INT64_C(1) << 60)

struct clv_latency_cut {
    const clv_latency_units *units;
    int32_t n, n_arcs, source, sink; /* arc a and a ^ 1 are each other's way back */
    int32_t *first, *arc;            /* arcs by node, in lists */
    int32_t *to;
    int64_t *base, *room; /* by arc: capacity, and what is left of it */
    int32_t *into, *out;  /* by unit: its arc from the source, to the sink */
    int32_t *far, *next, *queue, *path;
};

static void add_arc(clv_latency_cut *c, int32_t from, int32_t to, int64_t there, int64_t back)
{
    c->to[c->n_arcs] = to;
    c->base[c->n_arcs++] = there;
    c->to[c->n_arcs] = from;
    c->base[c->n_arcs++] = back;
}

static void add_nets(clv_latency_cut *c)
{
    const clv_latency_units *u = c->units;
    int32_t inner = u->n;
    for (int32_t i = 0; i < u->n_nets; i++) {
        const int32_t *pin = u->pins.at + u->pins.first[i];
        int32_t n = u->pins.first[i + 1] - u->pins.first[i];
        if (n == 2) {
            add_arc(c, pin[0], pin[1], u->net_cost[i], u->net_cost[i]);
            continue;
        }
        add_arc(c, inner, inner + 1, u->net_cost[i], 0);
        for (int32_t j = 0; j < n; j++) {
            add_arc(c, pin[j], inner, ENDLESS, 0);
            add_arc(c, inner + 1, pin[j], ENDLESS, 0);
        }
        inner += 2;
    }
    c->source = inner;
    c->sink = inner + 1;
    c->n = inner + 2;
    for (int32_t i = 0; i < u->n; i++) {
        c->into[i] = c->n_arcs;
        add_arc(c, c->source, i, 0, 0);
        c->out[i] = c->n_arcs;
        add_arc(c, i, c->sink, 0, 0);
    }
}

clv_status clv_latency_cut_new(const clv_latency_units *units, clv_arena *arena,
                               clv_latency_cut **ret, clv_error *err)
{
    clv_latency_cut *c = CLV_NEW(arena, clv_latency_cut);
    if (!c)
        return clv_fail_nomem(err, "a flow network");
    size_t pins = (size_t)units->pins.first[units->n_nets];
    size_t arcs = 2 * ((size_t)units->n_nets + 2 * pins + 2 * (size_t)units->n);
    size_t nodes = (size_t)units->n + 2 * (size_t)units->n_nets + 2;
    c->units = units;
    c->first = CLV_NEW_ARRAY(arena, int32_t, nodes + 1);
    c->arc = CLV_NEW_ARRAY(arena, int32_t, arcs);
    c->to = CLV_NEW_ARRAY(arena, int32_t, arcs);
    c->base = CLV_NEW_ARRAY(arena, int64_t, arcs);
    c->room = CLV_NEW_ARRAY(arena, int64_t, arcs);
    c->into = CLV_NEW_ARRAY(arena, int32_t, units->n);
    c->out = CLV_NEW_ARRAY(arena, int32_t, units->n);
    c->far = CLV_NEW_ARRAY(arena, int32_t, nodes);
    c->next = CLV_NEW_ARRAY(arena, int32_t, nodes);
    c->queue = CLV_NEW_ARRAY(arena, int32_t, nodes);
    c->path = CLV_NEW_ARRAY(arena, int32_t, nodes);
    if (!c->first || !c->arc || !c->to || !c->base || !c->room || !c->into || !c->out || !c->far ||
        !c->next || !c->queue || !c->path)
        return clv_fail_nomem(err, "a flow network");
    add_nets(c);
    for (int32_t a = 0; a < c->n_arcs; a++)
        c->first[c->to[a ^ 1] + 1]++;
    for (int32_t i = 0; i < c->n; i++)
        c->first[i + 1] += c->first[i];
    memcpy(c->next, c->first, (size_t)c->n * sizeof *c->next);
    for (int32_t a = 0; a < c->n_arcs; a++)
        c->arc[c->next[c->to[a ^ 1]]++] = a;
    *ret = c;
    return CLV_OK;
}

/* Distances from the source where room is left, of nodes nearer than the sink and of some as far.
 * False: the sink is out of reach; then they are of all that is not. */
static bool measure(clv_latency_cut *c)
{
    int32_t n_done = 0, n_queued = 0;
    for (int32_t i = 0; i < c->n; i++)
        c->far[i] = -1;
    c->far[c->source] = 0;
    c->queue[n_queued++] = c->source;
    while (n_done < n_queued) {
        int32_t v = c->queue[n_done++];
        for (int32_t e = c->first[v]; e < c->first[v + 1]; e++) {
            int32_t a = c->arc[e], w = c->to[a];
            if (c->room[a] > 0 && c->far[w] < 0) {
                c->far[w] = c->far[v] + 1;
                c->queue[n_queued++] = w;
                if (w == c->sink)
                    return true;
            }
        }
    }
    return false;
}

/* One shortest way from source to sink, filled up. 0: there is none left. */
static int64_t push(clv_latency_cut *c)
{
    int32_t v = c->source, length = 0;
    while (v != c->sink) {
        int32_t e = c->next[v];
        while (e < c->first[v + 1] &&
               !(c->room[c->arc[e]] > 0 && c->far[c->to[c->arc[e]]] == c->far[v] + 1))
            e++;
        c->next[v] = e;
        if (e < c->first[v + 1]) {
            c->path[length++] = c->arc[e];
            v = c->to[c->arc[e]];
        } else if (length == 0) {
            return 0;
        } else {
            v = c->to[c->path[--length] ^ 1];
            c->next[v]++;
        }
    }
    int64_t amount = ENDLESS;
    for (int32_t i = 0; i < length; i++)
        amount = c->room[c->path[i]] < amount ? c->room[c->path[i]] : amount;
    for (int32_t i = 0; i < length; i++) {
        c->room[c->path[i]] -= amount;
        c->room[c->path[i] ^ 1] += amount;
    }
    return amount;
}

int64_t clv_latency_cut_best(clv_latency_cut *c, const clv_latency_side *side,
                             const int64_t *weight, bool *chosen)
{
    int64_t sum = 0;
    memcpy(c->room, c->base, (size_t)c->n_arcs * sizeof *c->room);
    for (int32_t i = 0; i < c->units->n; i++) {
        bool in = side[i] == CLV_SIDE_IN;
        c->room[c->into[i]] = in ? ENDLESS : 0;
        c->room[c->out[i]] = side[i] == CLV_SIDE_OUT ? ENDLESS : in ? 0 : weight[i];
        sum += in ? weight[i] : 0; /* it flows for certain */
    }
    while (measure(c)) {
        memcpy(c->next, c->first, (size_t)c->n * sizeof *c->next);
        for (int64_t amount; (amount = push(c)) > 0;)
            sum += amount;
    }
    for (int32_t i = 0; chosen && i < c->units->n; i++)
        chosen[i] = c->far[i] >= 0;
    return sum;
}
