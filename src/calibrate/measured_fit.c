#include "calibrate/measured_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/cached_weights.h"
#include "calibrate/measured_knots.h"
#include "calibrate/measured_score.h"
#include "calibrate/memory_fit.h"
#include "calibrate/table_fit.h"

#define LEFT_OUT   5      /* every fifth row */
#define WIRE_BYTES 262144 /* that a collective moves in as much time, in order of magnitude */

/* How a table is fitted: its reference and floor are set for each. */
typedef struct {
    clv_table_fit how;
    clv_knots knots;
} settings;

/* Rows of experts have a tail of kernels that were chosen badly. */
static const settings of_kind[CLV_N_TIMED] = {
    [CLV_TIMED_PRODUCT] = { { .penalty = 0.05, .width = 0.005, .power = 1 }, CLV_KNOTS_FEW },
    [CLV_TIMED_CONVOLUTION] = { { .penalty = 0.05, .width = 0.02, .power = 1 }, CLV_KNOTS_FEW },
    [CLV_TIMED_FULL] = { { .penalty = 0.01, .width = 0.02, .power = 1 }, CLV_KNOTS_FEW },
    [CLV_TIMED_PREFILL] = { { .penalty = 0.01, .width = 0.02, .power = 1 }, CLV_KNOTS_FEW },
    [CLV_TIMED_DECODE] = { { .penalty = 0.01, .width = 0.02, .power = 1 }, CLV_KNOTS_FEW },
    [CLV_TIMED_DECODE_GROUPED] = { { .penalty = 0.01, .width = 0.02, .power = 1 }, CLV_KNOTS_FEW },
    [CLV_TIMED_DECODE_SHARED] = { { .penalty = 0.01, .width = 0.02, .power = 1 }, CLV_KNOTS_FEW },
    [CLV_TIMED_EXPERTS] = { { .penalty = 0.05, .width = 0.05, .power = 1.6 }, CLV_KNOTS_FEW },
    [CLV_TIMED_EXPERTS_EVEN] = { { .penalty = 0.05, .width = 0.05, .power = 1.6 }, CLV_KNOTS_FEW },
    [CLV_TIMED_COLLECTIVE] = { { .penalty = 0.01, .width = 0.005, .power = 1 }, CLV_KNOTS_FEW },
};

/* Where products are off by more on one in twenty rows left out, they differ from size to size or
 * contradict each other: more numbers are spent on them, and pools have medians. */
#define FINER_ABOVE 0.25
static const settings of_finer_products = {
    { .penalty = 0.05, .width = 0.02, .power = 1, .pooling = CLV_POOL_MEDIANS }, CLV_KNOTS_FINER
};

/* Where memory cannot explain their times (cached_weights.h), they are two tables, of weights from
 * memory and from the cache. Kernels differ from size to size there, and with the number of rows
 * more than with columns and depth; from the cache times fall where kernels say so. */
static const settings of_products_by_cache = { { .penalty = 0.2,
                                                 .width = 0.02,
                                                 .power = 1,
                                                 .bend_limit = 0.02,
                                                 .first_part = 0.5,
                                                 .pooling = CLV_POOL_MEDIANS },
                                               CLV_KNOTS_ALL };

typedef enum { COARSE, FINER, BY_CACHE } form;

/* Rows of one table; BY_CACHE: of two. */
typedef struct {
    const clv_measured_row *const *rows;
    int32_t n;
    form form;
} group;

typedef struct {
    clv_timed_table at[2];
    int32_t n;
} made;

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
        clv_kernel_work computes = { work.flops, 0, 0 }, reads = { 0, work.bytes, 0 };
        bool moves = of->kind == CLV_TIMED_COLLECTIVE; /* over links: only the form counts */
        reference[i] = CLV_KERNEL_START_NS +
                       (moves ? CLV_KERNEL_START_NS * work.bytes / WIRE_BYTES
                              : clv_roofline_ns(&whole, computes) + clv_roofline_ns(&whole, reads));
        least[i] = moves ? 0 : clv_roofline_ns(floor, work);
    }
    ret->reference_ns = reference;
    ret->floor_ns = least;
    return CLV_OK;
}

/* Which rows a table is of: all, or all but those left out; and of products BY_CACHE, those whose
 * weights were cached, or all as if none were. */
