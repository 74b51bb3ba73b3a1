/* device_report.h - a group's result in the words of clv_device_report. */
#ifndef CLV_COMPILE_DEVICE_REPORT_H
#define CLV_COMPILE_DEVICE_REPORT_H

#include "compile/memory_plan.h"

/* What the group's tensors may use (clv_device_capacity). */
int64_t clv_group_capacity(const clv_cluster *cluster, int32_t device);

/* Plans the group's memory again to see what lives at its fullest moment; the live tensors'
 * addresses count from the device's first byte, weights lying below them. ret->live lives in the
 * arena. CLV_ENOMEM. O() as clv_plan_memory(). */
clv_status clv_device_report_make(clv_memory_planner *planner, const clv_group *group,
                                  const clv_group_result *result, clv_arena *arena,
                                  clv_device_report *ret, clv_error *err);

#endif
