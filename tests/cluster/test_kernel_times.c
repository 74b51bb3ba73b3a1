#include "cluster/kernel_times.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cluster/device_file.h"
#include "cluster/expert_load.h"
#include "cluster/kernel_times_json.h"

static clv_arena *arena;
static clv_device_kind device;

/* What is in the tree for an H100: the tests are of tables as they are used. */
static void open_device(void)
{
    const char *configs = TEST_SOURCE_DIR "/configs";
    arena = clv_arena_new(NULL, 0);
    clv_error err = { 0 };
    cr_assert_eq(clv_device_load("h100-sxm", configs, arena, &device, &err), CLV_OK, "%s",
                 err.message);
    cr_assert_eq(clv_device_load_times(&device, configs, arena, &err), CLV_OK, "%s", err.message);
    cr_assert_not_null(device.times);
}
static void close_device(void) { clv_arena_free(arena); }
TestSuite(kernel_times, .init = open_device, .fini = close_device);

static clv_roofline floor_of(void)
{
    return (clv_roofline){ 989.4e12, device.memory_bytes_per_s, device.cache_bytes };
}

static double ns_of(const clv_kernel_shape *s, clv_dtype math)
{
    clv_roofline floor = floor_of();
    double ns = -1;
    cr_assert(clv_kernel_times_ns(device.times, s, math, &floor, &ns));
    return ns;
}

static clv_kernel_shape product(int64_t m, int64_t n, int64_t k)
{
    return (clv_kernel_shape){
        .kind = CLV_SHAPE_PRODUCT, .weights = CLV_DT_BFLOAT16, .batch = 1, .m = m, .n = n, .k = k
    };
}

static clv_kernel_shape attention(int64_t queries, int64_t keys)
{
    return (clv_kernel_shape){ .kind = CLV_SHAPE_ATTENTION,
                               .weights = CLV_DT_BFLOAT16,
                               .batch = 2,
                               .heads = 32,
                               .kv_heads = 8,
                               .queries = queries,
                               .keys = keys,
                               .width = 128,
                               .causal = true };
}

static clv_kernel_shape mixture(int64_t tokens, double skew)
{
    return (clv_kernel_shape){ .kind = CLV_SHAPE_EXPERTS,
                               .weights = CLV_DT_BFLOAT16,
                               .tokens = tokens,
                               .hidden = 4096,
                               .intermediate = 1536,
                               .experts = 128,
                               .top_k = 8,
                               .parts = 8,
                               .skew = skew,
                               .gated = true };
}

/* -- products -- */

Test(kernel_times, a_product_is_between_its_start_and_a_tenth_of_the_peak)
{
    clv_kernel_shape small = product(1, 64, 64), large = product(4096, 8192, 8192);
    double start = 0;
    cr_assert(clv_start_ns(device.times, &start));
    cr_expect(start > 1000 && start < 10000);
    cr_expect_geq(ns_of(&small, CLV_DT_BFLOAT16), start * 0.8);
    double least = 2.0 * 4096 * 8192 * 8192 / 989.4e12 * 1e9;
    double ns = ns_of(&large, CLV_DT_BFLOAT16);
    cr_expect(ns > least && ns < 2 * least, "%g %g", ns, least);
}

Test(kernel_times, types_stand_for_others_or_are_not_measured)
{
    clv_kernel_shape p = product(4096, 4096, 4096), half = p, whole = p, exact = p;
    double ns;
    half.weights = CLV_DT_FLOAT16;
    whole.weights = CLV_DT_FLOAT;
    exact.weights = CLV_DT_DOUBLE;
    cr_expect_float_eq(ns_of(&half, CLV_DT_FLOAT16), ns_of(&p, CLV_DT_BFLOAT16), 0);
    p.weights = CLV_DT_FLOAT8E5M2;
    cr_expect_lt(ns_of(&p, CLV_DT_FLOAT8E4M3FN), ns_of(&half, CLV_DT_BFLOAT16));
    double twice = ns_of(&whole, CLV_DT_FLOAT) / ns_of(&half, CLV_DT_BFLOAT16);
    cr_expect(twice > 1.5 && twice < 3, "TF32 has half the rate: %g", twice);
    cr_expect_not(clv_kernel_times_ns(device.times, &exact, CLV_DT_DOUBLE, NULL, &ns));
    cr_expect_not(clv_kernel_times_ns(device.times, &(clv_kernel_shape){ .kind = CLV_SHAPE_NONE },
                                      CLV_DT_BFLOAT16, NULL, &ns));
}

