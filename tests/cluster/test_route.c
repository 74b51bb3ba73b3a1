#include "cluster/route.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(route, .init = open_arena, .fini = close_arena);

static clv_cluster devices(int32_t n)
{
    clv_device *d = CLV_NEW_ARRAY(arena, clv_device, n);
    for (int32_t i = 0; i < n; i++)
        d[i].name = clv_arena_printf(arena, "d%d", (int)i);
    return (clv_cluster){ .name = "test", .n_devices = n, .devices = d };
}

/* 1 MiB in exactly us microseconds. */
static clv_link hop(int32_t from, int32_t to, int64_t us)
{
    return (clv_link){ "wire", from, to, { MIB * 1e6 / (double)us, 0, 1, CLV_ASSUMED } };
}

static void must_be(const clv_cluster *c, int32_t from, int32_t to, const char *want)
{
    char got[256] = "";
    const clv_route *r = clv_route_between(c, from, to);
    for (int32_t i = 0; i < r->n_ports; i++) {
        strcat(got, i ? ", " : "");
        strcat(got, c->ports[r->ports[i]].name);
    }
    cr_assert_str_eq(got, want);
}

/*   0 --1us--> 1 --1us--> 2 and 0 --3us--> 2, and a slow way back */
Test(route, two_quick_hops_beat_one_slow_one)
{
    clv_link links[] = { hop(0, 1, 1),  hop(1, 2, 1),  hop(0, 2, 3),
                         hop(2, 0, 50), hop(1, 0, 90), hop(2, 1, 50) };
    clv_cluster c = devices(3);
    cr_assert_eq(clv_routes_by_links(&c, "t", links, 6, arena, NULL), CLV_OK);
    must_be(&c, 0, 2, "wire d0 to d1, wire d1 to d2");
    must_be(&c, 2, 0, "wire d2 to d0");
    must_be(&c, 1, 0, "wire d1 to d2, wire d2 to d0");
    cr_assert_eq(c.n_ports, 6);
}

Test(route, latency_adds_up_and_the_slowest_hop_sets_pace_and_name)
{
    clv_link links[] = { { "fast", 0, 1, { 10e9, 100, 1, CLV_ASSUMED } },
                         { "slow", 1, 2, { 1e9, 20, 1, CLV_ASSUMED } },
                         { "back", 2, 0, { 1e9, 0, 1, CLV_ASSUMED } } };
    clv_cluster c = devices(3);
    cr_assert_eq(clv_routes_by_links(&c, "t", links, 3, arena, NULL), CLV_OK);
    const clv_route *r = clv_route_between(&c, 0, 2);
    cr_assert_str_eq(r->name, "slow");
    cr_assert_eq(r->latency_ns, 120);
    cr_assert_eq(r->bytes_per_s, 1e9);
    cr_assert_eq(clv_transfer_ns(&c, 0, 2, 1000), 120 + 1000);
    cr_assert_eq(clv_route_between(&c, 0, 1)->bytes_per_s, 10e9, "a prefix is summed for itself");
    cr_assert_eq(clv_route_between(&c, 0, 1)->n_ports, 1);
}

Test(route, a_tie_goes_to_fewer_hops)
{
    clv_link links[] = { hop(0, 1, 1), hop(1, 2, 1), hop(0, 2, 2),
                         hop(2, 0, 1), hop(1, 0, 1), hop(2, 1, 1) };
    clv_cluster c = devices(3);
    cr_assert_eq(clv_routes_by_links(&c, "t", links, 6, arena, NULL), CLV_OK);
    must_be(&c, 0, 2, "wire d0 to d2");
}

/*   0 -> 2 -> 3 and 0 -> 1 -> 3, the same time, listed with 2 first */
Test(route, a_further_tie_goes_to_the_smaller_device_and_then_to_the_first_link)
{
    clv_link links[] = { hop(0, 2, 1), hop(2, 3, 1), hop(0, 1, 1),
                         hop(1, 3, 1), hop(1, 3, 1), hop(3, 0, 1) };
    links[4].name = "second";
    clv_cluster c = devices(4);
    cr_assert_eq(clv_routes_by_links(&c, "t", links, 6, arena, NULL), CLV_OK);
    must_be(&c, 0, 3, "wire d0 to d1, wire d1 to d3");
}

