/* test_in_flight.c - what is held for further micro-batches, against a count of every time slot. */
#include "compile/in_flight.h"

#include <criterion/criterion.h>

#include "compile/builtin.h"
#include "compile/offset_allocator.h"
#include "compile/toy.h"
#include "problem/micro.h"

#define KIB 1024

static toy *new_toy(int32_t n_devices, int64_t memory_bytes, int32_t n_ops)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    toy *t = CLV_NEW(arena, toy);
    toy_init(t, arena, n_ops + 8, 3 * n_ops + 16, 4 * n_ops + 16);
    toy_cluster(t, n_devices, memory_bytes, 100, 1e9);
    return t;
}

static clv_verdict compiled(toy *t, int32_t microbatches, const int32_t *device_of,
                            clv_compile_report *report)
{
    clv_compiler *c = NULL;
    clv_verdict v;
    cr_assert_eq(clv_builtin_open(&t->workload, 1, NULL, &c, NULL), CLV_OK);
    c->microbatches = microbatches;
    cr_assert_eq(c->compile(c, &(clv_compile_worker){ 0, t->arena, NULL },
                            &(clv_assignment){ device_of, 0, NULL }, &v, report, NULL),
                 CLV_OK);
    clv_compiler_close(c);
    return v;
}

/* x -> a | b | c, and a is read by c too; the output c. Tensors of 1, 2, 4, 8 KiB. */
static void three_stages(toy *t)
{
    clv_tensor x = toy_input(t, 1 * KIB);
    clv_tensor a = TOY_OP(t, NULL, 1000, 2 * KIB, x);
    clv_tensor b = TOY_OP(t, NULL, 1000, 4 * KIB, a);
    clv_tensor c = TOY_OP(t, NULL, 1000, 8 * KIB, b, a);
    toy_output(t, c);
}

static void check(toy *t, int32_t microbatches, const int64_t *kib)
{
    clv_compile_report one, r;
    compiled(t, 1, (int32_t[]){ 0, 1, 2 }, &one);
    compiled(t, microbatches, (int32_t[]){ 0, 1, 2 }, &r);
    for (int32_t d = 0; d < 3; d++) {
        cr_assert_eq(r.devices[d].in_flight_bytes, kib[d] * KIB,
                     "%d micro-batches, device %d: %lld", (int)microbatches, (int)d,
                     (long long)r.devices[d].in_flight_bytes);
        cr_assert_eq(r.devices[d].peak_bytes, one.devices[d].peak_bytes + kib[d] * KIB);
        cr_assert_eq(r.devices[d].activation_bytes, one.devices[d].activation_bytes);
    }
}

/* Device 0: the next x, and a new a while one is sent. Device 1: the next a, the new b. Device 2:
 * the next b, two more a, the last c while it leaves. */
Test(in_flight, counts_what_comes_leaves_and_skips)
{
    toy *t = new_toy(3, 1000 * KIB, 3);
    three_stages(t);
    check(t, 0, (int64_t[]){ 0, 0, 0 });
    check(t, 1, (int64_t[]){ 0, 0, 0 });
    check(t, 2, (int64_t[]){ 1 + 2, 2 + 4, 4 + 2 + 8 });
    check(t, 3, (int64_t[]){ 1 + 2, 2 + 4, 4 + 2 * 2 + 8 });
    check(t, CLV_MICRO_FULL, (int64_t[]){ 1 + 2, 2 + 4, 4 + 2 * 2 + 8 });
    clv_arena_free(t->arena);
}

