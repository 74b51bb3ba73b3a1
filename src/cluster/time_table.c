#include "cluster/time_table.h"

#include <math.h>

clv_status clv_grid_init(clv_grid *grid, clv_arena *arena, clv_error *err)
{
    int32_t n = 1;
    for (int32_t a = grid->n_axes - 1; a >= 0; a--) {
        clv_axis *axis = &grid->axes[a];
        double *logs = CLV_NEW_ARRAY(arena, double, axis->n);
        if (!logs)
            return clv_fail_nomem(err, "a table of times");
        for (int32_t i = 0; i < axis->n; i++)
            logs[i] = log2(axis->knots[i]);
        axis->logs = logs;
        axis->stride = n;
        n *= axis->n;
    }
    grid->n = n;
    return CLV_OK;
}

clv_status clv_time_table_init(const clv_grid *grid, const double *ns, clv_arena *arena,
                               clv_time_table *ret, clv_error *err)
{
    double *logs = CLV_NEW_ARRAY(arena, double, grid->n);
    if (!logs)
        return clv_fail_nomem(err, "a table of times");
    for (int32_t i = 0; i < grid->n; i++)
        logs[i] = log(ns[i]);
    *ret = (clv_time_table){ *grid, ns, logs };
    return CLV_OK;
}

/* The last knot that is not above size, which is at least the first. */
static int32_t cell_of(const clv_axis *axis, double size)
{
    int32_t low = 0, high = axis->n; /* knots[low] <= size < knots[high] */
    while (high - low > 1) {
        int32_t middle = (low + high) / 2;
        if (axis->knots[middle] <= size)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int32_t clv_grid_corners(const clv_grid *grid, const double *at,
                         int32_t places[static CLV_GRID_CORNERS_MAX],
                         double weights[static CLV_GRID_CORNERS_MAX], double *ret_beyond)
{
    int32_t n = 1, base = 0;
    double beyond = 1;
    places[0] = 0;
    weights[0] = 1;
    for (int32_t a = 0; a < grid->n_axes; a++) {
        const clv_axis *axis = &grid->axes[a];
        double last = axis->knots[axis->n - 1];
        int32_t cell = at[a] > axis->knots[0] ? cell_of(axis, at[a]) : 0;
        base += cell * axis->stride;
        for (int32_t i = 0; at[a] > last && i < axis->power; i++)
            beyond *= at[a] / last;
        if (at[a] <= axis->knots[cell] || cell == axis->n - 1)
            continue; /* on a knot, or clamped: no second neighbour */
        double part = (log2(at[a]) - axis->logs[cell]) / (axis->logs[cell + 1] - axis->logs[cell]);
        for (int32_t i = 0; i < n; i++) {
            places[n + i] = places[i] + axis->stride;
            weights[n + i] = weights[i] * part;
            weights[i] *= 1 - part;
        }
        n *= 2;
    }
    for (int32_t i = 0; i < n; i++)
        places[i] += base;
    *ret_beyond = beyond;
    return n;
}

double clv_time_table_ns(const clv_time_table *table, const double *at)
{
    int32_t places[CLV_GRID_CORNERS_MAX];
    double weights[CLV_GRID_CORNERS_MAX], beyond, sum = 0;
    int32_t n = clv_grid_corners(&table->grid, at, places, weights, &beyond);
    if (n == 1)
        return table->ns[places[0]] * beyond;
    for (int32_t i = 0; i < n; i++)
        sum += weights[i] * table->logs[places[i]];
    return exp(sum) * beyond;
}
