/* test_collective.c - times of collectives against formulas by hand, and what holds for all. */
#include "cost/collective.h"

#include <criterion/criterion.h>
#include <math.h>

#include "cluster/cluster_json.h"
#include "cluster/route.h"
#include "sharding/steps.h"
#include "support/layout_sim.h"

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(collective, .init = open_arena, .fini = close_arena);

#define MIB 1048576.0

static const clv_comms *comms_with(const char *text, const clv_cluster *c, double overlap)
{
    clv_mesh_form form;
    const clv_mesh *mesh = NULL;
    const clv_comms *comms = NULL;
    clv_error err = { .message = "" };
    clv_comm_options options = { .overlap = overlap };
    cr_assert_eq(clv_mesh_form_parse(text, arena, &form, NULL), CLV_OK);
    cr_assert_eq(clv_mesh_make(&form, c, CLV_MESH_ALL_DEVICES, arena, &mesh, &err), CLV_OK, "%s",
                 err.message);
    cr_assert_eq(clv_comms_make(c, mesh, &options, arena, &comms, &err), CLV_OK, "%s", err.message);
    return comms;
}
static const clv_comms *comms_of(const char *text, const clv_cluster *c)
{
    return comms_with(text, c, 0);
}

static int64_t ns(const clv_comms *comms, uint32_t axes, clv_collective kind, double bytes)
{
    return clv_curve_ns(&comms->curve[axes][kind], (int64_t)bytes);
}

/* n devices, 1 GB/s (a nanosecond a byte) and 1000 ns between any two. */
static const clv_comms *flat(int32_t n)
{
    return comms_of(clv_arena_printf(arena, "%d", (int)n), sim_cluster(arena, n));
}

static int32_t log_up(int32_t n)
{
    int32_t rounds = 0;
    while (1 << rounds < n)
        rounds++;
    return rounds;
}

static bool near(int64_t got, double want) { return fabs((double)got - want) <= 2 + want * 1e-9; }

Test(collective, large_tensors_take_the_time_that_their_bytes_need)
{
    for (int32_t n = 2; n <= 16; n++) {
        const clv_comms *c = flat(n);
        double bytes = 1e12, part = (n - 1.0) / n * bytes;
        /* of algorithms with that many bytes the one with the fewest rounds */
        cr_assert(near(ns(c, 1, CLV_ALL_GATHER, bytes), part + 1000 * log_up(n)) ||
                  (n & (n - 1)) != 0);
        cr_assert_leq(ns(c, 1, CLV_ALL_GATHER, bytes), (int64_t)(part + 1000.0 * (n - 1)) + 1);
        cr_assert_leq(ns(c, 1, CLV_ALL_REDUCE, bytes), (int64_t)(2 * part + 2000.0 * (n - 1)) + 1);
        cr_assert_leq(ns(c, 1, CLV_ALL_TO_ALL, bytes), (int64_t)(part + 1000.0 * (n - 1)) + 1);
    }
}

/* Whatever the algorithm, a device has to get (n - 1) / n of the whole through its port. */
Test(collective, no_algorithm_sends_less_than_it_must)
{
    for (int32_t n = 2; n <= 24; n++) {
        const clv_comms *c = flat(n);
        for (double bytes = 1; bytes < 1e12; bytes *= 7) {
            double part = (n - 1.0) / n * floor(bytes);
            cr_assert_geq((double)ns(c, 1, CLV_ALL_GATHER, bytes), part + 1000 * log_up(n) - 1);
            cr_assert_geq((double)ns(c, 1, CLV_REDUCE_SCATTER, bytes), part + 1000 * log_up(n) - 1);
            cr_assert_geq((double)ns(c, 1, CLV_ALL_REDUCE, bytes), 2 * part - 1);
            cr_assert_geq((double)ns(c, 1, CLV_ALL_REDUCE, bytes), part + 1000 * log_up(n) - 1);
            cr_assert_geq((double)ns(c, 1, CLV_ALL_TO_ALL, bytes), part + 1000 * log_up(n) - 1);
            cr_assert_geq((double)ns(c, 1, CLV_BROADCAST, bytes), bytes + 1000 * log_up(n) - 2);
        }
    }
}

