#include "solver/common/max_flow.h"

#include <string.h>

clv_status clv_max_flow_new(int32_t n_nodes, size_t max_pairs, clv_arena *arena, clv_max_flow *ret,
                            clv_error *err)
{
    size_t nodes = (size_t)n_nodes, arcs = 2 * max_pairs;
    *ret = (clv_max_flow){ .n_nodes = n_nodes,
                           .source = n_nodes - 2,
                           .sink = n_nodes - 1,
                           .to = CLV_NEW_ARRAY(arena, int32_t, arcs),
                           .capacity = CLV_NEW_ARRAY(arena, int64_t, arcs),
                           .residual = CLV_NEW_ARRAY(arena, int64_t, arcs),
                           .first = CLV_NEW_ARRAY(arena, int32_t, nodes + 1),
                           .arc = CLV_NEW_ARRAY(arena, int32_t, arcs),
                           .distance = CLV_NEW_ARRAY(arena, int32_t, nodes),
                           .next = CLV_NEW_ARRAY(arena, int32_t, nodes),
                           .queue = CLV_NEW_ARRAY(arena, int32_t, nodes),
                           .path = CLV_NEW_ARRAY(arena, int32_t, nodes),
                           .used = CLV_NEW_ARRAY(arena, int32_t, max_pairs),
                           .is_used = CLV_NEW_ARRAY(arena, bool, max_pairs) };
    if (!ret->to || !ret->capacity || !ret->residual || !ret->first || !ret->arc ||
        !ret->distance || !ret->next || !ret->queue || !ret->path || !ret->used || !ret->is_used)
        return clv_fail_nomem(err, "a flow network");
    return CLV_OK;
}

int32_t clv_max_flow_add_arc(clv_max_flow *f, int32_t from, int32_t to, int64_t capacity,
                             int64_t reverse)
{
    int32_t a = f->n_arcs;
    f->to[a] = to;
    f->to[a + 1] = from;
    clv_max_flow_set(f, a, capacity);
    clv_max_flow_set(f, a + 1, reverse);
    f->n_arcs += 2;
    return a;
}

int32_t clv_max_flow_add_net(clv_max_flow *f, const int32_t *pins, int32_t n, int64_t cost,
                             int32_t inner)
{
    if (n == 2)
        return clv_max_flow_add_arc(f, pins[0], pins[1], cost, cost);
    int32_t a = clv_max_flow_add_arc(f, inner, inner + 1, cost, 0);
    for (int32_t i = 0; i < n; i++) {
        clv_max_flow_add_arc(f, pins[i], inner, CLV_FLOW_UNLIMITED, 0);
        clv_max_flow_add_arc(f, inner + 1, pins[i], CLV_FLOW_UNLIMITED, 0);
    }
    return a;
}

void clv_max_flow_finish(clv_max_flow *f)
{
    for (int32_t a = 0; a < f->n_arcs; a++)
        f->first[f->to[a ^ 1] + 1]++;
    for (int32_t v = 0; v < f->n_nodes; v++)
        f->first[v + 1] += f->first[v];
    memcpy(f->next, f->first, (size_t)f->n_nodes * sizeof *f->next);
    for (int32_t a = 0; a < f->n_arcs; a++)
        f->arc[f->next[f->to[a ^ 1]]++] = a;
}

void clv_max_flow_clear(clv_max_flow *f)
{
    memset(f->capacity, 0, (size_t)f->n_arcs * sizeof *f->capacity);
    memset(f->residual, 0, (size_t)f->n_arcs * sizeof *f->residual);
}

/* Distances from the source, of nodes nearer than the sink and of some as far. False: the sink is
 * out of reach; then they are of all that is not. */
static bool measure_distances(clv_max_flow *f)
{
    int32_t n_done = 0, n_queued = 0;
    int64_t n_steps = f->first[f->source] - f->first[f->source + 1];
    memset(f->distance, -1, (size_t)f->n_nodes * sizeof *f->distance);
    f->distance[f->source] = 0;
    f->queue[n_queued++] = f->source;
    while (n_done < n_queued) {
        int32_t v = f->queue[n_done++];
        n_steps += f->first[v + 1] - f->first[v];
        for (int32_t e = f->first[v]; e < f->first[v + 1]; e++) {
            int32_t a = f->arc[e], w = f->to[a];
            if (f->residual[a] > 0 && f->distance[w] < 0) {
                f->distance[w] = f->distance[v] + 1;
                f->queue[n_queued++] = w;
                if (w == f->sink) {
                    f->n_steps += n_steps;
                    return true;
                }
            }
        }
    }
    f->n_steps += n_steps;
    return false;
}

/* One shortest path from source to sink, filled up. Returns the amount; 0: there is none left. */
static int64_t augment(clv_max_flow *f)
{
    int32_t v = f->source, length = 0;
    int64_t amount = CLV_FLOW_UNLIMITED;
    while (v != f->sink) {
        int32_t e = f->next[v];
        while (e < f->first[v + 1] &&
               !(f->residual[f->arc[e]] > 0 && f->distance[f->to[f->arc[e]]] == f->distance[v] + 1))
            e++;
        f->next[v] = e;
        if (e < f->first[v + 1]) {
            f->path[length++] = f->arc[e];
            v = f->to[f->arc[e]];
        } else if (length == 0) {
            return 0;
        } else { /* a dead end */
            v = f->to[f->path[--length] ^ 1];
            f->next[v]++;
        }
    }
    for (int32_t i = 0; i < length; i++)
        amount = f->residual[f->path[i]] < amount ? f->residual[f->path[i]] : amount;
    for (int32_t i = 0; i < length; i++) {
        int32_t a = f->path[i];
        if (!f->is_used[a / 2])
            f->used[f->n_used++] = a;
        f->is_used[a / 2] = true;
        f->residual[a] -= amount;
        f->residual[a ^ 1] += amount;
    }
    f->n_steps += length;
    return amount;
}

bool clv_max_flow_run(clv_max_flow *f, int64_t max_steps, int64_t *ret)
{
    bool more;
    *ret = f->n_steps = 0;
    while ((more = measure_distances(f)) && f->n_steps < max_steps) {
        memcpy(f->next, f->first, (size_t)f->n_nodes * sizeof *f->next);
        for (int64_t amount; f->n_steps < max_steps && (amount = augment(f)) > 0;)
            *ret += amount;
    }
    for (; f->n_used > 0; f->n_used--) {
        int32_t a = f->used[f->n_used - 1];
        f->residual[a] = f->capacity[a];
        f->residual[a ^ 1] = f->capacity[a ^ 1];
        f->is_used[a / 2] = false;
    }
    return !more;
}
