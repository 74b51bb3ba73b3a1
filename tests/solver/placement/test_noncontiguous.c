/* Free placements for throughput: every part against counting all cases. */
#include "solver/placement/noncontiguous/noncontiguous.h"
#include "solver/placement/portfolio.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "solver/placement/noncontiguous/chains_on_chains.h"
#include "solver/placement/noncontiguous/column_generation.h"
#include "solver/placement/noncontiguous/cutwidth_order.h"
#include "solver/placement/noncontiguous/decision_diagram.h"
#include "solver/placement/noncontiguous/pareto_dp.h"
#include "solver/placement/noncontiguous/simple_bounds.h"

/* -- random problems -- */

typedef struct {
    clv_arena *arena;
    uint64_t random;
    clv_place_problem *p;
} made;

static int32_t below(made *m, int32_t n)
{
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int32_t)((m->random >> 33) % (uint64_t)n);
}

static void *take(clv_arena *arena, size_t n, size_t size)
{
    void *p = clv_arena_take_array(arena, n, size);
    cr_assert_not_null(p);
    return p;
}

/* Now and then 0, or not on this kind. */
static double some_time(made *m)
{
    int32_t x = below(m, 12);
    return x == 0 ? CLV_PLACE_NEVER : x == 1 ? 0 : 0.25 * (1 + below(m, 40));
}

static void make_kinds(made *m, int64_t all_bytes)
{
    clv_place_problem *p = m->p;
    clv_place_kind *kinds = take(m->arena, 3, sizeof *kinds);
    p->n_kinds = 1 + below(m, 3);
    for (int32_t k = 0; k < p->n_kinds; k++) {
        kinds[k].name = "kind";
        kinds[k].count = k == 0 ? 1 + below(m, 3) : below(m, 2);
        kinds[k].pays = below(m, 3) > 0;
        kinds[k].capacity_bytes =
            below(m, 2) ? CLV_PLACE_UNLIMITED : 1 + all_bytes * (1 + below(m, 8)) / 10;
    }
    p->kinds = kinds;
}

static void make_edges(made *m)
{
    clv_place_problem *p = m->p;
    int32_t n = p->n_nodes, *first = take(m->arena, (size_t)n + 1, sizeof *first);
    int32_t *out = take(m->arena, (size_t)n * (size_t)n, sizeof *out);
    double *cost = take(m->arena, (size_t)n, sizeof *cost);
    int32_t dense = 1 + below(m, 4);
    for (int32_t u = 0; u < n; u++) {
        for (int32_t v = u + 1; v < n; v++)
            if (below(m, 6) < dense)
                out[p->n_edges++] = v;
        first[u + 1] = p->n_edges;
        cost[u] = below(m, 4) == 0 ? 0 : 0.125 * below(m, 40);
    }
    p->out_first = first;
    p->out = out;
    p->send_cost = cost;
}

static made make_problem(uint64_t seed, int32_t most)
{
    made m = { .arena = clv_arena_new(NULL, 0), .random = seed * 977 + 13 };
    cr_assert_not_null(m.arena);
    clv_place_problem *p = m.p = take(m.arena, 1, sizeof *p);
    int32_t n = p->n_nodes = 1 + below(&m, most);
    int64_t *id = take(m.arena, (size_t)n, sizeof *id), all = 0;
    int64_t *bytes = take(m.arena, (size_t)n, sizeof *bytes);
    bool *backward = take(m.arena, (size_t)n, sizeof *backward);
    int32_t *class_of = take(m.arena, (size_t)n, sizeof *class_of);
    int32_t *order = take(m.arena, (size_t)n, sizeof *order);
    for (int32_t v = 0; v < n; v++) {
        id[v] = order[v] = v;
        all += bytes[v] = below(&m, 10);
        class_of[v] =
            p->n_classes > 0 && below(&m, 5) == 0 ? below(&m, p->n_classes) : p->n_classes++;
    }
    make_kinds(&m, all);
    double *time = take(m.arena, (size_t)n * (size_t)p->n_kinds, sizeof *time);
    for (int32_t i = 0; i < n * p->n_kinds; i++)
        time[i] = some_time(&m);
    p->id = id;
    p->bytes = bytes;
    p->backward = backward;
    p->class_of = class_of;
    p->order = order;
    p->time = time;
    make_edges(&m);
    return m;
}

/* -- counting all cases -- */