Test(collective, small_tensors_take_as_few_rounds_as_can_be)
{
    for (int32_t n = 2; n <= 16; n++) {
        const clv_comms *c = flat(n);
        double rounds = 1000 * log_up(n);
        bool power = (n & (n - 1)) == 0;
        cr_assert_leq(ns(c, 1, CLV_ALL_GATHER, 1), (int64_t)rounds + 1);
        cr_assert_leq(ns(c, 1, CLV_REDUCE_SCATTER, 1), (int64_t)rounds + 1);
        cr_assert_leq(ns(c, 1, CLV_ALL_TO_ALL, 1), (int64_t)rounds + log_up(n));
        cr_assert_leq(ns(c, 1, CLV_BROADCAST, 1), (int64_t)rounds + log_up(n));
        cr_assert_leq(ns(c, 1, CLV_ALL_REDUCE, 1), (int64_t)(power ? 1 : 2) * (int64_t)rounds + 8);
    }
}

Test(collective, more_bytes_never_take_less_time)
{
    const char *const clusters[] = { "dgx-h100-x2", "ipu-pod16", "tpu-v5e-16", "h100-l40s",
                                     "l40s-pcie-8" };
    const char *const forms[] = { "2x8", "4x4", "2x2x4", "2x2", "2x4" };
    for (int i = 0; i < 5; i++) {
        clv_cluster *cluster = NULL;
        cr_assert_eq(
            clv_cluster_load(clusters[i], TEST_SOURCE_DIR "/configs", arena, &cluster, NULL),
            CLV_OK);
        const clv_comms *c = comms_of(forms[i], cluster);
        for (uint32_t axes = 1; axes < CLV_MESH_MASKS; axes++)
            for (int k = 0; k < CLV_N_COLLECTIVES; k++) {
                int64_t before = 0;
                for (double bytes = 0; bytes < 1e18; bytes = bytes * 2 + 1) {
                    int64_t now = ns(c, axes, (clv_collective)k, bytes);
                    cr_assert_geq(now, before);
                    before = now;
                }
                bool any = clv_mesh_count(c->mesh, axes) > 1;
                cr_assert_eq(before > 0, any);
                cr_assert_eq(ns(c, axes, (clv_collective)k, 0), 0);
                cr_assert_leq(ns(c, axes, (clv_collective)k, 9e18), CLV_COMM_NS_MAX);
            }
    }
}

/* -- levels and shared links -- */

static clv_cluster *nodes_of_8(int32_t n_nodes)
{
    clv_cluster *c = sim_cluster(arena, 8 * n_nodes);
    clv_level levels[] = { { "near", 8, { 100e9, 1000, 1, CLV_ASSUMED } },
                           { "far", n_nodes, { 10e9, 5000, 1, CLV_ASSUMED } } };
    cr_assert_eq(clv_routes_by_levels(c, levels, 2, arena, NULL), CLV_OK);
    return c;
}

/* One axis over two nodes: reduce-scatter inside, all-reduce across, all-gather inside. */
Test(collective, an_axis_over_several_nodes_is_taken_apart)
{
    const clv_comms *c = comms_of("16", nodes_of_8(2));
    double bytes = 1e10, inside = 7.0 / 8 * bytes / 100 + 3 * 1000;
    double by_hand = 2 * inside + bytes / 8 / 10 + 2 * 5000;
    cr_assert(near(ns(c, 1, CLV_ALL_REDUCE, bytes), by_hand) ||
              (double)ns(c, 1, CLV_ALL_REDUCE, bytes) < by_hand);
    /* a ring has the whole, nearly twice, on the slow link */
    cr_assert_lt((double)ns(c, 1, CLV_ALL_REDUCE, bytes), 2 * 15.0 / 16 * bytes / 10 / 3);
    /* and no algorithm can have less than an eighth of it, half of it out and in */
    cr_assert_geq((double)ns(c, 1, CLV_ALL_REDUCE, bytes), bytes / 8 / 10);
}

