#include "calibrate/measured_knots.h"

#include <stdlib.h>

#include "base/compare.h"

/* Chosen by cross-validation on five NVIDIA accelerators (docs/calibration.md), for fewer than 1500
 * numbers a table, and 2700 where it is finer. Ends of lists and axes are 0. */

#define KNOTS_MAX 32
#define APART     1.09 /* knots that stand closer say the same */

typedef double axis_knots[KNOTS_MAX];

static const axis_knots products[] = {
    { 1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 32768 },
    { 32, 128, 256, 512, 1024, 2048, 3584, 5120, 7168, 10240, 16384, 65536 },
    { 32, 128, 256, 512, 1024, 2048, 4096, 7168, 12288, 65536 },
};
/* m: one row, which a kernel of its own multiplies, and the powers of two that tiles have. */
static const axis_knots finer_products[] = {
    { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768 },
    { 32, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 5120, 7168, 10240, 16384, 65536 },
    { 32, 128, 256, 512, 1024, 2048, 3584, 5120, 7168, 10240, 16384, 65536 },
};
static const axis_knots convolutions[] = {
    { 49, 196, 784, 3136, 12544, 50176, 200704, 802816 }, /* a quarter of a side, as networks do */
    { 32, 64, 128, 256, 512, 1024 },
    { 144, 288, 576, 1152, 2304, 4608, 9216 },
};
static const axis_knots full[] = {
    { 64, 128 },
    { 8, 32, 128, 512, 2048 },
    { 128, 256, 512, 2048, 8192 },
};
static const axis_knots prefill[] = {
    { 64, 128, 256 },
    { 8, 64 },
    { 1, 4, 8, 16, 32, 64, 128, 512, 2048, 16384 },
    { 1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384 },
};
static const axis_knots decode[] = {
    { 64, 128, 256 },
    { 1, 8, 32, 128, 256, 512, 2048, 8192, 131072 },
    { 2, 16, 32, 64, 256, 512, 1024, 2048, 8192, 32768, 131072 },
};
static const axis_knots decode_grouped[] = {
    { 64, 128, 256 },
    { 2, 16, 32 },
    { 1, 8, 16, 32, 64, 128, 256, 512, 2048, 16384 },
    { 2, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 32768, 131072 },
};
static const axis_knots decode_shared[] = {
    { 64, 256 },
    { 32, 128, 256, 512, 1024, 2048, 8192, 131072 },
    { 2, 64, 256, 1024, 4096, 16384, 131072 },
};
static const axis_knots experts[] = {
    { 2048, 8192 },
    { 16, 64, 128, 256, 512, 1024, 2048, 4096, 16384 },
    { 1, 2, 4, 16, 64, 512 },
    { 1, 4, 16, 64, 256, 1024, 16384 },
};
static const axis_knots collectives[] = {
    { 512, 4096, 32768, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432,
      67108864, 134217728, 536870912 },
};

static const axis_knots *const lists[CLV_N_TIMED] = {
    [CLV_TIMED_PRODUCT] = products,
    [CLV_TIMED_PRODUCT_CACHED] = products,
    [CLV_TIMED_CONVOLUTION] = convolutions,
    [CLV_TIMED_FULL] = full,
    [CLV_TIMED_PREFILL] = prefill,
    [CLV_TIMED_DECODE] = decode,
    [CLV_TIMED_DECODE_GROUPED] = decode_grouped,
    [CLV_TIMED_DECODE_SHARED] = decode_shared,
    [CLV_TIMED_EXPERTS] = experts,
    [CLV_TIMED_EXPERTS_EVEN] = experts,
    [CLV_TIMED_COLLECTIVE] = collectives,
};

/* Sorts sizes; up to KNOTS_MAX different ones into ret. Returns how many there are. */
static int32_t list_sizes(double *sizes, int32_t n, double *ret)
{
    int32_t count = 0;
    qsort(sizes, (size_t)n, sizeof *sizes, clv_compare_double);
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || sizes[i] > sizes[i - 1]) {
            if (count < KNOTS_MAX)
                ret[count] = sizes[i];
            count++;
        }
    return count;
}

static int32_t known_knots(const double *known, double first, double last, double *ret)
{
    int32_t n = 1;
    ret[0] = first;
    for (int32_t i = 0; i < KNOTS_MAX && known[i] > 0; i++)
        if (known[i] > ret[n - 1] * APART && known[i] * APART < last && n < KNOTS_MAX - 1)
            ret[n++] = known[i];
    if (last > first)
        ret[n++] = last;
    return n;
}

clv_status clv_measured_knots(clv_timed kind, clv_knots which, const clv_fit_rows *rows,
                              clv_arena *arena, clv_grid *ret, clv_error *err)
{
    const clv_timed_kind *form = clv_timed_kind_of(kind);
    bool finer = which != CLV_KNOTS_FEW && lists[kind] == products;
    const axis_knots *known = finer ? finer_products : lists[kind];
    clv_grid grid = { .n_axes = form->n_axes };
    double *sizes = CLV_NEW_ARRAY(arena, double, rows->n);
    if (!sizes)
        return clv_fail_nomem(err, "a table of times");
    for (int32_t a = 0; a < form->n_axes; a++) {
        double *knots = CLV_NEW_ARRAY(arena, double, KNOTS_MAX), chosen[KNOTS_MAX];
        if (!knots)
            return clv_fail_nomem(err, "a table of times");
        for (int32_t i = 0; i < rows->n; i++)
            sizes[i] = rows->at[(int64_t)i * form->n_axes + a];
        int32_t n_sizes = list_sizes(sizes, rows->n, knots);
        int32_t n_chosen = known_knots(known[a], sizes[0], sizes[rows->n - 1], chosen);
        bool all = n_sizes <= n_chosen || (which == CLV_KNOTS_ALL && n_sizes <= KNOTS_MAX);
        for (int32_t i = 0; i < n_chosen && !all; i++)
            knots[i] = chosen[i];
        grid.axes[a] =
            (clv_axis){ .knots = knots, .n = all ? n_sizes : n_chosen, .power = form->powers[a] };
    }
    CLV_TRY(clv_grid_init(&grid, arena, err));
    *ret = grid;
    return CLV_OK;
}
