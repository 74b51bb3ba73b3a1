/* test_device_swap.c - groups on other devices of their kind: never worse, and mostly the best of
 * all ways to place them.
 */
#include "solver/partition/device_swap.h"
#include "solver/partition/solve.h"

#include "solver/partition/synthetic.h"

#include "problem/estimate.h"
#include "problem/rules.h"
#include "support/failing_alloc.h"

#define ENOUGH 1000000 /* work */

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(device_swap, .init = set_up, .fini = tear_down);

static int64_t period_of(const clv_partition_problem *p, const int32_t *device_of)
{
    clv_estimate e = { 0 };
    cr_assert_eq(clv_partition_estimate(p, device_of, arena, &e, NULL), CLV_OK);
    return e.period_ns;
}

/* True where it is another assignment then; what it says of its period has to be so. */
static bool swap_devices(const clv_partition_problem *p, int32_t *device_of)
{
    int64_t ns = 0, work = ENOUGH;
    size_t row = (size_t)p->n_units * sizeof *device_of;
    int32_t *before = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    cr_assert_not_null(before);
    memcpy(before, device_of, row);
    cr_assert_eq(clv_device_swap(p, device_of, arena, &work, &ns, NULL), CLV_OK);
    cr_assert_eq(ns, period_of(p, device_of));
    return memcmp(before, device_of, row) != 0;
}

/* Servers of so many devices. What stays inside takes 1 ns a byte, through a port out and one in;
 * what leaves takes far_ns, through two other ports. */
static void put_in_servers(synthetic *s, int32_t size, int32_t far_ns)
{
    int32_t d = s->p.n_devices;
    int32_t *first = synthetic_take(s->arena, (size_t)d * (size_t)d + 1, sizeof *first);
    int32_t *ports = synthetic_take(s->arena, 2 * (size_t)d * (size_t)d, sizeof *ports);
    for (int32_t from = 0, link = 0; from < d; from++)
        for (int32_t to = 0; to < d; to++, link++) {
            bool far = from / size != to / size;
            s->link_bandwidth[link] = far ? 1e9 / far_ns : 1e9;
            first[link + 1] = first[link];
            if (from == to)
                continue;
            ports[first[link + 1]++] = from + (far ? 2 * d : 0);
            ports[first[link + 1]++] = to + (far ? 3 * d : d);
        }
    s->p.n_ports = 4 * d;
    s->p.link_first_port = first;
    s->p.link_ports = ports;
}

/* Unit 0 writes a mask that units 2, 4, 6 .. read; all hand something on to the next. */
static synthetic every_other(int32_t units, int32_t devices, int64_t mask_bytes)
{
    synthetic s = synthetic_new(arena, units, devices, 1, units, 2 * units);
    int32_t to[32], n = 0;
    for (int32_t u = 2; u < units; u += 2)
        to[n++] = u;
    synthetic_net(&s, 0, n, to, mask_bytes);
    for (int32_t u = 0; u + 1 < units; u++)
        synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, 1);
    return s;
}

static int32_t *as_numbered(int32_t units)
{
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, units);
    cr_assert_not_null(device_of);
    for (int32_t u = 0; u < units; u++)
        device_of[u] = u;
    return device_of;
}

/* Eight units on two servers of four. As numbered two readers of three are across: 2 x 10 x 10 ns.
 * With all of them in the writer's server nothing but what is handed on leaves it: units 1, 3 and 5
 * each in the other server, so no port carries more than 10 ns across, and 3 masks inside. */
Test(device_swap, readers_come_into_the_server_of_their_writer)
{
    synthetic s = every_other(8, 8, 10);
    synthetic_done(&s);
    put_in_servers(&s, 4, 10);
    int32_t *device_of = as_numbered(8);
    cr_assert_geq(period_of(&s.p, device_of), 200);
    cr_assert(swap_devices(&s.p, device_of));
    for (int32_t u = 2; u < 8; u += 2)
        cr_assert_eq(device_of[u] / 4, device_of[0] / 4, "unit %d", u);
    cr_assert_leq(period_of(&s.p, device_of), 40);
}

