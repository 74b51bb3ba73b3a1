/* test_small_plans.c - small problems have the best plan of all, with its proof: the search against
 * brute force over every assignment, which asks the built-in compiler for each and shares nothing
 * else with the search.
 *
 * CLEAVE_EFFORT=50 makes 10,000 problems of each objective of it; CLEAVE_SEED another set.
 */
#include "compile/builtin.h"
#include "compile/pool.h"
#include "compile/toy.h"
#include "cost/problem_build.h"
#include "problem/micro.h"
#include "solver/partition/solve.h"
#include "support/effort.h"

#include <criterion/criterion.h>

#define DEVICES_MAX 4
#define UNITS_MAX   10
#define BRUTE_MAX   20000 /* assignments of one problem */

typedef struct {
    toy *t;
    uint32_t random;
    clv_partition_problem *p;
    clv_compiler *compiler;
    clv_pool *pool;
    clv_partition_judge judge;
    clv_partition_options options;
} small;

static int32_t draw(small *s, int32_t from, int32_t to)
{
    return from + (int32_t)toy_random(&s->random, (uint32_t)(to - from + 1));
}

/* Some devices slower, some links too. */
static void make_uneven(small *s)
{
    clv_cluster *c = &s->t->cluster;
    int32_t n = c->n_devices;
    clv_device *devices = CLV_NEW_ARRAY(s->t->arena, clv_device, n);
    clv_route *routes = CLV_NEW_ARRAY(s->t->arena, clv_route, n * n);
    for (int32_t d = 0; d < n; d++)
        devices[d] = (clv_device){ draw(s, 0, 1), c->devices[d].name };
    for (int32_t k = 0; k < n * n; k++) {
        routes[k] = c->routes[k];
        if (draw(s, 0, 2) == 0)
            routes[k].latency_ns += draw(s, 0, 500);
        if (draw(s, 0, 2) == 0)
            routes[k].bytes_per_s /= draw(s, 1, 20);
    }
    s->t->kinds[1].memory_bytes = s->t->kinds[0].memory_bytes + draw(s, -2000, 8000);
    c->devices = devices;
    c->routes = routes;
}

static int32_t most_units(int32_t n_devices)
{
    int32_t n = 0;
    for (int64_t plans = 1; plans * n_devices <= BRUTE_MAX && n < UNITS_MAX; n++)
        plans *= n_devices;
    return n;
}

/* As src/stages/microbatches.c sets it. */
static void open_judge(small *s)
{
    clv_compiler *c;
    int32_t n = s->options.microbatches;
    cr_assert_eq(clv_builtin_open(&s->t->workload, 1, NULL, &s->compiler, NULL), CLV_OK);
    c = s->compiler;
    c->microbatches = n > 0 ? n : CLV_MICRO_FULL;
    cr_assert_eq(
        clv_pool_open(c, &(clv_pool_options){ .jobs = 1, .batch = 8 }, NULL, &s->pool, NULL),
        CLV_OK);
    s->judge = clv_pool_judge(s->pool);
    s->judge.live_bytes = n == 1 ? c->live_bytes : c->piped_live_bytes;
    s->judge.held_bytes = n == 1 ? c->held_bytes : c->piped_held_bytes;
}

static void open_small(small *s, uint32_t seed, clv_objective objective)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    *s = (small){ .t = CLV_NEW(arena, toy), .random = seed * 2654435761u + 12345 };
    int32_t n_devices = draw(s, 1, DEVICES_MAX), n_ops = draw(s, 1, most_units(n_devices));
    bool tight = draw(s, 0, 1);
    toy_init(s->t, arena, n_ops, 2 * n_ops + 8, 4 * n_ops);
    toy_cluster(s->t, n_devices, tight ? draw(s, 9000, 60000) : 100000000, draw(s, 0, 300),
                draw(s, 0, 1) ? 1e9 : draw(s, 1, 50) * 1e8);
    if (draw(s, 0, 1))
        make_uneven(s);
    toy_grow_random(s->t, n_ops, seed);
    toy_find_readers(s->t);
    if (draw(s, 0, 2)) { /* each operator a unit */
        int32_t ones[UNITS_MAX];
        for (int32_t i = 0; i < n_ops; i++)
            ones[i] = 1;
        toy_units(s->t, n_ops, ones);
    }
    s->options =
        (clv_partition_options){ .objective = objective, .use_all_devices = draw(s, 0, 3) == 0 };
    s->options.microbatches = objective == CLV_LATENCY ? 1 : draw(s, 0, 1) ? 0 : draw(s, 1, 8);
    cr_assert_eq(clv_problem_build(&s->t->costs, &s->t->units, &s->t->cluster, arena, &s->p, NULL),
                 CLV_OK);
    open_judge(s);
}

