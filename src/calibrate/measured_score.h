/* measured_score.h - how far tables of times are off what was measured. */
#ifndef CLV_CALIBRATE_MEASURED_SCORE_H
#define CLV_CALIBRATE_MEASURED_SCORE_H

#include "calibrate/measured_csv.h"
#include "cluster/cluster.h"

/* Errors are |predicted / measured - 1|. Kinds of attention with one query, and of experts, count
 * as one; products whose weights were cached (cached_weights.h) as products, by the table of such
 * if there is one. */
typedef struct {
    clv_timed kind;
    clv_dtype dtype, weights;
    const char *library; /* of collectives; else NULL */
    int32_t rows;
    double median, p95, worst;
} clv_measured_error;

typedef struct {
    const clv_measured_error *at;
    int32_t n;
} clv_measured_errors;

/* Of tables on rows, in the order of kinds; rows that no table is for do not count. O(rows *
 * tables).
 */
clv_status clv_measured_score(const clv_measured_rows *rows, const clv_kernel_times *times,
                              const clv_device_kind *device, clv_arena *arena,
                              clv_measured_errors *ret, clv_error *err);

/* What nothing on the device is faster than, for operands of a type. */
clv_roofline clv_device_floor(const clv_device_kind *device, clv_dtype dtype);

#endif
