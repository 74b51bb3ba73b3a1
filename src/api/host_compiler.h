/* host_compiler.h - a function of the host as the compiler that judges candidates. */
#ifndef CLV_API_HOST_COMPILER_H
#define CLV_API_HOST_COMPILER_H

#include "cleave.h"
#include "compile/external.h"
#include "request/request.h"

/* What it is called in plans and reports. */
#define CLV_HOST_COMPILER_NAME "the calling program"

/* Sets the compiler of a request: a command, a function of the host, or the built-in one. *room has
 * to live as long as the request. CLV_EUSAGE: both are given. */
clv_status clv_set_compiler(const cleave_plan_options *o, clv_host_compiler *room, clv_request *req,
                            clv_error *err);

#endif
