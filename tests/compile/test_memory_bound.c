/* test_memory_bound.c - the bytes that no cut can avoid, held against what layouts of cuts hold. */
#include "compile/memory_bound.h"

#include <criterion/criterion.h>

#include "compile/builtin.h"
#include "compile/toy.h"

static toy *new_toy(int32_t n_devices, int32_t n_ops)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    toy *t = CLV_NEW(arena, toy);
    toy_init(t, arena, n_ops, 3 * n_ops + 8, 4 * n_ops + 8);
    toy_cluster(t, n_devices, INT64_C(1) << 40, 0, 1e9);
    return t;
}

static const int64_t *live_of(toy *t)
{
    clv_program *p;
    clv_error err = { 0 };
    int64_t *live = CLV_NEW_ARRAY(t->arena, int64_t, t->units.n);
    cr_assert_eq(clv_program_build(&t->workload, t->arena, &p, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_unit_live_bytes(p, t->arena, live, &err), CLV_OK, "%s", err.message);
    return live;
}

static const int64_t *held_of(toy *t)
{
    clv_program *p;
    clv_error err = { 0 };
    int64_t *held = CLV_NEW_ARRAY(t->arena, int64_t, t->units.n);
    cr_assert_eq(clv_program_build(&t->workload, t->arena, &p, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_unit_held_bytes(p, t->arena, held, &err), CLV_OK, "%s", err.message);
    return held;
}

Test(memory_bound, is_what_an_operator_reads_and_writes)
{
    toy *t = new_toy(1, 3);
    clv_tensor x = toy_input(t, 512);
    clv_tensor a = TOY_OP(t, NULL, 1, 256, x);
    clv_tensor b = TOY_OP(t, NULL, 1, 1, a);
    TOY_OP(t, NULL, 1, 1024, b, x);
    const int64_t *live = live_of(t);
    cr_expect_eq(live[0], 512 + 256);
    cr_expect_eq(live[1], 256 + 256, "one byte takes 256");
    cr_expect_eq(live[2], 256 + 512 + 1024);
    clv_arena_free(t->arena);
}

/* Within a unit, what is read again later stays: x, a and b at the second operator. */
Test(memory_bound, counts_what_a_unit_keeps_for_later)
{
    toy *t = new_toy(1, 3);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 1, 512, x);
    clv_tensor b = TOY_OP(t, NULL, 1, 1024, a);
    TOY_OP(t, NULL, 1, 256, b, x);
    toy_units(t, 1, (int32_t[]){ 3 });
    cr_expect_eq(live_of(t)[0], 256 + 512 + 1024);
    clv_arena_free(t->arena);
}

/* Both views may lie in the memory of a, if a is here: then they are one. */
Test(memory_bound, counts_two_views_of_one_tensor_once)
{
    toy *t = new_toy(1, 4);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 1, 1024, x);
    clv_tensor v = TOY_OP(t, "Identity", 1, 1024, a);
    clv_tensor w = TOY_OP(t, "Identity", 1, 1024, a);
    TOY_OP(t, NULL, 1, 256, v, w);
    const int64_t *live = live_of(t);
    cr_expect_eq(live[1], 1024, "a view is no memory of its own");
    cr_expect_eq(live[3], 1024 + 256);
    clv_arena_free(t->arena);
}

Test(memory_bound, leaves_out_what_lies_with_the_weights)
{
    toy *t = new_toy(1, 3);
    clv_tensor w = toy_weight(t, 4096);
    clv_tensor c = toy_op(t, "Constant", 1, 4096, 0, NULL);
    clv_tensor v = TOY_OP(t, "Identity", 1, 4096, w);
    TOY_OP(t, NULL, 1, 256, c, v, w);
    const int64_t *live = live_of(t);
    cr_expect_eq(live[0], 0);
    cr_expect_eq(live[1], 0);
    cr_expect_eq(live[2], 256);
    clv_arena_free(t->arena);
}

