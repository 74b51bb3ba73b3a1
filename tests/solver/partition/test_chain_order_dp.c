/* test_chain_order_dp.c - cuts that may choose which kind of device comes next are the best of all.
 */
#include "solver/partition/chain_order_dp.h"

#include "problem/estimate.h"
#include "solver/partition/synthetic.h"

#define UNITS_MAX   9
#define DEVICES_MAX 6

/* A chain, on devices of up to three kinds and two sizes, in parts that slow links join. */
static synthetic make(clv_arena *arena, uint64_t seed)
{
    uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15) + 7;
    int32_t units = 1 + (int32_t)synthetic_below(&random, UNITS_MAX);
    int32_t devices = 1 + (int32_t)synthetic_below(&random, DEVICES_MAX);
    int32_t kinds = 1 + (int32_t)synthetic_below(&random, 3);
    int32_t parts = 1 + (int32_t)synthetic_below(&random, 3), part_of[DEVICES_MAX];
    synthetic s = synthetic_new(arena, units, devices, kinds, units, units);
    for (int32_t i = 0; i < units * kinds; i++)
        s.time[i] = synthetic_below(&random, 60);
    for (int32_t u = 0; u < units; u++) {
        s.weight[u] = synthetic_below(&random, 10);
        if (u + 1 < units)
            synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, synthetic_below(&random, 40));
    }
    bool short_of_memory = synthetic_below(&random, 2);
    for (int32_t d = 0; d < devices; d++) {
        s.kind_of[d] = (int32_t)synthetic_below(&random, kinds);
        s.capacity[d] = short_of_memory ? 12 + 8 * (s.kind_of[d] == 0) : 1000;
        part_of[d] = (int32_t)synthetic_below(&random, parts);
    }
    for (int32_t a = 0; a < devices; a++)
        for (int32_t b = 0; b < devices; b++) {
            bool far = part_of[a] != part_of[b];
            s.link_bandwidth[a * devices + b] = far ? 2.5e8 : 1e9;
            s.link_latency[a * devices + b] = far ? 9 : 1;
        }
    return s;
}

typedef struct {
    const clv_partition_problem *p;
    bool use_all;
    int64_t best; /* INT64_MAX: none fits */
    int32_t device_of[UNITS_MAX];
    bool taken[DEVICES_MAX];
} search;

/* Those alike come as numbered. */
static bool is_next(const search *s, int32_t d)
{
    for (int32_t other = 0; other < d; other++)
        if (!s->taken[other] && s->p->kind_of[other] == s->p->kind_of[d] &&
            s->p->capacity_bytes[other] == s->p->capacity_bytes[d])
            return false;
    return !s->taken[d];
}

/* Runs in a row: computed one after another, and sent between. */
static void try_all(search *s, int32_t first, int32_t n_used, int32_t before, int64_t ns)
{
    const clv_partition_problem *p = s->p;
    if (first == p->n_units) {
        if (!s->use_all || n_used == (p->n_units < p->n_devices ? p->n_units : p->n_devices))
            s->best = ns < s->best ? ns : s->best;
        return;
    }
    for (int32_t d = 0; d < p->n_devices; d++) {
        int64_t weight = 0;
        int64_t at = before < 0 ? 0 : ns + synthetic_wire(p, before, d, p->net_bytes[first - 1]);
        if (before >= 0 && p->net_bytes[first - 1] == 0)
            at = ns;
        if (!is_next(s, d))
            continue;
        s->taken[d] = true;
        for (int32_t end = first; end < p->n_units; end++) {
            weight += p->weight_bytes[end];
            at += p->time_ns[p->kind_of[d] * p->n_units + end];
            if (weight <= p->capacity_bytes[d])
                try_all(s, end + 1, n_used + 1, d, at);
        }
        s->taken[d] = false;
    }
}

static void expect_runs(const clv_partition_problem *p, const int32_t *device_of, bool use_all)
{
    int64_t weight[DEVICES_MAX] = { 0 };
    bool used[DEVICES_MAX] = { false };
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t d = device_of[u];
        cr_assert(d >= 0 && d < p->n_devices);
        cr_assert(u == 0 || device_of[u - 1] == d || !used[d], "a device is come back to");
        used[d] = true;
        weight[d] += p->weight_bytes[u];
    }
    int32_t n_used = 0;
    for (int32_t d = 0; d < p->n_devices; d++) {
        cr_assert_leq(weight[d], p->capacity_bytes[d]);
        n_used += used[d];
    }
    cr_assert(!use_all || n_used == (p->n_units < p->n_devices ? p->n_units : p->n_devices));
}