/* Device 2 holds c, b and a: 14 KiB; 16 more in flight. */
Test(in_flight, what_does_not_fit_is_out_of_memory)
{
    toy *t = new_toy(3, 30 * KIB, 3);
    three_stages(t);
    cr_assert_eq(compiled(t, CLV_MICRO_FULL, (int32_t[]){ 0, 1, 2 }, NULL).outcome, CLV_FITS);
    t->kinds[0].memory_bytes--;
    clv_verdict v = compiled(t, CLV_MICRO_FULL, (int32_t[]){ 0, 1, 2 }, NULL);
    cr_assert_eq(v.outcome, CLV_OOM);
    cr_assert_eq(v.device, 2);
    cr_assert_eq(v.short_bytes, 1);
    cr_assert_eq(compiled(t, 2, (int32_t[]){ 0, 1, 2 }, NULL).outcome, CLV_FITS);
    clv_arena_free(t->arena);
}

Test(in_flight, one_device_holds_the_next_input_and_the_last_output_alone)
{
    toy *t = new_toy(1, 1000 * KIB, 3);
    clv_compile_report r;
    three_stages(t);
    compiled(t, CLV_MICRO_FULL, (int32_t[]){ 0, 0, 0 }, &r);
    cr_assert_eq(r.devices[0].in_flight_bytes, (1 + 8) * KIB);
    clv_arena_free(t->arena);
}

/* Stages of 1 us, transfers of 2148 and 4196 ns: the third starts at 1000 + 2148 + 1000 + 4196. */
Test(in_flight, fill_and_drain_are_of_the_schedule)
{
    toy *t = new_toy(3, 1000 * KIB, 3);
    clv_compile_report r;
    three_stages(t);
    clv_verdict v = compiled(t, 4, (int32_t[]){ 0, 1, 2 }, &r);
    cr_assert_eq(r.fill_ns, v.latency_ns - 1000);
    cr_assert_eq(r.drain_ns, v.latency_ns - 1000);
    cr_assert_geq(r.fill_ns, 1000 + 2148 + 1000 + 4196);
    clv_arena_free(t->arena);
}

/* -- states -- */

/* A cache of rows of 32 bytes, one longer; in place its past takes no memory. */
static clv_tensor appended(toy *t, bool in_place, clv_tensor to)
{
    static const clv_dim before[] = { 7, 8 }, after[] = { 8, 8 };
    clv_tensor past = toy_input(t, in_place ? 0 : 7 * 32);
    clv_tensor present = TOY_OP(t, "Concat", 1000, 8 * 32, past, to);
    t->types.of[past.i] =
        (clv_type){ .kind = CLV_TYPE_TENSOR, .dtype = CLV_DT_FLOAT, .rank = 2, .dims = before };
    t->types.of[present.i] =
        (clv_type){ .kind = CLV_TYPE_TENSOR, .dtype = CLV_DT_FLOAT, .rank = 2, .dims = after };
    toy_output(t, present);
    return present;
}

/* Three stages with a cache each: so many batches go round as are in flight, three at most, and
 * each stage has the caches of all of them. One stage has those of the one that it works on. */
static void check_caches(bool in_place)
{
    static const int32_t stages[] = { 0, 0, 1, 1, 2, 2 }, one[] = { 0, 0, 0, 0, 0, 0 };
    toy *t = new_toy(3, 1000 * KIB, 6);
    clv_tensor x = toy_input(t, 1024);
    for (int32_t s = 0; s < 3; s++) {
        x = TOY_OP(t, NULL, 1000, 32, x);
        appended(t, in_place, x);
    }
    toy_output(t, x);
    for (int32_t n = 1; n <= 5; n++) {
        clv_compile_report r;
        int64_t caches = (n < 3 ? n : 3) - 1, sent = n > 1 ? CLV_MEMORY_ALIGN : 0;
        compiled(t, n, stages, &r);
        cr_expect_eq(r.devices[0].in_flight_bytes, caches * 256 + (n > 1 ? 1024 : 0) + sent);
        cr_expect_eq(r.devices[1].in_flight_bytes, caches * 256 + 2 * sent);
        cr_expect_eq(r.devices[2].in_flight_bytes, caches * 256 + 2 * sent);
        compiled(t, n, one, &r);
        cr_expect_eq(r.devices[0].in_flight_bytes, (n > 1 ? 1024 : 0) + sent);
    }
    clv_arena_free(t->arena);
}

