#include "verify/every_tensor.h"

#include <string.h>

#include "lower/spmd.h"

#define WHAT "a model that returns all tensors"

clv_status clv_every_tensor_model(const clv_model *model, const clv_types *types, bool own_first,
                                  clv_arena *arena, clv_model **ret, clv_error *err)
{
    const clv_graph *g = model->main;
    clv_model *copy = CLV_NEW(arena, clv_model);
    clv_graph *main = CLV_NEW(arena, clv_graph);
    clv_tensor_info *tensors = CLV_NEW_ARRAY(arena, clv_tensor_info, g->n_tensors);
    clv_tensor *outputs = CLV_NEW_ARRAY(arena, clv_tensor, g->n_tensors + g->n_outputs);
    int32_t n = own_first ? g->n_outputs : 0;
    if (!copy || !main || !tensors || !outputs)
        return clv_fail_nomem(err, WHAT);
    if (g->n_tensors)
        memcpy(tensors, g->tensors, (size_t)g->n_tensors * sizeof *tensors);
    if (n)
        memcpy(outputs, g->outputs, (size_t)n * sizeof *outputs);
    for (int32_t i = 0; i < g->n_ops; i++)
        for (int32_t k = 0; k < g->ops[i].n_out; k++) {
            clv_tensor t = clv_op_output(g, &g->ops[i], k);
            if (t.i < 0 || types->of[t.i].kind != CLV_TYPE_TENSOR || tensors[t.i].name.n == 0 ||
                clv_spmd_known(types, t) || (own_first && tensors[t.i].is_output))
                continue;
            outputs[n++] = t;
            tensors[t.i].is_output = true;
        }
    *copy = *model;
    *main = *g;
    main->tensors = tensors;
    main->outputs = outputs;
    main->n_outputs = n;
    copy->main = main;
    *ret = copy;
    return CLV_OK;
}

clv_status clv_every_tensor_plan(const clv_plan *plan, clv_arena *arena, const clv_plan **ret,
                                 clv_error *err)
{
    clv_plan *one = CLV_NEW(arena, clv_plan);
    clv_plan_device *device = CLV_NEW(arena, clv_plan_device);
    int32_t *device_of_op = CLV_NEW_ARRAY(arena, int32_t, plan->n_ops);
    if (!one || !device || !device_of_op)
        return clv_fail_nomem(err, WHAT);
    *device = (clv_plan_device){ .name = "one", .kind = "one", .n_ops = plan->n_ops };
    *one = (clv_plan){ .model = plan->model,
                       .fingerprint = plan->fingerprint,
                       .n_devices = 1,
                       .n_stages = 1,
                       .n_ops = plan->n_ops,
                       .devices = device,
                       .device_of_op = device_of_op,
                       .bindings = plan->bindings,
                       .n_bindings = plan->n_bindings };
    *ret = one;
    return CLV_OK;
}
