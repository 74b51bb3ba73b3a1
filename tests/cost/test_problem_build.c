/* From subgraphs to numbers. */
#include "cost/problem_build.h"

#include "made.h"

static clv_arena *arena;
static made *m;
static clv_subgraphs *units;
static clv_partition_problem *p;
static clv_device_kind kinds[2];
static clv_device devices[3];
static clv_route routes[9];
static clv_cluster cluster;

/* Two kinds, three devices: a, b, a. From d to e: 10 * d + e nanoseconds, d + e + 1 GB a second. */
static void setup(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new(arena);
    p = NULL;
    for (int i = 0; i < 2; i++) {
        kinds[i] = (clv_device_kind){ .name = i ? "b" : "a",
                                      .memory_bytes = 1000 + i,
                                      .reserved_bytes = 100,
                                      .memory_bytes_per_s = 1e9 * (i + 1),
                                      .matrix_efficiency = 1,
                                      .vector_efficiency = 1,
                                      .memory_efficiency = 1,
                                      .launch_ns = 5,
                                      .workspace_proportion = 1 };
        kinds[i].matrix_per_s[CLV_DT_FLOAT] = kinds[i].vector_per_s[CLV_DT_FLOAT] = 1e15;
    }
    for (int d = 0; d < 3; d++) {
        devices[d] = (clv_device){ d % 2, "device" };
        for (int e = 0; e < 3; e++)
            routes[d * 3 + e] = (clv_route){ .latency_ns = d == e ? 0 : 10 * d + e,
                                             .bytes_per_s = 1e9 * (d + e + 1) };
    }
    cluster = (clv_cluster){ .name = "three",
                             .n_kinds = 2,
                             .n_devices = 3,
                             .kinds = kinds,
                             .devices = devices,
                             .routes = routes };
}
static void teardown(void) { clv_arena_free(arena); }
TestSuite(problem_build, .init = setup, .fini = teardown);

static void build(void)
{
    made_build(m);
    cr_assert_eq(clv_subgraphs_build(m->costs, false, arena, &units, &m->err), CLV_OK);
    clv_status s = clv_problem_build(m->costs, units, &cluster, arena, &p, &m->err);
    cr_assert_eq(s, CLV_OK, "%s", m->err.message);
}

static void expect_list(const int32_t *at, int32_t from, int32_t to, int32_t n, const int32_t *want)
{
    cr_assert_eq(to - from, n, "%d entries, expected %d", to - from, n);
    for (int32_t i = 0; i < n; i++)
        cr_expect_eq(at[from + i], want[i]);
}

/* j0 = x + y; j1 = j0 + neg(j0); j2 = j0 + j1: j0 goes to units 1 and 2, j1 to unit 2; the negation
 * stays inside. The tail, unit 3, reads j2. */
static void three_joins(void)
{
    made_input(m, "x", CLV_DT_FLOAT, "4,4");
    made_input(m, "y", CLV_DT_FLOAT, "4,4");
    made_weight(m, "w", CLV_DT_FLOAT, "4,4");
    made_op(m, "Add", "x,y", "j0");
    made_op(m, "Neg", "j0", "n");
    made_op(m, "Add", "j0,n", "j1");
    made_op(m, "MatMul", "j1,w", "p");
    made_op(m, "Add", "j0,p", "j2");
    made_op(m, "MatMul", "j2,w", "tail");
}

Test(problem_build, nets_go_once_to_each_later_unit)
{
    three_joins();
    build();
    cr_assert_eq(p->n_units, 4);
    cr_assert_eq(p->n_nets, 3);
    static const int32_t from[] = { 0, 1, 2 };
    expect_list(p->net_from, 0, 3, 3, from);
    expect_list(p->net_to, p->net_first[0], p->net_first[1], 2, (int32_t[]){ 1, 2 });
    expect_list(p->net_to, p->net_first[1], p->net_first[2], 1, (int32_t[]){ 2 });
    expect_list(p->net_to, p->net_first[2], p->net_first[3], 1, (int32_t[]){ 3 });
    expect_list(p->unit_first_net, 0, 5, 5, (int32_t[]){ 0, 1, 2, 3, 3 });
    expect_list(p->reads, p->reads_first[2], p->reads_first[3], 2, (int32_t[]){ 1, 0 });
    expect_list(p->reads, p->reads_first[0], p->reads_first[1], 0, NULL);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(p->net_bytes[i], 64);
}