Test(in_flight, each_stage_has_the_states_of_all_batches_that_go_round)
{
    check_caches(true);
    check_caches(false);
}

/* -- training -- */

/* Two layers on two stages: x | a = f0(x) | b = f1(a) and back: gb = g1(b, a), ga = g0(gb, x, a).
 * Tensors of 1, 2, 4, 8 and 16 KiB. Units 2 and 3 are the backward pass. */
static clv_compile_report trained(int32_t microbatches, const int32_t *device_of, toy **ret)
{
    static const bool backward[] = { false, false, true, true };
    toy *t = new_toy(2, 1000 * KIB, 4);
    clv_compiler *c = NULL;
    clv_compile_report r;
    clv_verdict v;
    clv_tensor x = toy_input(t, 1 * KIB);
    clv_tensor a = TOY_OP(t, NULL, 1000, 2 * KIB, x);
    clv_tensor b = TOY_OP(t, NULL, 1000, 4 * KIB, a);
    clv_tensor gb = TOY_OP(t, NULL, 1000, 8 * KIB, b, a);
    TOY_OP(t, NULL, 1000, 16 * KIB, gb, x, a);
    cr_assert_eq(clv_builtin_open(&t->workload, 1, NULL, &c, NULL), CLV_OK);
    clv_builtin_set_backward(c, backward);
    c->microbatches = microbatches;
    cr_assert_eq(c->compile(c, &(clv_compile_worker){ 0, t->arena, NULL },
                            &(clv_assignment){ device_of, 0, NULL }, &v, &r, NULL),
                 CLV_OK);
    clv_compiler_close(c);
    *ret = t;
    return r;
}

/* Device 0 may keep two micro-batches between its passes: one more x and a. It has also the next x
 * (an input), sends a, and gets the next gb. Device 1 keeps one: nothing more; it gets the next a,
 * sends gb. */
Test(in_flight, a_training_stage_keeps_what_its_backward_part_reads)
{
    toy *t;
    clv_compile_report r = trained(5, (int32_t[]){ 0, 1, 1, 0 }, &t);
    cr_assert_eq(r.devices[0].in_flight_bytes, (1 + 2 + 1 + 2 + 8) * KIB);
    cr_assert_eq(r.devices[1].in_flight_bytes, (2 + 8) * KIB);
    clv_arena_free(t->arena);
    r = trained(1, (int32_t[]){ 0, 1, 1, 0 }, &t);
    cr_assert_eq(r.devices[0].in_flight_bytes, 0);
    clv_arena_free(t->arena);
}

/* Both passes on one device: one micro-batch at a time. */
Test(in_flight, one_training_stage_keeps_one)
{
    toy *t;
    clv_compile_report r = trained(5, (int32_t[]){ 0, 0, 0, 0 }, &t);
    cr_assert_eq(r.devices[0].in_flight_bytes, 1 * KIB, "the next x");
    clv_arena_free(t->arena);
}

/* Stage 0 runs f0 until 1000, stage 1 both of its parts, then stage 0 the last: filled when stage 1
 * starts, drained from its end. */
Test(in_flight, training_fills_with_the_forward_and_drains_with_the_backward_pass)
{
    toy *t;
    clv_compile_report r = trained(5, (int32_t[]){ 0, 1, 1, 0 }, &t);
    cr_assert_eq(r.fill_ns, 1000 + 2148);
    cr_assert_eq(r.drain_ns, 8292 + 1000);
    clv_arena_free(t->arena);
}

/* -- every slot counted: a device at level l works on micro-batch i in slot l + i -- */

typedef struct {
    const clv_program *p;
    const int32_t *device_of;
    int32_t n_devices, level[16];
} slots;

static int32_t device_of_reader(const slots *s, int32_t net, int32_t k)
{
    const clv_program *p = s->p;
    return s->device_of[p->segment_unit[p->edge_segment[p->net_edges[p->net_edge[net] + k]]]];
}

