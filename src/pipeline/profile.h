/* profile.h - a plan for a backend (cluster/backend.h): what it does not go with, the command line
 * that runs the plan, and what the restriction costs.
 */
#ifndef CLV_PIPELINE_PROFILE_H
#define CLV_PIPELINE_PROFILE_H

#include "plan/plan.h"
#include "request/analysis.h"
#include "request/request.h"

/* CLV_EUSAGE: the request asks for what leaves the backend no say, or a model that is trained is to
 * be served. O(operators). */
clv_status clv_profile_check(const clv_request *req, clv_arena *arena, clv_error *err);

/* The same request for anyone, to be compared with. */
clv_request clv_profile_left_out(const clv_request *req);

/* Into a plan that was made for req->backend: its command, and the best plan without the profile;
 * without NULL: it is not known. CLV_ENOMEM. O(operators + devices). */
clv_status clv_profile_add(const clv_request *req, const clv_analysis *analysis,
                           const clv_plan *without, clv_plan *plan, clv_arena *arena,
                           clv_error *err);

#endif