/* Largest load of an assignment, INFINITY where it is not legal; shares no code with the product.
 */
static double judge(const clv_place_problem *p, const int32_t *device_of)
{
    double load[16] = { 0 }, most = 0;
    int64_t bytes[16] = { 0 };
    int32_t kind_of[16], d = 0;
    for (int32_t k = 0; k < p->n_kinds; k++)
        for (int32_t i = 0; i < p->kinds[k].count; i++)
            kind_of[d++] = k;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        double t = p->time[kind_of[device_of[v]] * p->n_nodes + v];
        if (t < 0)
            return (double)INFINITY;
        load[device_of[v]] += t;
        bytes[device_of[v]] += p->bytes[v];
    }
    for (int32_t e = 0; e < d; e++) {
        const clv_place_kind *kind = &p->kinds[kind_of[e]];
        if (kind->capacity_bytes >= 0 && bytes[e] > kind->capacity_bytes)
            return (double)INFINITY;
        for (int32_t u = 0; u < p->n_nodes && kind->pays; u++) {
            bool cut = false;
            for (int32_t i = p->out_first[u]; i < p->out_first[u + 1]; i++)
                cut = cut || (device_of[u] == e) != (device_of[p->out[i]] == e);
            load[e] += cut ? p->send_cost[u] : 0;
        }
        most = load[e] > most ? load[e] : most;
    }
    return most;
}

static double best_of_all(const clv_place_problem *p)
{
    int32_t of_class[16] = { 0 }, device_of[16], devices = clv_place_devices(p), at = 0;
    double best = (double)INFINITY;
    while (at < p->n_classes) {
        for (int32_t v = 0; v < p->n_nodes; v++)
            device_of[v] = of_class[p->class_of[v]];
        best = fmin(best, judge(p, device_of));
        for (at = 0; at < p->n_classes && ++of_class[at] == devices; at++)
            of_class[at] = 0;
    }
    return best;
}

/* -- the whole -- */

static clv_place_result solve(made *m, double deadline_s)
{
    clv_place_result r;
    clv_error err = { 0 };
    clv_place_options options = { .late_enumeration = true,
                                  .rules = { .objective = CLV_PLACE_THROUGHPUT },
                                  .solve.deadline_ns = clv_deadline_in(deadline_s) };
    cr_assert_eq(clv_place_solve(m->p, &options, m->arena, &r, &err), CLV_OK, "%s", err.message);
    return r;
}

static void check(const made *m, const clv_place_result *r, double best, uint64_t seed)
{
    double much = 1e-7 * best;
    if (isinf(best)) {
        cr_assert(!r->solve.found, "seed %d", (int)seed);
        return;
    }
    cr_assert(r->solve.bound.real <= best + much, "seed %d: bound %.9g above %.9g", (int)seed,
              r->solve.bound.real, best);
    if (!r->solve.found)
        return;
    double bound = judge(m->p, r->solve.solution);
    for (int32_t v = 1; v < m->p->n_nodes; v++)
        for (int32_t u = 0; u < v; u++)
            cr_assert(m->p->class_of[u] != m->p->class_of[v] ||
                      r->solve.solution[u] == r->solve.solution[v]);
    cr_assert(fabs(bound - r->value.objective) <= 1e-9 * (1 + bound),
              "seed %d: bound %.9g, is %.9g", (int)seed, r->value.objective, bound);
    cr_assert(bound >= best - much, "seed %d", (int)seed);
    cr_assert(r->solve.end != CLV_END_OPTIMAL || bound <= best + much,
              "seed %d: %.9g is not optimal %.9g", (int)seed, bound, best);
}

Test(noncontiguous, small_problems_against_all_assignments)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        made m = make_problem(seed, 7);
        clv_place_result r = solve(&m, 0);
        check(&m, &r, best_of_all(m.p), seed);
        cr_assert(isinf(r.solve.bound.real) || r.solve.end == CLV_END_OPTIMAL, "seed %d: end %d",
                  (int)seed, (int)r.solve.end);
        clv_arena_free(m.arena);
    }
}

/* A search that ends early is as honest: here after so many questions. */
static bool count_down(void *left) { return --*(int32_t *)left < 0; }

