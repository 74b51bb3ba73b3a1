#include "cluster/cluster.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cluster/cluster_json.h"

#define CONFIGS TEST_SOURCE_DIR "/configs"

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(cluster, .init = open_arena, .fini = close_arena);

static clv_cluster *load(const char *name)
{
    clv_cluster *c = NULL;
    clv_error err = { 0 };
    clv_status s = clv_cluster_load(name, CONFIGS, arena, &c, &err);
    cr_assert_eq(s, CLV_OK, "%s: %s", name, err.message);
    return c;
}

/* -- transfers -- */

/* NVLink of the H100: 70 % of 450 GB/s each way, 2 us. 31.5 MB / 315 GB/s = 100 us. */
Test(cluster, a_transfer_costs_latency_and_bytes_over_what_is_reached_of_the_bandwidth)
{
    clv_cluster *c = load("dgx-h100");
    cr_assert_eq(c->n_devices, 8);
    cr_assert_eq(clv_transfer_ns(c, 0, 1, 31500000), 2000 + 100000);
    cr_assert_eq(clv_transfer_ns(c, 7, 0, 0), 2000);
    cr_assert_eq(clv_transfer_ns(c, 0, 1, 1), 2000 + 1, "rounded up");
    cr_assert_eq(clv_transfer_ns(c, 3, 3, 31500000), 0);
}

/* PCIe 5.0 x16, 64 GB/s each way; 4.0, 31.5 GB/s, where nothing is said. */
Test(cluster, a_copy_from_the_host_goes_over_a_link_of_its_own)
{
    const clv_device_kind *h100 = clv_device_kind_of(load("dgx-h100"), 0);
    const clv_device_kind nothing_said = { .name = "some" };
    cr_expect_eq(clv_host_copy_ns(h100, 5504000), 10000 + 100000); /* 0.86 of 64 GB/s */
    cr_expect_eq(clv_host_copy_ns(&nothing_said, 3150000), 10000 + 100000);
    cr_expect_leq(clv_host_copy_ns(h100, INT64_MAX), INT64_MAX / 4);
}

Test(cluster, the_time_of_an_absurd_size_does_not_overflow)
{
    clv_cluster *c = load("l40s-pcie-2");
    int64_t ns = clv_transfer_ns(c, 0, 1, INT64_MAX);
    cr_assert_gt(ns, 0);
    cr_assert_leq(ns, INT64_MAX / 4);
}

/* covers: E.002 */
Test(cluster, devices_of_one_node_are_nearer_than_devices_of_two)
{
    clv_cluster *c = load("dgx-h100-x2");
    cr_assert_eq(c->n_devices, 16);
    const clv_route *in = clv_route_between(c, 8, 15), *across = clv_route_between(c, 7, 8);
    cr_assert_str_eq(in->name, "nvlink");
    cr_assert_str_eq(across->name, "infiniband");
    cr_assert_lt(in->latency_ns, across->latency_ns);
    cr_assert_gt(in->bytes_per_s, across->bytes_per_s);
    cr_assert_float_eq(across->bytes_per_s, 0.94 * 50e9, 1);
}

Test(cluster, a_level_gives_each_device_a_port_out_and_one_in)
{
    clv_cluster *c = load("dgx-h100-x2");
    cr_assert_eq(c->n_ports, 2 * 16 * 2); /* levels * devices * directions */
    const clv_route *r = clv_route_between(c, 3, 5);
    cr_assert_eq(r->n_ports, 2);
    cr_assert_str_eq(c->ports[r->ports[0]].name, "nvlink gpu3 out");
    cr_assert_str_eq(c->ports[r->ports[1]].name, "nvlink gpu5 in");
    r = clv_route_between(c, 3, 13);
    cr_assert_str_eq(c->ports[r->ports[0]].name, "infiniband gpu3 out");
    cr_assert_str_eq(c->ports[r->ports[1]].name, "infiniband gpu13 in");
    cr_assert_eq(clv_route_between(c, 4, 4)->n_ports, 0, "the diagonal is free");
}

/* -- rates -- */

Test(cluster, a_rate_is_the_peak_of_the_type_times_what_is_reached)
{
    const clv_device_kind *k = clv_device_kind_of(load("dgx-h100"), 0);
    cr_assert_str_eq(k->name, "h100-sxm");
    cr_assert_eq(k->memory_bytes, INT64_C(80000000000));
    cr_assert_eq(k->memory_bytes_per_s, 3.35e12);
    cr_assert_float_eq(clv_device_matrix_rate(k, CLV_DT_FLOAT16), 989.4e12 * 0.7, 1e6);
    cr_assert_float_eq(clv_device_matrix_rate(k, CLV_DT_FLOAT), 494.7e12 * 0.7, 1e6);
    cr_assert_float_eq(clv_device_vector_rate(k, CLV_DT_FLOAT), 66.9e12 * 0.8, 1e6);
    cr_assert_eq(k->tiles, 1);
}