/* Unit 1 is the negation and then the join, which writes its net; unit 2 is the product, which
 * reads j1, and then the join, which reads j0. */
Test(problem_build, says_when_in_its_unit_a_net_is_read_and_written)
{
    three_joins();
    build();
    expect_list(p->net_reads, 0, 3, 3, (int32_t[]){ 0, 1, 2 });
    int32_t reads = p->reads_first[p->n_units], first = p->reads_first[2];
    for (int32_t k = 0; k < 2; k++) {
        const int64_t *ready = p->net_ready_ns + k * p->n_nets;
        const int64_t *after = p->read_after_ns + k * reads;
        cr_expect_eq(ready[1], p->time_ns[k * p->n_units + 1]);
        cr_expect_eq(after[p->reads_first[1]], 0);
        cr_expect_eq(after[first], 0);
        cr_expect_gt(after[first + 1], 0);
        cr_expect_lt(after[first + 1], ready[2]);
    }
}

/* w is read in units 2 and 3: it counts in unit 2. */
Test(problem_build, a_shared_weight_counts_in_its_first_unit)
{
    three_joins();
    build();
    static const int64_t bytes[] = { 0, 0, 64, 0 };
    static const int64_t flops[] = { 16, 32, 128 + 16, 128 };
    for (int u = 0; u < 4; u++) {
        cr_expect_eq(p->weight_bytes[u], bytes[u]);
        cr_expect_eq(p->flops[u], flops[u]);
    }
}

/* Memory bound: unit 0 moves 3 * 64 bytes at 1 or 2 bytes a ns; unit 1 does 2 and 3 tensors. */
Test(problem_build, times_are_summed_for_each_kind)
{
    three_joins();
    build();
    cr_expect_eq(p->n_kinds, 2);
    cr_expect_eq(p->time_ns[0], 192 + 5);
    cr_expect_eq(p->time_ns[1], 128 + 5 + 192 + 5);
    cr_expect_eq(p->time_ns[4], 96 + 5);
    cr_expect_eq(p->time_ns[5], 64 + 5 + 96 + 5);
}

Test(problem_build, devices_and_links_are_those_of_the_cluster)
{
    three_joins();
    build();
    cr_assert_eq(p->n_devices, 3);
    expect_list(p->kind_of, 0, 3, 3, (int32_t[]){ 0, 1, 0 });
    cr_expect_eq(p->capacity_bytes[0], 900);
    cr_expect_eq(p->capacity_bytes[1], 901);
    cr_expect_eq(p->link_latency_ns[1 * 3 + 2], 12);
    cr_expect_eq(p->link_latency_ns[2 * 3 + 1], 21);
    cr_expect_eq(p->link_bytes_per_s[1 * 3 + 2], 4e9);
}

/* Routes that share no port need none; of those that do, ports get numbers in order of use. */
Test(problem_build, ports_are_those_that_routes_share)
{
    static const int32_t own[6][1] = { { 8 }, { 7 }, { 6 }, { 5 }, { 4 }, { 3 } };
    static const int32_t shared[3][2] = { { 9, 5 }, { 2, 7 }, { 4, 5 } };
    cluster.n_ports = 10;
    for (int32_t link = 0, n = 0; link < 9; link++) {
        if (link % 4 == 0)
            continue;
        routes[link].ports = own[n++];
        routes[link].n_ports = 1;
    }
    three_joins();
    build();
    cr_expect_null(p->link_first_port);
    for (int32_t link = 0; link < 9; link++) {
        if (link % 4 == 0)
            continue;
        routes[link].ports = shared[link / 3];
        routes[link].n_ports = 2;
    }
    cr_assert_eq(clv_problem_build(m->costs, units, &cluster, arena, &p, &m->err), CLV_OK);
    cr_assert_not_null(p->link_first_port);
    cr_expect_eq(p->n_ports, 5);
    expect_list(p->link_ports, p->link_first_port[1], p->link_first_port[2], 2,
                (int32_t[]){ 0, 1 });
    expect_list(p->link_ports, p->link_first_port[3], p->link_first_port[4], 2,
                (int32_t[]){ 2, 3 });
    expect_list(p->link_ports, p->link_first_port[6], p->link_first_port[7], 2,
                (int32_t[]){ 4, 1 });
    expect_list(p->link_ports, p->link_first_port[8], p->link_first_port[9], 0, NULL);
}

