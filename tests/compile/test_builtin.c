#include "compile/builtin.h"

#include <criterion/criterion.h>
#include <time.h>

#include "compile/toy.h"

static toy *new_toy(int32_t n_devices, int64_t memory_bytes, int32_t n_ops)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    toy *t = CLV_NEW(arena, toy);
    toy_init(t, arena, n_ops + 8, 3 * n_ops + 16, 4 * n_ops + 16);
    toy_cluster(t, n_devices, memory_bytes, 100, 1e9);
    return t;
}

static void free_toy(toy *t) { clv_arena_free(t->arena); }

static clv_compiler *open_with(toy *t, size_t cache_bytes)
{
    clv_compiler *c = NULL;
    cr_assert_eq(clv_builtin_open_with(&t->workload, 1, cache_bytes, NULL, &c, NULL), CLV_OK);
    return c;
}

static clv_verdict compile(toy *t, clv_compiler *c, const int32_t *device_of, double proportion,
                           clv_compile_report *report)
{
    clv_verdict v;
    clv_mark mark = clv_arena_mark(t->arena);
    cr_assert_eq(c->compile(c, &(clv_compile_worker){ 0, t->arena, NULL },
                            &(clv_assignment){ device_of, proportion, NULL }, &v, report, NULL),
                 CLV_OK);
    if (!report)
        clv_arena_rewind(t->arena, mark);
    return v;
}

/* Three operators of 256 bytes in and out. Device 0 has weights of 9000, device 1 of 12000; each
 * may use 8192. Device 0: 9000 -> 9216, + 512 (x, a), lacks 1536. Device 1: 12000 -> 12032, + 512
 * (a, b), lacks 4352. Together 5888. */
/* covers: B.023 B.050 */
Test(builtin, says_who_lacks_most_and_how_much_all_lack)
{
    toy *t = new_toy(3, 8192, 3);
    clv_tensor x = toy_input(t, 256), w = toy_weight(t, 9000), v = toy_weight(t, 12000);
    clv_tensor a = TOY_OP(t, NULL, 1, 256, x, w);
    clv_tensor b = TOY_OP(t, NULL, 1, 256, a, v);
    TOY_OP(t, NULL, 1, 256, b);
    clv_compiler *c = open_with(t, CLV_GROUP_CACHE_BYTES);

    clv_verdict verdict = compile(t, c, (int32_t[]){ 0, 1, 2 }, 0, NULL);

    cr_assert_eq(verdict.outcome, CLV_OOM);
    cr_assert_eq(verdict.device, 1);
    cr_assert_eq(verdict.short_bytes, 4352);
    cr_assert_eq(verdict.total_short_bytes, 5888);
    clv_compiler_close(c);
    free_toy(t);
}

Test(builtin, fits_up_to_the_last_byte)
{
    toy *t = new_toy(1, 512, 1);
    clv_tensor x = toy_input(t, 256);
    TOY_OP(t, NULL, 1, 256, x);
    clv_compiler *c = open_with(t, 0);

    cr_assert_eq(compile(t, c, (int32_t[]){ 0 }, 0, NULL).outcome, CLV_FITS);
    t->kinds[0].memory_bytes--;
    clv_verdict v = compile(t, c, (int32_t[]){ 0 }, 0, NULL);

    cr_assert_eq(v.outcome, CLV_OOM);
    cr_assert_eq(v.short_bytes, 1);
    clv_compiler_close(c);
    free_toy(t);
}

/* Two caches of 2560 that grow to 2816: 5888 and the carry of 256 alive, more in one pass. */
Test(builtin, leaves_no_gaps_where_there_is_no_room_for_them)
{
    toy *t = new_toy(1, 100000, 4);
    clv_tensor carry = toy_input(t, 256), first = toy_input(t, 2560), second = toy_input(t, 2560);
    clv_tensor a = TOY_OP(t, NULL, 1, 2816, first, carry);
    carry = TOY_OP(t, NULL, 1, 256, carry, a);
    clv_tensor b = TOY_OP(t, NULL, 1, 2816, second, carry);
    TOY_OP(t, NULL, 1, 256, carry, b);
    toy_output(t, a);
    toy_output(t, b);
    clv_compiler *c = open_with(t, CLV_GROUP_CACHE_BYTES);
    clv_compile_report report;
    int32_t device_of[4] = { 0 };

    cr_assert_eq(compile(t, c, device_of, 0, &report).outcome, CLV_FITS);
    int64_t alive = report.devices[0].activation_bytes;
    cr_assert_gt(report.devices[0].peak_bytes, alive);
    t->kinds[0].memory_bytes = alive + t->kinds[0].reserved_bytes;
    cr_assert_eq(compile(t, c, device_of, 0, &report).outcome, CLV_FITS);
    cr_expect_eq(report.devices[0].peak_bytes, alive);
    t->kinds[0].memory_bytes--;
    clv_verdict v = compile(t, c, device_of, 0, NULL);

    cr_assert_eq(v.outcome, CLV_OOM);
    clv_compiler_close(c);
    free_toy(t);
}

