#include "calibrate/table_fit.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

#define ROUNDS   6    /* of new weights */
#define STEPS    40   /* of conjugate gradients in a round, which begins where the last ended */
#define ENOUGH   1e-4 /* of the first residual */
#define FLATNESS 1e-3 /* of the penalty, on first differences: where no rows are, u is level */
#define RIDGE    1e-6
#define DIGITS   3      /* what a measurement is worth */
#define LEAST_NS 1e-3   /* what a file of measured times may hold */
#define MOST_NS  3.6e12 /* an hour */

typedef struct {
    const clv_grid *grid;
    const clv_table_fit *how;
    int32_t n, n_rows;
    int32_t *first;  /* n_rows + 1: into places and weights */
    int32_t *places; /* around each row */
    double *weights;
    double *wanted; /* n_rows: log(time / interpolated reference) */
    double *trust;  /* n_rows: w */
    double *u;      /* n */
    double *bends;  /* axes * n: how second differences count */
} fit;

/* -- set-up -- */

static void place_row(fit *f, const clv_fit_rows *rows, const double *logs, int32_t i)
{
    double beyond;
    int32_t first = f->first[i];
    int32_t n = clv_grid_corners(f->grid, rows->at + (int64_t)i * f->grid->n_axes,
                                 f->places + first, f->weights + first, &beyond);
    double reference = log(beyond);
    for (int32_t c = 0; c < n; c++)
        reference += f->weights[first + c] * logs[f->places[first + c]];
    f->wanted[i] = log(rows->ns[i]) - reference;
    f->trust[i] = 1;
    f->first[i + 1] = first + n;
}

static clv_status begin(fit *f, const clv_fit_rows *rows, clv_arena *arena, clv_error *err)
{
    size_t corners = (size_t)rows->n * ((size_t)1 << f->grid->n_axes) + CLV_GRID_CORNERS_MAX;
    double *logs = CLV_NEW_ARRAY(arena, double, f->n);
    f->first = CLV_NEW_ARRAY(arena, int32_t, rows->n + 1);
    f->places = CLV_NEW_ARRAY(arena, int32_t, corners);
    f->weights = CLV_NEW_ARRAY(arena, double, corners);
    f->wanted = CLV_NEW_ARRAY(arena, double, rows->n);
    f->trust = CLV_NEW_ARRAY(arena, double, rows->n);
    f->u = CLV_NEW_ARRAY(arena, double, f->n);
    f->bends = CLV_NEW_ARRAY(arena, double, (size_t)f->n *(size_t)f->grid->n_axes);
    if (!logs || !f->first || !f->places || !f->weights || !f->wanted || !f->trust || !f->u ||
        !f->bends)
        return clv_fail_nomem(err, "a fit");
    for (int32_t i = 0; i < f->n; i++)
        logs[i] = log(f->how->reference_ns[i]);
    for (int32_t i = 0; i < rows->n; i++)
        place_row(f, rows, logs, i);
    double mean = 0;
    for (int32_t i = 0; i < rows->n; i++)
        mean += f->wanted[i] / rows->n;
    for (int32_t i = 0; i < f->n; i++)
        f->u[i] = mean;
    for (int32_t i = 0; i < f->n * f->grid->n_axes; i++)
        f->bends[i] = 1;
    return CLV_OK;
}

/* -- the penalty -- */

static double penalty_on(const fit *f, int32_t a)
{
    double part = a == 0 && f->how->first_part > 0 ? f->how->first_part : 1;
    return part * f->how->penalty;
}

/* The parts of its neighbours on the line through them, which stand unevenly; false: it is at an
 * end. */
static bool between(const clv_axis *axis, int32_t c, double *l, double *r)
{
    if (c == 0 || c + 1 >= axis->n)
        return false;
    double left = axis->logs[c] - axis->logs[c - 1], right = axis->logs[c + 1] - axis->logs[c];
    *l = right / (left + right);
    *r = left / (left + right);
    return true;
}

/* Adds penalty * (square of D)(x) to *ret, D being differences along one axis; x NULL: only the
 * diagonal. */
static void add_penalty(const fit *f, int32_t a, const double *x, double *ret)
{
    const clv_axis *axis = &f->grid->axes[a];
    const double *bends = f->bends + (int64_t)a * f->n;
    double level = penalty_on(f, a) * FLATNESS, l, r;
    int32_t s = axis->stride;
    for (int32_t i = 0; i < f->n; i++) {
        int32_t c = i / s % axis->n;
        if (c + 1 < axis->n) {
            double d = x ? x[i + s] - x[i] : 1, p = level * d;
            ret[i + s] += p;
            ret[i] += x ? -p : p;
        }
        if (!between(axis, c, &l, &r))
            continue;
        double penalty = penalty_on(f, a) * bends[i];
        if (x) {
            double d = penalty * (x[i] - l * x[i - s] - r * x[i + s]);
            ret[i] += d;
            ret[i - s] -= l * d;
            ret[i + s] -= r * d;
        } else {
            ret[i] += penalty;
            ret[i - s] += penalty * l * l;
            ret[i + s] += penalty * r * r;
        }
    }
}

