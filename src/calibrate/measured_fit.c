#include "calibrate/measured_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/measured_knots.h"
#include "calibrate/measured_score.h"
#include "calibrate/memory_fit.h"
#include "calibrate/table_fit.h"

#define LEFT_OUT   5      /* every fifth row */
#define START_NS   2000.0 /* of any kernel */
#define WIRE_BYTES 262144 /* that a collective moves in as much time, in order of magnitude */

/* How far neighbours may bend away from each other, and from which error on a row counts less, by
 * which power: rows of experts have a tail of kernels that were chosen badly. */
typedef struct {
    double penalty, width, power;
} settings;

static const settings of_kind[CLV_N_TIMED] = {
    [CLV_TIMED_PRODUCT] = { 0.05, 0.005, 1 },       [CLV_TIMED_CONVOLUTION] = { 0.05, 0.02, 1 },
    [CLV_TIMED_FULL] = { 0.01, 0.02, 1 },           [CLV_TIMED_PREFILL] = { 0.01, 0.02, 1 },
    [CLV_TIMED_DECODE] = { 0.01, 0.02, 1 },         [CLV_TIMED_DECODE_GROUPED] = { 0.01, 0.02, 1 },
    [CLV_TIMED_DECODE_SHARED] = { 0.01, 0.02, 1 },  [CLV_TIMED_EXPERTS] = { 0.05, 0.05, 1.6 },
    [CLV_TIMED_EXPERTS_EVEN] = { 0.05, 0.05, 1.6 }, [CLV_TIMED_COLLECTIVE] = { 0.01, 0.005, 1 },
};

/* Where products are off by more on one in twenty rows left out, they differ from size to size or
 * contradict each other: more numbers are spent on them, and pools have medians. */
#define FINER_ABOVE 0.25
static const settings of_finer_products = { 0.05, 0.02, 1 };

/* Rows of one table. */
typedef struct {
    const clv_measured_row *const *rows;
    int32_t n;
    bool finer;
} group;

/* -- one table -- */

/* A start, computing and reading one after the other: nearer to what is measured than the longer of
 * them, and without an edge. */
static clv_status reference_at_knots(const clv_grid *grid, const clv_timed_point *of,
                                     const clv_roofline *floor, clv_arena *arena,
                                     clv_table_fit *ret, clv_error *err)
{
    double *reference = CLV_NEW_ARRAY(arena, double, grid->n);
    double *least = CLV_NEW_ARRAY(arena, double, grid->n);
    if (!reference || !least)
        return clv_fail_nomem(err, "a fit");
    clv_roofline whole = *floor;
    whole.cache_bytes = 0;
    clv_timed_point p = *of;
    for (int32_t i = 0; i < grid->n; i++) {
        for (int32_t a = 0; a < grid->n_axes; a++)
            p.at[a] = grid->axes[a].knots[i / grid->axes[a].stride % grid->axes[a].n];
        clv_kernel_work work = clv_timed_point_work(&p);
        clv_kernel_work computes = { work.flops, 0 }, reads = { 0, work.bytes };
        bool moves = of->kind == CLV_TIMED_COLLECTIVE; /* over links: only the form counts */
        reference[i] =
            START_NS + (moves ? START_NS * work.bytes / WIRE_BYTES
                              : clv_roofline_ns(&whole, computes) + clv_roofline_ns(&whole, reads));
        least[i] = moves ? 0 : clv_roofline_ns(floor, work);
    }
    ret->reference_ns = reference;
    ret->floor_ns = least;
    return CLV_OK;
}

/* Those of a group that are kept: all, or all but those left out. */
static clv_status rows_of(const group *g, bool all, clv_arena *arena, clv_fit_rows *ret,
                          clv_error *err)
{
    int32_t axes = clv_timed_kind_of(g->rows[0]->point.kind)->n_axes, n = 0;
    double *at = CLV_NEW_ARRAY(arena, double, (size_t)g->n *(size_t)axes);
    double *ns = CLV_NEW_ARRAY(arena, double, g->n);
    if (!at || !ns)
        return clv_fail_nomem(err, "a fit");
    for (int32_t i = 0; i < g->n; i++) {
        const clv_measured_row *row = g->rows[i];
        if (!all && row->hash % LEFT_OUT == 0)
            continue;
        memcpy(at + (size_t)n * (size_t)axes, row->point.at, (size_t)axes * sizeof *at);
        ns[n++] = row->ns;
    }
    *ret = (clv_fit_rows){ n, at, ns };
    return CLV_OK;
}