/* Without work left the plan stays as it is, and is reported as it is. */
Test(device_swap, ends_where_its_work_is_used_up)
{
    synthetic s = every_other(8, 8, 10);
    synthetic_done(&s);
    put_in_servers(&s, 4, 10);
    int32_t *device_of = as_numbered(8);
    int64_t before = period_of(&s.p, device_of), ns = 0, work = 0;
    cr_assert_eq(clv_device_swap(&s.p, device_of, arena, &work, &ns, NULL), CLV_OK);
    cr_assert_eq(ns, before);
    for (int32_t u = 0; u < 8; u++)
        cr_assert_eq(device_of[u], u);
}

/* A device that takes longer than any port is what counts: nobody moves. */
Test(device_swap, nobody_moves_where_no_port_is_the_busiest)
{
    synthetic s = every_other(8, 8, 10);
    s.time[5] = 1000;
    synthetic_done(&s);
    put_in_servers(&s, 4, 10);
    int32_t *device_of = as_numbered(8);
    cr_assert_not(swap_devices(&s.p, device_of));
    for (int32_t u = 0; u < 8; u++)
        cr_assert_eq(device_of[u], u);
}

/* -- the best of all placements -- */

static int64_t best_of_all(const clv_partition_problem *p, const int32_t *device_of,
                           int32_t *device_at, uint64_t taken, int32_t group)
{
    int64_t best = INT64_MAX;
    int32_t at[32];
    for (int32_t d = 0; d < p->n_devices && group < p->n_devices; d++) {
        if (taken >> d & 1 || p->kind_of[d] != p->kind_of[group] ||
            p->capacity_bytes[d] != p->capacity_bytes[group])
            continue;
        device_at[group] = d;
        int64_t ns = best_of_all(p, device_of, device_at, taken | UINT64_C(1) << d, group + 1);
        best = ns < best ? ns : best;
    }
    if (group < p->n_devices)
        return best;
    for (int32_t u = 0; u < p->n_units; u++) {
        at[u] = device_at[device_of[u]];
        if (p->rules && !clv_rules_allow(p->rules, u, at[u]))
            return INT64_MAX;
    }
    return period_of(p, at);
}

/* Every group has one device_at, no two have the same, and it is as good for it as its own. */
static void check_seats(const clv_partition_problem *p, const int32_t *before, const int32_t *after)
{
    for (int32_t u = 0; u < p->n_units; u++) {
        cr_assert_eq(p->kind_of[after[u]], p->kind_of[before[u]]);
        cr_assert_eq(p->capacity_bytes[after[u]], p->capacity_bytes[before[u]]);
        for (int32_t v = 0; v < u; v++)
            cr_assert_eq(before[u] == before[v], after[u] == after[v]);
        if (p->rules && before[u] != after[u])
            cr_assert(clv_rules_allow(p->rules, u, after[u]));
    }
}

/* Each unit may be where it is, and on some other devices. */
static const clv_rules *allow_some(const int32_t *device_of, int32_t units, int32_t devices,
                                   uint64_t *random)
{
    clv_rules *r = CLV_NEW(arena, clv_rules);
    uint64_t *allowed = CLV_NEW_ARRAY(arena, uint64_t, units);
    for (int32_t u = 0; u < units; u++)
        allowed[u] =
            UINT64_C(1) << device_of[u] | (uint64_t)synthetic_below(random, INT64_C(1) << devices);
    r->words = 1;
    r->devices = allowed;
    return r;
}

