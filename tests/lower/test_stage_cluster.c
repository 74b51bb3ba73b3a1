/* Meshes as the devices of a cluster. */
#include "lower/stage_cluster.h"

#include <criterion/criterion.h>

#include "cost/op_time.h"

#define N 8

static clv_arena *arena;
static clv_device_kind kinds[2];
static clv_device devices[N];
static clv_port ports[2 * N + 2];
static int32_t own_ports[N][N][4];
static clv_route routes[N * N];
static clv_cluster cluster, *made;
static clv_error err;
static const int32_t in_order[N] = { 0, 1, 2, 3, 4, 5, 6, 7 };

/* Two nodes of four devices. Inside, each pair is joined by 100 GB/s and 1 us; between nodes all
 * transfers of one direction share one cable of 40 GB/s and 5 us. */
static void setup(void)
{
    arena = clv_arena_new(NULL, 0);
    for (int k = 0; k < 2; k++) {
        kinds[k] = (clv_device_kind){ .name = k ? "small" : "large",
                                      .memory_bytes = k ? 500 : 1000,
                                      .reserved_bytes = k ? 50 : 200,
                                      .memory_bytes_per_s = 1e12,
                                      .matrix_efficiency = 1,
                                      .vector_efficiency = 1,
                                      .memory_efficiency = 1 };
        kinds[k].matrix_per_s[CLV_DT_FLOAT16] = k ? 1e12 : 2e12;
    }
    for (int p = 0; p < 2 * N; p++)
        ports[p] = (clv_port){ "device", 100e9 };
    ports[2 * N] = ports[2 * N + 1] = (clv_port){ "cable", 40e9 };
    for (int d = 0; d < N; d++) {
        static const char *const names[N] = { "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7" };
        devices[d] = (clv_device){ 0, names[d] };
        for (int e = 0; e < N; e++) {
            bool far = d / 4 != e / 4;
            own_ports[d][e][0] = 2 * d;
            own_ports[d][e][1] = 2 * e + 1;
            own_ports[d][e][2] = 2 * N + d / 4;
            routes[d * N + e] = (clv_route){ .name = "r",
                                             .latency_ns = d == e ? 0
                                                           : far  ? 5000
                                                                  : 1000,
                                             .bytes_per_s = far ? 40e9 : 100e9,
                                             .ports = own_ports[d][e],
                                             .n_ports = d == e ? 0
                                                        : far  ? 3
                                                               : 2 };
        }
    }
    cluster = (clv_cluster){ .name = "two nodes",
                             .n_kinds = 2,
                             .n_devices = N,
                             .n_ports = 2 * N + 2,
                             .kinds = kinds,
                             .devices = devices,
                             .ports = ports,
                             .routes = routes };
}
static void teardown(void) { clv_arena_free(arena); }
TestSuite(stage_cluster, .init = setup, .fini = teardown);

static void make(const int32_t *order, int32_t per_mesh)
{
    cr_assert_eq(clv_stage_cluster_make(&cluster, (clv_mesh_devices){ order, N }, per_mesh, arena,
                                        &made, &err),
                 CLV_OK);
}

Test(stage_cluster, one_device_a_mesh_is_the_same_cluster)
{
    make(in_order, 1);
    cr_assert_eq(made->n_devices, N);
    for (int32_t d = 0; d < N; d++)
        for (int32_t e = 0; e < N; e++)
            cr_expect_eq(clv_transfer_ns(made, d, e, 1 << 20),
                         clv_transfer_ns(&cluster, d, e, 1 << 20));
}

Test(stage_cluster, transfers_between_meshes_share_what_they_have_in_common)
{
    make(in_order, 4);
    cr_assert_eq(made->n_devices, 2);
    const clv_route *r = clv_route_between(made, 0, 1);
    cr_expect_float_eq(r->bytes_per_s, 10e9, 1, "four transfers on one cable");
    cr_expect_eq(r->latency_ns, 5000);
    make(in_order, 2);
    r = clv_route_between(made, 0, 1);
    cr_expect_float_eq(r->bytes_per_s, 100e9, 1, "inside a node nothing is shared");
    r = clv_route_between(made, 1, 2);
    cr_expect_float_eq(r->bytes_per_s, 20e9, 1);
}

Test(stage_cluster, devices_are_dealt_out_in_the_order_given)
{
    static const int32_t crossed[N] = { 0, 4, 1, 5, 2, 6, 3, 7 };
    make(crossed, 2);
    cr_assert_str_eq(made->devices[1].name, "d1");
    const clv_route *r = clv_route_between(made, 0, 1);
    cr_expect_float_eq(r->bytes_per_s, 100e9, 1, "d0 to d1, d4 to d5");
}

Test(stage_cluster, a_mesh_is_as_strong_as_its_weakest_device)
{
    devices[5].kind = 1;
    make(in_order, 4);
    const clv_device_kind *first = clv_device_kind_of(made, 0);
    const clv_device_kind *second = clv_device_kind_of(made, 1);
    cr_expect_str_eq(first->name, "large");
    cr_expect_eq(first->memory_bytes - first->reserved_bytes, 800);
    cr_expect_str_eq(second->name, "small");
    cr_expect_eq(second->memory_bytes - second->reserved_bytes, 450);
}

/* What is slow for one operator need not be for another. */
Test(stage_cluster, an_operator_takes_as_long_as_on_the_slowest_device_for_it)
{
    clv_op_cost product = { .flops = 1000000, .matmul_flops = 1000000, .math = CLV_DT_FLOAT16 };
    clv_op_cost copy = { .read_bytes = 1000000, .write_bytes = 1000000 };
    kinds[0].memory_bytes_per_s = 1e11; /* the large one */
    devices[5].kind = 1;
    make(in_order, 4);
    for (int32_t mesh = 0; mesh < 2; mesh++) {
        const clv_device_kind *k = clv_device_kind_of(made, mesh);
        cr_expect_eq(clv_op_time_ns(&product, k, 0), clv_op_time_ns(&product, &kinds[mesh], 0));
        cr_expect_eq(clv_op_time_ns(&copy, k, 0), clv_op_time_ns(&copy, &kinds[0], 0));
    }
}