/* The constant, of which no value is known, has a copy where it is read. The shape of an input is
 * known before the run: it orders its units, but nothing is sent. */
Test(problem_build, constants_are_everywhere_and_known_values_are_not_sent)
{
    clv_const *c = CLV_NEW(arena, clv_const);
    int32_t rank;
    *c = (clv_const){ .dtype = CLV_DT_FLOAT, .rank = 2, .elems = 16, .bytes = 64 };
    c->dims = made_dims(arena, "4,4", &rank);
    made_input(m, "x", CLV_DT_FLOAT, "4,4");
    made_op(m, "Constant", "", "c");
    made_attr(m, "value", CLV_ATTR_TENSOR, 1)->tensor = c;
    made_op(m, "Shape", "x", "shape");
    made_op(m, "Add", "x,c", "a");
    made_op(m, "Reshape", "a,shape", "view");
    made_op(m, "Add", "view,x", "first");
    made_op(m, "Add", "view,c", "b");
    made_op(m, "Reshape", "b,shape", "last");
    build();
    cr_assert_eq(p->n_units, 2);
    cr_assert_eq(p->n_nets, 2);
    cr_expect_eq(p->net_bytes[0], 0, "the shape");
    cr_expect_eq(p->net_bytes[1], 64, "the view, as a whole");
}

Test(problem_build, an_open_size_still_orders_its_units)
{
    made_input(m, "x", CLV_DT_FLOAT, "?");
    made_input(m, "y", CLV_DT_FLOAT, "?");
    made_op(m, "Add", "x,y", "a");
    made_op(m, "Neg", "a", "b");
    build();
    cr_assert_eq(p->n_nets, 1);
    cr_expect_eq(p->net_bytes[0], 0);
}

Test(problem_build, an_empty_model_is_no_problem)
{
    made_input(m, "x", CLV_DT_FLOAT, "2");
    build();
    cr_expect_eq(p->n_units, 0);
    cr_expect_eq(p->n_nets, 0);
}

Test(problem_build, times_that_do_not_add_up_are_refused)
{
    three_joins();
    made_build(m);
    for (int i = 0; i < m->model->main->n_ops; i++)
        m->costs->of[i].read_bytes = INT64_MAX;
    cr_assert_eq(clv_subgraphs_build(m->costs, false, arena, &units, NULL), CLV_OK);
    kinds[0].memory_bytes_per_s = 1;
    cr_expect_eq(clv_problem_build(m->costs, units, &cluster, arena, &p, &m->err), CLV_ELIMIT);
    cr_expect(strstr(m->err.message, "'j0'"), "said: %s", m->err.message);
    cr_expect_null(p);
}

Test(problem_build, survives_running_out_of_memory_anywhere)
{
    three_joins();
    build();
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 1; s != CLV_OK && limit < 1 << 20; limit += 64) {
        clv_arena *small = clv_arena_new(NULL, limit);
        clv_partition_problem *got = NULL;
        if (!small)
            continue;
        s = clv_problem_build(m->costs, units, &cluster, small, &got, NULL);
        cr_assert(s == CLV_OK || (s == CLV_ENOMEM && !got));
        clv_arena_free(small);
    }
    cr_expect_eq(s, CLV_OK);
}
