#include "calibrate/memory_fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"

#define ROWS_MOST   8     /* of a product that counts as reading */
#define BYTES       2     /* of a bfloat16 */
#define SMALL_BYTES 32768 /* the start is all there is */
#define REACHED     0.86  /* of the data sheet, by large reads: the form between two sizes */
#define FASTER      0.2   /* of the others are */
#define AROUND      0.5   /* octaves */
#define LEAST_NEAR  4     /* rows, to say anything */
#define LOW         12    /* log2 of the smallest size and the greatest */
#define HIGH        36
#define N_AXES      3

static double part_of(double *values, int32_t n, double part)
{
    qsort(values, (size_t)n, sizeof *values, clv_compare_double);
    return values[(int32_t)(part * (n - 1) + 0.5)];
}

/* Of row i; 0 where it is not a read. */
static double bytes_of(const clv_fit_rows *rows, int32_t i)
{
    const double *at = rows->at + (int64_t)i * N_AXES;
    return at[0] <= ROWS_MOST ? BYTES * (at[0] * at[2] + at[1] * at[2] + at[0] * at[1]) : 0;
}

static double start_of(const clv_fit_rows *rows, double *scratch, int32_t *ret_n)
{
    int32_t n = 0;
    for (int32_t i = 0; i < rows->n; i++) {
        double bytes = bytes_of(rows, i);
        if (bytes > 0 && bytes <= SMALL_BYTES)
            scratch[n++] = rows->ns[i];
    }
    *ret_n = n;
    return n ? part_of(scratch, n, 0.5) : 0;
}

static clv_status add_table(clv_timed kind, clv_grid *grid, const double *ns, clv_arena *arena,
                            clv_timed_table *ret, clv_error *err)
{
    *ret =
        (clv_timed_table){ .kind = kind, .rows = ret->rows, .median_error = -1, .p95_error = -1 };
    CLV_TRY(clv_grid_init(grid, arena, err));
    return clv_time_table_init(grid, ns, arena, &ret->table, err);
}

/* Knots and values of reads, in order; how many. */
static int32_t reads(const clv_fit_rows *rows, double start, double rate, double *scratch,
                     double *knots, double *logs)
{
    int32_t n_knots = 0;
    for (int32_t q = LOW; q <= HIGH; q++) {
        double knot = exp2(q);
        int32_t n = 0;
        for (int32_t i = 0; i < rows->n; i++) {
            double bytes = bytes_of(rows, i);
            if (bytes > 0 && fabs(log2(bytes) - q) <= AROUND)
                scratch[n++] = rows->ns[i] * (start + knot / rate) / (start + bytes / rate);
        }
        if (n < LEAST_NEAR)
            continue;
        knots[n_knots] = knot;
        logs[n_knots++] = log(part_of(scratch, n, FASTER));
    }
    return n_knots;
}

clv_status clv_memory_fit(const clv_fit_rows *rows, double bytes_per_s, clv_arena *arena,
                          clv_timed_table *tables, int32_t *n, clv_error *err)
{
    double *scratch = CLV_NEW_ARRAY(arena, double, rows->n);
    double *knots = CLV_NEW_ARRAY(arena, double, HIGH - LOW + 1);
    double *ns = CLV_NEW_ARRAY(arena, double, HIGH - LOW + 1), *one = CLV_NEW(arena, double);
    int32_t n_small = 0;
    if (!scratch || !knots || !ns || !one)
        return clv_fail_nomem(err, "a fit");
    double start = start_of(rows, scratch, &n_small);
    if (n_small == 0)
        return CLV_OK;
    clv_grid grid = { .n_axes = 1 };
    grid.axes[0] = (clv_axis){ .knots = knots, .power = 1 };
    grid.axes[0].n = reads(rows, start, bytes_per_s * REACHED * 1e-9, scratch, knots, ns);
    if (grid.axes[0].n > 0) {
        CLV_TRY(clv_grid_init(&grid, arena, err));
        CLV_TRY(clv_make_monotone(&grid, CLV_POOL_MEANS, arena, ns, err));
        for (int32_t i = 0; i < grid.n; i++)
            ns[i] = clv_round_digits(exp(ns[i]), 3);
        tables[*n].rows = rows->n;
        CLV_TRY(add_table(CLV_TIMED_MEMORY, &grid, ns, arena, &tables[(*n)++], err));
    }
    clv_grid none = { .n_axes = 0 };
    *one = clv_round_digits(start, 3);
    tables[*n].rows = n_small;
    return add_table(CLV_TIMED_START, &none, one, arena, &tables[(*n)++], err);
}