Test(route, of_two_links_between_the_same_devices_the_quicker_is_taken)
{
    clv_link links[] = { hop(0, 1, 5), hop(0, 1, 2), hop(0, 1, 9), hop(1, 0, 1) };
    links[1].name = "quick";
    clv_cluster c = devices(2);
    cr_assert_eq(clv_routes_by_links(&c, "t", links, 4, arena, NULL), CLV_OK);
    must_be(&c, 0, 1, "quick d0 to d1");
}

Test(route, an_unreachable_pair_is_named_and_the_cluster_left_alone)
{
    clv_link links[] = { hop(0, 1, 1), hop(1, 0, 1), hop(1, 2, 1) };
    clv_cluster c = devices(3);
    clv_error err = { 0 };
    cr_assert_eq(clv_routes_by_links(&c, "t.json", links, 3, arena, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message,
                     "t.json: no links lead from device 2 (d2) to device 0 (d0), expected "
                     "a way between any two");
    cr_assert(c.routes == NULL && c.ports == NULL && c.n_ports == 0);
    cr_assert_eq(clv_routes_by_links(&c, "t.json", NULL, 0, arena, &err), CLV_EFORMAT);
}

Test(route, one_device_has_no_routes_to_find)
{
    clv_cluster c = devices(1);
    cr_assert_eq(clv_routes_by_links(&c, "t", NULL, 0, arena, NULL), CLV_OK);
    cr_assert_eq(clv_route_between(&c, 0, 0)->n_ports, 0);
    cr_assert_eq(clv_routes_by_levels(&c, NULL, 0, arena, NULL), CLV_OK);
}

/* Least time between all pairs by Floyd and Warshall: another algorithm, so an oracle. */
static void floyd(int n, const clv_link *links, int32_t n_links, int64_t *d)
{
    for (int i = 0; i < n * n; i++)
        d[i] = i / n == i % n ? 0 : INT64_MAX / 4;
    for (int32_t e = 0; e < n_links; e++) {
        int64_t t =
            links[e].speed.latency_ns + (int64_t)(MIB / clv_link_reached(&links[e].speed) * 1e9);
        int64_t *at = &d[links[e].from * n + links[e].to];
        *at = t < *at ? t : *at;
    }
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (d[i * n + k] + d[k * n + j] < d[i * n + j])
                    d[i * n + j] = d[i * n + k] + d[k * n + j];
}

/* Follows a route's links and returns its time for 1 MiB, hop after hop; -1 if it is no route. */
static int64_t walk(const clv_route *r, const clv_link *links, int32_t from, int32_t to)
{
    int64_t ns = 0, latency = 0;
    double slowest = 1e30;
    for (int32_t i = 0; i < r->n_ports; i++) {
        const clv_link *link = &links[r->ports[i]];
        if (link->from != from)
            return -1;
        from = link->to;
        double reached = clv_link_reached(&link->speed);
        latency += link->speed.latency_ns;
        slowest = reached < slowest ? reached : slowest;
        ns += link->speed.latency_ns + (int64_t)(MIB / reached * 1e9);
    }
    return from == to && latency == r->latency_ns && slowest == r->bytes_per_s ? ns : -1;
}

Test(route, routes_of_random_networks_take_the_least_time)
{
    srand(1);
    for (int round = 0; round < 300; round++) {
        int n = 2 + rand() % 12, extra = rand() % (3 * n);
        clv_link links[64];
        int32_t m = 0;
        for (int i = 0; i < n; i++) /* a ring, so that all is reachable */
            links[m++] = hop(i, (i + 1) % n, 1 + rand() % 6);
        for (int i = 0; i < extra; i++) {
            int a = rand() % n, b = rand() % n;
            if (a != b)
                links[m++] = hop(a, b, 1 + rand() % 6);
        }
        for (int32_t e = 0; e < m; e++) {
            links[e].speed.latency_ns = rand() % 3 * 500;
            links[e].speed.efficiency = rand() % 2 ? 1 : 0.5;
        }
        clv_cluster c = devices(n);
        int64_t least[14 * 14];
        cr_assert_eq(clv_routes_by_links(&c, "t", links, m, arena, NULL), CLV_OK);
        floyd(n, links, m, least);
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                if (a != b)
                    cr_assert_eq(walk(clv_route_between(&c, a, b), links, a, b), least[a * n + b]);
    }
}

/* A ring both ways: routes are up to 512 hops; stored each for itself they would take a gigabyte.
 */
Test(route, a_ring_of_1024_takes_little_memory_and_time, .timeout = 60)
{
    enum { N = 1024 };
    clv_link *links = CLV_NEW_ARRAY(arena, clv_link, 2 * N);
    for (int32_t i = 0; i < N; i++) {
        links[2 * i] = hop(i, (i + 1) % N, 1);
        links[2 * i + 1] = hop((i + 1) % N, i, 1);
    }
    clv_cluster c = devices(N);
    cr_assert_eq(clv_routes_by_links(&c, "t", links, 2 * N, arena, NULL), CLV_OK);
    cr_assert_eq(clv_route_between(&c, 0, 512)->n_ports, 512);
    cr_assert_eq(clv_route_between(&c, 1000, 8)->n_ports, 32);
    cr_assert_lt(clv_arena_bytes(arena), (size_t)64 << 20);
}

/* Ports and routes have what is reached, a route the basis of its slowest hop. */
Test(route, an_efficiency_is_the_part_of_the_peak_that_is_reached)
{
    clv_level level = { "wire", 2, { 8e9, 100, 0.25, CLV_FITTED } };
    clv_link links[] = { { "fast", 0, 1, { 10e9, 100, 0.1, CLV_FITTED } },
                         { "slow", 1, 0, { 2e9, 20, 1, CLV_ASSUMED } },
                         { "on", 1, 2, { 2e9, 20, 1, CLV_ASSUMED } },
                         { "back", 2, 0, { 2e9, 20, 1, CLV_ASSUMED } } };
    clv_cluster two = devices(2), three = devices(3);
    cr_assert_eq(clv_routes_by_levels(&two, &level, 1, arena, NULL), CLV_OK);
    const clv_route *r = clv_route_between(&two, 0, 1);
    cr_expect(r->bytes_per_s == 2e9 && r->peak_bytes_per_s == 8e9 && r->basis == CLV_FITTED);
    cr_expect_eq(two.ports[0].bytes_per_s, 2e9);
    cr_assert_eq(clv_routes_by_links(&three, "t", links, 4, arena, NULL), CLV_OK);
    r = clv_route_between(&three, 0, 2);
    cr_expect_str_eq(r->name, "fast", "10 GB/s of which a tenth is reached are the slowest");
    cr_expect(r->bytes_per_s == 1e9 && r->peak_bytes_per_s == 10e9 && r->basis == CLV_FITTED);
    cr_expect_eq(clv_route_between(&three, 1, 0)->basis, CLV_ASSUMED);
    cr_expect_eq(three.ports[0].bytes_per_s, 1e9);
}

Test(route, three_levels_meet_where_they_should)
{
    clv_level levels[] = { { "a", 2, { 1e9, 1, 1, CLV_ASSUMED } },
                           { "b", 3, { 1e9, 2, 1, CLV_ASSUMED } },
                           { "c", 2, { 1e9, 3, 1, CLV_ASSUMED } } };
    clv_cluster c = devices(12);
    cr_assert_eq(clv_routes_by_levels(&c, levels, 3, arena, NULL), CLV_OK);
    for (int32_t i = 0; i < 12; i++)
        for (int32_t j = 0; j < 12; j++) { /* i = (c, b, a) in mixed radix: i/6, i/2%3, i%2 */
            const char *want = i == j ? NULL : i / 2 == j / 2 ? "a" : i / 6 == j / 6 ? "b" : "c";
            const char *got = clv_route_between(&c, i, j)->name;
            cr_assert(want == NULL ? got == NULL : strcmp(got, want) == 0, "%d to %d", (int)i,
                      (int)j);
        }
}

Test(route, survives_running_out_of_memory_anywhere)
{
    clv_link links[] = { hop(0, 1, 1), hop(1, 2, 1), hop(2, 0, 1) };
    clv_level levels[] = { { "a", 3, { 1e9, 1, 1, CLV_ASSUMED } } };
    for (int by_links = 0; by_links < 2; by_links++) {
        clv_status s = CLV_ENOMEM;
        for (size_t limit = 1; s != CLV_OK; limit += 16) {
            clv_arena *small = clv_arena_new(NULL, limit);
            clv_cluster c = devices(3);
            s = by_links ? clv_routes_by_links(&c, "t", links, 3, small, NULL)
                         : clv_routes_by_levels(&c, levels, 1, small, NULL);
            cr_assert(s == CLV_OK || (s == CLV_ENOMEM && !c.routes));
            clv_arena_free(small);
        }
    }
}