/* matrix has FLOAT 100, FLOAT16 200, INT8 400, DOUBLE 10; vector has FLOAT 5 only */
static clv_device_kind toy(void)
{
    clv_device_kind k = { .matrix_efficiency = 0.5, .vector_efficiency = 1 };
    k.matrix_per_s[CLV_DT_FLOAT] = 100;
    k.matrix_per_s[CLV_DT_FLOAT16] = 200;
    k.matrix_per_s[CLV_DT_INT8] = 400;
    k.matrix_per_s[CLV_DT_DOUBLE] = 10;
    k.vector_per_s[CLV_DT_FLOAT] = 5;
    return k;
}

Test(cluster, a_type_without_a_rate_uses_one_as_wide_or_the_next_wider)
{
    clv_device_kind k = toy();
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_FLOAT16), 100); /* its own, halved */
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_BFLOAT16), 100, "FLOAT16's");
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_FLOAT8E4M3FN), 100, "FLOAT16's");
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_FLOAT4E2M1), 100, "FLOAT16's");
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_UINT8), 200, "INT8's");
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_INT4), 200, "INT8's");
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_BOOL), 200, "INT8's");
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_DOUBLE), 5);
    cr_assert_eq(clv_device_vector_rate(&k, CLV_DT_FLOAT16), 5, "FLOAT's");
}

Test(cluster, a_type_without_any_wider_one_uses_float)
{
    clv_device_kind k = toy();
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_INT32), 50);
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_COMPLEX128), 50);
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_STRING), 50);
    cr_assert_eq(clv_device_matrix_rate(&k, CLV_DT_UNDEFINED), 50);
    cr_assert_eq(clv_device_matrix_rate(&k, (clv_dtype)1000), 50);
    cr_assert_eq(clv_device_vector_rate(&k, CLV_DT_DOUBLE), 5);
}

Test(cluster, a_rate_is_never_0)
{
    clv_device_kind none = { 0 };
    cr_assert_gt(clv_device_matrix_rate(&none, CLV_DT_FLOAT), 0);
    cr_assert_gt(clv_device_vector_rate(&none, CLV_DT_INT8), 0);
}

/* covers: B.049 */
Test(cluster, the_ipu_has_1472_tiles_of_638976_bytes)
{
    clv_cluster *c = load("ipu-pod4");
    const clv_device_kind *k = clv_device_kind_of(c, 3);
    cr_assert_eq(c->n_devices, 4);
    cr_assert_eq(k->tiles, 1472);
    cr_assert_eq(k->memory_bytes, INT64_C(1472) * 638976);
    cr_assert_eq(k->memory_bytes_per_s, 47.5e12);
}

/* -- taking a part -- */

Test(cluster, the_first_devices_keep_their_routes)
{
    clv_cluster *c = load("dgx-h100-x2"), *part = NULL;
    cr_assert_eq(clv_cluster_subset(c, 10, 0, arena, &part, NULL), CLV_OK);
    cr_assert_eq(part->n_devices, 10);
    for (int32_t a = 0; a < 10; a++)
        for (int32_t b = 0; b < 10; b++)
            cr_assert_eq(clv_transfer_ns(part, a, b, 1000000), clv_transfer_ns(c, a, b, 1000000));
    cr_assert_eq(clv_device_kind_of(part, 9)->memory_bytes, INT64_C(80000000000));
    cr_assert_eq(clv_device_kind_of(part, 9)->reserved_bytes, INT64_C(1) << 30);
}

Test(cluster, another_memory_size_is_all_for_tensors_and_leaves_the_original)
{
    clv_cluster *c = load("h100-l40s"), *part = NULL;
    cr_assert_eq(clv_cluster_subset(c, 4, 20 << 20, arena, &part, NULL), CLV_OK);
    for (int32_t d = 0; d < 4; d++) {
        cr_assert_eq(clv_device_kind_of(part, d)->memory_bytes, 20 << 20);
        cr_assert_eq(clv_device_kind_of(part, d)->reserved_bytes, 0);
    }
    cr_assert_eq(clv_device_kind_of(c, 0)->memory_bytes, INT64_C(80000000000));
}

/* 80 GB: 1 GiB is reserved, 688 MB are buffers, 8 GB headroom. */
Test(cluster, tensors_get_what_is_not_kept)
{
    clv_cluster *c = load("dgx-h100"), *part = NULL;
    const int64_t memory = INT64_C(80000000000), reserved = INT64_C(1) << 30, buffers = 688000000;
    cr_assert_eq(clv_device_capacity(clv_device_kind_of(c, 0)),
                 memory - reserved - buffers - memory / 10);
    cr_assert_eq(clv_cluster_subset(c, 1, 0, arena, &part, NULL), CLV_OK);
    cr_assert_eq(clv_device_capacity(clv_device_kind_of(part, 0)), memory - reserved - memory / 10,
                 "a device alone has no buffers");
    cr_assert_eq(clv_cluster_subset(c, 8, 1 << 30, arena, &part, NULL), CLV_OK);
    cr_assert_eq(clv_device_capacity(clv_device_kind_of(part, 0)), 1 << 30);
}

