#include "lower/plan_types.h"

#include "graph/infer_bound.h"

clv_status clv_plan_types(const clv_model *model, const clv_plan *plan, clv_arena *arena,
                          const clv_types **ret, clv_error *err)
{
    clv_binding *given = CLV_NEW_ARRAY(arena, clv_binding, plan->n_bindings);
    clv_inference *inference;
    if (!given)
        return clv_fail_nomem(err, "the types of a plan");
    for (int32_t i = 0; i < plan->n_bindings; i++)
        CLV_TRY(clv_binding_parse(plan->bindings[i], "a binding of the plan", &given[i], err));
    CLV_TRY(clv_infer_bound(model, given, plan->n_bindings, arena, &inference, err));
    *ret = inference->main;
    return CLV_OK;
}
