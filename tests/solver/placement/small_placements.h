/* small_placements.h - small random placements for tests of the latency objective, and their least
 * latency by brute force. Two kinds that pay at most, two that do not; memory is mostly tight.
 */
#ifndef TEST_SOLVER_PLACEMENT_SMALL_PLACEMENTS_H
#define TEST_SOLVER_PLACEMENT_SMALL_PLACEMENTS_H

#include <criterion/criterion.h>
#include <math.h>

#include "problem/place_problem.h"

#define MOST_NODES 9
#define MOST_EDGES (MOST_NODES * MOST_NODES)
#define MOST_KINDS 4

typedef struct {
    clv_place_problem p;
    clv_place_kind kinds[MOST_KINDS];
    int64_t id[MOST_NODES], bytes[MOST_NODES];
    double time[MOST_KINDS * MOST_NODES], send[MOST_NODES];
    bool backward[MOST_NODES];
    int32_t class_of[MOST_NODES], out_first[MOST_NODES + 1], out[MOST_EDGES], order[MOST_NODES];
} small_placement;

static uint64_t state;

static inline int32_t below(int32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int32_t)((state >> 33) % (uint64_t)n);
}

static inline void make_kinds(small_placement *in, int64_t all_bytes)
{
    int32_t n_paying = 1 + (below(5) == 0), n_free = below(6) > 0 ? 1 + (below(6) == 0) : 0;
    in->p.n_kinds = n_paying + n_free;
    for (int32_t k = 0; k < in->p.n_kinds; k++) {
        bool pays = k < n_paying;
        int64_t room = pays ? 1 + below((int32_t)all_bytes + 2) : CLV_PLACE_UNLIMITED;
        if (below(6) == 0)
            room = pays ? CLV_PLACE_UNLIMITED : 1 + below((int32_t)all_bytes + 2);
        int32_t count = in->p.n_kinds > 2 ? 1 : 1 + below(2);
        in->kinds[k] = (clv_place_kind){ "kind", count, room, pays };
    }
}

/* Some times and costs are 0, some nodes do not run everywhere. */
static inline void make_nodes(small_placement *in, int32_t n, int32_t n_classes, bool training)
{
    bool plain = below(2);
    for (int32_t v = 0; v < n; v++) {
        in->id[v] = v + 10;
        in->order[v] = v;
        in->bytes[v] = below(4) ? below(8) : 0;
        in->send[v] = below(3) ? below(12) / 2.0 : 0;
        in->class_of[v] = v < n_classes ? v : below(n_classes);
        in->backward[v] = training && v >= n / 2;
    }
    for (int32_t i = n - 1; i > 0; i--) { /* classes anywhere */
        int32_t j = below(i + 1), c = in->class_of[i];
        in->class_of[i] = in->class_of[j];
        in->class_of[j] = c;
    }
    for (int32_t k = 0; k < in->p.n_kinds; k++)
        for (int32_t v = 0; v < n; v++) {
            double scale = in->kinds[k].pays ? 1 : 1 + below(8);
            double time = below(4) ? scale * below(10) : 0;
            in->time[k * n + v] = !plain && below(12) == 0 ? CLV_PLACE_NEVER : time;
        }
}

static inline void make_edges(small_placement *in, int32_t n)
{
    int32_t n_edges = 0, dense = 1 + below(3);
    bool chain = below(2);
    for (int32_t v = 0; v < n; v++) {
        in->out_first[v] = n_edges;
        for (int32_t w = v + 1; w < n; w++)
            if ((chain && w == v + 1 && below(8)) || below(6) < dense)
                in->out[n_edges++] = w;
        if (n_edges == in->out_first[v])
            in->send[v] = 0;
    }
    in->out_first[n] = in->p.n_edges = n_edges;
}

/* Often a class has a node and what it reads: then it is one unit, or two. Classes stay dense. */
static inline void join_classes(small_placement *in, int32_t n)
{
    int32_t seen[MOST_NODES], n_seen = 0;
    for (int32_t v = 0; v < n; v++)
        for (int32_t e = in->out_first[v]; e < in->out_first[v + 1]; e++)
            if (below(3) == 0)
                in->class_of[in->out[e]] = in->class_of[v];
    for (int32_t c = 0; c < MOST_NODES; c++)
        seen[c] = -1;
    for (int32_t v = 0; v < n; v++) {
        if (seen[in->class_of[v]] < 0)
            seen[in->class_of[v]] = n_seen++;
        in->class_of[v] = seen[in->class_of[v]];
    }
    in->p.n_classes = n_seen;
}

static inline void make(small_placement *in, uint64_t seed)
{
    state = seed * 7919 + 1;
    below(2);
    int32_t n = 2 + below(MOST_NODES - 1), n_classes = n > 3 ? n - below(n / 2 + 1) : n;
    if (n_classes > 6)
        n_classes = 6;
    make_kinds(in, 3 * n);
    make_nodes(in, n, n_classes, below(6) == 0);
    make_edges(in, n);
    in->p.n_classes = n_classes;
    if (below(3) == 0)
        join_classes(in, n);
    in->p = (clv_place_problem){ n,         in->p.n_edges, n_classes,    in->p.n_kinds,
                                 in->kinds, in->id,        in->time,     in->bytes,
                                 in->send,  in->backward,  in->class_of, in->out_first,
                                 in->out,   in->order };
}

/* Least latency over all assignments; INFINITY: none is legal. */
static inline double brute(const clv_place_problem *p, const clv_place_rules *rules)
{
    int32_t n = clv_place_devices(p), of_class[MOST_NODES] = { 0 }, of_node[MOST_NODES];
    double best = INFINITY;
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (int32_t c = 0; c < p->n_classes;) {
        clv_place_value value;
        clv_mark mark = clv_arena_mark(arena);
        for (int32_t v = 0; v < p->n_nodes; v++)
            of_node[v] = of_class[p->class_of[v]];
        cr_assert_eq(clv_place_judge(p, rules, of_node, arena, &value, NULL), CLV_OK);
        clv_arena_rewind(arena, mark);
        if (value.legal && value.objective < best)
            best = value.objective;
        for (c = 0; c < p->n_classes && ++of_class[c] == n; c++)
            of_class[c] = 0;
    }
    clv_arena_free(arena);
    return best;
}

#endif
