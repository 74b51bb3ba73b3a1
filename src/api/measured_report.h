/* measured_report.h - what tables of measured times are off by, for people and programs. */
#ifndef CLV_API_MEASURED_REPORT_H
#define CLV_API_MEASURED_REPORT_H

#include "api/report.h"
#include "calibrate/measured_score.h"

typedef struct {
    const char *device, *folder;
    const char *path; /* of the file written; NULL: none */
    bool fitted;      /* errors are on rows left out; else on all, of the device's own tables */
    int32_t rows;     /* of the folder */
    const clv_kernel_times *times;
    const clv_measured_errors *errors;
    double seconds;
} clv_measured_report;

/* Fills *report, in its arena. CLV_ENOMEM only. */
clv_status clv_report_measured(const clv_measured_report *what, cleave_report *report,
                               clv_error *err);

#endif