/* v is copied to the device that reads it, with the weights there; x is a view of that copy. */
Test(memory_bound, leaves_out_views_of_what_is_copied)
{
    toy *t = new_toy(1, 4);
    clv_tensor a = TOY_OP(t, NULL, 1, 1024, toy_input(t, 256));
    clv_tensor v = TOY_OP(t, "Identity", 1, 1024, a);
    clv_tensor x = TOY_OP(t, "Identity", 1, 1024, v);
    TOY_OP(t, NULL, 1, 256, x);
    t->types.value[v.i] = t->known;
    const int64_t *live = live_of(t);
    cr_expect_eq(live[1], 1024);
    cr_expect_eq(live[2], 0);
    cr_expect_eq(live[3], 256);
    clv_arena_free(t->arena);
}

/* While a unit runs its device has what it needs, and what the others there hold. Returns for how
 * many units the first is all. */
static int64_t compare_units(const toy *t, const int64_t *live, const int64_t *held,
                             const int32_t *device_of, const clv_device_report *devices,
                             uint32_t seed)
{
    int64_t same = 0;
    for (int32_t u = 0; u < t->units.n; u++) {
        const clv_device_report *d = &devices[device_of[u]];
        int64_t most = d->activation_bytes + d->in_flight_bytes, others = 0;
        for (int32_t o = 0; o < t->units.n; o++)
            others += o != u && device_of[o] == device_of[u] ? held[o] : 0;
        cr_assert_leq(live[u] + others, most, "seed %u, unit %d", seed, u);
        same += live[u] == most;
    }
    return same;
}

/* No device may hold less than its unit that needs most, and with one unit a device some hold just
 * that. Workspace is not counted, so there is none: the fullest moment is that of activations. */
static void compare(toy *t, const int64_t *live, const int32_t *device_of, uint32_t seed,
                    int64_t *ret_same)
{
    clv_compiler *c;
    clv_verdict v;
    clv_compile_report report;
    clv_assignment plan = { device_of, 0, NULL };
    cr_assert_eq(clv_builtin_open(&t->workload, 1, NULL, &c, NULL), CLV_OK);
    cr_assert_eq(
        c->compile(c, &(clv_compile_worker){ 0, t->arena, NULL }, &plan, &v, &report, NULL),
        CLV_OK);
    for (int32_t u = 0; u < t->units.n; u++)
        cr_assert_eq(c->live_bytes[u], live[u]);
    *ret_same += compare_units(t, c->live_bytes, c->held_bytes, device_of, report.devices, seed);
    c->microbatches = 2;
    cr_assert_eq(
        c->compile(c, &(clv_compile_worker){ 0, t->arena, NULL }, &plan, &v, &report, NULL),
        CLV_OK);
    compare_units(t, c->piped_live_bytes, c->piped_held_bytes, device_of, report.devices, seed);
    for (int32_t d = 0; d < t->cluster.n_devices; d++) {
        int64_t copies = 0;
        for (int32_t u = 0; u < t->units.n; u++)
            copies += device_of[u] == d ? c->piped_held_bytes[u] - c->held_bytes[u] : 0;
        cr_assert_leq(copies, report.devices[d].in_flight_bytes, "seed %u, device %d", seed, d);
    }
    clv_compiler_close(c);
}

Test(memory_bound, is_never_more_than_a_device_of_any_plan_holds)
{
    int64_t same = 0, units = 0;
    for (uint32_t seed = 1; seed <= 150; seed++) {
        toy *t = new_toy(40, 40);
        uint32_t random = seed;
        toy_grow_random(t, 40, seed);
        for (int32_t i = 0; i < t->graph.n_ops; i++)
            t->costs.of[i].workspace_bytes = 0;
        const int64_t *live = live_of(t);
        int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, t->units.n);
        for (uint32_t devices = 1; devices <= 40; devices *= 3) {
            int64_t ignored = 0;
            for (int32_t u = 0; u < t->units.n; u++)
                device_of[u] = (int32_t)toy_random(&random, devices);
            compare(t, live, device_of, seed, &ignored);
        }
        for (int32_t u = 0; u < t->units.n; u++)
            device_of[u] = u;
        compare(t, live, device_of, seed, &same);
        units += t->units.n;
        clv_arena_free(t->arena);
    }
    cr_assert_gt(same * 10, units * 8, "%ld of %ld units are met exactly", (long)same, (long)units);
}

/* A decoder's cache: an input and an output as large, of which one or the other is always there.
 * Not what two units read, nor what another unit reads as well as the caller. */
