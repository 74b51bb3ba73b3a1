/* memory_fit.h - what kernels take that do little but read and write: from products of few rows. */
#ifndef CLV_CALIBRATE_MEMORY_FIT_H
#define CLV_CALIBRATE_MEMORY_FIT_H

#include "calibrate/table_fit.h"
#include "cluster/kernel_times.h"

/* Products of at most 8 rows read a matrix and compute next to nothing. A good kernel is the one of
 * which only a fifth of those around the same size are faster: each is scaled to a power of two of
 * bytes by a start and a rate. The start is the middle of those of at most 32 KiB. Appends the
 * tables memory and start to tables[*n]; none where there are no such rows. rows: of bfloat16
 * products. O(rows * log bytes). */
clv_status clv_memory_fit(const clv_fit_rows *rows, double bytes_per_s, clv_arena *arena,
                          clv_timed_table *tables, int32_t *n, clv_error *err);

#endif
