/* small_placement.h - made placements, small enough to try every assignment. */
#ifndef TEST_SOLVER_PLACEMENT_SMALL_PLACEMENT_H
#define TEST_SOLVER_PLACEMENT_SMALL_PLACEMENT_H

#include <criterion/criterion.h>
#include <math.h>

#include "problem/place_problem.h"

typedef struct {
    uint64_t state;
} small_dice;

/* 0 .. n - 1 */
static inline int32_t small_roll(small_dice *d, int32_t n)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return (int32_t)((d->state >> 33) % (uint64_t)n);
}

static inline small_dice small_dice_of(uint64_t seed)
{
    small_dice d = { seed * UINT64_C(0x9E3779B97F4A7C15) + 1 };
    for (int i = 0; i < 8; i++)
        small_roll(&d, 2);
    return d;
}

typedef struct {
    int32_t max_nodes, max_classes, max_accelerators, max_cpus;
} small_size;

static inline void small_edges(small_dice *d, clv_place_problem *p, clv_arena *arena)
{
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes + 1);
    int32_t *out = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes * p->n_nodes);
    double *cost = CLV_NEW_ARRAY(arena, double, p->n_nodes);
    int32_t dense = 2 + small_roll(d, 3);
    for (int32_t u = 0; u < p->n_nodes; u++) {
        for (int32_t v = u + 1; v < p->n_nodes; v++)
            if (small_roll(d, dense) == 0 && p->backward[u] <= p->backward[v])
                out[p->n_edges++] = v;
        first[u + 1] = p->n_edges;
        cost[u] = first[u + 1] > first[u] ? small_roll(d, 8) * 0.5 : 0;
    }
    p->out_first = first;
    p->out = out;
    p->send_cost = cost;
}

/* Nodes are in an order of the graph already. Everything comes from the seed. */
static inline clv_place_problem *small_placement(uint64_t seed, const small_size *size,
                                                 clv_arena *arena)
{
    small_dice d = small_dice_of(seed);
    clv_place_problem *p = CLV_NEW(arena, clv_place_problem);
    int32_t n = 1 + small_roll(&d, size->max_nodes), n_forward = n - small_roll(&d, n / 2 + 1);
    int32_t n_classes = n < size->max_classes ? n : size->max_classes;
    clv_place_kind *kinds = CLV_NEW_ARRAY(arena, clv_place_kind, 2);
    int64_t *id = CLV_NEW_ARRAY(arena, int64_t, n), *bytes = CLV_NEW_ARRAY(arena, int64_t, n);
    double *time = CLV_NEW_ARRAY(arena, double, 2 * n);
    bool *backward = CLV_NEW_ARRAY(arena, bool, n);
    int32_t *class_of = CLV_NEW_ARRAY(arena, int32_t, n), *order = CLV_NEW_ARRAY(arena, int32_t, n);
    int64_t all = 0;
    for (int32_t v = 0; v < n; v++) {
        id[v] = v;
        order[v] = v;
        backward[v] = v >= n_forward;
        class_of[v] = v < n_classes ? v : small_roll(&d, n_classes);
        bytes[v] = small_roll(&d, 10);
        all += bytes[v];
        time[v] = small_roll(&d, 12) == 0 ? CLV_PLACE_NEVER : small_roll(&d, 20) * 0.25;
        time[n + v] = small_roll(&d, 60) * 0.25;
    }
    kinds[0] = (clv_place_kind){ "accelerator", 1 + small_roll(&d, size->max_accelerators),
                                 small_roll(&d, 2) ? CLV_PLACE_UNLIMITED
                                                   : all / (1 + small_roll(&d, 3)) + 4,
                                 true };
    kinds[1] =
        (clv_place_kind){ "cpu", small_roll(&d, size->max_cpus + 1), CLV_PLACE_UNLIMITED, false };
    *p = (clv_place_problem){ .n_nodes = n,
                              .n_classes = n_classes,
                              .n_kinds = 2,
                              .kinds = kinds,
                              .id = id,
                              .time = time,
                              .bytes = bytes,
                              .backward = backward,
                              .class_of = class_of,
                              .order = order };
    small_edges(&d, p, arena);
    return p;
}

/* The k-th of all assignments of classes to devices, or false when there are no more. */
static inline bool small_assignment(const clv_place_problem *p, int64_t k, int32_t *device_of)
{
    int32_t of_class[16], n = clv_place_devices(p);
    for (int32_t c = 0; c < p->n_classes; c++, k /= n)
        of_class[c] = (int32_t)(k % n);
    for (int32_t v = 0; v < p->n_nodes; v++)
        device_of[v] = of_class[p->class_of[v]];
    return k == 0;
}

static inline clv_place_value small_judged(const clv_place_problem *p, const clv_place_rules *rules,
                                           const int32_t *device_of, clv_arena *arena)
{
    clv_place_value value;
    clv_mark mark = clv_arena_mark(arena);
    cr_assert_eq(clv_place_judge(p, rules, device_of, arena, &value, NULL), CLV_OK);
    clv_arena_rewind(arena, mark);
    return value;
}

/* The least objective of all assignments; INFINITY when none is legal. */
static inline double small_best(const clv_place_problem *p, const clv_place_rules *rules,
                                clv_arena *arena)
{
    double best = INFINITY;
    clv_mark mark = clv_arena_mark(arena);
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    for (int64_t k = 0; small_assignment(p, k, device_of); k++) {
        clv_place_value v = small_judged(p, rules, device_of, arena);
        if (v.legal && v.objective < best)
            best = v.objective;
    }
    clv_arena_rewind(arena, mark);
    return best;
}

#endif
