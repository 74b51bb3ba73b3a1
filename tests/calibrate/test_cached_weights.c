#include "calibrate/cached_weights.h"

#include <criterion/criterion.h>
#include <math.h>

#include "calibrate/measured_fit.h"

#define MEMORY_RATE 1e12 /* bytes a second */
#define CACHE_RATE  5e12
#define CACHE_BYTES (64 << 20)

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(cached_weights, .init = open_arena, .fini = close_arena);

static clv_device_kind device_of(void)
{
    clv_device_kind d = { .memory_bytes_per_s = MEMORY_RATE, .cache_bytes = CACHE_BYTES };
    for (int t = 0; t < CLV_N_DTYPES; t++)
        d.matrix_per_s[t] = 400e12;
    d.matrix_efficiency = 1;
    return d;
}

static clv_timed_point product(double m, double n, double k)
{
    return (clv_timed_point){ CLV_TIMED_PRODUCT, CLV_DT_BFLOAT16, CLV_DT_BFLOAT16, { m, n, k } };
}

static double weights(const clv_timed_point *p) { return 2 * p->at[1] * p->at[2]; }

/* As a collector measures it: copies of weights in turn, at most five. */
static double measured_ns(const clv_timed_point *p, const clv_device_kind *d, double cache_rate)
{
    double rate = clv_weights_were_cached(p, d) ? cache_rate : MEMORY_RATE;
    clv_kernel_work work = clv_timed_point_work(p);
    double beside = fmax(work.bytes - work.streamed - CACHE_BYTES, 0);
    return CLV_KERNEL_START_NS +
           1e9 * (weights(p) / rate + beside / MEMORY_RATE + work.flops / 400e12);
}

static clv_measured_rows rows_of(const clv_device_kind *d, double cache_rate)
{
    static const double ms[] = { 1, 4, 16, 64, 256, 1024, 4096 };
    clv_measured_rows rows = { CLV_NEW_ARRAY(arena, clv_measured_row, 7 * 14 * 14), 0,
                               7 * 14 * 14 };
    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 14; b++)
            for (int c = 0; c < 14; c++) {
                clv_timed_point p = product(ms[a], 64 * exp2(b * 0.7), 64 * exp2(c * 0.7));
                rows.at[rows.n] = (clv_measured_row){ .point = p,
                                                      .ns = measured_ns(&p, d, cache_rate),
                                                      .hash = (uint64_t)rows.n * 7919 / 11 };
                rows.n++;
            }
    return rows;
}

static clv_kernel_times fit(const clv_measured_rows *rows, const clv_device_kind *d,
                            clv_measured_errors *errors)
{
    clv_kernel_times times;
    clv_error err = { 0 };
    cr_assert_eq(clv_measured_fit(rows, d, arena, &times, errors, &err), CLV_OK, "%s", err.message);
    return times;
}

static const clv_timed_table *find(const clv_kernel_times *times, clv_timed kind)
{
    return clv_timed_table_find(times, kind, CLV_DT_BFLOAT16, CLV_DT_BFLOAT16);
}

Test(cached_weights, five_copies_at_most_and_what_lies_beside)
{
    clv_device_kind d = device_of();
    double fifth = CACHE_BYTES / 5.0 / 2 / 1024; /* columns of 1024 that are a fifth of the cache */
    clv_timed_point small = product(1, 8, 8), at = product(8, 1024, floor(fifth)),
                    above = product(8, 1024, ceil(fifth) + 64), half = product(8, 16384, 1024),
                    whole = product(8, 32768, 1024), larger = product(8, 32768, 1025),
                    wide = product(1 << 20, 64, 64), other = at;
    other.kind = CLV_TIMED_CONVOLUTION;
    cr_expect(clv_weights_were_cached(&small, &d));
    cr_expect(clv_weights_were_cached(&at, &d));
    cr_expect_not(clv_weights_were_cached(&above, &d), "five copies do not fit");
    cr_expect(clv_weights_were_cached(&half, &d), "two copies fill it");
    cr_expect(clv_weights_were_cached(&whole, &d), "one copy fills it");
    cr_expect_not(clv_weights_were_cached(&larger, &d));
    cr_expect_not(clv_weights_were_cached(&wide, &d), "what is read beside does not fit");
    cr_expect_not(clv_weights_were_cached(&other, &d));
    d.cache_bytes = 0;
    cr_expect_not(clv_weights_were_cached(&small, &d));
}

Test(cached_weights, a_fast_cache_has_a_table_of_its_own)
{
    clv_device_kind d = device_of();
    clv_measured_errors errors;
    clv_measured_rows rows = rows_of(&d, CACHE_RATE);
    clv_kernel_times times = fit(&rows, &d, &errors);
    const clv_timed_table *memory = find(&times, CLV_TIMED_PRODUCT);
    const clv_timed_table *cached = find(&times, CLV_TIMED_PRODUCT_CACHED);
    cr_assert(memory && cached);
    cr_expect_eq(errors.n, 1, "they count as one kind");
    cr_expect_lt(errors.at[0].p95, 0.1, "%g", errors.at[0].p95);
    cr_expect_float_eq(memory->p95_error, errors.at[0].p95, 1e-9);
    /* as if their weights came from memory, which is what they do in a model */
    for (int32_t i = 0; i < rows.n; i++) {
        const clv_timed_point *p = &rows.at[i].point;
        double ns = clv_time_table_ns(&memory->table, p->at);
        double least = 1e9 * weights(p) / MEMORY_RATE;
        cr_expect_geq(ns, 0.97 * least, "%g %g %g", p->at[0], p->at[1], p->at[2]);
        cr_expect_leq(ns, 1.15 * measured_ns(p, &d, MEMORY_RATE), "%g %g %g: %g, %g", p->at[0],
                      p->at[1], p->at[2], ns, measured_ns(p, &d, MEMORY_RATE));
    }
}

Test(cached_weights, else_there_is_one_table)
{
    clv_device_kind d = device_of();
    clv_measured_errors errors;
    clv_measured_rows rows = rows_of(&d, MEMORY_RATE);
    clv_kernel_times times = fit(&rows, &d, &errors);
    cr_expect(find(&times, CLV_TIMED_PRODUCT) && !find(&times, CLV_TIMED_PRODUCT_CACHED));
    rows = rows_of(&d, CACHE_RATE);
    d.cache_bytes = 0; /* nobody says that there is a cache */
    times = fit(&rows, &d, &errors);
    cr_expect_not_null(find(&times, CLV_TIMED_PRODUCT));
    cr_expect_null(find(&times, CLV_TIMED_PRODUCT_CACHED));
}
