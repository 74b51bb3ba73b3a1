#include "stages/manual.h"

clv_status clv_manual_judge(clv_stage_search *s, clv_partition_result *ret, clv_error *err)
{
    int32_t *device_of = CLV_NEW_ARRAY(s->arena, int32_t, s->problem->n_units);
    clv_candidate *tried = CLV_NEW(s->arena, clv_candidate);
    if (!device_of || !tried)
        return clv_fail_nomem(err, "a manual plan");
    for (int32_t u = 0; u < s->problem->n_units; u++)
        device_of[u] = u < s->cut.n ? s->cut.device[u] : s->cut.rest_device;
    clv_assignment given = { .device_of = device_of };
    *tried = (clv_candidate){ .device_of = device_of, .move = "given by hand" };
    CLV_TRY(s->judge.judge(s->judge.ctx, &given, 1, &tried->verdict, err));
    *ret = (clv_partition_result){ .solve = { .found = tried->verdict.outcome == CLV_FITS,
                                              .end = CLV_END_GIVEN },
                                   .best = *tried,
                                   .n_judged = 1,
                                   .tried = tried };
    return CLV_OK;
}

void clv_manual_mark_plan(const clv_stage_search *s, clv_plan *plan)
{
    if (!s->cut.stage)
        return;
    plan->n_stages = 0;
    for (int32_t i = 0; i <= s->cut.n; i++) {
        int32_t device = i < s->cut.n ? s->cut.device[i] : s->cut.rest_device;
        int32_t stage = i < s->cut.n ? s->cut.stage[i] : s->cut.rest_stage;
        if (plan->devices[device].n_ops == 0)
            continue;
        plan->devices[device].stage = stage;
        if (stage >= plan->n_stages)
            plan->n_stages = stage + 1;
    }
}