static void close_small(small *s)
{
    clv_pool_close(s->pool);
    clv_compiler_close(s->compiler);
    clv_arena_free(s->t->arena);
}

/* -- brute force -- */

/* No group waits for itself: the devices have no way back to where one came from. */
static bool is_legal(const clv_partition_problem *p, const int32_t *device_of)
{
    bool way[DEVICES_MAX][DEVICES_MAX] = { { false } };
    int32_t n = p->n_devices;
    for (int32_t net = 0; net < p->n_nets; net++)
        for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++)
            way[device_of[p->net_from[net]]][device_of[p->net_to[i]]] = true;
    for (int32_t d = 0; d < n; d++)
        way[d][d] = false;
    for (int32_t k = 0; k < n; k++)
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++)
                way[a][b] |= way[a][k] && way[k][b];
    for (int32_t d = 0; d < n; d++)
        if (way[d][d])
            return false;
    return true;
}

static bool uses_all(const clv_partition_problem *p, const int32_t *device_of)
{
    bool used[DEVICES_MAX] = { false };
    int32_t n = 0, most = p->n_units < p->n_devices ? p->n_units : p->n_devices;
    for (int32_t u = 0; u < p->n_units; u++) {
        n += !used[device_of[u]];
        used[device_of[u]] = true;
    }
    return n == most;
}

/* With as much workspace as fits: the default, 0.3 or 0.1. */
static clv_verdict verdict_of(small *s, const int32_t *device_of)
{
    static const double proportions[] = { 0, 0.3, 0.1 };
    clv_verdict v = { .outcome = CLV_OOM };
    for (int32_t k = 0; k < 3 && v.outcome != CLV_FITS; k++) {
        clv_assignment a = { device_of, proportions[k], NULL };
        clv_mark mark = clv_arena_mark(s->t->arena);
        v = (clv_verdict){ .outcome = CLV_OOM };
        cr_assert_eq(s->compiler->compile(s->compiler,
                                          &(clv_compile_worker){ 0, s->t->arena, NULL }, &a, &v,
                                          NULL, NULL),
                     CLV_OK);
        clv_arena_rewind(s->t->arena, mark);
    }
    return v;
}

typedef struct {
    bool found;
    int64_t ns, other_ns;
} answer;

static answer answer_of(const small *s, const clv_verdict *v)
{
    int32_t n = s->options.microbatches;
    if (s->options.objective == CLV_LATENCY)
        return (answer){ true, v->latency_ns, v->period_ns };
    if (n == 0)
        return (answer){ true, v->period_ns, v->latency_ns };
    int64_t all_ns = v->latency_ns + (n - 1) * v->period_ns;
    return (answer){ true, (all_ns + n - 1) / n, v->latency_ns };
}

/* The best of all plans; with `all` of those that use as many devices as they can. */
static answer brute_force(small *s, bool all)
{
    const clv_partition_problem *p = s->p;
    int32_t device_of[UNITS_MAX] = { 0 };
    answer best = { false, 0, 0 };
    for (bool more = true; more;) {
        if (is_legal(p, device_of) && (!all || uses_all(p, device_of))) {
            clv_verdict v = verdict_of(s, device_of);
            answer a = answer_of(s, &v);
            if (v.outcome == CLV_FITS &&
                (!best.found || a.ns < best.ns || (a.ns == best.ns && a.other_ns < best.other_ns)))
                best = a;
        }
        int32_t u = 0; /* count */
        while (u < p->n_units && ++device_of[u] == p->n_devices)
            device_of[u++] = 0;
        more = u < p->n_units;
    }
    return best;
}

/* -- against it -- */