Test(memory_bound, what_waits_or_stays_is_held_all_the_time)
{
    toy *t = new_toy(1, 4);
    clv_tensor x = toy_input(t, 256), cache = toy_input(t, 1024), both = toy_input(t, 2048);
    clv_tensor a = TOY_OP(t, NULL, 1, 1280, x, cache, both);
    clv_tensor b = TOY_OP(t, NULL, 1, 256, x);
    clv_tensor c = TOY_OP(t, NULL, 1, 4096, b, both);
    TOY_OP(t, NULL, 1, 256, c);
    toy_output(t, a);
    toy_output(t, c);
    const int64_t *held = held_of(t);
    cr_expect_eq(held[0], 1024, "the input is less than the output");
    cr_expect_eq(held[1], 0);
    cr_expect_eq(held[2], 0, "the last unit reads it too");
    int64_t *copied = CLV_NEW_ARRAY(t->arena, int64_t, t->units.n);
    clv_program *p;
    cr_assert_eq(clv_program_build(&t->workload, t->arena, &p, NULL), CLV_OK);
    cr_assert_eq(clv_unit_copied_bytes(p, t->arena, copied, NULL), CLV_OK);
    cr_expect_eq(copied[0], 1024 + 1280, "the next input, and the output before");
    cr_expect_eq(copied[1], 0);
    cr_expect_eq(copied[2], 0);
    clv_arena_free(t->arena);
}

/* Layers with a cache each, as an input and an output; units of one layer and of others' parts. */
static toy *new_decoder(uint32_t *random, int32_t n_layers)
{
    toy *t = new_toy(20, 2 * n_layers);
    int32_t sizes[40], n_units = 0;
    clv_tensor carry = toy_input(t, 512);
    for (int32_t i = 0; i < n_layers; i++) {
        clv_tensor cache = toy_input(t, 1 + (int64_t)toy_random(random, 9000));
        clv_tensor grown = TOY_OP(t, toy_random(random, 5) ? NULL : "Identity", 1,
                                  1 + (int64_t)toy_random(random, 9000), cache, carry);
        carry = TOY_OP(t, NULL, 1, 1 + (int64_t)toy_random(random, 3000), carry, grown);
        if (toy_random(random, 4))
            toy_output(t, grown);
    }
    for (int32_t done = 0; done < 2 * n_layers; done += sizes[n_units++]) {
        int32_t size = toy_random(random, 4) ? 2 : 1 + (int32_t)toy_random(random, 4);
        sizes[n_units] = size < 2 * n_layers - done ? size : 2 * n_layers - done;
    }
    toy_units(t, n_units, sizes);
    return t;
}

Test(memory_bound, caches_are_in_memory_besides_what_a_unit_needs)
{
    int64_t same = 0, sum = 0;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        uint32_t random = seed;
        toy *t = new_decoder(&random, 20);
        const int64_t *live = live_of(t), *held = held_of(t);
        int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, t->units.n);
        for (uint32_t devices = 1; devices <= 20; devices *= 2) {
            for (int32_t u = 0; u < t->units.n; u++)
                device_of[u] = (int32_t)toy_random(&random, devices);
            compare(t, live, device_of, seed, &same);
        }
        for (int32_t u = 0; u < t->units.n; u++)
            sum += held[u];
        clv_arena_free(t->arena);
    }
    cr_assert_gt(sum, 200 * 1000, "%lld bytes", (long long)sum);
}

Test(memory_bound, survives_running_out_of_memory_anywhere)
{
    toy *t = new_toy(2, 60);
    clv_program *p;
    toy_grow_random(t, 60, 3);
    cr_assert_eq(clv_program_build(&t->workload, t->arena, &p, NULL), CLV_OK);
    int64_t *live = CLV_NEW_ARRAY(t->arena, int64_t, t->units.n);
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 200; s != CLV_OK; limit += 97) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        if (!arena)
            continue;
        s = clv_unit_live_bytes(p, arena, live, NULL);
        if (s == CLV_OK)
            s = clv_unit_held_bytes(p, arena, live, NULL);
        if (s == CLV_OK)
            s = clv_unit_copied_bytes(p, arena, live, NULL);
        cr_assert(s == CLV_OK || s == CLV_ENOMEM);
        clv_arena_free(arena);
    }
    clv_arena_free(t->arena);
}