Test(noncontiguous, stopped_at_any_time_it_is_honest)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        made m = make_problem(seed + 5000, 7);
        clv_place_result r;
        int32_t left = below(&m, 12);
        clv_place_options options = { .late_enumeration = true,
                                      .rules = { .objective = CLV_PLACE_THROUGHPUT },
                                      .solve.stop = count_down,
                                      .solve.stop_ctx = &left };
        cr_assert_eq(clv_place_solve(m.p, &options, m.arena, &r, NULL), CLV_OK);
        check(&m, &r, best_of_all(m.p), seed);
        clv_arena_free(m.arena);
    }
}

/* -- too many blocks to try all: prices and pairs must do it -- */

enum { NODES = 21, NEAR = 4 };

/* Two devices alike, no memory limit; every node is read by up to two near it. */
static made make_wide(uint64_t seed)
{
    made m = { .arena = clv_arena_new(NULL, 0), .random = seed * 31 + 7 };
    cr_assert_not_null(m.arena);
    clv_place_problem *p = m.p = take(m.arena, 1, sizeof *p);
    clv_place_kind *kind = take(m.arena, 1, sizeof *kind);
    *kind = (clv_place_kind){ "kind", 2, CLV_PLACE_UNLIMITED, true };
    int64_t *id = take(m.arena, NODES, sizeof *id), *bytes = take(m.arena, NODES, sizeof *bytes);
    double *time = take(m.arena, NODES, sizeof *time), *cost = take(m.arena, NODES, sizeof *cost);
    bool *backward = take(m.arena, NODES, sizeof *backward);
    int32_t *class_of = take(m.arena, NODES, sizeof *class_of);
    int32_t *first = take(m.arena, NODES + 1, sizeof *first);
    int32_t *out = take(m.arena, (size_t)NODES * NEAR, sizeof *out);
    for (int32_t v = 0; v < NODES; v++) {
        id[v] = class_of[v] = v;
        time[v] = 0.25 * below(&m, 30);
        cost[v] = 0.125 * below(&m, 30);
        for (int32_t w = v + 1; w < NODES && w <= v + NEAR; w++)
            if (below(&m, 2))
                out[p->n_edges++] = w;
        first[v + 1] = p->n_edges;
    }
    *p = (clv_place_problem){ NODES, p->n_edges, NODES,    1,        kind,  id,  time,
                              bytes, cost,       backward, class_of, first, out, class_of };
    return m;
}

/* All ways by Gray code: one node changes sides at a time. */
static double best_of_two(const clv_place_problem *p)
{
    int32_t held[NODES] = { 0 };
    double time[2] = { 0 }, cut = 0, best = (double)INFINITY;
    uint32_t sides = 0;
    for (int32_t v = 0; v < NODES; v++)
        time[0] += p->time[v];
    for (uint32_t i = 1; i <= UINT32_C(1) << (NODES - 1); i++) {
        best = fmin(best, cut + fmax(time[0], time[1]));
        int32_t v = 0;
        while (!(i >> v & 1))
            v++;
        int32_t to = !(sides >> v & 1);
        sides ^= UINT32_C(1) << v;
        time[to] += p->time[v];
        time[1 - to] -= p->time[v];
        for (int32_t u = v > NEAR ? v - NEAR : 0; u <= v; u++) {
            int32_t pins = 1 + p->out_first[u + 1] - p->out_first[u];
            bool in = u == v;
            for (int32_t e = p->out_first[u]; e < p->out_first[u + 1]; e++)
                in = in || p->out[e] == v;
            if (!in)
                continue;
            cut -= held[u] > 0 && held[u] < pins ? p->send_cost[u] : 0;
            held[u] += to ? 1 : -1;
            cut += held[u] > 0 && held[u] < pins ? p->send_cost[u] : 0;
        }
    }
    return best;
}

Test(noncontiguous, larger_problems_against_all_cuts_in_two)
{
    int32_t near = 0;
    for (uint64_t seed = 0; seed < 25; seed++) {
        made m = make_wide(seed);
        clv_place_result r;
        int32_t left = 1500;
        clv_place_options options = { .late_enumeration = true,
                                      .rules = { .objective = CLV_PLACE_THROUGHPUT },
                                      .solve.gap = 0.01,
                                      .solve.stop = count_down,
                                      .solve.stop_ctx = &left };
        double best = best_of_two(m.p);
        cr_assert_eq(clv_place_solve(m.p, &options, m.arena, &r, NULL), CLV_OK);
        cr_assert(r.solve.found);
        check(&m, &r, best, seed);
        cr_assert(r.value.objective <= best * 1.01, "seed %d: %g, best is %g", (int)seed,
                  r.value.objective, best);
        near += r.solve.bound.real >= best * 0.97;
        clv_arena_free(m.arena);
    }
    cr_assert(near >= 8, "%d of 25 bounds are near", (int)near);
}

