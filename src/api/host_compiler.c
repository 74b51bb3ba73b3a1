#include "api/host_compiler.h"

#include <limits.h>
#include <stdio.h>

static int ask(void *ctx, const clv_call *call, char *answer, size_t capacity)
{
    const cleave_plan_options *o = ctx;
    char model[PATH_MAX], plan[PATH_MAX], options[PATH_MAX];
    snprintf(model, sizeof model, "%s/model.onnx", call->folder);
    snprintf(plan, sizeof plan, "%s/plan.json", call->folder);
    snprintf(options, sizeof options, "%s/options.json", call->folder);
    const cleave_candidate candidate = { .size = (uint32_t)sizeof candidate,
                                         .model = model,
                                         .plan = plan,
                                         .options = options,
                                         .devices = call->n_devices,
                                         .worker = call->worker };
    return o->compile(o->compile_ctx, &candidate, answer, capacity);
}

clv_status clv_set_compiler(const cleave_plan_options *o, clv_host_compiler *room, clv_request *req,
                            clv_error *err)
{
    req->compiler = o->compiler;
    if (!o->compile)
        return CLV_OK;
    if (o->compiler)
        return clv_fail(err, CLV_EUSAGE, "compiler is '%s' and compile is given: expected one",
                        o->compiler);
    *room = (clv_host_compiler){ ask, (void *)o };
    req->compiler = CLV_HOST_COMPILER_NAME;
    req->host_compiler = room;
    return CLV_OK;
}
