/* manual.h - a plan whose cuts a person gives (stages/manual_cut.h) instead of a search. */
#ifndef CLV_STAGES_MANUAL_H
#define CLV_STAGES_MANUAL_H

#include "stages/stage_state.h"

/* The one assignment that the given nodes mean, judged like any other. */
clv_status clv_manual_judge(clv_stage_search *s, clv_partition_result *ret, clv_error *err);

/* The stages of pipelining_info into the plan, where they are given, instead of those that follow
 * from the devices' order. */
void clv_manual_mark_plan(const clv_stage_search *s, clv_plan *plan);

#endif
