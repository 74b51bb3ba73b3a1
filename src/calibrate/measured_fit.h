/* measured_fit.h - tables of times of a device from what was measured on it. */
#ifndef CLV_CALIBRATE_MEASURED_FIT_H
#define CLV_CALIBRATE_MEASURED_FIT_H

#include "calibrate/measured_score.h"

/* One table for each kind and types (of collectives: operation, library and number of devices), and
 * memory and start from bfloat16 products of few rows. The device's data sheet is a floor. Errors
 * are those of tables that were fitted without every fifth row, by a hash of what it says, on the
 * rows left out; the tables given know all rows. name, source, date and libraries are left to the
 * caller. Rows get another order. O(rows log rows). */
clv_status clv_measured_fit(const clv_measured_rows *rows, const clv_device_kind *device,
                            clv_arena *arena, clv_kernel_times *ret,
                            clv_measured_errors *ret_errors, clv_error *err);

#endif