typedef struct {
    bool all, cached;
} choice;

static clv_status rows_of(const group *g, const clv_device_kind *device, choice c, clv_arena *arena,
                          clv_fit_rows *ret, clv_error *err)
{
    const clv_timed_point *of = &g->rows[0]->point;
    int32_t axes = clv_timed_kind_of(of->kind)->n_axes, n = 0;
    double *at = CLV_NEW_ARRAY(arena, double, (size_t)g->n *(size_t)axes);
    double *ns = CLV_NEW_ARRAY(arena, double, g->n);
    if (!at || !ns)
        return clv_fail_nomem(err, "a fit");
    for (int32_t i = 0; i < g->n; i++) {
        const clv_measured_row *row = g->rows[i];
        if ((!c.all && row->hash % LEFT_OUT == 0) ||
            (c.cached && !clv_weights_were_cached(&row->point, device)))
            continue;
        memcpy(at + (size_t)n * (size_t)axes, row->point.at, (size_t)axes * sizeof *at);
        ns[n++] = row->ns;
    }
    *ret = (clv_fit_rows){ n, at, ns };
    if (g->form == BY_CACHE && !c.cached)
        return clv_times_from_memory(of, ret, device, arena, ns, err);
    return CLV_OK;
}

static settings settings_of(const group *g, clv_timed kind)
{
    settings s = g->form == BY_CACHE ? of_products_by_cache
                 : g->form == FINER  ? of_finer_products
                                     : of_kind[kind];
    if (clv_timed_kind_of(kind)->falls)
        s.how.pooling = CLV_POOL_NONE;
    return s;
}

static clv_status fit_table(const group *g, const clv_device_kind *device, choice c,
                            clv_arena *arena, clv_timed_table *ret, clv_error *err)
{
    const clv_measured_row *first = g->rows[0];
    clv_timed_point of = first->point;
    of.kind = c.cached ? CLV_TIMED_PRODUCT_CACHED : of.kind;
    clv_roofline floor = clv_device_floor(device, of.dtype);
    settings s = settings_of(g, of.kind);
    clv_fit_rows rows;
    clv_grid grid;
    const double *ns = NULL;
    CLV_TRY(rows_of(g, device, c, arena, &rows, err));
    *ret = (clv_timed_table){ .kind = of.kind,
                              .dtype = of.dtype,
                              .weights = of.weights,
                              .operation = first->operation,
                              .devices = first->devices,
                              .library = first->library,
                              .rows = rows.n,
                              .median_error = -1,
                              .p95_error = -1 };
    if (rows.n == 0)
        return CLV_OK;
    CLV_TRY(clv_measured_knots(of.kind, s.knots, &rows, arena, &grid, err));
    CLV_TRY(reference_at_knots(&grid, &of, &floor, arena, &s.how, err));
    CLV_TRY(clv_table_fit_rows(&grid, &rows, &s.how, arena, &ns, err));
    return clv_time_table_init(&grid, ns, arena, &ret->table, err);
}

