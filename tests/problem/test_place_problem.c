/* test_place_problem.c - the judge of placements, against the published programs' numbers and
 * against a second judge that shares no code with it. */
#include <criterion/criterion.h>
#include <math.h>

#include "support/failing_alloc.h"
#include "support/place_convert.h"

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(place_problem, .init = set_up, .fini = tear_down);

static const clv_place_rules throughput = { CLV_PLACE_THROUGHPUT, true, 0 };
static const clv_place_rules throughput_free = { CLV_PLACE_THROUGHPUT, false, 0 };
static const clv_place_rules latency = { CLV_PLACE_LATENCY, true, 0 };
static const clv_place_rules latency_free = { CLV_PLACE_LATENCY, false, 0 };

static clv_place_value judged(const clv_place_problem *p, const clv_place_rules *rules,
                              const int32_t *device_of, double *loads)
{
    clv_place_value value;
    clv_error err = { 0 };
    memset(&value, 0x5a, sizeof value);
    clv_status s = clv_place_judge(p, rules, device_of, arena, &value, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    if (loads && value.legal)
        cr_assert_eq(clv_place_loads(p, device_of, arena, loads, NULL), CLV_OK);
    return value;
}

/* -- the published examples: their programs print these numbers -- */

/* Equal nodes with classes of their own, 1 byte each; k accelerators of 100 bytes, then l CPUs. */
static oracle_problem equal_nodes(int n, int k, int l, double on_cpu, double on_accelerator)
{
    oracle_problem p = { .n = n, .n_classes = n, .n_kinds = 2 };
    p.kind[0] = (oracle_kind){ k, 100, true };
    p.kind[1] = (oracle_kind){ l, -1, false };
    for (int v = 0; v < n; v++) {
        p.time[0][v] = on_accelerator;
        p.time[1][v] = on_cpu;
        p.bytes[v] = 1;
        p.class_of[v] = v;
    }
    return p;
}

static void add_edge(oracle_problem *p, int from, int to, double cost)
{
    p->from[p->m] = from;
    p->to[p->m++] = to;
    p->cost[from] = cost;
}

/* Node 0 is read by three others. Devices: three accelerators, one CPU. */
static oracle_problem example_a(void)
{
    oracle_problem p = equal_nodes(4, 3, 1, 50, 10);
    for (int v = 1; v < 4; v++)
        add_edge(&p, 0, v, 2);
    return p;
}

/* a1 -> b1, b2 -> a2, without costs: both sets are contiguous alone, and in no line. */
static oracle_problem example_b(void)
{
    oracle_problem p = equal_nodes(4, 2, 0, 99, 0);
    for (int v = 0; v < 4; v++)
        p.time[0][v] = (double[]){ 5, 4, 6, 3 }[v];
    add_edge(&p, 0, 2, 0);
    add_edge(&p, 3, 1, 0);
    return p;
}

/* A training graph: f1 f2 f3, then b1 b2 b3 of the same classes. */
static oracle_problem example_c(void)
{
    static const int edges[][2] = { { 0, 1 }, { 1, 2 }, { 2, 5 }, { 5, 4 },
                                    { 4, 3 }, { 0, 3 }, { 1, 4 }, { 0, 4 } };
    oracle_problem p = equal_nodes(6, 2, 0, 99, 3);
    p.n_classes = 3;
    for (int v = 3; v < 6; v++) {
        p.time[0][v] = 6;
        p.backward[v] = true;
        p.class_of[v] = v - 3;
    }
    for (int e = 0; e < 8; e++)
        add_edge(&p, edges[e][0], edges[e][1], edges[e][0] < 3 ? 1 : 0.5);
    return p;
}

typedef struct {
    int32_t device_of[6];
    double objective, loads[4];
    bool contiguous;
} example;

static void check_examples(const oracle_problem *of, const example *examples, int n)
{
    const clv_place_problem *p = placement_of(of, arena);
    for (int i = 0; i < n; i++) {
        const example *x = &examples[i];
        double loads[4] = { -1, -1, -1, -1 };
        clv_place_value value = judged(p, &throughput_free, x->device_of, loads);
        oracle_value also = oracle_judge(of, &(oracle_rules){ 0 }, x->device_of);
        cr_expect(value.legal, "%d: %s", i, value.why);
        cr_expect_eq(value.objective, x->objective, "%d: %g", i, value.objective);
        cr_expect_eq(value.max_load, x->objective, "%d: %g", i, value.max_load);
        cr_expect_eq(also.objective, x->objective, "%d: the other judge: %g", i, also.objective);
        for (int d = 0; d < clv_place_devices(p); d++)
            cr_expect_eq(loads[d], x->loads[d], "%d: device %d: %g", i, d, loads[d]);
        cr_expect_eq(loads[value.busiest], x->objective, "%d: busiest is %d", i, value.busiest);
        value = judged(p, &throughput, x->device_of, NULL);
        cr_expect_eq(value.legal, x->contiguous, "%d: %s", i, value.why);
    }
}

Test(place_problem, a_sender_pays_once_and_each_receiver_once)
{
    oracle_problem p = example_a();
    static const example examples[] = {
        { { 0, 1, 1, 1 }, 32, { 12, 32, 0, 0 }, true },
        { { 0, 1, 1, 2 }, 22, { 12, 22, 12, 0 }, true },
        { { 0, 0, 1, 3 }, 50, { 22, 12, 0, 50 }, true },
        { { 3, 0, 0, 0 }, 50, { 32, 0, 0, 50 }, true }, /* the CPU pays nothing */
        { { 0, 3, 3, 3 }, 150, { 12, 0, 0, 150 }, true },
        { { 2, 2, 2, 2 }, 40, { 0, 0, 40, 0 }, true },
    };
    check_examples(&p, examples, sizeof examples / sizeof *examples);
}

Test(place_problem, contiguous_is_more_than_each_device_for_itself)
{
    oracle_problem p = example_b();
    static const example examples[] = {
        { { 0, 0, 1, 1 }, 9, { 9, 9 }, false },
        { { 0, 1, 0, 1 }, 11, { 11, 7 }, true },
        { { 0, 1, 1, 1 }, 13, { 5, 13 }, true },
    };
    check_examples(&p, examples, sizeof examples / sizeof *examples);
    int best[4];
    double objective = 0;
    cr_expect(oracle_best(&p, &(oracle_rules){ .contiguous = true }, false, &objective, best));
    cr_expect_eq(objective, 10);
    cr_expect(oracle_best(&p, &(oracle_rules){ 0 }, false, &objective, best));
    cr_expect_eq(objective, 9);
}

Test(place_problem, a_forward_node_read_forward_and_backward_pays_once)
{
    oracle_problem p = example_c();
    static const example examples[] = {
        { { 0, 1, 1, 0, 1, 1 }, 19.5, { 10.5, 19.5 }, true },
        { { 0, 1, 0, 0, 1, 0 }, 21, { 21, 12 }, false },
        { { 1, 1, 1, 1, 1, 1 }, 27, { 0, 27 }, true },
    };
    check_examples(&p, examples, sizeof examples / sizeof *examples);
}

/* -- latency -- */

/* 0 on the CPU, then 1 and 2 in a piece, then 3 on another: 50 + (2 + 20 + 1) + (1 + 10). */
Test(place_problem, latency_is_that_of_pieces_one_behind_the_other)
{
    oracle_problem of = equal_nodes(4, 2, 1, 50, 10);
    add_edge(&of, 0, 1, 2);
    add_edge(&of, 1, 2, 7);
    add_edge(&of, 2, 3, 1);
    const clv_place_problem *p = placement_of(&of, arena);
    clv_place_value value = judged(p, &latency, (int32_t[]){ 2, 0, 0, 1 }, NULL);
    cr_expect(value.legal, "%s", value.why);
    cr_expect_eq(value.objective, 84, "%g", value.objective);
    cr_expect_eq(value.latency, 84);
    cr_expect_eq(value.max_load, 50);
    cr_expect_eq(value.n_used, 3);
}

/* 0 -> 1 -> 2 with 1 elsewhere: two pieces of one device, (10 + 2) + (2 + 10 + 1) + (1 + 10). */
Test(place_problem, a_path_that_leaves_and_comes_back_makes_two_pieces)
{
    oracle_problem of = equal_nodes(3, 2, 0, 50, 10);
    add_edge(&of, 0, 1, 2);
    add_edge(&of, 1, 2, 1);
    const clv_place_problem *p = placement_of(&of, arena);
    clv_place_value value = judged(p, &latency_free, (int32_t[]){ 0, 1, 0 }, NULL);
    cr_expect(value.legal, "%s", value.why);
    cr_expect_eq(value.objective, 36, "%g", value.objective);
    value = judged(p, &latency, (int32_t[]){ 0, 1, 0 }, NULL);
    cr_expect(!value.legal, "not contiguous");
}

Test(place_problem, pieces_that_wait_for_each_other_never_end)
{
    oracle_problem of = example_b();
    const clv_place_problem *p = placement_of(&of, arena);
    clv_place_value value = judged(p, &latency_free, (int32_t[]){ 0, 0, 1, 1 }, NULL);
    cr_expect(!value.legal && isinf(value.latency));
    value = judged(p, &throughput_free, (int32_t[]){ 0, 0, 1, 1 }, NULL);
    cr_expect(value.legal && isinf(value.latency), "%s", value.why);
    cr_expect_eq(value.objective, 9);
}

/* -- what must hold -- */

static void is_illegal(const clv_place_problem *p, const clv_place_rules *rules,
                       const int32_t *device_of, const char *what)
{
    clv_place_value value = judged(p, rules, device_of, NULL);
    cr_expect(!value.legal, "%s", what);
    cr_expect(memchr(value.why, '\0', sizeof value.why) && value.why[0], "no word about %s", what);
}

Test(place_problem, a_device_that_there_is_not_is_illegal)
{
    oracle_problem of = example_a();
    const clv_place_problem *p = placement_of(&of, arena);
    is_illegal(p, &throughput, (int32_t[]){ 0, 1, 4, 1 }, "device 4 of 4");
    is_illegal(p, &throughput, (int32_t[]){ 0, 1, -1, 1 }, "device -1");
    is_illegal(p, &latency_free, (int32_t[]){ INT32_MAX, 1, 1, 1 }, "device 2147483647");
    is_illegal(p, &latency_free, (int32_t[]){ 1, 1, 1, INT32_MIN }, "device -2147483648");
    is_illegal(p, &(clv_place_rules){ CLV_PLACE_DEVICES, true, 0 },
               (int32_t[]){ 1, 1, 1, INT32_MIN }, "device -2147483648");
}

/* Plain <=: the last byte may be used. */
Test(place_problem, memory_may_be_used_to_the_last_byte)
{
    oracle_problem of = example_a();
    of.kind[0].capacity = 2;
    const clv_place_problem *p = placement_of(&of, arena);
    cr_expect(judged(p, &throughput, (int32_t[]){ 0, 0, 1, 1 }, NULL).legal);
    cr_expect(judged(p, &throughput, (int32_t[]){ 3, 3, 3, 3 }, NULL).legal, "CPUs have no limit");
    is_illegal(p, &throughput, (int32_t[]){ 0, 0, 0, 1 }, "3 bytes of 2");
    of.bytes[2] = INT64_MAX / 5; /* sums near the end of 64 bits */
    of.bytes[3] = INT64_MAX / 5;
    of.kind[0].capacity = INT64_MAX / 5;
    p = placement_of(&of, arena);
    is_illegal(p, &throughput, (int32_t[]){ 0, 0, 1, 1 }, "twice as many bytes as there are");
    cr_expect(judged(p, &throughput, (int32_t[]){ 0, 0, 1, 2 }, NULL).legal);
}

Test(place_problem, support_and_classes_are_kept)
{
    oracle_problem of = example_c();
    of.kind[1].count = 1;
    of.time[0][1] = -1;
    const clv_place_problem *p = placement_of(&of, arena);
    is_illegal(p, &throughput, (int32_t[]){ 0, 0, 0, 0, 0, 0 }, "node 1 on an accelerator");
    cr_expect(judged(p, &throughput, (int32_t[]){ 0, 2, 1, 0, 2, 1 }, NULL).legal);
    is_illegal(p, &throughput_free, (int32_t[]){ 0, 2, 1, 0, 2, 0 }, "a class on two devices");
}

Test(place_problem, the_fewest_devices_may_have_a_largest_load)
{
    oracle_problem of = example_a();
    const clv_place_problem *p = placement_of(&of, arena);
    clv_place_rules rules = { CLV_PLACE_DEVICES, true, 22 };
    clv_place_value value = judged(p, &rules, (int32_t[]){ 0, 1, 1, 2 }, NULL);
    cr_expect(value.legal, "%s", value.why);
    cr_expect_eq(value.objective, 3);
    cr_expect_eq(value.n_used, 3);
    is_illegal(p, &rules, (int32_t[]){ 0, 1, 1, 1 }, "a load of 32 of 22");
    rules.max_load = 0;
    cr_expect_eq(judged(p, &rules, (int32_t[]){ 0, 1, 1, 1 }, NULL).objective, 2);
}

/* b1 and b2 have no forward node: their edge counts the other way round. */
Test(place_problem, a_class_without_forward_node_is_as_in_a_mirror)
{
    oracle_problem of = equal_nodes(4, 2, 0, 99, 1);
    of.backward[2] = of.backward[3] = true;
    add_edge(&of, 0, 1, 1);
    add_edge(&of, 2, 3, 1); /* as if 3 -> 2 */
    const clv_place_problem *p = placement_of(&of, arena);
    cr_expect(judged(p, &throughput, (int32_t[]){ 0, 1, 1, 0 }, NULL).legal);
    is_illegal(p, &throughput, (int32_t[]){ 0, 1, 0, 1 }, "0 -> 1 and, mirrored, 1 -> 0");
    of.class_of[2] = 1; /* with forward node 1; node 3 stays alone: still mirrored */
    of.class_of[3] = 2;
    of.n_classes = 3;
    p = placement_of(&of, arena);
    cr_expect(judged(p, &throughput, (int32_t[]){ 0, 1, 1, 0 }, NULL).legal);
    of.class_of[3] = 0; /* no orphan is left: backward edges are free */
    of.n_classes = 2;
    p = placement_of(&of, arena);
    cr_expect(judged(p, &throughput, (int32_t[]){ 0, 1, 1, 0 }, NULL).legal);
    cr_expect(judged(p, &throughput, (int32_t[]){ 1, 0, 0, 1 }, NULL).legal);
}

/* -- little or nothing -- */

Test(place_problem, no_nodes_are_placed_for_nothing)
{
    oracle_problem of = equal_nodes(0, 2, 1, 1, 1);
    const clv_place_problem *p = placement_of(&of, arena);
    for (int i = 0; i < 3; i++) {
        clv_place_rules rules = { (clv_place_objective)i, true, 0 };
        double loads[3] = { 7, 7, 7 };
        clv_place_value value = judged(p, &rules, NULL, loads);
        cr_expect(value.legal, "%s", value.why);
        cr_expect(value.objective == 0 && value.max_load == 0 && value.latency == 0);
        cr_expect_eq(value.n_used, 0);
        cr_expect(loads[0] == 0 && loads[1] == 0 && loads[2] == 0);
    }
}

Test(place_problem, one_node_takes_its_time_and_pays_nothing)
{
    oracle_problem of = equal_nodes(1, 1, 1, 5, 3);
    const clv_place_problem *p = placement_of(&of, arena);
    cr_expect_eq(judged(p, &throughput, (int32_t[]){ 0 }, NULL).objective, 3);
    cr_expect_eq(judged(p, &latency, (int32_t[]){ 1 }, NULL).objective, 5);
    cr_expect_eq(judged(p, &latency, (int32_t[]){ 1 }, NULL).n_used, 1);
}

Test(place_problem, without_devices_nothing_is_legal)
{
    oracle_problem of = equal_nodes(1, 0, 0, 5, 3);
    const clv_place_problem *p = placement_of(&of, arena);
    cr_expect_eq(clv_place_devices(p), 0);
    is_illegal(p, &throughput, (int32_t[]){ 0 }, "device 0 of none");
}

Test(place_problem, devices_are_numbered_kind_by_kind)
{
    oracle_problem of = equal_nodes(1, 2, 3, 5, 3);
    const clv_place_problem *p = placement_of(&of, arena);
    int32_t kind_of[5] = { 9, 9, 9, 9, 9 };
    cr_assert_eq(clv_place_devices(p), 5);
    clv_place_kinds(p, kind_of);
    for (int d = 0; d < 5; d++)
        cr_expect_eq(kind_of[d], d >= 2);
}

/* -- against the other judge -- */

/* Two units in the last place, as the header says. */
static bool close_to(double a, double b, double ulps)
{
    return a == b || fabs(a - b) <= ulps * 0x1p-52 * fabs(b);
}

static void expect_same(uint64_t seed, const clv_place_value *value, const double *loads,
                        const oracle_value *want, int n_devices)
{
    const double ulps = 2, path_ulps = 64; /* latency: a rounding at each piece */
    unsigned long long s = seed;
    cr_assert(close_to(value->objective, want->objective, path_ulps), "%llu: objective %a not %a",
              s, value->objective, want->objective);
    cr_assert(close_to(value->max_load, want->max_load, ulps), "%llu: load %a not %a", s,
              value->max_load, want->max_load);
    cr_assert(close_to(value->latency, want->latency, path_ulps), "%llu: latency %a not %a", s,
              value->latency, want->latency);
    cr_assert_eq(value->n_used, want->n_used, "%llu", s);
    for (int d = 0; d < n_devices; d++)
        cr_assert(close_to(loads[d], want->loads[d], ulps), "%llu: device %d: %a not %a", s, d,
                  loads[d], want->loads[d]);
    cr_assert(n_devices == 0 || loads[value->busiest] == value->max_load, "%llu: busiest", s);
}

Test(place_problem, agrees_with_the_other_judge)
{
    int n[2] = { 0, 0 }, waits = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        oracle_problem of;
        oracle_rules rules;
        uint64_t random = seed;
        oracle_make(seed, seed % 4 ? 12 : 40, 1e18, seed % 5 == 4, &of, &rules);
        clv_place_rules product_rules = placement_rules(&rules);
        clv_mark mark = clv_arena_mark(arena);
        const clv_place_problem *p = placement_of(&of, arena);
        for (int i = 0; i < 6 && oracle_devices(&of) > 0; i++) {
            int device_of[ORACLE_NODES];
            double loads[ORACLE_DEVICES];
            oracle_assign(&random, &of, device_of);
            clv_place_value value = judged(p, &product_rules, device_of, loads);
            oracle_value want = oracle_judge(&of, &rules, device_of);
            cr_assert_eq(value.legal, want.legal, "%llu: %s, and also %s", (unsigned long long)seed,
                         value.why, want.why ? want.why : "legal");
            if (want.legal)
                expect_same(seed, &value, loads, &want, oracle_devices(&of));
            else
                cr_assert(value.why[0]);
            n[want.legal]++;
            waits += want.legal && isinf(want.latency);
        }
        clv_arena_rewind(arena, mark);
    }
    cr_assert(n[0] > 3000 && n[1] > 3000 && waits > 20, "%d illegal, %d legal, %d wait", n[0], n[1],
              waits);
}

