#include "compile/builtin.h"

#include <criterion/criterion.h>

#include "compile/toy.h"
#include "cost/op_time.h"

/* A transfer takes 100 ns and 1 ns a byte. Devices do one operation a nanosecond. */
static toy *new_toy(int32_t n_devices)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    toy *t = CLV_NEW(arena, toy);
    toy_init(t, arena, 600, 2000, 4000);
    toy_cluster(t, n_devices, 10000000, 100, 1e9);
    return t;
}

static void free_toy(toy *t) { clv_arena_free(t->arena); }

static clv_verdict judge(toy *t, const int32_t *device_of, clv_compile_report *report)
{
    clv_compiler *c = NULL;
    clv_verdict v;
    cr_assert_eq(clv_builtin_open(&t->workload, 1, NULL, &c, NULL), CLV_OK);
    cr_assert_eq(c->compile(c, &(clv_compile_worker){ 0, t->arena, NULL },
                            &(clv_assignment){ device_of, 0, NULL }, &v, report, NULL),
                 CLV_OK);
    clv_compiler_close(c);
    return v;
}

/* a runs 0..1000, its 500 bytes travel 1000..1600, b runs 1600..3600. Device 1 is the busier. */
Test(schedule, sends_a_tensor_between_two_devices)
{
    toy *t = new_toy(2);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 1000, 500, x);
    TOY_OP(t, NULL, 2000, 256, a);
    clv_compile_report report;

    clv_verdict v = judge(t, (int32_t[]){ 0, 1 }, &report);

    cr_assert_eq(v.outcome, CLV_FITS);
    cr_assert_eq(v.latency_ns, 3600);
    cr_assert_eq(v.period_ns, 2000);
    cr_assert_eq(report.n_transfers, 1);
    cr_assert_eq(report.transfers[0].start_ns, 1000);
    cr_assert_eq(report.transfers[0].ns, 600);
    cr_assert_eq(report.transfers[0].bytes, 500);
    cr_assert_eq(report.transfers[0].tensor.i, a.i);
    free_toy(t);
}

Test(schedule, on_one_device_is_the_sum)
{
    toy *t = new_toy(2);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 1000, 500, x);
    TOY_OP(t, NULL, 2000, 256, a);

    clv_verdict v = judge(t, (int32_t[]){ 1, 1 }, NULL);

    cr_assert_eq(v.latency_ns, 3000);
    cr_assert_eq(v.period_ns, 3000);
    free_toy(t);
}

/*        a            device 0: a 0..100, left 100..1100, join
 *       / \           device 1: a's 300 bytes come 100..500, right 500..1000
 *    left right       right's 400 bytes go back 1000..1500
 *       \ /           join starts at 1500, ends at 1510
 *       join
 */
Test(schedule, runs_the_sides_of_a_diamond_side_by_side)
{
    toy *t = new_toy(2);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 100, 300, x);
    clv_tensor left = TOY_OP(t, NULL, 1000, 400, a);
    clv_tensor right = TOY_OP(t, NULL, 500, 400, a);
    TOY_OP(t, NULL, 10, 256, left, right);

    clv_verdict v = judge(t, (int32_t[]){ 0, 0, 1, 0 }, NULL);

    cr_assert_eq(v.latency_ns, 1510);
    cr_assert_eq(v.period_ns, 1110, "device 0 works 100 + 1000 + 10");
    free_toy(t);
}

/* a's 100 bytes go to devices 1 and 2, through the one port out of device 0: 10..210, 210..410. The
 * busy port, 400 ns, is the period. Device 1 reads a twice and gets it once. */
Test(schedule, sends_once_to_each_device_and_one_at_a_time_on_a_port)
{
    toy *t = new_toy(3);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 10, 100, x);
    TOY_OP(t, NULL, 50, 256, a);
    TOY_OP(t, NULL, 60, 256, a);
    TOY_OP(t, NULL, 70, 256, a);
    clv_compile_report report;

    clv_verdict v = judge(t, (int32_t[]){ 0, 1, 1, 2 }, &report);

    cr_assert_eq(report.n_transfers, 2);
    cr_assert_eq(report.transfers[0].to, 1);
    cr_assert_eq(report.transfers[0].start_ns, 10);
    cr_assert_eq(report.transfers[1].to, 2);
    cr_assert_eq(report.transfers[1].start_ns, 210);
    cr_assert_eq(v.latency_ns, 480);
    cr_assert_eq(v.period_ns, 400);
    free_toy(t);
}

