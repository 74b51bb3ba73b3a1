#include "calibrate/measured_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/cached_weights.h"

typedef struct {
    const clv_measured_row *row;
    clv_timed kind; /* that it counts with */
    double error;
} scored;

clv_roofline clv_device_floor(const clv_device_kind *device, clv_dtype dtype)
{
    return (clv_roofline){ clv_device_matrix_rate(device, dtype) / device->matrix_efficiency,
                           device->memory_bytes_per_s, device->cache_bytes };
}

static clv_timed counted_as(clv_timed kind)
{
    bool one_query = kind == CLV_TIMED_DECODE_GROUPED || kind == CLV_TIMED_DECODE_SHARED;
    return one_query ? CLV_TIMED_DECODE : kind == CLV_TIMED_EXPERTS_EVEN ? CLV_TIMED_EXPERTS : kind;
}

static const clv_timed_table *collective_table(const clv_kernel_times *times,
                                               const clv_measured_row *row)
{
    for (int32_t i = 0; i < times->n; i++) {
        const clv_timed_table *t = &times->at[i];
        if (t->kind == CLV_TIMED_COLLECTIVE && t->operation == row->operation &&
            t->devices == row->devices && strcmp(t->library, row->library) == 0)
            return t;
    }
    return NULL;
}

static bool predict(const clv_kernel_times *times, const clv_device_kind *device,
                    const clv_measured_row *row, double *ret)
{
    clv_timed_point p = row->point;
    bool joins = p.kind == CLV_TIMED_COLLECTIVE;
    const clv_timed_table *t = joins ? collective_table(times, row)
                                     : clv_timed_table_find(times, p.kind, p.dtype, p.weights);
    if (clv_weights_were_cached(&p, device)) {
        p.kind = CLV_TIMED_PRODUCT_CACHED;
        const clv_timed_table *cached = clv_timed_table_find(times, p.kind, p.dtype, p.weights);
        t = cached ? cached : t;
    }
    if (!t)
        return false;
    clv_roofline floor = clv_device_floor(device, p.dtype);
    double ns = clv_time_table_ns(&t->table, p.at);
    double least = joins ? 0 : clv_roofline_ns(&floor, clv_timed_point_work(&p));
    *ret = ns > least ? ns : least;
    return true;
}

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int by_part(const scored *a, const scored *b)
{
    int d = compare(a->kind, b->kind);
    d = d ? d : compare(a->row->point.dtype, b->row->point.dtype);
    d = d ? d : compare(a->row->point.weights, b->row->point.weights);
    return d || !a->row->library ? d : strcmp(a->row->library, b->row->library);
}

static int by_part_and_error(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    int d = by_part(x, y);
    return d ? d : (x->error > y->error) - (x->error < y->error);
}

/* at: of one part, ascending. */
static clv_measured_error error_of(const scored *at, int32_t n)
{
    return (clv_measured_error){
        .kind = at->kind,
        .dtype = at->row->point.dtype,
        .weights = at->row->point.weights,
        .library = at->row->library,
        .rows = n,
        .median = (at[(n - 1) / 2].error + at[n / 2].error) / 2,
        .p95 = at[(int32_t)(0.95 * (n - 1) + 0.5)].error,
        .worst = at[n - 1].error,
    };
}

clv_status clv_measured_score(const clv_measured_rows *rows, const clv_kernel_times *times,
                              const clv_device_kind *device, clv_arena *arena,
                              clv_measured_errors *ret, clv_error *err)
{
    scored *all = CLV_NEW_ARRAY(arena, scored, rows->n);
    clv_measured_error *errors = NULL;
    int32_t n = 0, n_errors = 0, cap = 0, first = 0;
    double ns;
    if (!all)
        return clv_fail_nomem(err, "errors of tables");
    for (int32_t i = 0; i < rows->n; i++)
        if (predict(times, device, &rows->at[i], &ns))
            all[n++] = (scored){ &rows->at[i], counted_as(rows->at[i].point.kind),
                                 fabs(ns / rows->at[i].ns - 1) };
    if (n > 1)
        qsort(all, (size_t)n, sizeof *all, by_part_and_error);
    for (int32_t i = 1; i <= n; i++) {
        if (i < n && by_part(&all[i], &all[first]) == 0)
            continue;
        if (!CLV_PUSH_ROOM(arena, errors, n_errors, cap))
            return clv_fail_nomem(err, "errors of tables");
        errors[n_errors++] = error_of(all + first, i - first);
        first = i;
    }
    *ret = (clv_measured_errors){ errors, n_errors };
    return CLV_OK;
}
