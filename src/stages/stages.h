/* stages.h - a plan of whole operators in stages: the model cut over devices, nothing inside an
 * operator.
 *
 * cluster -> rules, problem, judge (stage_search.h) -> search over micro-batches (microbatches.h)
 * -> where rules are in the way, which (relax.h) -> plan, checked by code that did not make it
 * (finish.h).
 */
#ifndef CLV_STAGES_STAGES_H
#define CLV_STAGES_STAGES_H

#include "compile/pool.h"
#include "plan/plan.h"
#include "request/analysis.h"
#include "request/request.h"

/* A plan whose outcome is not CLV_FITS is the nearest one seen; its notes say what is missing where
 * and what would fit. It lives in the arena, beside analysis and model. */
clv_status clv_stages_plan(const clv_request *req, const clv_analysis *analysis, clv_arena *arena,
                           clv_plan **ret, clv_error *err);

/* The same, and what comes first is judged by the same workers, beside the search. */
clv_status clv_stages_plan_after(const clv_request *req, const clv_analysis *analysis,
                                 const clv_pool_first *first, clv_arena *arena, clv_plan **ret,
                                 clv_error *err);

#endif
