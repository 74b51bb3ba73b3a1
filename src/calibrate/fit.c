#include "calibrate/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

/* Where both explain times as well, as of operators by elements, memory does: it is what their
 * kernels share with others. */
#define TIE    0.9
#define ROUNDS 50 /* of dividing points between two bounds; they settle in a few */

/* -- small things -- */

/* Of an even number the mean of the two in the middle; sorts them. 0 of none. */
static double median(double *at, int32_t n)
{
    if (n == 0)
        return 0;
    qsort(at, (size_t)n, sizeof *at, clv_compare_double);
    return n % 2 ? at[n / 2] : (at[n / 2 - 1] + at[n / 2]) / 2;
}

static double larger(double a, double b) { return a > b ? a : b; }

static double ratio(double work, double rate) { return rate > 0 ? work / rate : 0; }

static double time_of(const clv_fit_op *op, const clv_fit_point *p)
{
    double most = larger(ratio(p->matrix, op->matrix_per_s), ratio(p->vector, op->vector_per_s));
    return op->launch_s + larger(most, ratio(p->bytes, op->bytes_per_s));
}

/* The points of one operator. */
typedef struct {
    const clv_fit_point *at;
    int32_t n;
} samples;

/* What a point took beyond the launch; a tenth of it where the launch is all, for logarithms. */
static double work_s(const clv_fit_point *p, double launch_s)
{
    double rest = p->seconds - launch_s;
    return rest > p->seconds / 10 ? rest : p->seconds / 10;
}

static double relative_error(const clv_fit_op *op, const clv_fit_point *p)
{
    return fabs(time_of(op, p) - p->seconds) / p->seconds;
}

/* -- one bound -- */

typedef double (*work_fn)(const clv_fit_point *p);

static double matrix_of(const clv_fit_point *p) { return p->matrix; }
static double vector_of(const clv_fit_point *p) { return p->vector; }
static double bytes_of(const clv_fit_point *p) { return p->bytes; }

/* The geometric mean of the rates at points above the smallest; *ret_spread: how far they are from
 * it, as a sum of squared logarithms. 0 where a point has no such work. */
static double one_rate(const samples *s, work_fn work, double launch_s, double smallest,
                       double *ret_spread)
{
    double sum = 0, squares = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < s->n; i++) {
        if (work(&s->at[i]) <= smallest)
            continue;
        double rate = log(work(&s->at[i]) / work_s(&s->at[i], launch_s));
        sum += rate;
        squares += rate * rate;
        n++;
    }
    *ret_spread = n ? squares - sum * sum / n : INFINITY;
    return n ? exp(sum / n) : 0;
}

static double least(const samples *s, work_fn work)
{
    double least = INFINITY;
    for (int32_t i = 0; i < s->n; i++)
        least = work(&s->at[i]) < least ? work(&s->at[i]) : least;
    return least;
}

/* Of one size alone the launch cannot be separated from the work. */
static double smallest_of(const samples *s, work_fn work)
{
    double low = least(s, work);
    for (int32_t i = 0; i < s->n; i++)
        if (work(&s->at[i]) > low)
            return low;
    return -1;
}

/* The least time of the operator's smallest size, less what the rate says of it. */
static double launch_of(const samples *s, work_fn work, double rate, double fallback)
{
    double low = least(s, work), launch = INFINITY;
    if (smallest_of(s, work) < 0)
        return fallback;
    for (int32_t i = 0; i < s->n; i++)
        if (work(&s->at[i]) <= low && s->at[i].seconds < launch)
            launch = s->at[i].seconds;
    double rest = launch - ratio(low, rate);
    return rest > launch / 10 ? rest : launch / 10;
}

static clv_fit_op fit_bound(const samples *s, work_fn work, double fallback, double *ret_spread)
{
    clv_fit_op op = { .speed = s->at[0].speed, .launch_s = launch_of(s, work, 0, fallback) };
    double rate = 0;
    if (least(s, work) <= 0) {
        *ret_spread = INFINITY;
        return op;
    }
    for (int i = 0; i < 3; i++) { /* each the better for the other */
        rate = one_rate(s, work, op.launch_s, smallest_of(s, work), ret_spread);
        op.launch_s = launch_of(s, work, rate, fallback);
    }
    if (work == vector_of)
        op.vector_per_s = rate;
    else
        op.bytes_per_s = rate;
    return op;
}

