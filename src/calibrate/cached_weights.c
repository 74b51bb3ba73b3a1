#include "calibrate/cached_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

#define COPIES_MOST 5    /* of weights, that a collector rotates */
#define FASTER_PART 0.01 /* of products, to say that memory cannot explain them */
#define FEW_ROWS    8    /* of a product that waits for its weights */
#define NS_PER_S    1e9

static clv_timed_point point_at(const clv_timed_point *of, const clv_fit_rows *rows, int32_t i)
{
    clv_timed_point p = *of;
    int32_t axes = clv_timed_kind_of(of->kind)->n_axes;
    memcpy(p.at, rows->at + (int64_t)i * axes, (size_t)axes * sizeof *p.at);
    return p;
}

bool clv_weights_were_cached(const clv_timed_point *point, const clv_device_kind *device)
{
    if (point->kind != CLV_TIMED_PRODUCT)
        return false;
    clv_kernel_work work = clv_timed_point_work(point);
    double cache = (double)device->cache_bytes, copies = ceil(cache / work.streamed);
    copies = copies < COPIES_MOST ? copies : COPIES_MOST;
    return copies * work.streamed <= cache && work.bytes - work.streamed <= cache;
}

bool clv_faster_than_memory(const clv_timed_point *of, const clv_fit_rows *rows,
                            const clv_device_kind *device)
{
    int32_t faster = 0;
    for (int32_t i = 0; i < rows->n; i++) {
        clv_timed_point p = point_at(of, rows, i);
        double bytes = clv_timed_point_work(&p).streamed;
        faster += rows->ns[i] < NS_PER_S * bytes / device->memory_bytes_per_s;
    }
    return faster > FASTER_PART * rows->n;
}

/* Bytes of weights a nanosecond. */
static double streaming_rate(const clv_timed_point *of, const clv_fit_rows *rows,
                             const clv_device_kind *device, double *rates)
{
    int32_t n = 0;
    for (int32_t i = 0; i < rows->n; i++) {
        clv_timed_point p = point_at(of, rows, i);
        double bytes = clv_timed_point_work(&p).streamed;
        if (p.at[0] <= FEW_ROWS && bytes > (double)device->cache_bytes &&
            rows->ns[i] > CLV_KERNEL_START_NS)
            rates[n++] = bytes / (rows->ns[i] - CLV_KERNEL_START_NS);
    }
    qsort(rates, (size_t)n, sizeof *rates, clv_compare_double);
    return n > 0 ? rates[n / 2] : device->memory_bytes_per_s / NS_PER_S;
}

clv_status clv_times_from_memory(const clv_timed_point *of, const clv_fit_rows *rows,
                                 const clv_device_kind *device, clv_arena *scratch, double *ns,
                                 clv_error *err)
{
    clv_mark mark = clv_arena_mark(scratch);
    double *rates = CLV_NEW_ARRAY(scratch, double, rows->n);
    if (!rates)
        return clv_fail_nomem(err, "a fit");
    double rate = streaming_rate(of, rows, device, rates);
    clv_arena_rewind(scratch, mark);
    for (int32_t i = 0; i < rows->n; i++) {
        clv_timed_point p = point_at(of, rows, i);
        double least = CLV_KERNEL_START_NS + clv_timed_point_work(&p).streamed / rate;
        ns[i] = rows->ns[i];
        if (clv_weights_were_cached(&p, device) && ns[i] < least)
            ns[i] = least;
    }
    return CLV_OK;
}