static clv_status fit_group(const group *g, const clv_device_kind *device, bool all,
                            clv_arena *arena, made *ret, clv_error *err)
{
    *ret = (made){ .n = 0 };
    for (int k = 0; k < (g->form == BY_CACHE ? 2 : 1); k++) {
        CLV_TRY(fit_table(g, device, (choice){ all, k == 1 }, arena, &ret->at[ret->n], err));
        ret->n += ret->at[ret->n].rows > 0;
    }
    return CLV_OK;
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

/* Of tables made without some rows, on these; rows 0: none of them is for them. */
static clv_status error_on(const job *j, const made *tables, clv_arena *arena,
                           clv_measured_error *ret, clv_error *err)
{
    const clv_kernel_times times = { .n = tables->n, .at = tables->at };
    clv_measured_errors errors;
    CLV_TRY(clv_measured_score(&j->left_out, &times, j->device, arena, &errors, err));
    *ret = errors.n > 0 ? errors.at[0] : (clv_measured_error){ .rows = 0 };
    return CLV_OK;
}

/* A finer table of products in the place of one, where the rows left out of both say so. */
static clv_status refine(const job *j, group *g, clv_arena *arena, made *tables, clv_error *err)
{
    const group finer = { g->rows, g->n, FINER };
    made others;
    clv_measured_error before, after;
    if (g->rows[0]->point.kind != CLV_TIMED_PRODUCT || g->form != COARSE)
        return CLV_OK;
    CLV_TRY(error_on(j, tables, arena, &before, err));
    if (before.rows == 0 || before.p95 <= FINER_ABOVE)
        return CLV_OK;
    CLV_TRY(fit_group(&finer, j->device, false, arena, &others, err));
    CLV_TRY(error_on(j, &others, arena, &after, err));
    if (after.p95 < before.p95) {
        *g = finer;
        *tables = others;
    }
    return CLV_OK;
}

/* Of a group: tables without the rows left out, which say how it is best made and what it is off by
 * on them; then of all rows. */
static clv_status fit_twice(const job *j, group *g, clv_arena *arena, made *ret_partial,
                            made *ret_final, clv_error *err)
{
    clv_measured_error error;
    clv_fit_rows rows;
    CLV_TRY(rows_of(g, j->device, (choice){ .all = true }, arena, &rows, err));
    if (clv_faster_than_memory(&g->rows[0]->point, &rows, j->device))
        g->form = BY_CACHE;
    CLV_TRY(fit_group(g, j->device, false, arena, ret_partial, err));
    CLV_TRY(refine(j, g, arena, ret_partial, err));
    CLV_TRY(fit_group(g, j->device, true, arena, ret_final, err));
    CLV_TRY(error_on(j, ret_partial, arena, &error, err));
    for (int32_t k = 0; k < ret_final->n && error.rows > 0; k++) {
        ret_final->at[k].median_error = error.median;
        ret_final->at[k].p95_error = error.p95;
    }
    return CLV_OK;
}

static clv_status fit_memory(const job *j, clv_arena *arena, clv_timed_table *tables, int32_t *n,
                             clv_error *err)
{
    clv_fit_rows rows;
    for (int32_t i = 0; i < j->n; i++) {
        const group g = { j->groups[i].rows, j->groups[i].n, COARSE }; /* times as they are */
        const clv_timed_point *of = &g.rows[0]->point;
        if (of->kind != CLV_TIMED_PRODUCT || of->dtype != CLV_DT_BFLOAT16 ||
            of->weights != CLV_DT_BFLOAT16)
            continue;
        CLV_TRY(rows_of(&g, j->device, (choice){ .all = true }, arena, &rows, err));
        CLV_TRY(clv_memory_fit(&rows, j->device->memory_bytes_per_s, arena, tables, n, err));
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

static void add_tables(const made *from, clv_timed_table *to, int32_t *n)
{
    for (int32_t k = 0; k < from->n; k++)
        to[(*n)++] = from->at[k];
}

clv_status clv_measured_fit(const clv_measured_rows *rows, const clv_device_kind *device,
                            clv_arena *arena, clv_kernel_times *ret,
                            clv_measured_errors *ret_errors, clv_error *err)
{
    job j = { .device = device };
    int32_t n_partial = 0, n_final = 0;
    CLV_TRY(group_rows(rows, arena, &j.groups, &j.n, err));
    CLV_TRY(rows_left_out(rows, arena, &j.left_out, err));
    size_t most = 2 * (size_t)j.n;
    clv_timed_table *partial = CLV_NEW_ARRAY(arena, clv_timed_table, most);
    clv_timed_table *final = CLV_NEW_ARRAY(arena, clv_timed_table, most + 2);
    if (!partial || !final)
        return clv_fail_nomem(err, "tables of times");
    for (int32_t i = 0; i < j.n; i++) {
        made without, with;
        CLV_TRY(fit_twice(&j, &j.groups[i], arena, &without, &with, err));
        add_tables(&without, partial, &n_partial);
        add_tables(&with, final, &n_final);
    }
    const clv_kernel_times times = { .n = n_partial, .at = partial };
    CLV_TRY(clv_measured_score(&j.left_out, &times, device, arena, ret_errors, err));
    CLV_TRY(fit_memory(&j, arena, final, &n_final, err));
    *ret = (clv_kernel_times){ .n = n_final, .at = final };
    return CLV_OK;
}