static clv_fit_op fit_simple(const samples *s, double fallback)
{
    double by_vector, by_bytes;
    clv_fit_op vector = fit_bound(s, vector_of, fallback, &by_vector);
    clv_fit_op bytes = fit_bound(s, bytes_of, fallback, &by_bytes);
    if (bytes.bytes_per_s <= 0 || (by_vector < by_bytes * TIE && vector.vector_per_s > 0))
        return vector;
    return bytes;
}

/* -- products: two bounds -- */

/* Is a point bound by arithmetic rather than memory? */
static bool is_heavy(const clv_fit_op *op, const clv_fit_point *p)
{
    return ratio(p->matrix, op->matrix_per_s) >= ratio(p->bytes, op->bytes_per_s);
}

/* The geometric mean of the rates of heavy points, or of the others; a point counts as much as it
 * takes, for small products are slower and matter less. */
static double rate_where(const samples *s, const clv_fit_op *op, bool heavy)
{
    double sum = 0, n = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const clv_fit_point *p = &s->at[i];
        double work = heavy ? matrix_of(p) : bytes_of(p);
        if (is_heavy(op, p) != heavy || work <= 0)
            continue;
        sum += p->seconds * log(work / work_s(p, op->launch_s));
        n += p->seconds;
    }
    return n > 0 ? exp(sum / n) : 0;
}

static clv_fit_op fit_product(const samples *s, double launch_s)
{
    clv_fit_op op = { .speed = s->at[0].speed, .launch_s = launch_s };
    for (int32_t i = 0; i < s->n; i++) { /* what was reached at best divides them at first */
        double t = work_s(&s->at[i], launch_s);
        op.matrix_per_s = larger(op.matrix_per_s, s->at[i].matrix / t);
        op.bytes_per_s = larger(op.bytes_per_s, s->at[i].bytes / t);
    }
    for (int i = 0; i < ROUNDS; i++) {
        double matrix = rate_where(s, &op, true), bytes = rate_where(s, &op, false);
        op.matrix_per_s = matrix > 0 ? matrix : op.matrix_per_s;
        op.bytes_per_s = bytes > 0 ? bytes : op.bytes_per_s;
    }
    return op;
}

/* -- all operators -- */

static int by_speed(const void *a, const void *b)
{
    int32_t x = ((const clv_fit_point *)a)->speed, y = ((const clv_fit_point *)b)->speed;
    return (x > y) - (x < y);
}

static bool has_product(const samples *s)
{
    for (int32_t i = 0; i < s->n; i++)
        if (s->at[i].matrix > 0)
            return true;
    return false;
}

static clv_status check_points(const clv_fit_point *points, int32_t n, clv_error *err)
{
    bool product = false, other = false;
    for (int32_t i = 0; i < n; i++) {
        if (!(points[i].seconds > 0) || !isfinite(points[i].seconds))
            return clv_fail(err, CLV_EFORMAT, "measurement %d took %g s, expected a time above 0",
                            (int)i, points[i].seconds);
        product = product || points[i].matrix > 0;
        other = other || points[i].matrix <= 0;
    }
    if (!product || !other)
        return clv_fail(err, CLV_EFORMAT,
                        "%d measurements are too few: none is of an operator with%s products",
                        (int)n, product ? "out" : "");
    return CLV_OK;
}

static clv_fit_op *op_of(clv_fit *fit, int32_t speed)
{
    for (int32_t i = 0; i < fit->n_ops; i++)
        if (fit->ops[i].speed == speed)
            return &fit->ops[i];
    return NULL;
}

/* What is the most that any point reached: nothing that bounds an operator not may be lower. */
static void find_peaks(const clv_fit_point *points, int32_t n, clv_fit *fit)
{
    for (int32_t i = 0; i < n; i++) {
        double t = work_s(&points[i], op_of(fit, points[i].speed)->launch_s);
        fit->matrix_per_s = larger(fit->matrix_per_s, points[i].matrix / t);
        fit->vector_per_s = larger(fit->vector_per_s, points[i].vector / t);
        fit->bytes_per_s = larger(fit->bytes_per_s, points[i].bytes / t);
    }
    for (int32_t i = 0; i < fit->n_ops; i++) {
        fit->matrix_per_s = larger(fit->matrix_per_s, fit->ops[i].matrix_per_s);
        fit->vector_per_s = larger(fit->vector_per_s, fit->ops[i].vector_per_s);
        fit->bytes_per_s = larger(fit->bytes_per_s, fit->ops[i].bytes_per_s);
    }
}

/* The median of the operators that this bounds, as a share of the peak; 1 where it bounds none. */
static double median_share(const clv_fit *fit, size_t rate, double peak, double *numbers)
{
    int32_t n = 0;
    for (int32_t i = 0; i < fit->n_ops; i++) {
        double of;
        memcpy(&of, (const char *)&fit->ops[i] + rate, sizeof of);
        if (of > 0)
            numbers[n++] = of / peak;
    }
    return n ? median(numbers, n) : 1;
}

