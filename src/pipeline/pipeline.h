/* pipeline.h - the sequence: model -> batch, where it is open -> plan.
 *
 * src/api puts the public API on top of it.
 */
#ifndef CLV_PIPELINE_PIPELINE_H
#define CLV_PIPELINE_PIPELINE_H

#include "plan/plan.h"
#include "request/request.h"

/* A plan whose outcome is not CLV_FITS is the nearest one seen; its notes say what is missing where
 * and what would fit. It lives in the arena, beside the model. CLV_EUSAGE: the request contradicts
 * itself; CLV_EFORMAT: rules, sharding nodes or the symbol of the batch do not go with the model;
 * CLV_ECANCELED: stopped before a plan was found. */
clv_status clv_pipeline_run(const clv_request *req, clv_arena *arena, clv_plan **ret,
                            clv_error *err);

#endif