Test(device_swap, is_never_worse_and_mostly_the_best_of_all_seats)
{
    int32_t n_changed = 0, n_best = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15);
        int32_t devices = 4 + 2 * (int32_t)(seed % 2), before[10], after[10], device_at[8];
        synthetic s = synthetic_any(arena, seed, 10, devices, 1000);
        for (int32_t d = 0; d < devices; d++)
            s.capacity[d] = 1000 + (d == 3 && seed % 5 == 0);
        for (int32_t i = 0; i < 20; i++)
            s.time[i] = 1;
        synthetic_done(&s);
        if (seed % 4)
            put_in_servers(&s, 2, 1 + (int32_t)(seed % 7));
        for (int32_t u = 0; u < 10; u++)
            before[u] = u * devices / 10;
        if (seed % 3 == 0)
            s.p.rules = allow_some(before, 10, devices, &random);
        memcpy(after, before, sizeof after);
        bool changed = swap_devices(&s.p, after);
        int64_t was = period_of(&s.p, before), is = period_of(&s.p, after);
        check_seats(&s.p, before, after);
        cr_assert_leq(is, was, "seed %d", (int)seed);
        int64_t best = best_of_all(&s.p, before, device_at, 0, 0);
        cr_assert_geq(is, best);
        n_changed += changed;
        n_best += is == best;
    }
    cr_assert_gt(n_changed, 100, "%d", n_changed);
    cr_assert_gt(n_best, 370, "%d", n_best);
}

/* -- the search, judged by sums -- */

static clv_status judge_by_sums(void *ctx, const clv_assignment *a, int32_t n, clv_verdict *v,
                                clv_error *err)
{
    const clv_partition_problem *p = ctx;
    for (int32_t i = 0; i < n; i++) {
        clv_estimate e = { 0 };
        CLV_TRY(clv_partition_estimate(p, a[i].device_of, arena, &e, err));
        v[i] = (clv_verdict){ .latency_ns = e.latency_bound_ns, .period_ns = e.period_ns };
    }
    return CLV_OK;
}

/* 32 units of 100 ns on 32 devices in servers of four, every other one reads a mask. Three of the
 * 15 readers can be in their writer's server; then 12 are sent 40 ns each across, and what the
 * writer hands on is 4 ns. As numbered there would be one reader beside it, and 14 across. */
Test(device_swap, the_search_seats_readers_beside_their_writer)
{
    synthetic s = every_other(32, 32, 10);
    for (int32_t u = 0; u < 32; u++)
        s.time[u] = 100;
    synthetic_done(&s);
    put_in_servers(&s, 4, 4);
    clv_partition_judge judge = { .judge = judge_by_sums, .ctx = &s.p, .batch = 4 };
    clv_partition_options o = { .objective = CLV_THROUGHPUT, .use_all_devices = true };
    clv_partition_result r;
    cr_assert_eq(clv_partition_solve(&s.p, &judge, &o, arena, &r, NULL), CLV_OK);
    cr_assert_eq(r.best.verdict.period_ns, 12 * 40 + 4);
}

/* -- out of memory -- */

Test(device_swap, fails_cleanly_wherever_memory_ends)
{
    synthetic s = every_other(8, 8, 10);
    synthetic_done(&s);
    put_in_servers(&s, 4, 10);
    clv_status status = CLV_ENOMEM;
    int32_t n_failed = 0;
    for (long at = 2; status != CLV_OK; at++) { /* the first is the arena itself */
        failing f = { .fail_at = at };
        clv_alloc alloc = failing_alloc(&f);
        clv_arena *scratch = clv_arena_new(&alloc, 0);
        int64_t ns = 0, work = ENOUGH;
        int32_t *device_of = as_numbered(8);
        cr_assert_not_null(scratch);
        status = clv_device_swap(&s.p, device_of, scratch, &work, &ns, NULL);
        for (int32_t u = 0; u < 8 && status != CLV_OK; u++)
            cr_assert_eq(device_of[u], u);
        n_failed += status == CLV_ENOMEM;
        clv_arena_free(scratch);
        cr_assert_eq(f.live, 0);
    }
    cr_assert_gt(n_failed, 0);
}