/* b is made before a, though it stands behind it: it takes the shared port into device 2 first. */
Test(schedule, gives_a_port_to_the_tensor_that_is_ready_first)
{
    toy *t = new_toy(3);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 1000, 100, x);
    clv_tensor b = TOY_OP(t, NULL, 10, 100, x);
    TOY_OP(t, NULL, 1, 256, a);
    TOY_OP(t, NULL, 1, 256, b);
    clv_compile_report report;

    clv_verdict v = judge(t, (int32_t[]){ 0, 1, 2, 2 }, &report);

    cr_assert_eq(report.transfers[0].tensor.i, b.i);
    cr_assert_eq(report.transfers[0].start_ns, 10);
    cr_assert_eq(report.transfers[1].start_ns, 1000);
    cr_assert_eq(v.latency_ns, 1000 + 200 + 2);
    free_toy(t);
}

/* 0 -> 1 -> 0: the groups wait for each other in turn, and all the same it ends. */
Test(schedule, copes_with_groups_that_need_each_other)
{
    toy *t = new_toy(2);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 10, 100, x);
    clv_tensor b = TOY_OP(t, NULL, 10, 100, a);
    clv_tensor c = TOY_OP(t, NULL, 10, 100, b);
    TOY_OP(t, NULL, 10, 100, c);

    clv_verdict v = judge(t, (int32_t[]){ 0, 1, 0, 1 }, NULL);

    cr_assert_eq(v.latency_ns, 4 * 10 + 3 * 200);
    free_toy(t);
}

/* A tensor leaves when its operator ends, not when its unit does: b starts at 10 + 200, long before
 * the rest of a's unit is done. */
Test(schedule, does_not_hold_a_tensor_back_until_its_unit_ends)
{
    toy *t = new_toy(2);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 10, 100, x);
    clv_tensor rest = TOY_OP(t, NULL, 5000, 100, a);
    TOY_OP(t, NULL, 6000, 100, a);
    toy_output(t, rest);
    toy_units(t, 2, (int32_t[]){ 2, 1 });

    clv_verdict v = judge(t, (int32_t[]){ 0, 1 }, NULL);

    cr_assert_eq(v.latency_ns, 10 + 200 + 6000);
    free_toy(t);
}

/* The receiving unit's first operator does not need a; only its second waits. */
Test(schedule, lets_a_unit_start_before_all_its_inputs_are_there)
{
    toy *t = new_toy(2);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 10, 100, x);
    clv_tensor b = TOY_OP(t, NULL, 1000, 100, x);
    TOY_OP(t, NULL, 5, 100, a, b);
    toy_units(t, 2, (int32_t[]){ 1, 2 });

    clv_verdict v = judge(t, (int32_t[]){ 0, 1 }, NULL);

    cr_assert_eq(v.latency_ns, 1005);
    free_toy(t);
}

Test(schedule, sends_no_constants_and_no_inputs)
{
    toy *t = new_toy(2);
    clv_tensor x = toy_input(t, 256);
    clv_tensor k = toy_op(t, "Constant", 0, 100, 0, NULL);
    clv_tensor f = TOY_OP(t, NULL, 10, 8, x);
    t->types.value[f.i] = t->known;
    TOY_OP(t, NULL, 7, 100, x, k, f);
    clv_compile_report report;

    clv_verdict v = judge(t, (int32_t[]){ 0, 0, 1 }, &report);

    cr_assert_eq(report.n_transfers, 0);
    cr_assert_eq(v.latency_ns, 10);
    free_toy(t);
}

Test(schedule, of_an_empty_model_takes_no_time)
{
    toy *t = new_toy(2);

    clv_verdict v = judge(t, NULL, NULL);

    cr_assert_eq(v.outcome, CLV_FITS);
    cr_assert_eq(v.latency_ns, 0);
    cr_assert_eq(v.period_ns, 0);
    free_toy(t);
}

/* -- an oracle: every operator by itself, again and again until nothing changes any more -- */

/* Latency with links that carry any number of transfers at once: the longest way through. A bound
 * from below for the real schedule. */
