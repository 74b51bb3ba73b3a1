/* ideal_search_state.c - what is fixed during a search over ideals. */
#include "solver/placement/latency/ideal_search_state.h"

#include <string.h>

int64_t clv_ideal_least_time(const clv_latency_units *u, int32_t node)
{
    int64_t pays = u->node_pays[node], free = u->node_free[node];
    return pays == CLV_UNIT_NEVER                  ? clv_later(free, 0)
           : free == CLV_UNIT_NEVER || pays < free ? pays
                                                   : free;
}

static void find_tails(clv_ideal_search_state *s)
{
    const clv_place_problem *p = s->u->tables->p;
    int32_t n = s->chain->n;
    for (int32_t i = p->n_nodes - 1; i >= 0; i--) {
        int32_t v = p->order[i];
        s->first[v] = n;
        s->after[v] = 0;
        for (int32_t e = p->out_first[v]; e < p->out_first[v + 1]; e++) {
            int32_t w = p->out[e], place = s->place_of[s->u->unit_of[w]];
            int32_t first = place >= 0 && s->chain->exit[place] == w ? place : s->first[w];
            s->first[v] = first < s->first[v] ? first : s->first[v];
            s->after[v] = clv_later(s->after[v], s->after[w] + clv_ideal_least_time(s->u, w));
        }
        int32_t unit = s->u->unit_of[v];
        if (s->first[v] < s->unit_first[unit])
            s->unit_first[unit] = s->first[v];
    }
    s->chain_rest[n] = 0;
    for (int32_t j = n - 1; j >= 0; j--) {
        int64_t time = clv_later(s->u->paying_time[s->chain->unit[j]], 0) + s->chain_rest[j + 1];
        s->chain_rest[j] = s->rest.rest[j] < time ? s->rest.rest[j] : time;
    }
}

static clv_status pin_lists(clv_ideal_search_state *s, clv_arena *arena, clv_error *err)
{
    const clv_latency_units *u = s->u;
    const clv_place_problem *p = u->tables->p;
    int32_t n_pins = u->pins.first[u->n_nets];
    /* lists drop pairs of equal numbers, so numbers of units and nets are kept apart */
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, u->n + 1);
    int32_t *at = CLV_NEW_ARRAY(arena, int32_t, n_pins);
    const clv_csr_items nodes = { p->n_nodes, u->unit_of, p->order };
    if (!first || !at || !clv_csr_group(u->n, &nodes, arena, &s->nodes_of))
        return clv_fail_nomem(err, "a search");
    for (int32_t e = 0; e < n_pins; e++)
        first[u->pins.at[e] + 1]++;
    for (int32_t i = 0; i < u->n; i++)
        first[i + 1] += first[i];
    for (int32_t i = 0; i < u->n_nets; i++)
        for (int32_t e = u->pins.first[i]; e < u->pins.first[i + 1]; e++)
            at[first[u->pins.at[e]]++] = i;
    memmove(first + 1, first, (size_t)u->n * sizeof *first);
    first[0] = 0;
    s->nets_of = (clv_csr){ first, at };
    return CLV_OK;
}

clv_status clv_ideal_search_state_new(clv_ideal_search_state *s, clv_arena *arena, clv_error *err)
{
    const clv_latency_units *u = s->u;
    size_t n_nodes = (size_t)u->tables->p->n_nodes, n = (size_t)u->n;
    s->place_of = CLV_NEW_ARRAY(arena, int32_t, n);
    s->unit_first = CLV_NEW_ARRAY(arena, int32_t, n);
    s->first = CLV_NEW_ARRAY(arena, int32_t, n_nodes);
    s->after = CLV_NEW_ARRAY(arena, int64_t, n_nodes);
    s->chain_rest = CLV_NEW_ARRAY(arena, int64_t, s->chain->n + 1);
    s->where = CLV_NEW_ARRAY(arena, clv_unit_state, n);
    s->waits = CLV_NEW_ARRAY(arena, int32_t, n);
    s->n_in = CLV_NEW_ARRAY(arena, int32_t, u->n_nets);
    s->n_out = CLV_NEW_ARRAY(arena, int32_t, u->n_nets);
    s->place_in_front = CLV_NEW_ARRAY(arena, int32_t, n_nodes);
    s->earliest = CLV_NEW_ARRAY(arena, int64_t, n_nodes);
    s->n_reads = CLV_NEW_ARRAY(arena, int32_t, n_nodes);
    s->chosen = CLV_NEW_ARRAY(arena, int32_t, n);
    s->set = CLV_NEW_ARRAY(arena, uint64_t, u->words);
    s->ends = CLV_NEW_ARRAY(arena, int64_t, n_nodes);
    if (!s->place_of || !s->unit_first || !s->first || !s->after || !s->chain_rest || !s->where ||
        !s->waits || !s->n_in || !s->n_out || !s->place_in_front || !s->earliest || !s->n_reads ||
        !s->chosen || !s->set || !s->ends)
        return clv_fail_nomem(err, "a search");
    CLV_TRY(pin_lists(s, arena, err));
    CLV_TRY(clv_chain_division_rest(s->chain, arena, &s->rest, err));
    if (s->most_held != CLV_PLACE_UNLIMITED && s->chain->priced) {
        CLV_TRY(clv_chain_division_rest(s->chain->priced, arena, &s->priced, err));
        s->price = s->chain->price;
    }
    for (int32_t i = 0; i < u->n; i++) {
        s->place_of[i] = -1;
        s->unit_first[i] = s->chain->n;
    }
    for (int32_t i = 0; i < s->chain->n; i++)
        s->place_of[s->chain->unit[i]] = i;
    for (size_t i = 0; i < n_nodes; i++)
        s->place_in_front[i] = -1;
    find_tails(s);
    return clv_ideal_labels_new(u, arena, &s->f, err);
}
