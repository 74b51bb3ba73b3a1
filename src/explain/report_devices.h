/* report_devices.h - the tables of the report of a plan that are about its devices: what each does,
 * what its memory holds, and the transfers between them. Each has an empty line in front; nothing
 * where there is nothing to show.
 *
 * The devices of a mesh do the same, so that they share a line: gpu0-7.
 */
#ifndef CLV_EXPLAIN_REPORT_DEVICES_H
#define CLV_EXPLAIN_REPORT_DEVICES_H

#include "explain/text.h"
#include "plan/plan.h"

/* "gpu0-1, gpu2-3": the devices of each copy of the plan, of many those of the first and the last.
 * O(devices). */
void clv_report_copy_devices(const clv_plan *plan, clv_text *text);
/* The devices of each copy of the plan; everything else is of the first copy. O(devices). */
void clv_report_copies(const clv_plan *plan, clv_text *text);
/* Stage, operators and work of each. O(devices). */
void clv_report_devices(const clv_plan *plan, clv_text *text);
/* What is in the memory of each where it is fullest. O(devices). */
void clv_report_memory(const clv_plan *plan, clv_text *text);
/* The largest ones, and the sum of all. O(transfers log transfers). */
void clv_report_transfers(const clv_plan *plan, clv_text *text);

/* "gpu0-7": the devices that this one stands for. */
const char *clv_report_devices_name(const clv_plan *plan, int32_t lead, clv_text *text);

/* Has the device a line of its own: is it in use, and the lead of its mesh? */
bool clv_report_is_shown(const clv_plan *plan, int32_t device);

#endif