/* Long sums of small numbers beside a large one. */
Test(place_problem, sums_are_exact)
{
    oracle_problem of = equal_nodes(ORACLE_NODES, 1, 1, 1, 0.1);
    of.time[0][ORACLE_NODES - 1] = 0x1p53;
    int32_t device_of[ORACLE_NODES] = { 0 };
    const clv_place_problem *p = placement_of(&of, arena);
    oracle_value want = oracle_judge(&of, &(oracle_rules){ 0 }, device_of);
    double got = judged(p, &throughput, device_of, NULL).objective;
    cr_expect(close_to(got, want.objective, 2), "%a not %a", got, want.objective);
}

/* Every node reads the one before and all are on two devices in turn, so that only free rules allow
 * it: a load is n / 2 nodes and all n - 1 costs. */
Test(place_problem, a_long_chain_is_judged)
{
    enum { N = 20000 };
    clv_place_problem p = { .n_nodes = N, .n_edges = N - 1, .n_classes = N, .n_kinds = 1 };
    clv_place_kind kind = { "accelerator", 2, CLV_PLACE_UNLIMITED, true };
    int64_t *id = CLV_NEW_ARRAY(arena, int64_t, N);
    double *one = CLV_NEW_ARRAY(arena, double, N);
    bool *backward = CLV_NEW_ARRAY(arena, bool, N);
    int32_t *line = CLV_NEW_ARRAY(arena, int32_t, N), *first = CLV_NEW_ARRAY(arena, int32_t, N + 1);
    int32_t *next = CLV_NEW_ARRAY(arena, int32_t, N), *device_of = CLV_NEW_ARRAY(arena, int32_t, N);
    for (int32_t v = 0; v < N; v++) {
        id[v] = line[v] = first[v] = v;
        next[v] = v + 1;
        one[v] = 1;
        device_of[v] = v % 2;
    }
    first[N] = N - 1;
    p.kinds = &kind;
    p.id = p.bytes = id;
    p.time = p.send_cost = one;
    p.backward = backward;
    p.class_of = p.order = line;
    p.out_first = first;
    p.out = next;
    clv_place_value value = judged(&p, &latency_free, device_of, NULL);
    cr_expect(value.legal, "%s", value.why);
    cr_expect_eq(value.max_load, N / 2 + N - 1);
    cr_expect_eq(value.latency, N + 2 * (N - 1), "%g", value.latency);
    is_illegal(&p, &throughput, device_of, "a line there and back");
}

