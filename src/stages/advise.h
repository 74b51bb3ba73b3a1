/* advise.h - what would help a search for stages that found no plan that fits. */
#ifndef CLV_STAGES_ADVISE_H
#define CLV_STAGES_ADVISE_H

#include "stages/stage_search.h"

/* Notes of the plan, the nearest one: what is proven of any cut, and with which micro-batches,
 * memory or devices there would be a plan, each tried by the search that the user would start. */
clv_status clv_stage_advise(clv_stage_search *s, const clv_candidate *best, clv_plan *plan,
                            clv_error *err);

#endif
