/* status.h - what calls of the public API return: codes and sentences out of those of the inside.
 */
#ifndef CLV_API_STATUS_H
#define CLV_API_STATUS_H

#include "base/status.h"
#include "cleave.h"

/* Fills *ret, if there is one, from a status and the error beside it, and returns the public code.
 */
cleave_status clv_return(clv_status status, const clv_error *err, cleave_error *ret);
/* The request is wrong in itself: CLEAVE_EUSAGE. */
cleave_status clv_refuse(cleave_error *ret, const char *sentence);
/* The search ended without a solution: CLEAVE_NO_PLAN, and why; "" for the lack of time. */
cleave_status clv_return_no_solution(cleave_error *ret, const char *why);

#endif
