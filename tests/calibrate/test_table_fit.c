#include "calibrate/table_fit.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(table_fit, .init = open_arena, .fini = close_arena);

#define N_ROWS 4000
static const double a_knots[] = { 1, 4, 16, 64, 256 }, b_knots[] = { 1, 8, 64, 512, 4096 };

static clv_grid grid_of(void)
{
    clv_grid grid = { .n_axes = 2 };
    grid.axes[0] = (clv_axis){ .knots = a_knots, .n = 5, .power = 1 };
    grid.axes[1] = (clv_axis){ .knots = b_knots, .n = 5, .power = 1 };
    cr_assert_eq(clv_grid_init(&grid, arena, NULL), CLV_OK);
    return grid;
}

static const double *ones(int32_t n, double v)
{
    double *all = CLV_NEW_ARRAY(arena, double, n);
    for (int32_t i = 0; i < n; i++)
        all[i] = v;
    return all;
}

/* A start, and then work. */
static double truth(double a, double b) { return 2000 + 3 * a * b + 50 * a; }

static double any(double most) { return exp2(rand() % 10000 / 10000.0 * log2(most)); }

static clv_time_table fit(const clv_grid *grid, const clv_fit_rows *rows, const clv_table_fit *how)
{
    const double *ns = NULL;
    clv_error err = { 0 };
    clv_time_table t = { .ns = NULL };
    cr_assert_eq(clv_table_fit_rows(grid, rows, how, arena, &ns, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_time_table_init(grid, ns, arena, &t, NULL), CLV_OK);
    return t;
}

static void must_not_fall(const clv_time_table *t)
{
    for (int32_t a = 0; a < t->grid.n_axes; a++)
        for (int32_t i = 0; i < t->grid.n; i++)
            if (i / t->grid.axes[a].stride % t->grid.axes[a].n > 0)
                cr_assert_leq(t->ns[i - t->grid.axes[a].stride], t->ns[i]);
}

static clv_fit_rows some_rows(bool outliers)
{
    double *at = CLV_NEW_ARRAY(arena, double, 2 * N_ROWS);
    double *ns = CLV_NEW_ARRAY(arena, double, N_ROWS);
    srand(3);
    for (int i = 0; i < N_ROWS; i++) {
        at[2 * i] = any(256);
        at[2 * i + 1] = any(4096);
        ns[i] = truth(at[2 * i], at[2 * i + 1]) * (1 + 0.02 * (rand() % 100 / 50.0 - 1));
        if (outliers && rand() % 10 == 0)
            ns[i] *= 8;
    }
    return (clv_fit_rows){ N_ROWS, at, ns };
}

static double worst_error(const clv_time_table *t)
{
    double worst = 0;
    for (int i = 0; i < 1000; i++) {
        double at[] = { any(256), any(4096) };
        double e = fabs(clv_time_table_ns(t, at) / truth(at[0], at[1]) - 1);
        worst = e > worst ? e : worst;
    }
    return worst;
}

/* What times are compared with: right in its form at the ends, wrong in its size. */
static clv_table_fit form_of(const clv_grid *grid)
{
    double *reference = CLV_NEW_ARRAY(arena, double, grid->n);
    for (int i = 0; i < grid->n; i++)
        reference[i] = 500 + a_knots[i / 5] * b_knots[i % 5];
    return (
        clv_table_fit){ .reference_ns = reference, .penalty = 0.05, .width = 0.005, .power = 1 };
}

Test(table_fit, finds_a_function_that_grows)
{
    clv_grid grid = grid_of();
    clv_table_fit how = form_of(&grid);
    clv_fit_rows rows = some_rows(false);
    clv_time_table t = fit(&grid, &rows, &how);
    must_not_fall(&t);
    cr_expect_lt(worst_error(&t), 0.25, "%g", worst_error(&t));
}

Test(table_fit, outliers_do_not_move_it)
{
    clv_grid grid = grid_of();
    clv_table_fit how = form_of(&grid);
    clv_fit_rows rows = some_rows(true);
    clv_time_table t = fit(&grid, &rows, &how);
    must_not_fall(&t);
    cr_expect_lt(worst_error(&t), 0.3, "%g", worst_error(&t));
}

Test(table_fit, without_rows_it_is_the_reference)
{
    clv_grid grid = grid_of();
    clv_table_fit how = form_of(&grid);
    clv_fit_rows none = { 0, NULL, NULL };
    clv_time_table t = fit(&grid, &none, &how);
    for (int i = 0; i < grid.n; i++)
        cr_expect_float_eq(t.ns[i] / how.reference_ns[i], 1, 0.01);
}

Test(table_fit, one_row_and_equal_rows)
{
    clv_grid grid = grid_of();
    clv_table_fit how = form_of(&grid);
    how.reference_ns = ones(grid.n, 1000);
    double at[20], ns[10];
    for (int i = 0; i < 10; i++) {
        at[2 * i] = 10;
        at[2 * i + 1] = 100;
        ns[i] = 5000;
    }
    for (int n = 1; n <= 10; n += 9) {
        clv_fit_rows rows = { n, at, ns };
        clv_time_table t = fit(&grid, &rows, &how);
        cr_expect_float_eq(clv_time_table_ns(&t, at), 5000, 50);
        must_not_fall(&t);
    }
}

Test(table_fit, never_below_its_floor)
{
    clv_grid grid = grid_of();
    clv_table_fit how = form_of(&grid);
    how.floor_ns = ones(grid.n, 30000);
    clv_fit_rows rows = some_rows(false);
    clv_time_table t = fit(&grid, &rows, &how);
    for (int i = 0; i < grid.n; i++)
        cr_expect_geq(t.ns[i], 30000);
    must_not_fall(&t);
}

/* Kernels that begin to split their depth at 256: from there on, a tenth of the time. */
Test(table_fit, a_cliff_stays_one)
{
    static const double knots[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048 };
    double ns[12], smooth_off, sharp_off;
    clv_grid grid = { .n_axes = 1 };
    grid.axes[0] = (clv_axis){ .knots = knots, .n = 12, .power = 1 };
    cr_assert_eq(clv_grid_init(&grid, arena, NULL), CLV_OK);
    for (int i = 0; i < 12; i++)
        ns[i] = (knots[i] < 256 ? 10 : 1) * (1000 + 10 * knots[i]);
    clv_fit_rows rows = { 12, knots, ns };
    clv_table_fit how = { .reference_ns = ones(12, 5000),
                          .penalty = 2,
                          .width = 10,
                          .power = 1,
                          .pooling = CLV_POOL_NONE };
    clv_time_table smooth = fit(&grid, &rows, &how);
    how.bend_limit = 0.02;
    clv_time_table sharp = fit(&grid, &rows, &how);
    smooth_off = fabs(log(smooth.ns[7] / smooth.ns[8]) / log(ns[7] / ns[8]) - 1);
    sharp_off = fabs(log(sharp.ns[7] / sharp.ns[8]) / log(ns[7] / ns[8]) - 1);
    cr_expect_lt(sharp_off, 0.1, "%g", sharp_off);
    cr_expect_gt(smooth_off, 0.3, "%g", smooth_off);
}

Test(table_fit, times_that_are_pooled_do_not_fall)
{
    clv_grid grid = grid_of();
    clv_table_fit how = form_of(&grid);
    clv_fit_rows rows = some_rows(false);
    double *ns = CLV_NEW_ARRAY(arena, double, N_ROWS);
    for (int i = 0; i < N_ROWS; i++) /* few of the second size are slow */
        ns[i] = rows.ns[i] * (rows.at[2 * i + 1] < 64 ? 5 : 1);
    rows.ns = ns;
    clv_time_table pooled = fit(&grid, &rows, &how);
    must_not_fall(&pooled);
    how.pooling = CLV_POOL_NONE;
    clv_time_table as_measured = fit(&grid, &rows, &how);
    cr_expect_lt(as_measured.ns[2], 0.8 * as_measured.ns[1], "%g %g", as_measured.ns[1],
                 as_measured.ns[2]);
}

Test(table_fit, any_times_are_made_monotone)
{
    clv_grid grid = { .n_axes = 3 };
    grid.axes[0] = (clv_axis){ .knots = a_knots, .n = 5 };
    grid.axes[1] = (clv_axis){ .knots = b_knots, .n = 5 };
    grid.axes[2] = (clv_axis){ .knots = a_knots, .n = 4 };
    cr_assert_eq(clv_grid_init(&grid, arena, NULL), CLV_OK);
    srand(4);
    for (int round = 0; round < 200; round++) {
        double values[100], before = 0, after = 0;
        for (int i = 0; i < 100; i++) {
            values[i] = rand() % 1000;
            before += values[i];
        }
        cr_assert_eq(clv_make_monotone(&grid, CLV_POOL_MEANS, arena, values, NULL), CLV_OK);
        clv_time_table t = { grid, values, NULL };
        must_not_fall(&t);
        for (int i = 0; i < 100; i++)
            after += values[i];
        cr_assert_float_eq(after, before, 1e-6, "pooling keeps the sum: nothing is pushed up");
    }
}

Test(table_fit, medians_keep_what_most_say)
{
    static const double knots[] = { 1, 2, 4, 8, 16, 32, 64 };
    clv_grid grid = { .n_axes = 1 };
    grid.axes[0] = (clv_axis){ .knots = knots, .n = 7 };
    cr_assert_eq(clv_grid_init(&grid, arena, NULL), CLV_OK);
    double values[] = { 1, 9, 8, 2, 3, 2, 3 }, means[] = { 1, 9, 8, 2, 3, 2, 3 };
    cr_assert_eq(clv_make_monotone(&grid, CLV_POOL_MEDIANS, arena, values, NULL), CLV_OK);
    cr_assert_eq(clv_make_monotone(&grid, CLV_POOL_MEANS, arena, means, NULL), CLV_OK);
    for (int i = 1; i < 7; i++) {
        cr_expect_float_eq(values[i], 3, 0, "[%d] is %g", i, values[i]);
        cr_expect_float_eq(means[i], 4.5, 1e-9, "[%d] is %g", i, means[i]);
    }
    cr_expect_float_eq(values[0], 1, 0);
}

Test(table_fit, medians_are_monotone_along_all_axes)
{
    clv_grid grid = { .n_axes = 3 };
    grid.axes[0] = (clv_axis){ .knots = a_knots, .n = 5 };
    grid.axes[1] = (clv_axis){ .knots = b_knots, .n = 5 };
    grid.axes[2] = (clv_axis){ .knots = a_knots, .n = 4 };
    cr_assert_eq(clv_grid_init(&grid, arena, NULL), CLV_OK);
    srand(5);
    for (int round = 0; round < 200; round++) {
        double values[100];
        for (int i = 0; i < 100; i++)
            values[i] = rand() % 1000;
        cr_assert_eq(clv_make_monotone(&grid, CLV_POOL_MEDIANS, arena, values, NULL), CLV_OK);
        clv_time_table t = { grid, values, NULL };
        must_not_fall(&t);
    }
}

Test(table_fit, digits)
{
    cr_expect_float_eq(clv_round_digits(12345, 3), 12300, 0);
    cr_expect_float_eq(clv_round_digits(0.0123456, 3), 0.0123, 0);
    cr_expect_float_eq(clv_round_digits(9.996, 3), 10, 0);
    cr_expect_float_eq(clv_round_digits(0, 3), 0, 0);
}
