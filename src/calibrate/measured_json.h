/* measured_json.h - tables of times as a file of configs/measured (kernel_times_json.h reads it).
 */
#ifndef CLV_CALIBRATE_MEASURED_JSON_H
#define CLV_CALIBRATE_MEASURED_JSON_H

#include "cluster/kernel_times.h"

/* A line for each table. The text lives in the arena. */
clv_status clv_measured_json(const clv_kernel_times *times, clv_arena *arena, const char **ret_text,
                             size_t *ret_n, clv_error *err);

#endif