static int64_t capacity_with(const char *headroom, int64_t memory)
{
    clv_cluster *c = load("dgx-h100");
    clv_error err = { .message = "" };
    cr_assert_eq(clv_cluster_keep_free(c, headroom, memory, arena, &c, &err), CLV_OK, "%s",
                 err.message);
    cr_assert_eq(clv_cluster_subset(c, 1, memory, arena, &c, &err), CLV_OK);
    return clv_device_capacity(clv_device_kind_of(c, 0));
}

Test(cluster, headroom_is_what_is_asked_for)
{
    const int64_t left = INT64_C(80000000000) - (INT64_C(1) << 30);
    cr_expect_eq(capacity_with("0", 0), left);
    cr_expect_eq(capacity_with("0%", 0), left);
    cr_expect_eq(capacity_with("2.5%", 0), left - 2000000000);
    cr_expect_eq(capacity_with("4GB", 0), left - 4000000000);
    cr_expect_eq(capacity_with("25%", 1000), 750, "of a size that is asked for, too");
    cr_expect_eq(capacity_with("100B", 1000), 900);
    cr_expect_eq(capacity_with("78GB", 0), left - INT64_C(78000000000));
}

Test(cluster, headroom_is_a_part_or_a_size)
{
    static const char *const bad[] = { "", "%", "100%", "-1%", "nan%", "inf%", "10", "10%%", "x" };
    clv_cluster *c = load("dgx-h100"), *kept = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        clv_error err = { .message = "" };
        cr_expect_eq(clv_cluster_keep_free(c, bad[i], 0, arena, &kept, &err), CLV_EUSAGE, "%s",
                     bad[i]);
        cr_expect(strstr(err.message, "expected a part from 0%"), "%s", err.message);
    }
    cr_expect_null(kept);
}

/* 80 GB less 1 GiB are 73.51 GiB. A device that is smaller than others may be left empty. */
Test(cluster, headroom_leaves_something)
{
    static const struct {
        const char *cluster, *headroom;
        int64_t memory;
        const char *says; /* NULL: it is fine */
    } asked[] = {
        { "dgx-h100", "1TB", 0, "headroom is '1TB': expected less than 73.51 GiB" },
        { "dgx-h100", "80GB", 0, "headroom is '80GB': expected less than 73.51 GiB" },
        { "dgx-h100", "99.5%", 0, "headroom is '99.5%': expected less than 73.51 GiB" },
        { "dgx-h100", "1GB", 1000000000, "headroom is '1GB': expected less than 953.7 MiB" },
        { "dgx-h100", "99.5%", 1000000000, NULL },
        { "h100-l40s", "60GB", 0, NULL },
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        clv_cluster *c = load(asked[i].cluster), *kept = NULL;
        clv_error err = { .message = "" };
        clv_status status =
            clv_cluster_keep_free(c, asked[i].headroom, asked[i].memory, arena, &kept, &err);
        cr_expect_eq(status, asked[i].says ? CLV_EUSAGE : CLV_OK, "%s", asked[i].headroom);
        cr_expect_eq(!kept, !!asked[i].says);
        cr_expect(strstr(err.message, asked[i].says ? asked[i].says : ""), "%s", err.message);
    }
}

Test(cluster, one_device_is_a_cluster_too)
{
    clv_cluster *c = load("dgx-h100"), *part = NULL;
    cr_assert_eq(clv_cluster_subset(c, 1, 0, arena, &part, NULL), CLV_OK);
    cr_assert_eq(part->n_devices, 1);
    cr_assert_eq(clv_transfer_ns(part, 0, 0, 100), 0);
}

Test(cluster, more_devices_than_there_are_is_a_usage_error)
{
    clv_cluster *c = load("dgx-h100"), *part = NULL;
    clv_error err = { 0 };
    cr_assert_eq(clv_cluster_subset(c, 9, 0, arena, &part, &err), CLV_EUSAGE);
    cr_assert_str_eq(err.message,
                     "9 devices were asked for, expected 1 to 8 as cluster 'dgx-h100' has");
    cr_assert_eq(clv_cluster_subset(c, 0, 0, arena, &part, &err), CLV_EUSAGE);
    cr_assert_eq(clv_cluster_subset(c, -1, 0, arena, &part, &err), CLV_EUSAGE);
    cr_assert_eq(clv_cluster_subset(c, 8, -5, arena, &part, &err), CLV_EUSAGE);
    cr_assert(strstr(err.message, "must not be negative"), "said: %s", err.message);
    cr_assert_null(part);
}

Test(cluster, taking_survives_running_out_of_memory_anywhere)
{
    clv_cluster *c = load("dgx-h100");
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 1; s != CLV_OK; limit += 32) {
        clv_arena *small = clv_arena_new(NULL, limit);
        clv_cluster *part = NULL;
        s = clv_cluster_subset(c, 4, 0, small, &part, NULL);
        cr_assert(s == CLV_OK || (s == CLV_ENOMEM && part == NULL));
        clv_arena_free(small);
    }
}