Test(kernel_times, a_batch_reads_as_many_second_operands)
{
    clv_kernel_shape one = product(8, 4096, 4096), many = one;
    many.batch = 64;
    double moves = 64.0 * 2 * 4096 * 4096 / 3.35e12 * 1e9;
    cr_expect_geq(ns_of(&many, CLV_DT_BFLOAT16), 0.95 * moves);
    cr_expect_gt(ns_of(&many, CLV_DT_BFLOAT16), 10 * ns_of(&one, CLV_DT_BFLOAT16));
}

/* The cache of an L40S holds them, but a model has more of them. */
Test(kernel_times, weights_come_from_memory)
{
    const char *configs = TEST_SOURCE_DIR "/configs";
    clv_error err = { 0 };
    cr_assert_eq(clv_device_load("l40s", configs, arena, &device, &err), CLV_OK);
    cr_assert_eq(clv_device_load_times(&device, configs, arena, &err), CLV_OK, "%s", err.message);
    for (int64_t n = 128; n <= 8192; n *= 2) {
        clv_kernel_shape p = product(1, n, 4096);
        clv_roofline floor = floor_of();
        double ns, moves = 1e9 * 2 * 4096 * (double)n / device.memory_bytes_per_s;
        cr_assert(clv_kernel_times_ns(device.times, &p, CLV_DT_BFLOAT16, &floor, &ns));
        cr_expect_geq(ns, moves, "%g", (double)n);
        cr_expect_leq(ns, 6000 + 1.3 * moves, "%g: %g, %g", (double)n, ns, moves);
    }
    const clv_roofline floor = { 1e15, 1e12, 1000000 };
    cr_expect_float_eq(clv_roofline_ns(&floor, (clv_kernel_work){ 0, 3e6, 2e6 }), 2e6 / 1e3, 1e-6);
    cr_expect_float_eq(clv_roofline_ns(&floor, (clv_kernel_work){ 0, 4e6, 2e6 }), 3e6 / 1e3, 1e-6);
    cr_expect_float_eq(clv_roofline_ns(&floor, (clv_kernel_work){ 4e9, 3e6, 2e6 }), 4e3, 1e-6);
}

/* -- monotone -- */

static int64_t any_size(int bits) { return (int64_t)exp2(rand() % (bits * 64) / 64.0); }

static void must_not_fall(const clv_kernel_shape *less, const clv_kernel_shape *more)
{
    double a = ns_of(less, CLV_DT_BFLOAT16), b = ns_of(more, CLV_DT_BFLOAT16);
    cr_assert_leq(a, b * (1 + 1e-12));
}

Test(kernel_times, a_larger_product_is_never_faster)
{
    srand(1);
    for (int i = 0; i < 20000; i++) {
        clv_kernel_shape p = product(any_size(18), any_size(18), any_size(18)), q = p;
        q.m += i % 3 == 0 ? any_size(12) : 0;
        q.n += i % 3 == 1 ? any_size(12) : 0;
        q.k += i % 3 == 2 ? any_size(12) : 0;
        must_not_fall(&p, &q);
    }
}

Test(kernel_times, more_keys_or_requests_are_never_faster)
{
    srand(2);
    for (int i = 0; i < 20000; i++) {
        int64_t keys = any_size(17), more = keys + any_size(14);
        bool decode = i % 2;
        clv_kernel_shape a = attention(decode ? 1 : keys, keys), b = a;
        a.kv_heads = b.kv_heads = INT64_C(1) << (rand() % 6);
        a.batch = b.batch = any_size(8);
        if (i % 4 < 2) {
            b.batch += any_size(6);
        } else {
            b.keys = more;
            b.queries = decode ? 1 : more;
        }
        if (a.queries > 1 || decode)
            must_not_fall(&a, &b);
    }
}

Test(kernel_times, more_tokens_are_never_faster_for_even_experts)
{
    double before = 0;
    for (int64_t tokens = 1; tokens < 40000; tokens += 1 + tokens / 16) {
        clv_kernel_shape s = mixture(tokens, 0);
        double ns = ns_of(&s, CLV_DT_BFLOAT16);
        cr_expect_leq(before, ns * (1 + 1e-12), "%lld tokens", (long long)tokens);
        before = ns;
    }
}