/* -- the parts -- */

typedef struct {
    made m;
    clv_contraction *b;
    int32_t *order;
} ordered;

static ordered make_ordered(uint64_t seed, int32_t most)
{
    ordered o = { .m = make_problem(seed, most) };
    clv_place_rules rules = { .objective = CLV_PLACE_THROUGHPUT };
    cr_assert_eq(clv_contraction_new(o.m.p, &rules, o.m.arena, &o.b, NULL), CLV_OK);
    o.order = take(o.m.arena, (size_t)o.b->n, sizeof *o.order);
    cr_assert_eq(clv_cutwidth_order(o.b, o.m.arena, o.order, NULL), CLV_OK);
    return o;
}

Test(noncontiguous, an_order_has_every_block_once)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        ordered o = make_ordered(seed, 12);
        bool seen[16] = { false };
        for (int32_t i = 0; i < o.b->n; i++) {
            cr_assert(!seen[o.order[i]]);
            seen[o.order[i]] = true;
        }
        clv_arena_free(o.m.arena);
    }
}

/* Totals of both sides where bit i of sides says where the i-th block of the list is. */
static bool totals(const clv_contraction *b, const clv_pareto_query *ask, const int32_t *list,
                   int32_t n, uint32_t sides, int64_t total[2])
{
    int32_t side_of[16];
    total[0] = total[1] = 0;
    for (int32_t i = 0; i < b->n; i++)
        side_of[i] = 2;
    for (int32_t i = 0; i < n; i++) {
        int32_t s = side_of[list[i]] = sides >> i & 1;
        if (ask->cost[s][list[i]] == CLV_PARETO_NEVER)
            return false;
        total[s] += ask->cost[s][list[i]];
    }
    for (int32_t e = 0; e < b->n_nets; e++) {
        int32_t pins = b->net_first[e + 1] - b->net_first[e], held[3] = { 0 };
        for (int32_t i = b->net_first[e]; i < b->net_first[e + 1]; i++)
            held[side_of[b->pins[i]]]++;
        for (int32_t s = 0; s < 2; s++)
            if (ask->pays[s] && held[s] > 0 && held[s] < pins)
                total[s] += b->net_cost[e];
    }
    return total[0] <= ask->limit[0] && total[1] <= ask->limit[1];
}

static clv_pareto_dp *split(ordered *o, const clv_pareto_query *ask, int32_t n)
{
    clv_pareto_dp *s;
    clv_diagram_builder *maker;
    const clv_diagram *line;
    cr_assert_eq(clv_diagram_builder_new(o->b, o->m.arena, &maker, NULL), CLV_OK);
    cr_assert_eq(clv_diagram_build(maker, o->order, n, true, &line, NULL), CLV_OK);
    cr_assert(line->exact);
    cr_assert_eq(clv_pareto_dp_new(o->b, o->m.arena, &s, NULL), CLV_OK);
    clv_pareto_dp_use(s, line);
    cr_assert_eq(clv_pareto_dp_run(s, ask, NULL, NULL), CLV_OK);
    cr_assert(clv_pareto_dp_done(s));
    return s;
}

static clv_pareto_query ask_something(ordered *o, int32_t width)
{
    made *m = &o->m;
    clv_pareto_query ask = { .relaxed = below(m, 2), .width = width, .weighted = (double)INFINITY };
    for (int32_t s = 0; s < 2; s++) {
        int64_t *cost = take(m->arena, (size_t)o->b->n, sizeof *cost);
        for (int32_t i = 0; i < o->b->n; i++)
            cost[i] =
                s == 0 && below(m, 9) == 0
                    ? CLV_PARETO_NEVER
                    : (below(m, 50) - 5 * s) * (o->b->tick < 1 ? (int64_t)(0.25 / o->b->tick) : 1);
        ask.cost[s] = cost;
        ask.pays[s] = below(m, 3) > 0;
        ask.limit[s] = s == 1 ? INT64_MAX : CLV_TICKS_MAX >> below(m, 5);
        ask.bytes[s] = CLV_PLACE_UNLIMITED;
    }
    return ask;
}

