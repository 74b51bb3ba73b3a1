/* measured_csv.h - times of kernels as tables of commas.
 *
 * The first line names the columns, in any order; docs/calibration.md lists the files with theirs.
 * Times are microseconds.
 */
#ifndef CLV_CALIBRATE_MEASURED_CSV_H
#define CLV_CALIBRATE_MEASURED_CSV_H

#include "calibrate/text_lines.h"
#include "cluster/kernel_times.h"

typedef struct {
    clv_timed_point point;
    clv_timed_operation operation; /* of a collective */
    int32_t devices;               /* of a collective; else 0 */
    const char *library;           /* of a collective; else NULL */
    double ns;
    uint64_t hash; /* of what it says, not of where it stands */
} clv_measured_row;

typedef struct {
    clv_measured_row *at;
    int32_t n, cap;
} clv_measured_rows;

typedef enum {
    CLV_MEASURED_PRODUCTS,
    CLV_MEASURED_CONVOLUTIONS,
    CLV_MEASURED_FULL,
    CLV_MEASURED_PREFILL,
    CLV_MEASURED_DECODE,
    CLV_MEASURED_COLLECTIVES,
    CLV_MEASURED_EXPERTS,
    CLV_N_MEASURED_FILES
} clv_measured_file;

const char *clv_measured_file_name(clv_measured_file file); /* "gemm.csv" */

/* Adds the rows of a file. CLV_EFORMAT with file and line: a column that is missing, unknown or
 * twice there, a value that is none, a time that is none or over an hour, a row that says the same
 * as another one. O(bytes). */
clv_status clv_measured_csv(clv_measured_file file, const clv_file_text *text, clv_arena *arena,
                            clv_measured_rows *rows, clv_error *err);

#endif
