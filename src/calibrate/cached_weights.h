/* cached_weights.h - products that were measured with their weights in the last cache.
 *
 * A collector repeats a product with copies of its weights in turn, as many as fill the last cache
 * before memory and at most five (docs/calibration.md). Where all copies fit, weights came from the
 * cache. Those of a model do not: between two runs of a layer all others are read. Where memory is
 * much slower than the cache, that is another kernel.
 */
#ifndef CLV_CALIBRATE_CACHED_WEIGHTS_H
#define CLV_CALIBRATE_CACHED_WEIGHTS_H

#include "calibrate/table_fit.h"
#include "cluster/cluster.h"
#include "cluster/kernel_times.h"

/* Of a product that was measured so; of other kinds false. */
bool clv_weights_were_cached(const clv_timed_point *point, const clv_device_kind *device);

/* Whether memory cannot explain the times, as more than one product in a hundred took less than the
 * data sheet's memory takes to bring its weights. of: their types; ns as at. O(rows). */
bool clv_faster_than_memory(const clv_timed_point *of, const clv_fit_rows *rows,
                            const clv_device_kind *device);

/* Of any kernel, in order of magnitude. */
#define CLV_KERNEL_START_NS 2000.0

/* The times of rows with their weights in memory, ns[rows->n]: of those whose weights were cached
 * at least a start and what weights take at the rate that products of few rows reach, the middle
 * one; the data sheet's where there are none. O(rows log rows). */
clv_status clv_times_from_memory(const clv_timed_point *of, const clv_fit_rows *rows,
                                 const clv_device_kind *device, clv_arena *scratch, double *ns,
                                 clv_error *err);

#endif