Test(noncontiguous, a_split_has_all_pairs_that_are_not_beaten)
{
    for (uint64_t seed = 0; seed < 1000; seed++) {
        ordered o = make_ordered(seed, 9);
        int32_t n = 1 + below(&o.m, o.b->n);
        clv_pareto_query ask = ask_something(&o, 1000);
        const clv_pareto_pair *pairs;
        clv_pareto_dp *s = split(&o, &ask, n);
        int32_t n_pairs = clv_pareto_dp_pairs(s, &pairs);
        for (int32_t i = 0; i < n_pairs; i++) { /* each is real */
            uint8_t side[16];
            uint32_t sides = 0;
            int64_t total[2];
            clv_pareto_dp_sides(s, i, side);
            for (int32_t j = 0; j < n; j++)
                sides |= (uint32_t)side[j] << j;
            cr_assert(totals(o.b, &ask, o.order, n, sides, total));
            cr_assert_arr_eq(total, pairs[i].total, sizeof total);
        }
        for (uint32_t sides = 0; sides >> n == 0; sides++) { /* none is missing */
            int64_t total[2];
            bool beaten = !totals(o.b, &ask, o.order, n, sides, total);
            for (int32_t i = 0; i < n_pairs; i++)
                beaten = beaten || (pairs[i].total[0] <= total[0] && pairs[i].total[1] <= total[1]);
            cr_assert(beaten, "seed %d", (int)seed);
        }
        clv_arena_free(o.m.arena);
    }
}

Test(noncontiguous, a_narrow_relaxed_split_is_never_above)
{
    for (uint64_t seed = 0; seed < 1000; seed++) {
        ordered o = make_ordered(seed, 9);
        clv_pareto_query ask = ask_something(&o, 1 + below(&o.m, 4));
        const clv_pareto_pair *pairs;
        ask.relaxed = true;
        int32_t n_pairs = clv_pareto_dp_pairs(split(&o, &ask, o.b->n), &pairs);
        for (uint32_t sides = 0; sides >> o.b->n == 0; sides++) {
            int64_t total[2];
            bool below_it = !totals(o.b, &ask, o.order, o.b->n, sides, total);
            for (int32_t i = 0; i < n_pairs; i++)
                below_it =
                    below_it || (pairs[i].total[0] <= total[0] && pairs[i].total[1] <= total[1]);
            cr_assert(below_it, "seed %d", (int)seed);
        }
        clv_arena_free(o.m.arena);
    }
}

/* -- the largest block -- */

/* Least load of a device of the kind that holds the block, in ticks, of all sets. */
static int64_t least_load(const clv_contraction *b, int32_t kind, int32_t block)
{
    int64_t best = INT64_MAX;
    for (uint32_t set = 0; set >> b->n == 0; set++) {
        int64_t load = 0;
        bool may = set >> block & 1;
        for (int32_t i = 0; i < b->n && may; i++) {
            int64_t t = clv_block_time(b, kind, i), room = b->p->kinds[kind].capacity_bytes;
            if (!(set >> i & 1))
                continue;
            may = t != CLV_BLOCK_NEVER && (room < 0 || b->bytes[i] <= room);
            load += t;
        }
        for (int32_t e = 0; e < b->n_nets && may; e++) {
            int32_t held = 0, pins = b->net_first[e + 1] - b->net_first[e];
            for (int32_t i = b->net_first[e]; i < b->net_first[e + 1]; i++)
                held += (int32_t)(set >> b->pins[i] & 1);
            load += b->p->kinds[kind].pays && held > 0 && held < pins ? b->net_cost[e] : 0;
        }
        best = may && load < best ? load : best;
    }
    return best;
}

Test(noncontiguous, the_largest_block_says_what_some_device_has_to_bear)
{
    for (uint64_t seed = 0; seed < 500; seed++) {
        ordered o = make_ordered(seed, 9);
        clv_column_gen *f;
        double bound, most = 0;
        cr_assert_eq(clv_column_gen_new(NULL, o.b, o.order, o.m.arena, &f, NULL), CLV_OK);
        cr_assert_eq(clv_block_bound(f, &bound, NULL), CLV_OK);
        for (int32_t i = 0; i < o.b->n; i++) {
            double least = (double)INFINITY;
            for (int32_t k = 0; k < o.b->n_kinds; k++) {
                int64_t load = o.b->p->kinds[k].count > 0 ? least_load(o.b, k, i) : INT64_MAX;
                least = load < INT64_MAX ? fmin(least, (double)load * o.b->tick) : least;
            }
            most = isinf(least) ? most : fmax(most, least);
        }
        cr_assert_float_eq(bound, most, 1e-9 * (1 + most), "seed %d: %g, is %g", (int)seed, bound,
                           most);
        clv_arena_free(o.m.arena);
    }
}