/* -- without memory -- */

Test(place_problem, survives_running_out_of_memory)
{
    oracle_problem of = example_c();
    const clv_place_problem *p = placement_of(&of, arena);
    bool done = false;
    for (size_t limit = 1; !done; limit += 8) { /* every use of the arena */
        clv_arena *small = clv_arena_new(NULL, limit);
        clv_place_value value = { .objective = -5 };
        clv_error err = { 0 };
        clv_status s = small ? clv_place_judge(p, &latency, (int32_t[]){ 0, 1, 1, 0, 1, 1 }, small,
                                               &value, &err)
                             : CLV_ENOMEM;
        done = s == CLV_OK;
        cr_assert(done || s == CLV_ENOMEM, "%d: %s", (int)s, err.message);
        cr_assert(done || value.objective == -5, "a failed call leaves its result alone");
        cr_assert(limit < 1 << 20);
        clv_arena_free(small);
    }
    long calls = 1;
    for (done = false; !done; calls++) { /* every request to the host */
        failing f = { .fail_at = calls };
        clv_alloc alloc = failing_alloc(&f);
        clv_arena *small = clv_arena_new(&alloc, 0);
        clv_place_value value = { 0 };
        done = small && clv_place_judge(p, &latency_free, (int32_t[]){ 0, 1, 1, 0, 1, 1 }, small,
                                        &value, NULL) == CLV_OK;
        cr_assert_eq(value.legal, done);
        clv_arena_free(small);
        cr_assert_eq(f.live, 0);
        cr_assert(calls < 1000);
    }
    cr_assert(calls > 2);
}