static void check_best(small *s, uint32_t seed, const answer *want)
{
    clv_partition_result r = { 0 };
    clv_error err = { 0 };
    cr_assert_eq(clv_partition_solve(s->p, &s->judge, &s->options, s->t->arena, &r, &err), CLV_OK,
                 "%s", err.message);
    cr_assert_eq(r.solve.found, want->found, "seed %u: found %d", seed, r.solve.found);
    if (!want->found) {
        cr_assert_eq(r.solve.end, CLV_END_INFEASIBLE, "seed %u: ended %s", seed,
                     clv_end_name(r.solve.end));
        return;
    }
    answer got = answer_of(s, &r.best.verdict);
    cr_assert_eq(got.ns, want->ns, "seed %u: %lld ns, the best has %lld", seed, (long long)got.ns,
                 (long long)want->ns);
    cr_assert_eq(r.solve.end, CLV_END_OPTIMAL, "seed %u: ended %s", seed,
                 clv_end_name(r.solve.end));
    cr_assert_eq((int64_t)r.solve.bound.whole, want->ns, "seed %u: bound %lld", seed,
                 (long long)r.solve.bound.whole);
    if (strcmp(r.solve.bound_by, "branch and bound") == 0) /* else the first plan that is proven */
        cr_assert_eq(got.other_ns, want->other_ns, "seed %u: other measure %lld, of the best %lld",
                     seed, (long long)got.other_ns, (long long)want->other_ns);
}

/* A search that may end at a bound: what it says then is true, and below that it finds the same. */
static void check_enough(small *s, uint32_t seed, const answer *want, int64_t enough_ns)
{
    clv_partition_result r = { 0 };
    clv_error err = { 0 };
    s->options.enough_ns = enough_ns;
    cr_assert_eq(clv_partition_solve(s->p, &s->judge, &s->options, s->t->arena, &r, &err), CLV_OK,
                 "%s", err.message);
    if (r.solve.end == CLV_END_BOUND) {
        cr_assert(!want->found || want->ns >= enough_ns, "seed %u: %lld ns, and %lld are no bound",
                  seed, (long long)want->ns, (long long)enough_ns);
        cr_assert(r.solve.bound.whole >= enough_ns, "seed %u: bound %lld, asked for %lld", seed,
                  (long long)r.solve.bound.whole, (long long)enough_ns);
        cr_assert(!want->found || r.solve.bound.whole <= want->ns, "seed %u: bound %lld, best %lld",
                  seed, (long long)r.solve.bound.whole, (long long)want->ns);
        return;
    }
    cr_assert_eq(r.solve.end, want->found ? CLV_END_OPTIMAL : CLV_END_INFEASIBLE,
                 "seed %u, %lld ns: ended %s", seed, (long long)enough_ns,
                 clv_end_name(r.solve.end));
    cr_assert(!want->found || answer_of(s, &r.best.verdict).ns == want->ns,
              "seed %u, %lld ns: %lld, the best has %lld", seed, (long long)enough_ns,
              (long long)answer_of(s, &r.best.verdict).ns, (long long)want->ns);
}

/* Half of the best, itself, more than it, and each and 1 ns. */
static void check_bounds(small *s, uint32_t seed, const answer *want)
{
    for (int64_t part = 1; part <= 4; part++) {
        int64_t ns = want->found ? want->ns * part / 2 : 1000 * part;
        check_enough(s, seed, want, ns > 0 ? ns : 1);
        check_enough(s, seed, want, ns + 1);
    }
}

static void check_many(clv_objective objective,
                       void (*check)(small *s, uint32_t seed, const answer *want))
{
    const char *first = getenv("CLEAVE_SEED");
    uint32_t seed = first ? (uint32_t)strtoul(first, NULL, 10) : 0;
    for (uint64_t i = 0; i < test_effort(200); i++) {
        small s;
        open_small(&s, seed + (uint32_t)i, objective);
        answer want = brute_force(&s, s.options.use_all_devices);
        if (!want.found)
            want = brute_force(&s, false);
        check(&s, seed + (uint32_t)i, &want);
        close_small(&s);
    }
}

Test(small_plans, have_the_least_latency_of_all_and_its_proof)
{
    check_many(CLV_LATENCY, check_best);
}

Test(small_plans, have_the_least_period_of_all_and_its_proof)
{
    check_many(CLV_THROUGHPUT, check_best);
}

Test(small_plans, end_at_a_bound_of_latency_that_is_true) { check_many(CLV_LATENCY, check_bounds); }

Test(small_plans, end_at_a_bound_of_a_period_that_is_true)
{
    check_many(CLV_THROUGHPUT, check_bounds);
}