/* -- a hub -- */

enum { SPOKES = 71 };

/* 71 nodes that send to the last. One kind, two devices. */
static made make_hub(void)
{
    enum { N = SPOKES + 1 };
    made m = { .arena = clv_arena_new(NULL, 0) };
    cr_assert_not_null(m.arena);
    clv_place_problem *p = m.p = take(m.arena, 1, sizeof *p);
    clv_place_kind *kind = take(m.arena, 1, sizeof *kind);
    *kind = (clv_place_kind){ "kind", 2, CLV_PLACE_UNLIMITED, true };
    int64_t *id = take(m.arena, N, sizeof *id), *bytes = take(m.arena, N, sizeof *bytes);
    double *time = take(m.arena, N, sizeof *time), *cost = take(m.arena, N, sizeof *cost);
    bool *backward = take(m.arena, N, sizeof *backward);
    int32_t *class_of = take(m.arena, N, sizeof *class_of);
    int32_t *first = take(m.arena, N + 1, sizeof *first), *out = take(m.arena, N, sizeof *out);
    for (int32_t v = 0; v < N; v++) {
        id[v] = class_of[v] = v;
        time[v] = 1;
        cost[v] = v == N - 1 ? 0 : 0.5;
        first[v + 1] = first[v] + (v < N - 1);
        if (v < N - 1)
            out[v] = N - 1;
    }
    *p = (clv_place_problem){ N,     N - 1, N,        1,        kind,  id,  time,
                              bytes, cost,  backward, class_of, first, out, class_of };
    return m;
}

Test(noncontiguous, a_hub_of_many_nets_is_one_thing_to_remember)
{
    made m = make_hub();
    clv_place_rules rules = { .objective = CLV_PLACE_THROUGHPUT };
    clv_contraction *b;
    clv_diagram_builder *maker;
    const clv_diagram *line;
    clv_pareto_dp *s;
    clv_pareto_pair least;
    cr_assert_eq(clv_contraction_new(m.p, &rules, m.arena, &b, NULL), CLV_OK);
    int32_t *order = take(m.arena, (size_t)b->n, sizeof *order);
    for (int32_t i = 0; i < b->n; i++)
        order[i] = b->n - 1 - i; /* the hub first: all nets are open behind it */
    cr_assert_eq(clv_diagram_builder_new(b, m.arena, &maker, NULL), CLV_OK);
    cr_assert_eq(clv_diagram_build(maker, order, b->n, true, &line, NULL), CLV_OK);
    cr_assert(line->exact);
    for (int32_t i = 1; i < b->n; i++)
        cr_assert_eq(line->layer[i + 1] - line->layer[i], 2);
    /* The hub is on side 0, and what costs less than to send comes along: nothing here. */
    int64_t *zero = take(m.arena, (size_t)b->n, sizeof *zero);
    zero[b->n - 1] = CLV_PARETO_NEVER;
    clv_pareto_query ask = { .cost = { b->time, zero },
                             .pays = { true, false },
                             .weight = { 1, 0 } };
    cr_assert_eq(clv_pareto_dp_new(b, m.arena, &s, NULL), CLV_OK);
    clv_pareto_dp_use(s, line);
    cr_assert_eq(clv_pareto_dp_least(s, &ask, &least, NULL), CLV_OK);
    cr_assert_float_eq(clv_contraction_from_ticks(b, least.total[0]), 1 + 0.5 * (double)SPOKES,
                       1e-9);
    /* On side 1 it costs side 0 nothing to be empty. */
    ask.cost[1] = take(m.arena, (size_t)b->n, sizeof *zero);
    cr_assert_eq(clv_pareto_dp_least(s, &ask, &least, NULL), CLV_OK);
    cr_assert_eq(least.total[0], 0);
    clv_arena_free(m.arena);
}
