/* test_fit.c - times made from known numbers give those numbers back. */
#include "calibrate/fit.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { SCALE = 3, COPY = 5, PRODUCT = 9 }; /* lines of operators that need not exist */

#define LAUNCH   2e-6
#define VECTOR   5e9
#define BYTES    20e9
#define MATRIX   80e9
#define STREAM   10e9
#define N_POINTS 11

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(fit, .init = open_arena, .fini = close_arena);

static double larger(double a, double b) { return a > b ? a : b; }

/* factor[i] is what noise makes of the i-th time; NULL: none. Out of order, as points may be. */
static int32_t make(clv_fit_point *at, const double *factor)
{
    static const double elements[] = { 512, 16384, 131072 };
    static const double products[][2] = { /* FLOPs, bytes */
                                          { 67e6, 1.5e6 },
                                          { 33e6, 1e6 },
                                          { 134e6, 2e6 },
                                          { 2e6, 4e6 },
                                          { 4e6, 8e6 }
    };
    int32_t n = 0;

    for (int i = 0; i < 3; i++) {
        double e = elements[i];
        at[n++] =
            (clv_fit_point){ PRODUCT, products[i][0], 0, products[i][1],
                             LAUNCH + larger(products[i][0] / MATRIX, products[i][1] / STREAM) };
        /* bytes do not go along with arithmetic here, and the other way round */
        at[n++] = (clv_fit_point){ COPY, 0, 7 * e * (1 + i % 2), 8 * e, LAUNCH + 8 * e / BYTES };
        at[n++] = (clv_fit_point){ SCALE, 0, 8 * e, 4 * e * (1 + i % 2), LAUNCH + 8 * e / VECTOR };
    }
    for (int i = 3; i < 5; i++)
        at[n++] =
            (clv_fit_point){ PRODUCT, products[i][0], 0, products[i][1],
                             LAUNCH + larger(products[i][0] / MATRIX, products[i][1] / STREAM) };
    for (int i = 0; factor && i < n; i++)
        at[i].seconds *= factor[i];
    return n;
}

static clv_fit fit_of(const clv_fit_point *at, int32_t n)
{
    clv_fit fit;
    clv_error err = { 0 };

    cr_assert_eq(clv_fit_points(at, n, arena, &fit, &err), CLV_OK, "%s", err.message);
    return fit;
}

static void near(const char *what, double got, double wanted, double part)
{
    cr_expect(fabs(got / wanted - 1) <= part, "%s is %g, expected %g within %g", what, got, wanted,
              part);
}

static void check_all(const clv_fit *fit, double part)
{
    cr_assert_eq(fit->n_ops, 3);
    cr_assert(fit->ops[0].speed == SCALE && fit->ops[1].speed == COPY &&
              fit->ops[2].speed == PRODUCT);
    near("arithmetic", fit->ops[0].vector_per_s, VECTOR, part);
    cr_expect_eq(fit->ops[0].bytes_per_s, 0);
    near("copying", fit->ops[1].bytes_per_s, BYTES, part);
    cr_expect_eq(fit->ops[1].vector_per_s, 0);
    near("products", fit->ops[2].matrix_per_s, MATRIX, part);
    near("streams", fit->ops[2].bytes_per_s, STREAM, part);
    near("launch", fit->launch_s, LAUNCH, 2 * part);
}

Test(fit, known_numbers_come_back)
{
    clv_fit_point at[N_POINTS];
    clv_fit fit = fit_of(at, make(at, NULL));

    check_all(&fit, 0.01);
    cr_expect_lt(fit.error, 0.01);
    for (int i = 0; i < 3; i++)
        cr_expect_lt(fit.ops[i].error, 0.01);
}

Test(fit, noise_moves_them_by_no_more_than_itself)
{
    static const double factor[N_POINTS] = { 1.08, 0.95, 1.02, 0.93, 1.07, 0.97,
                                             1.00, 1.05, 0.94, 1.06, 0.96 };
    clv_fit_point at[N_POINTS];
    clv_fit fit = fit_of(at, make(at, factor));

    check_all(&fit, 0.1);
    cr_expect(fit.error > 0.001 && fit.error < 0.1);
}

Test(fit, the_order_of_points_does_not_count)
{
    clv_fit_point at[N_POINTS], back[N_POINTS];
    int32_t n = make(at, NULL);

    for (int32_t i = 0; i < n; i++)
        back[i] = at[n - 1 - i];
    clv_fit a = fit_of(at, n), b = fit_of(back, n);
    check_all(&b, 0.01);
    near("products", a.ops[2].matrix_per_s, b.ops[2].matrix_per_s, 1e-9);
}

