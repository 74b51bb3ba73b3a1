/* calibrate_report.h - a measured machine, for people and programs. */
#ifndef CLV_API_CALIBRATE_REPORT_H
#define CLV_API_CALIBRATE_REPORT_H

#include "api/report.h"
#include "calibrate/calibrate.h"

/* path: of the cluster file; start_ns: of clv_now_ns(), when the work began. Fills *report, in its
 * arena. CLV_ENOMEM only. */
clv_status clv_calibrate_report(const clv_calibration *made, const char *path, int64_t start_ns,
                                cleave_report *report, clv_error *err);

#endif
