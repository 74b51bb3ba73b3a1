#include "lower/plan_types.h"

#include "base/units.h"
#include "graph/bindings.h"

/* The symbol may have a '=' in it, the size has none. */
static clv_status read_binding(const char *text, clv_binding *ret, clv_error *err)
{
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text)
        return clv_fail(err, CLV_EFORMAT,
                        "the plan has the binding '%.200s', expected a symbol and a size, as in "
                        "batch=8",
                        text);
    ret->symbol = (clv_str){ text, (int32_t)(equals - text) };
    return clv_parse_int(equals + 1, "a size in the plan's bindings", 1, INT64_MAX, &ret->value,
                         err);
}

clv_status clv_plan_types(const clv_model *model, const clv_plan *plan, clv_arena *arena,
                          const clv_types **ret, clv_error *err)
{
    clv_binding *given = CLV_NEW_ARRAY(arena, clv_binding, plan->n_bindings);
    const clv_binding *all;
    clv_inference *inference;
    int32_t n;
    if (!given)
        return clv_fail_nomem(err, "the types of a plan");
    for (int32_t i = 0; i < plan->n_bindings; i++)
        CLV_TRY(read_binding(plan->bindings[i], &given[i], err));
    CLV_TRY(clv_bindings_complete(model, given, plan->n_bindings, arena, &all, &n, err));
    CLV_TRY(clv_infer(model, all, n, arena, &inference, err));
    *ret = inference->main;
    return CLV_OK;
}
