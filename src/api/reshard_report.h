/* reshard_report.h - what has to move from a folder of shards to a layout, for people and programs.
 */
#ifndef CLV_API_RESHARD_REPORT_H
#define CLV_API_RESHARD_REPORT_H

#include "api/report.h"
#include "weights/weights_folder.h"

/* Fills *report, in its arena. CLV_EFORMAT, CLV_ENOMEM. O() as clv_reshard_plan_make(). */
clv_status clv_reshard_report(const clv_weights_folder *folder, const clv_weight_layout *target,
                              cleave_report *report, clv_error *err);

#endif