static int64_t critical_path(const toy *t, const int32_t *device_of)
{
    int64_t *end = CLV_NEW_ARRAY(t->arena, int64_t, t->graph.n_ops);
    int64_t *free_at = CLV_NEW_ARRAY(t->arena, int64_t, t->cluster.n_devices);
    int64_t most = 0;
    for (int32_t op = 0; op < t->graph.n_ops; op++) {
        const clv_op_info *info = &t->graph.ops[op];
        int32_t d = device_of[t->units.of[op]];
        int64_t start = free_at[d];
        for (int32_t k = 0; k < info->n_in; k++) {
            clv_tensor x = t->graph.inputs_of[info->first_in + k];
            clv_op from = t->graph.tensors[x.i].producer;
            if (from.i < 0)
                continue;
            int32_t e = device_of[t->units.of[from.i]];
            bool is_copied = t->types.value[x.i] || t->graph.ops[from.i].n_in == 0;
            int64_t at =
                d == e      ? end[from.i]
                : is_copied ? 0
                            : end[from.i] + clv_transfer_ns(&t->cluster, e, d, t->types.bytes[x.i]);
            start = at > start ? at : start;
        }
        clv_op_cost *cost = &t->costs.of[op];
        const clv_device_kind *kind = clv_device_kind_of(&t->cluster, d);
        int64_t w = clv_op_workspace(cost->workspace_bytes, kind, kind->workspace_proportion);
        free_at[d] = end[op] = start + clv_op_time_ns(cost, kind, w);
        most = end[op] > most ? end[op] : most;
    }
    return most;
}

static bool share_port(const clv_cluster *c, const clv_transfer *a, const clv_transfer *b)
{
    const clv_route *x = clv_route_between(c, a->from, a->to);
    const clv_route *y = clv_route_between(c, b->from, b->to);
    for (int32_t i = 0; i < x->n_ports; i++)
        for (int32_t j = 0; j < y->n_ports; j++)
            if (x->ports[i] == y->ports[j])
                return true;
    return false;
}

Test(schedule, is_never_faster_than_its_critical_path_and_never_shares_a_port)
{
    for (uint32_t seed = 1; seed <= 60; seed++) {
        toy *t = new_toy(4);
        uint32_t random = seed + 100;
        toy_grow_random(t, 150, seed);
        int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, t->units.n);
        for (int32_t u = 0; u < t->units.n; u++)
            device_of[u] = seed % 2 ? (int32_t)toy_random(&random, 4) : u * 4 / t->units.n;
        clv_compile_report r;

        clv_verdict v = judge(t, device_of, &r);

        cr_assert_geq(v.latency_ns, critical_path(t, device_of), "seed %u", seed);
        for (int32_t k = 0; k < r.n_transfers; k++) {
            const clv_transfer *a = &r.transfers[k];
            cr_assert_leq(a->start_ns + a->ns, v.latency_ns);
            cr_assert(k == 0 || r.transfers[k - 1].start_ns <= a->start_ns, "in order of start");
            for (int32_t j = 0; j < k; j++) {
                const clv_transfer *b = &r.transfers[j];
                cr_assert_not(a->tensor.i == b->tensor.i && a->to == b->to, "sent twice");
                cr_assert(!share_port(&t->cluster, a, b) || a->start_ns >= b->start_ns + b->ns,
                          "seed %u: two transfers on a port at once", seed);
            }
        }
        free_toy(t);
    }
}

/* With links that take no time the schedule is the critical path exactly. */
Test(schedule, is_the_critical_path_where_links_are_free)
{
    for (uint32_t seed = 1; seed <= 40; seed++) {
        toy *t = new_toy(3);
        uint32_t random = seed;
        toy_cluster(t, 3, 10000000, 0, 1e18);
        for (int32_t k = 0; k < 9; k++)
            ((clv_route *)t->cluster.routes)[k].n_ports = 0;
        toy_grow_random(t, 150, seed);
        int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, t->units.n);
        for (int32_t u = 0; u < t->units.n; u++)
            device_of[u] = (int32_t)toy_random(&random, 3);

        clv_verdict v = judge(t, device_of, NULL);

        cr_assert_eq(v.latency_ns, critical_path(t, device_of), "seed %u", seed);
        free_toy(t);
    }
}