/* -- attention in between -- */

Test(kernel_times, queries_with_a_past_are_between_one_and_all)
{
    clv_kernel_shape one = attention(1, 8192), some = attention(512, 8192),
                     all = attention(8192, 8192), own = attention(512, 512);
    double ns = ns_of(&some, CLV_DT_BFLOAT16);
    cr_expect_geq(ns, ns_of(&one, CLV_DT_BFLOAT16));
    cr_expect_geq(ns, ns_of(&own, CLV_DT_BFLOAT16));
    cr_expect_lt(ns, ns_of(&all, CLV_DT_BFLOAT16) / 4);
}

Test(kernel_times, a_chunk_of_all_keys_is_plain_attention)
{
    clv_kernel_shape all = attention(4096, 4096), nearly = attention(4095, 4096);
    cr_expect_float_eq(ns_of(&nearly, CLV_DT_BFLOAT16) / ns_of(&all, CLV_DT_BFLOAT16), 1, 0.01);
}

Test(kernel_times, without_a_mask_twice_the_work)
{
    clv_kernel_shape masked = attention(8192, 8192), full = masked;
    full.causal = false;
    masked.weights = full.weights =
        CLV_DT_FLOAT8E4M3FN; /* of which only causal ones are measured */
    double ratio = ns_of(&full, CLV_DT_FLOAT8E4M3FN) / ns_of(&masked, CLV_DT_FLOAT8E4M3FN);
    cr_expect(ratio > 1.6 && ratio < 2.4, "%g", ratio);
    full.keys = 77; /* of a text, by the pixels of an image */
    cr_expect_lt(ns_of(&full, CLV_DT_FLOAT8E4M3FN), ns_of(&masked, CLV_DT_FLOAT8E4M3FN));
}

/* 24 heads of 128, 4096 tokens: 325 us measured; a text of 77 tokens is as many scores as 562 by
 * 562. */
Test(kernel_times, attention_of_encoders_is_measured_by_itself)
{
    clv_kernel_shape image = { .kind = CLV_SHAPE_ATTENTION,
                               .weights = CLV_DT_BFLOAT16,
                               .batch = 1,
                               .heads = 24,
                               .kv_heads = 24,
                               .queries = 4096,
                               .keys = 4096,
                               .width = 128 };
    clv_kernel_shape text = image, square = image;
    cr_expect_float_eq(ns_of(&image, CLV_DT_BFLOAT16), 325e3, 33e3);
    text.keys = 77;
    square.queries = square.keys = 562; /* sqrt(4096 * 77) is 561.6 */
    cr_expect_float_eq(ns_of(&text, CLV_DT_BFLOAT16) / ns_of(&square, CLV_DT_BFLOAT16), 1, 0.01);
}

/* -- convolutions -- */

/* A layer of ResNet-50, 64 images of 28 by 28, 128 channels in and out: 31 us measured in 16 bits,
 * 57 in TF32. */
Test(kernel_times, a_convolution_is_measured_by_its_unfolded_sizes)
{
    clv_kernel_shape c = product(64 * 28 * 28, 128, 9 * 128), twin;
    c.taps = 9;
    cr_expect_float_eq(ns_of(&c, CLV_DT_FLOAT16), 31e3, 3e3);
    twin = c;
    twin.weights = CLV_DT_FLOAT;
    cr_expect_float_eq(ns_of(&twin, CLV_DT_FLOAT), 57e3, 6e3);
    twin = c;
    twin.taps = 1; /* a kernel of one element is a product: it reads nine times as much */
    cr_expect_gt(ns_of(&twin, CLV_DT_BFLOAT16), 1.3 * ns_of(&c, CLV_DT_BFLOAT16));
    c.weights = CLV_DT_FLOAT8E4M3FN; /* no convolution of 8 bits is measured: like a product */
    twin = c;
    twin.taps = 0;
    cr_expect_leq(ns_of(&c, CLV_DT_FLOAT8E4M3FN), ns_of(&twin, CLV_DT_FLOAT8E4M3FN));
}