static void add_penalties(const fit *f, const double *x, double *ret)
{
    for (int32_t a = 0; a < f->grid->n_axes; a++)
        add_penalty(f, a, x, ret);
}

/* -- conjugate gradients -- */

static double dot(const double *a, const double *b, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double interpolated(const fit *f, int32_t row, const double *x)
{
    double sum = 0;
    for (int32_t c = f->first[row]; c < f->first[row + 1]; c++)
        sum += f->weights[c] * x[f->places[c]];
    return sum;
}

/* The normal matrix times x. */
static void apply(const fit *f, const double *x, double *ret)
{
    for (int32_t i = 0; i < f->n; i++)
        ret[i] = RIDGE * x[i];
    for (int32_t r = 0; r < f->n_rows; r++) {
        double v = f->trust[r] * interpolated(f, r, x);
        for (int32_t c = f->first[r]; c < f->first[r + 1]; c++)
            ret[f->places[c]] += v * f->weights[c];
    }
    add_penalties(f, x, ret);
}

static void diagonal(const fit *f, double *ret)
{
    for (int32_t i = 0; i < f->n; i++)
        ret[i] = RIDGE;
    for (int32_t r = 0; r < f->n_rows; r++)
        for (int32_t c = f->first[r]; c < f->first[r + 1]; c++)
            ret[f->places[c]] += f->trust[r] * f->weights[c] * f->weights[c];
    add_penalties(f, NULL, ret);
}

typedef struct {
    double *diagonal, *residual, *scaled, *direction, *image;
} gradients;

static void residual(const fit *f, gradients *g)
{
    apply(f, f->u, g->image);
    for (int32_t i = 0; i < f->n; i++)
        g->residual[i] = -g->image[i];
    for (int32_t r = 0; r < f->n_rows; r++)
        for (int32_t c = f->first[r]; c < f->first[r + 1]; c++)
            g->residual[f->places[c]] += f->trust[r] * f->wanted[r] * f->weights[c];
}

static double precondition(const fit *f, gradients *g)
{
    for (int32_t i = 0; i < f->n; i++)
        g->scaled[i] = g->residual[i] / g->diagonal[i];
    return dot(g->residual, g->scaled, f->n);
}

static void solve(fit *f, gradients *g)
{
    diagonal(f, g->diagonal);
    residual(f, g);
    double now = precondition(f, g), first = now;
    memcpy(g->direction, g->scaled, (size_t)f->n * sizeof *g->scaled);
    for (int32_t step = 0; step < STEPS && now > ENOUGH * ENOUGH * first; step++) {
        apply(f, g->direction, g->image);
        double along = now / dot(g->direction, g->image, f->n);
        for (int32_t i = 0; i < f->n; i++) {
            f->u[i] += along * g->direction[i];
            g->residual[i] -= along * g->image[i];
        }
        double next = precondition(f, g), turn = next / now;
        for (int32_t i = 0; i < f->n; i++)
            g->direction[i] = g->scaled[i] + turn * g->direction[i];
        now = next;
    }
}

static void weigh_bends(fit *f)
{
    double l, r, limit = f->how->bend_limit;
    for (int32_t a = 0; a < f->grid->n_axes && limit > 0; a++) {
        const clv_axis *axis = &f->grid->axes[a];
        int32_t s = axis->stride;
        for (int32_t i = 0; i < f->n; i++)
            if (between(axis, i / s % axis->n, &l, &r)) {
                double d = fabs(f->u[i] - l * f->u[i - s] - r * f->u[i + s]);
                f->bends[(int64_t)a * f->n + i] = d > limit ? limit / d : 1;
            }
    }
}

static clv_status solve_rounds(fit *f, clv_arena *arena, clv_error *err)
{
    double *all = CLV_NEW_ARRAY(arena, double, 5 * (size_t)f->n);
    if (!all)
        return clv_fail_nomem(err, "a fit");
    gradients g = { all, all + f->n, all + 2 * (size_t)f->n, all + 3 * (size_t)f->n,
                    all + 4 * (size_t)f->n };
    for (int32_t round = 0; round < ROUNDS; round++) {
        solve(f, &g);
        for (int32_t r = 0; r < f->n_rows; r++) {
            double e = fabs(f->wanted[r] - interpolated(f, r, f->u)) / f->how->width;
            f->trust[r] = e > 1 ? pow(e, -f->how->power) : 1;
        }
        weigh_bends(f);
    }
    return CLV_OK;
}

/* -- monotone -- */

/* Runs of pooled values: what stands for them, the first and how many. */
typedef struct {
    double value;
    int32_t first, n;
} pool;

typedef struct {
    clv_pooling pooling;
    pool *pools;    /* as many as the longest line has values */
    double *sorted; /* as many */
} pooler;

/* Of a run of values. The lower of two in the middle: unlike their mean, it keeps the order on
 * other axes. */
static double median_of(const double *values, int32_t n, int32_t stride, double *sorted)
{
    for (int32_t i = 0; i < n; i++)
        sorted[i] = values[i * stride];
    qsort(sorted, (size_t)n, sizeof *sorted, clv_compare_double);
    return sorted[(n - 1) / 2];
}

static void pool_line(const pooler *p, double *values, int32_t n, int32_t stride)
{
    int32_t n_pools = 0, at = 0;
    for (int32_t i = 0; i < n; i++) {
        p->pools[n_pools++] = (pool){ values[i * stride], i, 1 };
        while (n_pools > 1 && p->pools[n_pools - 2].value > p->pools[n_pools - 1].value) {
            pool *a = &p->pools[n_pools - 2], b = p->pools[n_pools - 1];
            double mean = (a->value * a->n + b.value * b.n) / (a->n + b.n);
            a->n += b.n;
            a->value = p->pooling == CLV_POOL_MEANS
                           ? mean
                           : median_of(values + a->first * stride, a->n, stride, p->sorted);
            n_pools--;
        }
    }
    for (int32_t i = 0; i < n_pools; i++)
        for (int32_t j = 0; j < p->pools[i].n; j++)
            values[at++ * stride] = p->pools[i].value;
}

clv_status clv_make_monotone(const clv_grid *grid, clv_pooling pooling, clv_arena *scratch,
                             double *values, clv_error *err)
{
    clv_mark mark = clv_arena_mark(scratch);
    pooler p = { pooling, CLV_NEW_ARRAY(scratch, pool, grid->n),
                 CLV_NEW_ARRAY(scratch, double, grid->n) };
    if (!p.pools || !p.sorted)
        return clv_fail_nomem(err, "a fit");
    for (int32_t a = 0; a < grid->n_axes; a++) {
        const clv_axis *axis = &grid->axes[a];
        for (int32_t i = 0; i < grid->n; i++)
            if (i / axis->stride % axis->n == 0)
                pool_line(&p, values + i, axis->n, axis->stride);
    }
    /* means of pools are rounded, so the order may be off in the last digit */
    for (int32_t a = 0; a < grid->n_axes; a++) {
        const clv_axis *axis = &grid->axes[a];
        for (int32_t i = 0; i < grid->n; i++)
            if (i / axis->stride % axis->n > 0 && values[i] < values[i - axis->stride])
                values[i] = values[i - axis->stride];
    }
    clv_arena_rewind(scratch, mark);
    return CLV_OK;
}

double clv_round_digits(double v, int digits)
{
    if (!(v > 0) || !isfinite(v))
        return v;
    double places = digits - 1 - floor(log10(v));
    /* by the power that is a whole number, so that the result is the nearest double */
    double scale = pow(10, fabs(places));
    return places >= 0 ? round(v * scale) / scale : round(v / scale) * scale;
}

clv_status clv_table_fit_rows(const clv_grid *grid, const clv_fit_rows *rows,
                              const clv_table_fit *how, clv_arena *arena, const double **ret,
                              clv_error *err)
{
    fit f = { .grid = grid, .how = how, .n = grid->n, .n_rows = rows->n };
    double *ns = CLV_NEW_ARRAY(arena, double, grid->n);
    if (!ns)
        return clv_fail_nomem(err, "a table of times");
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(begin(&f, rows, arena, err));
    CLV_TRY(solve_rounds(&f, arena, err));
    for (int32_t i = 0; i < f.n; i++) {
        double least = how->floor_ns && how->floor_ns[i] > LEAST_NS ? how->floor_ns[i] : LEAST_NS;
        double log_ns = f.u[i] + log(how->reference_ns[i]);
        ns[i] = log_ns > log(least) ? log_ns : log(least);
        ns[i] = ns[i] < log(MOST_NS) ? ns[i] : log(MOST_NS);
    }
    clv_arena_rewind(arena, mark);
    if (how->pooling != CLV_POOL_NONE)
        CLV_TRY(clv_make_monotone(grid, how->pooling, arena, ns, err));
    for (int32_t i = 0; i < grid->n; i++)
        ns[i] = clv_round_digits(exp(ns[i]), DIGITS);
    *ret = ns;
    return CLV_OK;
}
