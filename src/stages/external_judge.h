/* external_judge.h - the compiler that a request names, and what it is given of a candidate:
 * docs/compiler-protocol.md.
 */
#ifndef CLV_STAGES_EXTERNAL_JUDGE_H
#define CLV_STAGES_EXTERNAL_JUDGE_H

#include "compile/external.h"
#include "plan/plan.h"
#include "request/request.h"

/* emit writes a candidate's files, by clv_candidate_write(). CLV_ENOMEM. */
clv_status clv_external_judge_open(const clv_request *req, const clv_workload *workload,
                                   const clv_emitter *emitter, clv_compiler **ret, clv_error *err);

/* Writes plan.json and model.onnx into a folder. The plan gets the names of model, search and
 * objective. CLV_EIO, CLV_ENOMEM. O(the model). */
clv_status clv_candidate_write(const clv_request *req, clv_plan *plan, const char *folder,
                               clv_arena *arena, clv_error *err);

#endif
