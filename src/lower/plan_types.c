#include "lower/plan_types.h"

#include "graph/bindings.h"

clv_status clv_plan_types(const clv_model *model, const clv_plan *plan, clv_arena *arena,
                          const clv_types **ret, clv_error *err)
{
    clv_binding *given = CLV_NEW_ARRAY(arena, clv_binding, plan->n_bindings);
    const clv_binding *all = given;
    clv_inference *inference;
    int32_t n = plan->n_bindings;
    if (!given)
        return clv_fail_nomem(err, "the types of a plan");
    for (int32_t i = 0; i < plan->n_bindings; i++)
        CLV_TRY(clv_binding_parse(plan->bindings[i], "a binding of the plan", &given[i], err));
    CLV_TRY(clv_bindings_complete(model, arena, &all, &n, err));
    CLV_TRY(clv_infer(model, all, n, arena, &inference, err));
    *ret = inference->main;
    return CLV_OK;
}
