/* test_many_layers.c - models of many equal layers, whose solutions are known: at their size,
 * solvers must neither give up nor take time by the square of the layers. And the ends of long
 * intervals of a chain, against a smallest cut for each interval. */
#include <criterion/criterion.h>
#include <math.h>

#include "solver/placement/latency/chain_end_cuts.h"
#include "solver/placement/portfolio.h"
#include "solver/placement/small_placement.h"

/* -- equal layers -- */

/* A layer: one node read by two, which are read by one, which the next layer reads. */
#define LAYER      4
#define WORK       10 /* of a layer */
#define SEND       1  /* between layers */
#define SEND_INNER 20 /* within one: at least WORK + SEND, so that nobody wants it */

static clv_place_problem *equal_layers(int32_t n_layers, int32_t n_devices, int64_t capacity,
                                       clv_arena *arena)
{
    static const double times[LAYER] = { 1, 4, 3, 2 };
    int32_t n = LAYER * n_layers;
    clv_place_problem *p = CLV_NEW(arena, clv_place_problem);
    clv_place_kind *kinds = CLV_NEW_ARRAY(arena, clv_place_kind, 1);
    int64_t *id = CLV_NEW_ARRAY(arena, int64_t, n), *bytes = CLV_NEW_ARRAY(arena, int64_t, n);
    double *time = CLV_NEW_ARRAY(arena, double, n), *cost = CLV_NEW_ARRAY(arena, double, n);
    bool *backward = CLV_NEW_ARRAY(arena, bool, n);
    int32_t *class_of = CLV_NEW_ARRAY(arena, int32_t, n), *order = CLV_NEW_ARRAY(arena, int32_t, n),
            *first = CLV_NEW_ARRAY(arena, int32_t, n + 1),
            *out = CLV_NEW_ARRAY(arena, int32_t, 2 * n);
    int32_t n_edges = 0;
    for (int32_t v = 0; v < n; v++) {
        int32_t at = v % LAYER;
        id[v] = class_of[v] = order[v] = v;
        time[v] = times[at];
        bytes[v] = 1;
        cost[v] = v + 1 == n ? 0 : at == LAYER - 1 ? SEND : SEND_INNER;
        if (at == 0)
            out[n_edges++] = v + 1;
        if (at <= 1)
            out[n_edges++] = v + 2;
        else if (v + 1 < n)
            out[n_edges++] = v + 1;
        first[v + 1] = n_edges;
    }
    kinds[0] = (clv_place_kind){ "accelerator", n_devices, capacity, true };
    *p = (clv_place_problem){ .n_nodes = n,
                              .n_classes = n,
                              .n_kinds = 1,
                              .kinds = kinds,
                              .n_edges = n_edges,
                              .id = id,
                              .time = time,
                              .bytes = bytes,
                              .backward = backward,
                              .class_of = class_of,
                              .order = order,
                              .out_first = first,
                              .out = out,
                              .send_cost = cost };
    return p;
}

/* The first and the last device send or receive once, the others both. */
static double best_load(int32_t n_layers, int32_t n_devices)
{
    for (int32_t load = WORK;; load++) {
        int32_t ends = (load - SEND) / WORK, others = (load - 2 * SEND) / WORK;
        if (2 * ends + (n_devices - 2) * others >= n_layers)
            return load;
    }
}

static bool count_down(void *left) { return --*(int32_t *)left < 0; }

static clv_place_result solve(const clv_place_problem *p, clv_place_objective objective,
                              bool contiguous, int32_t looks, clv_arena *arena)
{
    clv_place_result result;
    clv_place_options options = { .late_enumeration = true,
                                  .rules = { .objective = objective, .contiguous = contiguous },
                                  .solve.stop = count_down,
                                  .solve.stop_ctx = &looks };
    cr_assert_eq(clv_place_solve(p, &options, arena, &result, NULL), CLV_OK);
    cr_assert(result.solve.found);
    return result;
}

#define LOOKS_MANY 100000

Test(layers, contiguous_is_proven_whatever_their_number)
{
    static const int32_t layers[] = { 12, 126, 1200 };
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_problem *p = equal_layers(layers[i], 7, CLV_PLACE_UNLIMITED, arena);
        clv_place_result r = solve(p, CLV_PLACE_THROUGHPUT, true, LOOKS_MANY, arena);
        cr_expect_eq(r.solve.end, CLV_END_OPTIMAL, "%d layers: gap left", layers[i]);
        cr_expect_float_eq(r.value.objective, best_load(layers[i], 7), 1e-6, "%d layers: %g",
                           layers[i], r.value.objective);
        clv_arena_free(arena);
    }
}

