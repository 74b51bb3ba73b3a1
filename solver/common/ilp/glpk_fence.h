/* glpk_fence.h - the one door to GLPK.
 *
 * GLPK solutions misuse by printing and abort(), and keeps its state for each thread. Behind the
 * fence it prints nothing, and giving up is a status. All problems made inside a call are gone
 * after it, also those that the calling thread had made with GLPK before.
 */
#ifndef CLV_SOLVER_COMMON_ILP_GLPK_FENCE_H
#define CLV_SOLVER_COMMON_ILP_GLPK_FENCE_H

#include "base/status.h"

/* Runs body(arg, err) with GLPK's hooks set for its length. CLV_ESOLVER when GLPK gave up inside;
 * then body did not return, so it must hold nothing that only it could release. */
clv_status clv_glpk_run(clv_status (*body)(void *arg, clv_error *err), void *arg, clv_error *err);

#endif