Test(collective, a_mesh_by_nodes_costs_what_one_axis_over_them_does)
{
    const clv_comms *one = comms_of("16", nodes_of_8(2)), *two = comms_of("2x8", nodes_of_8(2));
    for (int k = 0; k < CLV_N_COLLECTIVES; k++)
        for (double bytes = 1; bytes < 1e12; bytes *= 10)
            cr_assert_eq(ns(one, 1, (clv_collective)k, bytes),
                         ns(two, 3, (clv_collective)k, bytes));
}

Test(collective, the_algorithm_changes_with_the_size)
{
    const clv_comms *c = comms_of("16", nodes_of_8(2));
    const clv_curve *curve = &c->curve[1][CLV_ALL_REDUCE];
    const clv_line *small = clv_curve_line(curve, 64), *large = clv_curve_line(curve, 1 << 30);
    cr_assert_eq(small->by, CLV_BY_TREE);
    cr_assert_str_eq(clv_algorithm_name(small->by), "tree");
    cr_assert(large->latency_ns > small->latency_ns && large->ns_per_byte < small->ns_per_byte);
    cr_assert_leq(large->ns_per_byte, 1e-3 * (2 * 7.0 / 8 * 10 + 1.0 / 8 * 100) * 1.000001);
    cr_assert_null(clv_curve_line(&c->curve[2][CLV_ALL_REDUCE], 64)); /* an axis of one device */
}

/* 0 = 1 - 2 = 3: both groups {0,2} and {1,3} cross the one wire between 1 and 2. */
Test(collective, groups_share_a_link_that_they_all_cross)
{
    clv_cluster *c = sim_cluster(arena, 4);
    clv_link links[] = { { "fast", 0, 1, { 100e9, 10, 1, CLV_ASSUMED } },
                         { "fast", 1, 0, { 100e9, 10, 1, CLV_ASSUMED } },
                         { "fast", 2, 3, { 100e9, 10, 1, CLV_ASSUMED } },
                         { "fast", 3, 2, { 100e9, 10, 1, CLV_ASSUMED } },
                         { "wire", 1, 2, { 1e9, 100, 1, CLV_ASSUMED } },
                         { "wire", 2, 1, { 1e9, 100, 1, CLV_ASSUMED } } };
    cr_assert_eq(clv_routes_by_links(c, "test", links, 6, arena, NULL), CLV_OK);
    const clv_comms *comms = comms_of("2x2", c);
    double bytes = 1e9;
    /* half of it each way for each of two groups; the longest route is 0 - 1 - 2 */
    cr_assert(near(ns(comms, 1, CLV_ALL_GATHER, bytes), 2 * bytes / 2 + 110));
    cr_assert(near(ns(comms, 2, CLV_ALL_GATHER, bytes), bytes / 2 / 100 + 10));
    /* one group alone has the wire for itself */
    clv_mesh_form form = { 1, { 2, 1, 1 }, { NULL } };
    const clv_mesh *mesh = NULL;
    const clv_comms *alone = NULL;
    const int32_t ends[] = { 1, 2 };
    cr_assert_eq(clv_mesh_make(&form, c, (clv_mesh_devices){ ends, 2 }, arena, &mesh, NULL),
                 CLV_OK);
    cr_assert_eq(clv_comms_make(c, mesh, NULL, arena, &alone, NULL), CLV_OK);
    cr_assert(near(ns(alone, 1, CLV_ALL_GATHER, bytes), bytes / 2 + 100));
}

