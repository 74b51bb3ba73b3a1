/* finish.h - from the result of a search for stages to the plan that is given out. */
#ifndef CLV_STAGES_FINISH_H
#define CLV_STAGES_FINISH_H

#include "stages/stage_search.h"

/* The best plan of the result with all that is to be said of it: rules, micro-batches, why the
 * search ended, notes, and, where it does not fit, what would. Checked against the graph where it
 * fits. Lives in the arena of s. */
clv_status clv_stage_finish(clv_stage_search *s, const clv_partition_result *result, clv_plan **ret,
                            clv_error *err);

#endif