/* What does not bound an operator stands at the peak, so no point may be above it. */
Test(fit, peaks_are_above_all_and_shares_are_parts)
{
    clv_fit_point at[N_POINTS];
    int32_t n = make(at, NULL);
    clv_fit fit = fit_of(at, n);

    for (int32_t i = 0; i < n; i++) {
        double t = at[i].seconds * 1.0001;
        cr_expect(at[i].matrix / fit.matrix_per_s <= t && at[i].vector / fit.vector_per_s <= t &&
                  at[i].bytes / fit.bytes_per_s <= t);
    }
    cr_expect(fit.matrix_share > 0 && fit.matrix_share <= 1);
    cr_expect(fit.vector_share > 0 && fit.vector_share <= 1);
    cr_expect(fit.bytes_share > 0 && fit.bytes_share <= 1);
    near("a share", fit.vector_share * fit.vector_per_s, VECTOR, 0.01);
}

static void refused(const clv_fit_point *at, int32_t n, const char *words)
{
    clv_fit fit;
    clv_error err = { 0 };

    cr_assert_eq(clv_fit_points(at, n, arena, &fit, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, words), "%s", err.message);
}

Test(fit, too_few_points_are_reported)
{
    clv_fit_point at[N_POINTS];

    make(at, NULL);
    refused(at, 0, "0 measurements are too few");
    refused(at, 1, "1 measurements are too few: none is of an operator without products");
    refused(at + 1, 2, "none is of an operator with products");
    at[4].seconds = 0;
    refused(at, N_POINTS, "measurement 4 took 0 s, expected a time above 0");
    at[4].seconds = (double)NAN;
    refused(at, N_POINTS, "measurement 4 took nan s");
}

/* One size of an operator says nothing of its launch: it gets none of its own to spoil others. */
Test(fit, an_operator_of_one_size)
{
    clv_fit_point at[N_POINTS + 1];
    int32_t n = make(at, NULL);

    at[n++] = (clv_fit_point){ 1, 0, 1e6, 1e6, 1e-4 };
    clv_fit fit = fit_of(at, n);
    cr_assert_eq(fit.n_ops, 4);
    near("its time", fit.ops[0].launch_s + 1e6 / fit.ops[0].bytes_per_s, 1e-4, 0.01);
    cr_expect_eq(fit.ops[0].vector_per_s, 0, "memory, where both explain it as well");
}

/* -- transfers -- */

Test(fit, a_line_through_transfers)
{
    clv_fit_transfer at[] = { { 4096, 10e-6 + 4096 / 3e9 },
                              { 131072, 10e-6 + 131072 / 3e9 },
                              { 1048576, 10e-6 + 1048576 / 3e9 } };
    double latency = 0, rate = 0;
    clv_error err = { 0 };

    cr_assert_eq(clv_fit_line(at, 3, &latency, &rate, &err), CLV_OK, "%s", err.message);
    near("latency", latency, 10e-6, 1e-6);
    near("bandwidth", rate, 3e9, 1e-6);
    at[0].seconds = 1e-9; /* the line would begin below 0 */
    at[1].seconds = 131072 / 3e9 / 4;
    cr_assert_eq(clv_fit_line(at + 1, 2, &latency, &rate, &err), CLV_OK);
    cr_expect_eq(latency, 0);
    cr_expect(rate > 0);
}

Test(fit, transfers_that_make_no_line)
{
    clv_fit_transfer same[] = { { 4096, 1e-6 }, { 4096, 2e-6 } };
    clv_fit_transfer falling[] = { { 4096, 2e-3 }, { 1048576, 1e-6 } };
    clv_fit_transfer none[] = { { 4096, 0 }, { 8192, 1e-6 } };
    double latency, rate;
    clv_error err = { 0 };

    cr_assert_eq(clv_fit_line(same, 2, &latency, &rate, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "too few, expected two sizes"), "%s", err.message);
    cr_assert_eq(clv_fit_line(same, 1, &latency, &rate, &err), CLV_EFORMAT);
    cr_assert_eq(clv_fit_line(falling, 2, &latency, &rate, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "too busy to measure"), "%s", err.message);
    cr_assert_eq(clv_fit_line(none, 2, &latency, &rate, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "transfer 0 took 0 s"), "%s", err.message);
}