static int32_t device_of_writer(const slots *s, int32_t net)
{
    clv_op op = s->p->workload.units->order[s->p->position[s->p->net_slot[net]]];
    return s->device_of[s->p->workload.units->of[op.i]];
}

static bool is_read_on(const slots *s, int32_t net, int32_t device)
{
    for (int32_t k = 0; k < s->p->net_edge[net + 1] - s->p->net_edge[net]; k++)
        if (device_of_reader(s, net, k) == device)
            return true;
    return false;
}

static void find_levels(slots *s)
{
    for (int32_t round = 0; round < s->n_devices; round++)
        for (int32_t net = 0; net < s->p->n_nets; net++)
            for (int32_t d = 0; d < s->n_devices; d++) {
                int32_t from = device_of_writer(s, net);
                if (d != from && is_read_on(s, net, d) && s->level[d] <= s->level[from])
                    s->level[d] = s->level[from] + 1;
            }
}

/* Most micro-batches of which a tensor is on its reader's device in one slot. */
static int32_t most_in_a_slot(const slots *s, int32_t from, int32_t to, int32_t microbatches)
{
    int32_t most = 0;
    for (int32_t slot = 0; slot < microbatches + s->n_devices; slot++) {
        int32_t n = 0;
        for (int32_t i = 0; i < microbatches; i++)
            n += s->level[from] + i <= slot && slot <= s->level[to] + i;
        most = n > most ? n : most;
    }
    return most;
}

static int64_t count(const slots *s, const clv_group_result *result, int32_t device,
                     int32_t microbatches)
{
    int64_t sum = microbatches > 1 ? result->io_bytes : 0;
    for (int32_t net = 0; net < s->p->n_nets; net++) {
        int32_t from = device_of_writer(s, net), slot = s->p->net_slot[net];
        int64_t bytes = clv_align_bytes(s->p->bytes[slot]);
        bool is_sent = false;
        for (int32_t d = 0; d < s->n_devices; d++)
            is_sent |= d != from && is_read_on(s, net, d);
        if (device != from && is_read_on(s, net, device))
            sum += bytes * (most_in_a_slot(s, from, device, microbatches) - 1);
        else if (device == from && is_sent && microbatches > 1 &&
                 !(s->p->flags[slot] & CLV_SLOT_OUTPUT))
            sum += bytes;
    }
    return sum;
}

Test(in_flight, agrees_with_a_count_of_every_slot)
{
    for (uint32_t seed = 1; seed <= 300; seed++) {
        uint32_t random = seed * 7919 + 1;
        toy *t = new_toy(6, INT64_C(1) << 40, 60);
        toy_grow_random(t, 60, seed);
        clv_program *p = NULL;
        cr_assert_eq(clv_program_build(&t->workload, t->arena, &p, NULL), CLV_OK);
        int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, p->n_units);
        for (int32_t u = 1; u < p->n_units; u++) {
            bool next = toy_random(&random, 4) == 0 && device_of[u - 1] < 5;
            device_of[u] = device_of[u - 1] + next;
        }
        slots s = { .p = p, .device_of = device_of, .n_devices = 6 };
        find_levels(&s);
        int32_t microbatches = 1 + (int32_t)toy_random(&random, 9);
        clv_group_result results[6] = { { 0 } };
        int64_t found[6];
        for (int32_t d = 0; d < 6; d++)
            results[d].io_bytes = (int64_t)toy_random(&random, 1000);
        clv_candidate c = { .program = p, .device_of = device_of };
        cr_assert_eq(clv_in_flight_bytes(&c, results, microbatches, t->arena, found, NULL), CLV_OK);
        for (int32_t d = 0; d < 6; d++)
            cr_assert_eq(found[d], count(&s, &results[d], d, microbatches), "seed %u, device %d",
                         seed, (int)d);
        clv_arena_free(t->arena);
    }
}
