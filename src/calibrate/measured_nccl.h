/* measured_nccl.h - what all_reduce_perf and the others of nccl-tests print, as rows. */
#ifndef CLV_CALIBRATE_MEASURED_NCCL_H
#define CLV_CALIBRATE_MEASURED_NCCL_H

#include "calibrate/measured_csv.h"

/* The operation that a file's name begins with, as the programs are called: "all_reduce_perf.txt".
 */
bool clv_measured_nccl_name(const char *name, clv_timed_operation *ret);

/* Adds the times out of place, for as many devices as the comments before the table list ranks.
 * CLV_EFORMAT with file and line. O(bytes). */
clv_status clv_measured_nccl(clv_timed_operation operation, const clv_file_text *text,
                             clv_arena *arena, clv_measured_rows *rows, clv_error *err);

#endif