/* 10,000 bytes; weights 4096, x and a 512, workspace wanted 8000. At 0.6: 6000 -> 6144, together
 * 10752, lacks 752. At 0.3: 3000 -> 3072, together 7680, fits, and takes longer. */
/* covers: B.024 */
Test(builtin, fits_with_a_lower_proportion_and_is_slower)
{
    toy *t = new_toy(1, 10000, 1);
    clv_tensor x = toy_input(t, 256), w = toy_weight(t, 4096);
    TOY_OP(t, NULL, 1000, 256, x, w);
    toy_last_cost(t)->workspace_bytes = 8000;
    toy_last_cost(t)->read_bytes = 1000000;
    t->kinds[0].memory_bytes_per_s = 1e9;
    clv_compiler *c = open_with(t, CLV_GROUP_CACHE_BYTES);

    clv_verdict full = compile(t, c, (int32_t[]){ 0 }, 0, NULL);
    clv_verdict low = compile(t, c, (int32_t[]){ 0 }, 0.3, NULL);

    cr_assert_eq(full.outcome, CLV_OOM);
    cr_assert_eq(full.short_bytes, 752);
    cr_assert_eq(low.outcome, CLV_FITS);
    cr_assert_gt(low.latency_ns, full.latency_ns);
    clv_compiler_close(c);
    free_toy(t);
}

Test(builtin, reports_what_is_in_memory_at_the_fullest_moment)
{
    toy *t = new_toy(2, 100000, 3);
    clv_tensor x = toy_input(t, 256), w = toy_weight(t, 1000);
    clv_tensor a = TOY_OP(t, NULL, 10, 5000, x, w);
    clv_tensor b = TOY_OP(t, NULL, 20, 7000, a);
    toy_last_cost(t)->workspace_bytes = 300;
    TOY_OP(t, NULL, 30, 100, b);
    toy_last_cost(t)->workspace_bytes = 900; /* with less beside it */
    clv_compiler *c = open_with(t, CLV_GROUP_CACHE_BYTES);
    clv_compile_report r;

    compile(t, c, (int32_t[]){ 0, 0, 0 }, 0, &r);

    const clv_device_report *d = &r.devices[0];
    cr_assert_eq(d->peak_op.i, 1, "a and b together");
    cr_assert_eq(d->n_live, 2);
    cr_assert_eq(d->live[0].tensor.i, b.i, "largest first");
    cr_assert_eq(d->live[0].bytes, 7000);
    cr_assert_eq(d->live[1].tensor.i, a.i);
    cr_assert_geq(d->live[1].offset, 1024, "above the weights");
    cr_assert_eq(d->activation_bytes, 5120 + 7168);
    cr_assert_eq(d->weight_bytes, 1000);
    cr_assert_eq(d->workspace_bytes, 300);
    cr_assert_eq(d->capacity_bytes, 100000);
    cr_assert_eq(d->busy_ns, 60);
    cr_assert_eq(d->flops, 60);
    cr_assert_eq(d->n_ops, 3);
    cr_assert_eq(r.devices[1].peak_op.i, -1);
    cr_assert_eq(r.devices[1].peak_bytes, 0);
    clv_compiler_close(c);
    free_toy(t);
}

Test(builtin, takes_each_device_by_its_own_kind)
{
    toy *t = new_toy(2, 100000, 2);
    clv_tensor x = toy_input(t, 256);
    TOY_OP(t, NULL, 100, 256, x);
    ((clv_device *)t->cluster.devices)[1].kind = 1; /* half as fast */
    clv_compiler *c = open_with(t, CLV_GROUP_CACHE_BYTES);

    cr_assert_eq(compile(t, c, (int32_t[]){ 0 }, 0, NULL).latency_ns, 100);
    cr_assert_eq(compile(t, c, (int32_t[]){ 1 }, 0, NULL).latency_ns, 200);
    clv_compiler_close(c);
    free_toy(t);
}

static void pick(toy *t, int32_t *device_of, uint32_t seed)
{
    uint32_t random = seed + 17;
    int32_t n = t->cluster.n_devices;
    for (int32_t u = 0; u < t->units.n; u++)
        device_of[u] = seed % 3 == 0 ? (int32_t)toy_random(&random, (uint32_t)n)
                                     : (int32_t)((int64_t)u * n / t->units.n);
    if (seed % 3 == 1) /* one boundary moved by one */
        for (int32_t u = 1; u < t->units.n; u++)
            if (device_of[u] != device_of[u - 1]) {
                device_of[u] = device_of[u - 1];
                break;
            }
}

static void expect_same(const clv_verdict *a, const clv_verdict *b, uint32_t seed)
{
    cr_assert(a->outcome == b->outcome && a->device == b->device &&
                  a->short_bytes == b->short_bytes &&
                  a->total_short_bytes == b->total_short_bytes && a->latency_ns == b->latency_ns &&
                  a->period_ns == b->period_ns,
              "seed %u", seed);
}

