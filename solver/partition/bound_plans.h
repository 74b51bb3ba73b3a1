/* bound_plans.h - the lower bounds of bound.h as a step of the search: what is proven of the best
 * plan, and the plan behind the proof, which is often the best one.
 */
#ifndef CLV_SOLVER_PARTITION_BOUND_PLANS_H
#define CLV_SOLVER_PARTITION_BOUND_PLANS_H

#include "solver/partition/search_state.h"

/* Once there is a plan that fits, and once only: a bound of the objective. For the period the plan
 * behind it is judged, which would reach it if transfers took no time. CLV_ENOMEM, or what the
 * judge says. O() as bound_period.h and bound_latency.h. */
clv_status clv_search_find_bound(clv_search_state *s, clv_error *err);

/* Judges the plan behind a bound. Where that is out of memory, the bound is computed again for
 * devices with less memory, by what the verdict says is missing, and its plan judged; once one
 * fits, bisection between the last two. At most CLV_SEARCH_RECUTS plans. */
clv_status clv_search_try_bound_plan(clv_search_state *s, const char *label, clv_error *err);

#endif