Test(collective, a_published_machine_gives_its_bus_rate)
{
    clv_cluster *dgx = NULL;
    cr_assert_eq(clv_cluster_load("dgx-h100", TEST_SOURCE_DIR "/configs", arena, &dgx, NULL),
                 CLV_OK);
    const clv_comms *c = comms_of("8", dgx);
    const clv_route *link = clv_route_between(dgx, 0, 1);
    /* halving, in the middle two exchange all they have: 2 + 1 + 2 rounds */
    double bytes = 1 << 30;
    double want = 2 * 7.0 / 8 * bytes / link->bytes_per_s * 1e9 + 5 * (double)link->latency_ns;
    cr_assert(near(ns(c, 1, CLV_ALL_REDUCE, bytes), want), "%lld ns, %.0f by hand",
              (long long)ns(c, 1, CLV_ALL_REDUCE, bytes), want);
}

/* -- permutations -- */

Test(collective, a_permutation_costs_what_its_busiest_port_needs)
{
    const int32_t same[] = { 0, 1, 2 }, turned[] = { 1, 0, 2 };
    const clv_comms *flat_mesh = comms_of("2x2", sim_cluster(arena, 4));
    const clv_curve *none = &flat_mesh->permute[clv_order_index(same)][clv_order_index(same)];
    const clv_curve *turn = &flat_mesh->permute[clv_order_index(same)][clv_order_index(turned)];
    cr_assert_eq(none->n, 0);
    cr_assert_eq(clv_curve_ns(none, 1 << 20), 0);
    cr_assert(near(clv_curve_ns(turn, 1 << 20), 1000 + MIB));
}

Test(collective, orders_are_numbered_each_once)
{
    bool seen[CLV_ORDERS] = { false };
    for (int32_t a = 0; a < 3; a++)
        for (int32_t b = 0; b < 3; b++) {
            const int32_t order[] = { a, b, 3 - a - b };
            if (a == b)
                continue;
            cr_assert_not(seen[clv_order_index(order)]);
            seen[clv_order_index(order)] = true;
        }
}

/* -- overlap -- */

Test(collective, overlap_hides_bytes_and_no_latency)
{
    clv_cluster *cluster = sim_cluster(arena, 8);
    const clv_comms *none = comms_of("8", cluster), *half = comms_with("8", cluster, 0.5),
                    *all = comms_with("8", cluster, 1);
    double bytes = 1e9;
    cr_assert(near(ns(none, 1, CLV_ALL_GATHER, bytes), 7.0 / 8 * bytes + 3000));
    cr_assert(near(ns(half, 1, CLV_ALL_GATHER, bytes), 7.0 / 8 * bytes / 2 + 3000));
    cr_assert_eq(ns(all, 1, CLV_ALL_GATHER, bytes), 3000);
    const clv_comms *bad = NULL;
    clv_comm_options options = { .overlap = 1.5 };
    clv_error err;
    cr_assert_eq(clv_comms_make(cluster, none->mesh, &options, arena, &bad, &err), CLV_EUSAGE);
    cr_assert_str_eq(err.message, "an overlap of 1.5, expected 0 to 1");
    options.overlap = NAN;
    cr_assert_eq(clv_comms_make(cluster, none->mesh, &options, arena, &bad, &err), CLV_EUSAGE);
}

Test(collective, without_memory_it_says_so)
{
    clv_cluster *cluster = sim_cluster(arena, 16);
    const clv_mesh *mesh = comms_of("4x4", cluster)->mesh;
    for (size_t limit = 0; limit < 1 << 16; limit += 512) {
        clv_arena *small = clv_arena_new(NULL, limit + 1);
        const clv_comms *c = NULL;
        clv_status status =
            small ? clv_comms_make(cluster, mesh, NULL, small, &c, NULL) : CLV_ENOMEM;
        cr_assert(status == CLV_OK ? c != NULL : status == CLV_ENOMEM && c == NULL);
        clv_arena_free(small);
    }
}
