/* lower_report.h - a plan that was lowered, for people and programs. */
#ifndef CLV_API_LOWER_REPORT_H
#define CLV_API_LOWER_REPORT_H

#include "api/report.h"
#include "lower/lower.h"

typedef struct {
    const char *path, *form;
    int64_t start_ns; /* of clv_now_ns(), when the work began */
} clv_lowered_folder;

/* Fills *report, in its arena. CLV_ENOMEM only. */
clv_status clv_lower_report(const clv_lower_summary *made, const clv_lowered_folder *folder,
                            cleave_report *report, clv_error *err);

#endif