Test(chain_order_dp, is_the_best_of_all_runs)
{
    int n_found = 0, n_none = 0;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s = make(arena, seed);
        const clv_partition_problem *p = synthetic_done(&s);
        bool use_all = seed % 2, found;
        search all = { .p = p, .use_all = use_all, .best = INT64_MAX };
        int32_t device_of[UNITS_MAX];
        clv_unit_chain *line;
        clv_estimate e;
        clv_cut_options o = { .capacity_bytes = p->capacity_bytes, .use_all = use_all };
        try_all(&all, 0, 0, -1, 0);
        cr_assert_eq(clv_unit_chain_new(p, NULL, arena, &line, NULL), CLV_OK);
        cr_assert_eq(clv_cut_any_order(line, &o, arena, device_of, &found, NULL), CLV_OK);
        cr_assert_eq(found, all.best < INT64_MAX, "seed %d", (int)seed);
        n_none += !found;
        if (found) {
            cr_assert_eq(clv_partition_estimate(p, device_of, arena, &e, NULL), CLV_OK);
            cr_assert_eq(e.latency_bound_ns, all.best, "seed %d: %ld, best %ld", (int)seed,
                         (long)e.latency_bound_ns, (long)all.best);
            expect_runs(p, device_of, use_all);
            n_found++;
        }
        clv_arena_free(arena);
    }
    cr_expect(n_found > 800 && n_none > 50, "%d found, %d not", n_found, n_none);
}

/* More kinds and capacities than are kept apart. */
Test(chain_order_dp, offers_nothing_where_devices_are_all_different)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 8, 5, 1);
    int32_t device_of[8];
    bool found = true;
    clv_unit_chain *line;
    for (int32_t d = 0; d < 5; d++)
        s.capacity[d] += d;
    cr_assert_eq(clv_unit_chain_new(synthetic_done(&s), NULL, arena, &line, NULL), CLV_OK);
    clv_cut_options o = { .use_all = true };
    cr_assert_eq(clv_cut_any_order(line, &o, arena, device_of, &found, NULL), CLV_OK);
    cr_assert(!found);
    clv_arena_free(arena);
}

/* Two servers of two: 10 30 10 10 with dear tensors (100) but for the third boundary (1). Three
 * devices are not better than two, and all four leave the server where little is sent. */
Test(chain_order_dp, leaves_a_part_where_little_is_sent)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 5, 4, 100);
    int32_t device_of[5];
    bool found;
    clv_unit_chain *line;
    s.net_bytes[2] = 1;
    for (int32_t a = 0; a < 4; a++)
        for (int32_t b = 0; b < 4; b++)
            s.link_bandwidth[a * 4 + b] = a / 2 == b / 2 ? 1e10 : 1e8;
    cr_assert_eq(clv_unit_chain_new(synthetic_done(&s), NULL, arena, &line, NULL), CLV_OK);
    clv_cut_options o = { .use_all = true };
    cr_assert_eq(clv_cut_any_order(line, &o, arena, device_of, &found, NULL), CLV_OK);
    cr_assert(found && device_of[2] == 1 && device_of[3] == 2);
    clv_arena_free(arena);
}

Test(chain_order_dp, survives_running_out_of_memory_anywhere)
{
    clv_arena *problem = clv_arena_new(NULL, 0);
    synthetic s = make(problem, 12);
    const clv_partition_problem *p = synthetic_done(&s);
    clv_unit_chain *line;
    clv_status status = CLV_ENOMEM;
    cr_assert_eq(clv_unit_chain_new(p, NULL, problem, &line, NULL), CLV_OK);
    for (size_t limit = 1; status != CLV_OK; limit += 13) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        int32_t device_of[UNITS_MAX];
        bool found;
        status = clv_cut_any_order(line, &(clv_cut_options){ 0 }, arena, device_of, &found, NULL);
        cr_assert(status == CLV_OK || status == CLV_ENOMEM);
        clv_arena_free(arena);
    }
    clv_arena_free(problem);
}