static int by_op_speed(const void *a, const void *b)
{
    int32_t x = ((const clv_fit_op *)a)->speed, y = ((const clv_fit_op *)b)->speed;
    return (x > y) - (x < y);
}

clv_status clv_fit_points(const clv_fit_point *given, int32_t n, clv_arena *arena, clv_fit *ret,
                          clv_error *err)
{
    clv_fit_point *points = CLV_NEW_ARRAY(arena, clv_fit_point, n);
    samples *ops = CLV_NEW_ARRAY(arena, samples, n); /* each operator's run of points */
    double *numbers = CLV_NEW_ARRAY(arena, double, n);
    clv_fit fit = { .ops = CLV_NEW_ARRAY(arena, clv_fit_op, n) };
    int32_t n_ops = 0;
    if (!points || !ops || !numbers || !fit.ops)
        return clv_fail_nomem(err, "the fit");
    CLV_TRY(check_points(given, n, err));
    memcpy(points, given, (size_t)n * sizeof *points);
    qsort(points, (size_t)n, sizeof *points, by_speed);
    for (int32_t i = 0; i < n; i++) {
        if (i == 0 || points[i].speed != points[i - 1].speed)
            ops[n_ops++].at = &points[i];
        ops[n_ops - 1].n++;
    }
    for (int32_t i = 0; i < n_ops; i++)
        if (!has_product(&ops[i]))
            fit.ops[fit.n_ops++] = fit_simple(&ops[i], 0);
    for (int32_t i = 0; i < fit.n_ops; i++)
        numbers[i] = fit.ops[i].launch_s;
    fit.launch_s = median(numbers, fit.n_ops);
    for (int32_t i = 0; i < n_ops; i++)
        if (has_product(&ops[i]))
            fit.ops[fit.n_ops++] = fit_product(&ops[i], fit.launch_s);
    for (int32_t i = 0; i < n_ops; i++) {
        clv_fit_op *op = op_of(&fit, ops[i].at->speed);
        for (int32_t k = 0; k < ops[i].n; k++)
            numbers[k] = relative_error(op, &ops[i].at[k]);
        op->error = median(numbers, ops[i].n);
    }
    find_peaks(points, n, &fit);
    fit.matrix_share =
        median_share(&fit, offsetof(clv_fit_op, matrix_per_s), fit.matrix_per_s, numbers);
    fit.vector_share =
        median_share(&fit, offsetof(clv_fit_op, vector_per_s), fit.vector_per_s, numbers);
    fit.bytes_share =
        median_share(&fit, offsetof(clv_fit_op, bytes_per_s), fit.bytes_per_s, numbers);
    for (int32_t i = 0; i < n; i++)
        numbers[i] = relative_error(op_of(&fit, points[i].speed), &points[i]);
    fit.error = median(numbers, n);
    qsort(fit.ops, (size_t)fit.n_ops, sizeof *fit.ops, by_op_speed);
    *ret = fit;
    return CLV_OK;
}

/* -- transfers -- */

clv_status clv_fit_line(const clv_fit_transfer *at, int32_t n, double *ret_latency_s,
                        double *ret_bytes_per_s, clv_error *err)
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int32_t i = 0; i < n; i++) {
        double weight = 1 / (at[i].seconds * at[i].seconds);
        if (!(at[i].seconds > 0) || !isfinite(at[i].seconds))
            return clv_fail(err, CLV_EFORMAT, "transfer %d took %g s, expected a time above 0",
                            (int)i, at[i].seconds);
        w += weight;
        x += weight * at[i].bytes;
        y += weight * at[i].seconds;
        xx += weight * at[i].bytes * at[i].bytes;
        xy += weight * at[i].bytes * at[i].seconds;
    }
    double spread = w * xx - x * x;
    if (n < 2 || spread <= 0)
        return clv_fail(err, CLV_EFORMAT,
                        "%d measured transfers are too few, expected two sizes at least", (int)n);
    double slope = (w * xy - x * y) / spread, latency = (y - slope * x) / w;
    if (latency < 0) { /* then through the origin */
        latency = 0;
        slope = xy / xx;
    }
    if (slope <= 0)
        return clv_fail(
            err, CLV_EFORMAT,
            "larger transfers took no longer than small ones: the machine is too busy to "
            "measure on");
    *ret_latency_s = latency;
    *ret_bytes_per_s = 1 / slope;
    return CLV_OK;
}