/* Also with a cache so small that it starts anew all the time. */
Test(builtin, judges_the_same_with_and_without_memory_of_groups)
{
    toy *t = new_toy(4, 60000, 300);
    toy_grow_random(t, 300, 5);
    ((clv_device *)t->cluster.devices)[3].kind = 1;
    int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, t->units.n);
    clv_compiler *none = open_with(t, 0), *tiny = open_with(t, 12000);
    clv_compiler *full = open_with(t, CLV_GROUP_CACHE_BYTES);

    for (uint32_t round = 0; round < 120; round++) {
        static const double proportions[] = { 0, 0.3, 0.1, 0.6 };
        double proportion = proportions[round / 30];
        pick(t, device_of, round % 30);
        clv_verdict a = compile(t, none, device_of, proportion, NULL);
        clv_verdict b = compile(t, tiny, device_of, proportion, NULL);
        clv_verdict c = compile(t, full, device_of, proportion, NULL);
        expect_same(&a, &b, round);
        expect_same(&a, &c, round);
    }
    cr_assert_eq(clv_builtin_cache_hits(none), 0);
    cr_assert_gt(clv_builtin_cache_hits(full), 100);
    clv_compiler_close(none);
    clv_compiler_close(tiny);
    clv_compiler_close(full);
    free_toy(t);
}

/* 16 groups; a boundary moves by one unit: 14 groups are found, 2 laid out. */
Test(builtin, lays_out_two_groups_when_a_boundary_moves)
{
    toy *t = new_toy(16, 10000000, 400);
    toy_grow_random(t, 400, 2);
    int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, t->units.n);
    clv_compiler *c = open_with(t, CLV_GROUP_CACHE_BYTES);

    pick(t, device_of, 2);
    compile(t, c, device_of, 0, NULL);
    cr_assert_eq(clv_builtin_cache_hits(c), 0);
    pick(t, device_of, 1);
    compile(t, c, device_of, 0, NULL);

    cr_assert_eq(clv_builtin_cache_hits(c), 14);
    clv_compiler_close(c);
    free_toy(t);
}

/* An allocator that gives out so many times only. */
static void *counted(void *ctx, void *p, size_t size)
{
    int *left = ctx;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return --*left < 0 ? NULL : realloc(p, size);
}

Test(builtin, survives_running_out_of_memory_anywhere)
{
    toy *t = new_toy(3, 60000, 60);
    toy_grow_random(t, 60, 9);
    int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, t->units.n);
    clv_status s = CLV_ENOMEM;
    pick(t, device_of, 2);
    for (int limit = 0; s != CLV_OK; limit++) {
        int left = limit;
        clv_alloc alloc = { counted, &left };
        clv_compiler *c = NULL;
        clv_compile_report report;
        clv_verdict v = { .latency_ns = -5 };
        clv_arena *arena = clv_arena_new(&alloc, 0);
        s = clv_builtin_open(&t->workload, 1, &alloc, &c, NULL);
        cr_assert(s == CLV_OK ? c != NULL : s == CLV_ENOMEM && c == NULL);
        if (s == CLV_OK)
            s = arena ? c->compile(c, &(clv_compile_worker){ 0, arena, NULL },
                                   &(clv_assignment){ device_of, 0, NULL }, &v, &report, NULL)
                      : CLV_ENOMEM;
        cr_assert(s == CLV_OK || (s == CLV_ENOMEM && v.latency_ns == -5));
        clv_arena_free(arena);
        clv_compiler_close(c);
    }
    free_toy(t);
}

static double ms_since(struct timespec from)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - from.tv_sec) * 1e3 + (double)(now.tv_nsec - from.tv_nsec) / 1e6;
}

/* Linear in the model: a million operators within seconds even with sanitizers and a busy machine;
 * anything quadratic would take hours. Times go to the log. */
Test(builtin, judges_a_million_operators, .timeout = 120)
{
    static const int32_t sizes[] = { 28000, 1000000 };
    for (int k = 0; k < 2; k++) {
        toy *t = new_toy(16, INT64_C(1) << 40, sizes[k]);
        toy_grow_random(t, sizes[k], 1);
        int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, t->units.n);
        struct timespec start;
        clock_gettime(CLOCK_MONOTONIC, &start);
        clv_compiler *c = open_with(t, CLV_GROUP_CACHE_BYTES);
        double opened = ms_since(start);
        pick(t, device_of, 2);
        compile(t, c, device_of, 0, NULL);
        double first = ms_since(start) - opened;
        pick(t, device_of, 1);
        clock_gettime(CLOCK_MONOTONIC, &start);
        compile(t, c, device_of, 0, NULL);
        cr_log_info("%d operators: open %.1f ms and %.0f MB, first %.1f ms, next %.1f ms", sizes[k],
                    opened, (double)clv_builtin_bytes(c) / 1e6, first, ms_since(start));
        cr_assert_leq(clv_builtin_bytes(c), (size_t)sizes[k] * 150 + 65536);
        cr_assert_eq(clv_builtin_cache_hits(c), 14);
        clv_compiler_close(c);
        free_toy(t);
    }
}