static clv_status fit_group(const group *g, const clv_device_kind *device, bool all,
                            clv_arena *arena, clv_timed_table *ret, clv_error *err)
{
    const clv_measured_row *first = g->rows[0];
    const clv_timed_point *of = &first->point;
    clv_roofline floor = clv_device_floor(device, of->dtype);
    const settings *s = g->finer ? &of_finer_products : &of_kind[of->kind];
    clv_table_fit how = { .penalty = s->penalty,
                          .width = s->width,
                          .power = s->power,
                          .pooling = g->finer ? CLV_POOL_MEDIANS : CLV_POOL_MEANS };
    clv_fit_rows rows;
    clv_grid grid;
    const double *ns = NULL;
    CLV_TRY(rows_of(g, all, arena, &rows, err));
    *ret = (clv_timed_table){ .kind = of->kind,
                              .dtype = of->dtype,
                              .weights = of->weights,
                              .operation = first->operation,
                              .devices = first->devices,
                              .library = first->library,
                              .rows = rows.n,
                              .median_error = -1,
                              .p95_error = -1 };
    if (rows.n == 0)
        return CLV_OK;
    CLV_TRY(clv_measured_knots(of->kind, g->finer, &rows, arena, &grid, err));
    CLV_TRY(reference_at_knots(&grid, of, &floor, arena, &how, err));
    CLV_TRY(clv_table_fit_rows(&grid, &rows, &how, arena, &ns, err));
    return clv_time_table_init(&grid, ns, arena, &ret->table, err);
}

/* -- all tables -- */

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int by_table(const clv_measured_row *a, const clv_measured_row *b)
{
    int d = compare(a->point.kind, b->point.kind);
    d = d ? d : compare(a->point.dtype, b->point.dtype);
    d = d ? d : compare(a->point.weights, b->point.weights);
    d = d ? d : compare(a->operation, b->operation);
    d = d ? d : compare(a->devices, b->devices);
    return d || !a->library ? d : strcmp(a->library, b->library);
}

static int by_table_and_place(const void *a, const void *b)
{
    const clv_measured_row *x = *(const clv_measured_row *const *)a;
    const clv_measured_row *y = *(const clv_measured_row *const *)b;
    int d = by_table(x, y);
    return d ? d : (x > y) - (x < y); /* both stand in one array */
}

static clv_status group_rows(const clv_measured_rows *rows, clv_arena *arena, group **ret,
                             int32_t *ret_n, clv_error *err)
{
    const clv_measured_row **sorted = CLV_NEW_ARRAY(arena, const clv_measured_row *, rows->n);
    group *groups = NULL;
    int32_t n = 0, cap = 0, first = 0;
    if (!sorted)
        return clv_fail_nomem(err, "a fit");
    for (int32_t i = 0; i < rows->n; i++)
        sorted[i] = &rows->at[i];
    qsort(sorted, (size_t)rows->n, sizeof *sorted, by_table_and_place);
    for (int32_t i = 1; i <= rows->n; i++) {
        if (i < rows->n && by_table(sorted[i], sorted[first]) == 0)
            continue;
        if (!CLV_PUSH_ROOM(arena, groups, n, cap))
            return clv_fail_nomem(err, "a fit");
        groups[n++] = (group){ .rows = sorted + first, .n = i - first };
        first = i;
    }
    *ret = groups;
    *ret_n = n;
    return CLV_OK;
}

typedef struct {
    const clv_device_kind *device;
    clv_measured_rows left_out;
    group *groups;
    int32_t n;
} job;

/* Of a table made without some rows, on these; rows 0: none of them is for it. */
static clv_status error_on(const job *j, const clv_timed_table *table, clv_arena *arena,
                           clv_measured_error *ret, clv_error *err)
{
    clv_kernel_times one = { .n = 1, .at = table };
    clv_measured_errors errors;
    CLV_TRY(clv_measured_score(&j->left_out, &one, j->device, arena, &errors, err));
    *ret = errors.n > 0 ? errors.at[0] : (clv_measured_error){ .rows = 0 };
    return CLV_OK;
}