Test(kernel_times, sizes_that_make_no_sense_are_not_measured)
{
    double ns;
    clv_kernel_shape a = attention(1, 128), e = mixture(0, 0), p = product(0, 1, 1);
    a.kv_heads = 0;
    cr_expect_not(clv_kernel_times_ns(device.times, &a, CLV_DT_BFLOAT16, NULL, &ns));
    cr_expect_not(clv_kernel_times_ns(device.times, &e, CLV_DT_BFLOAT16, NULL, &ns));
    cr_expect_not(clv_kernel_times_ns(device.times, &p, CLV_DT_BFLOAT16, NULL, &ns));
}

/* -- experts -- */

Test(kernel_times, even_experts_share_tokens_out)
{
    clv_expert_load load;
    clv_kernel_shape s = mixture(1024, 0);
    cr_assert(clv_expert_load_of(&s, &load));
    cr_expect_float_eq(load.rows, 1024, 0, "8 rows a token, an eighth of them");
    cr_expect_float_eq(load.hit, 16, 0);
}

Test(kernel_times, a_power_law_fills_one_device_more_than_the_others)
{
    clv_expert_load even, some, much;
    clv_kernel_shape s = mixture(1024, 0);
    cr_assert(clv_expert_load_of(&s, &even));
    s.skew = 1;
    cr_assert(clv_expert_load_of(&s, &some));
    s.skew = 1.2;
    cr_assert(clv_expert_load_of(&s, &much));
    cr_expect(even.rows < some.rows && some.rows < much.rows);
    cr_expect(much.rows < 8 * even.rows && much.hit <= 16);
    s.experts = CLV_EXPERTS_MAX + 1;
    cr_expect_not(clv_expert_load_of(&s, &much));
}

/* -- collectives and memory -- */

static double collective(clv_timed_operation operation, int32_t devices, int64_t bytes)
{
    double ns = -1;
    clv_timed_collective c = { operation, devices, bytes };
    cr_assert(clv_collective_ns(device.times, &c, &ns));
    return ns;
}

Test(kernel_times, collectives_between_numbers_that_were_measured)
{
    double ns;
    double two = collective(CLV_TIMED_ALL_GATHER, 2, 1 << 26);
    double three = collective(CLV_TIMED_ALL_GATHER, 3, 1 << 26);
    double four = collective(CLV_TIMED_ALL_GATHER, 4, 1 << 26);
    cr_expect((two <= three && three <= four) || (two >= three && three >= four));
    clv_timed_collective many = { CLV_TIMED_ALL_GATHER, 9, 1 << 20 };
    cr_expect_not(clv_collective_ns(device.times, &many, &ns));
    cr_expect_lt(collective(CLV_TIMED_ALL_REDUCE, 8, 1 << 16),
                 collective(CLV_TIMED_ALL_REDUCE, 8, 1 << 26));
}

Test(kernel_times, reading_much_is_near_the_data_sheet)
{
    double ns, more;
    cr_assert(clv_memory_ns(device.times, 1e9, &ns));
    cr_expect(1e9 / ns > 2000 && 1e9 / ns < 3350, "%g GB/s", 1e9 / ns);
    cr_assert(clv_memory_ns(device.times, 1e12, &more));
    cr_expect_gt(more, 900 * ns);
}

/* -- what describes devices -- */

Test(kernel_times, every_device_that_names_tables_has_them)
{
    static const char *const names[] = { "a100-80gb", "h100-sxm", "h200", "b200", "l40s" };
    const char *configs = TEST_SOURCE_DIR "/configs";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        clv_device_kind k = { 0 };
        cr_assert_eq(clv_device_load(names[i], configs, arena, &k, NULL), CLV_OK);
        cr_assert_eq(clv_device_load_times(&k, configs, arena, NULL), CLV_OK);
        cr_assert_not_null(k.times);
        cr_expect_str_eq(k.times->name, names[i]);
        cr_expect_gt(k.cache_bytes, 0);
    }
}

Test(kernel_times, tables_that_are_not_there)
{
    clv_error err = { 0 };
    clv_device_kind k = { .name = "d", .measured = "nowhere" };
    cr_assert_eq(clv_device_load_times(&k, TEST_SOURCE_DIR "/configs", arena, &err), CLV_EFORMAT);
    cr_expect(
        strstr(err.message, "device 'd': measured is 'nowhere', which is not there; known are"),
        "%s", err.message);
    k.measured = "../x.json";
    cr_assert_eq(clv_device_load_times(&k, TEST_SOURCE_DIR "/configs", arena, &err), CLV_EFORMAT,
                 "no folder");
}
