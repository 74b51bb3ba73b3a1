#include "cluster/time_table.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(time_table, .init = open_arena, .fini = close_arena);

static const double rows[] = { 1, 4, 16 }, columns[] = { 10, 1000 };
static const double times[] = { 100, 400, 100, 800, 200, 1600 };

static clv_time_table table_of(void)
{
    clv_grid grid = { .n_axes = 2 };
    clv_time_table t = { .ns = NULL };
    grid.axes[0] = (clv_axis){ .knots = rows, .n = 3, .power = 2 };
    grid.axes[1] = (clv_axis){ .knots = columns, .n = 2, .power = 1 };
    cr_assert_eq(clv_grid_init(&grid, arena, NULL), CLV_OK);
    cr_assert_eq(grid.n, 6);
    cr_assert_eq(clv_time_table_init(&grid, times, arena, &t, NULL), CLV_OK);
    return t;
}

static double at(const clv_time_table *t, double row, double column)
{
    return clv_time_table_ns(t, (double[]){ row, column });
}

Test(time_table, knots_have_their_own_times)
{
    clv_time_table t = table_of();
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 2; c++)
            cr_expect_float_eq(at(&t, rows[r], columns[c]), times[r * 2 + c], 1e-9);
}

Test(time_table, between_knots_a_power_law)
{
    clv_time_table t = table_of();
    cr_expect_float_eq(at(&t, 1, 100), 200, 1e-9, "half way in logarithms");
    cr_expect_float_eq(at(&t, 8, 10), 100 * sqrt(2), 1e-9);
    cr_expect_float_eq(at(&t, 8, 100), sqrt(100 * sqrt(2) * 800 * sqrt(2)), 1e-9);
}

Test(time_table, clamped_below_and_a_power_above)
{
    clv_time_table t = table_of();
    cr_expect_float_eq(at(&t, 0.001, 0.1), 100, 1e-9);
    cr_expect_float_eq(at(&t, 16, 3000), 4800, 1e-9);
    cr_expect_float_eq(at(&t, 64, 1000), 1600 * 16, 1e-9, "the power of the first axis is 2");
    cr_expect_float_eq(at(&t, 32, 2000), 1600 * 4 * 2, 1e-9);
    cr_expect(isfinite(at(&t, 1e15, 1e15)));
}

Test(time_table, no_axes_are_one_time)
{
    static const double one = 7;
    clv_grid grid = { .n_axes = 0 };
    clv_time_table t = { .ns = NULL };
    cr_assert_eq(clv_grid_init(&grid, arena, NULL), CLV_OK);
    cr_assert_eq(clv_time_table_init(&grid, &one, arena, &t, NULL), CLV_OK);
    cr_expect_float_eq(clv_time_table_ns(&t, NULL), 7, 1e-12);
}

Test(time_table, never_falls_where_knots_do_not)
{
    clv_time_table t = table_of();
    srand(5);
    for (int i = 0; i < 20000; i++) {
        double a = exp2(rand() % 1000 / 100.0 - 2), b = exp2(rand() % 1600 / 100.0);
        double up = exp2(rand() % 300 / 100.0), now = at(&t, a, b);
        cr_assert_leq(now, at(&t, a * up, b) * (1 + 1e-12));
        cr_assert_leq(now, at(&t, a, b * up) * (1 + 1e-12));
    }
}