/* A finer table of products in the place of one, where the rows left out of both say so. */
static clv_status refine(const job *j, group *g, clv_arena *arena, clv_timed_table *table,
                         clv_error *err)
{
    group finer = { g->rows, g->n, true };
    clv_timed_table other;
    clv_measured_error before, after;
    if (table->kind != CLV_TIMED_PRODUCT || table->rows == 0)
        return CLV_OK;
    CLV_TRY(error_on(j, table, arena, &before, err));
    if (before.rows == 0 || before.p95 <= FINER_ABOVE)
        return CLV_OK;
    CLV_TRY(fit_group(&finer, j->device, false, arena, &other, err));
    CLV_TRY(error_on(j, &other, arena, &after, err));
    if (after.p95 < before.p95) {
        *g = finer;
        *table = other;
    }
    return CLV_OK;
}

static clv_status fit_memory(const job *j, clv_arena *arena, clv_timed_table *tables, int32_t *n,
                             clv_error *err)
{
    clv_fit_rows rows;
    for (int32_t i = 0; i < j->n; i++) {
        const clv_timed_point *of = &j->groups[i].rows[0]->point;
        if (of->kind != CLV_TIMED_PRODUCT || of->dtype != CLV_DT_BFLOAT16 ||
            of->weights != CLV_DT_BFLOAT16)
            continue;
        CLV_TRY(rows_of(&j->groups[i], true, arena, &rows, err));
        CLV_TRY(clv_memory_fit(&rows, j->device->memory_bytes_per_s, arena, tables, n, err));
    }
    return CLV_OK;
}

typedef struct {
    clv_timed_table *at;
    int32_t n;
} tables;

/* all: of all rows, and memory and start too; else it is found which are to be finer. */
static clv_status fit_tables(const job *j, bool all, clv_arena *arena, tables *ret, clv_error *err)
{
    tables t = { CLV_NEW_ARRAY(arena, clv_timed_table, j->n + 2), 0 };
    if (!t.at)
        return clv_fail_nomem(err, "tables of times");
    for (int32_t i = 0; i < j->n; i++) {
        clv_timed_table *table = &t.at[t.n];
        CLV_TRY(fit_group(&j->groups[i], j->device, all, arena, table, err));
        if (!all)
            CLV_TRY(refine(j, &j->groups[i], arena, table, err));
        t.n += table->rows > 0;
    }
    if (all)
        CLV_TRY(fit_memory(j, arena, t.at, &t.n, err));
    *ret = t;
    return CLV_OK;
}

/* -- errors -- */

/* Of a final table: what the one made without some rows was off by on these. */
static clv_status note_error(const job *j, const tables *partial, clv_arena *arena,
                             clv_timed_table *ret, clv_error *err)
{
    clv_measured_error error;
    for (int32_t i = 0; i < partial->n; i++) {
        if (!clv_timed_tables_alike(&partial->at[i], ret))
            continue;
        CLV_TRY(error_on(j, &partial->at[i], arena, &error, err));
        if (error.rows > 0) {
            ret->median_error = error.median;
            ret->p95_error = error.p95;
        }
    }
    return CLV_OK;
}

static clv_status rows_left_out(const clv_measured_rows *rows, clv_arena *arena,
                                clv_measured_rows *ret, clv_error *err)
{
    clv_measured_rows left = { CLV_NEW_ARRAY(arena, clv_measured_row, rows->n), 0, rows->n };
    if (!left.at)
        return clv_fail_nomem(err, "a fit");
    for (int32_t i = 0; i < rows->n; i++)
        if (rows->at[i].hash % LEFT_OUT == 0)
            left.at[left.n++] = rows->at[i];
    *ret = left;
    return CLV_OK;
}

clv_status clv_measured_fit(const clv_measured_rows *rows, const clv_device_kind *device,
                            clv_arena *arena, clv_kernel_times *ret,
                            clv_measured_errors *ret_errors, clv_error *err)
{
    job j = { .device = device };
    tables partial = { NULL, 0 }, final = { NULL, 0 };
    CLV_TRY(group_rows(rows, arena, &j.groups, &j.n, err));
    CLV_TRY(rows_left_out(rows, arena, &j.left_out, err));
    CLV_TRY(fit_tables(&j, false, arena, &partial, err));
    CLV_TRY(clv_measured_score(&j.left_out, &(clv_kernel_times){ .n = partial.n, .at = partial.at },
                               device, arena, ret_errors, err));
    CLV_TRY(fit_tables(&j, true, arena, &final, err));
    for (int32_t i = 0; i < final.n; i++)
        CLV_TRY(note_error(&j, &partial, arena, &final.at[i], err));
    *ret = (clv_kernel_times){ .n = final.n, .at = final.at };
    return CLV_OK;
}