/* Stopped early, it has a solution as good as the contiguous one, and the bound of work. */
Test(layers, free_has_a_solution_and_a_bound_at_once)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p = equal_layers(1200, 7, CLV_PLACE_UNLIMITED, arena);
    clv_place_result r = solve(p, CLV_PLACE_THROUGHPUT, false, 5000, arena);
    cr_expect(r.value.objective <= best_load(1200, 7) + 1e-6, "%g", r.value.objective);
    cr_expect(r.solve.bound.real >= 1200.0 * WORK / 7 * (1 - 1e-9), "bound %g", r.solve.bound.real);
    clv_arena_free(arena);
}

/* Memory for half of the layers on each device: two pieces, one boundary between layers. */
Test(layers, latency_is_proven_whatever_their_number)
{
    static const int32_t layers[] = { 12, 400 };
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        int64_t capacity = LAYER * (layers[i] / 2);
        clv_place_problem *p = equal_layers(layers[i], 3, capacity, arena);
        clv_place_result r = solve(p, CLV_PLACE_LATENCY, true, LOOKS_MANY, arena);
        cr_expect_eq(r.solve.end, CLV_END_OPTIMAL, "%d layers: gap left", layers[i]);
        cr_expect_float_eq(r.value.objective, layers[i] * WORK + 2 * SEND, 1e-6, "%d layers: %g",
                           layers[i], r.value.objective);
        clv_arena_free(arena);
    }
}

/* -- ends of intervals -- */

static bool never(void *ctx)
{
    (void)ctx;
    return false;
}

/* The path with most nodes. */
static int32_t longest_path(const clv_place_problem *p, int32_t *path)
{
    int32_t length[64], next[64], best = p->n_nodes - 1, n = 0;
    for (int32_t v = p->n_nodes - 1; v >= 0; v--) {
        length[v] = 1;
        next[v] = -1;
        for (int32_t e = p->out_first[v]; e < p->out_first[v + 1]; e++)
            if (length[p->out[e]] >= length[v]) {
                length[v] = length[p->out[e]] + 1;
                next[v] = p->out[e];
            }
        best = length[v] >= length[best] ? v : best;
    }
    for (int32_t v = best; v >= 0; v = next[v])
        path[n++] = v;
    return n;
}

/* Nodes read some of the last few: long, with places that hold it together. */
static void make_long(clv_place_problem *p, small_dice *d, clv_arena *arena)
{
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes + 1);
    int32_t *out = CLV_NEW_ARRAY(arena, int32_t, 4 * p->n_nodes);
    double *cost = CLV_NEW_ARRAY(arena, double, p->n_nodes);
    p->n_edges = 0;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        for (int32_t w = v + 1; w < p->n_nodes && w <= v + 3; w++)
            if (small_roll(d, 2 + w - v) <= 1)
                out[p->n_edges++] = w;
        first[v + 1] = p->n_edges;
        cost[v] = small_roll(d, 30) * 0.5;
    }
    p->out_first = first;
    p->out = out;
    p->send_cost = cost;
}

static clv_chain_division *make_chain(const clv_place_problem *p, clv_arena *arena)
{
    clv_latency_tables *tables;
    clv_latency_units *units;
    clv_piece_cut *cut;
    clv_chain_division *chain;
    int32_t path[64], n = longest_path(p, path);
    cr_assert_eq(clv_latency_tables_new(p, true, arena, &tables, NULL), CLV_OK);
    cr_assert_eq(clv_latency_units_new(tables, arena, &units, NULL), CLV_OK);
    cr_assert_eq(clv_piece_cut_new(units, arena, &cut, NULL), CLV_OK);
    clv_chain asked = { .units = units,
                        .cut = cut,
                        .weight = units->paying_time,
                        .path = path,
                        .n_path = n,
                        .most_pieces = 3 };
    cr_assert_eq(clv_chain_division_new(&asked, arena, &chain, NULL), CLV_OK);
    return chain;
}

Test(layers, ends_are_smallest_cuts)
{
    int32_t n_same = 0, n_added = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        small_dice d = small_dice_of(seed);
        clv_place_problem *p = small_placement(seed, &(small_size){ 40, 64, 4, 2 }, arena);
        make_long(p, &d, arena);
        clv_chain_division *ends = make_chain(p, arena), *cuts = make_chain(p, arena),
                           *first = make_chain(p, arena);
        cr_assert_eq(clv_chain_end_cuts(ends, never, NULL, arena, NULL), CLV_OK);
        clv_chain_division_refine_below(cuts, INT64_MAX / 8, never, NULL);
        for (int32_t k = 0; k < ends->n * ends->n; k++) {
            if (!ends->exact[k] || !cuts->exact[k])
                continue;
            cr_assert_eq(ends->value[k], cuts->value[k], "seed %d, interval %d", (int)seed, k);
            cr_assert(first->value[k] <= cuts->value[k], "seed %d, interval %d", (int)seed, k);
            n_same++;
            n_added += cuts->value[k] > first->value[k];
        }
        clv_arena_free(arena);
    }
    cr_expect(n_same > 1000, "%d intervals", n_same);
    cr_expect(n_added > 100, "%d intervals", n_added);
}
