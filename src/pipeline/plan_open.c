#include "pipeline/plan_open.h"

#include "plan/plan_annotations.h"
#include "plan/plan_check.h"
#include "plan/plan_json_read.h"
#include "proto/fingerprint.h"

clv_status clv_plan_open(const clv_plan_file *file, const clv_model *model, const char *name,
                         clv_arena *arena, clv_plan **ret, clv_error *err)
{
    clv_plan *plan;
    CLV_TRY(clv_plan_read(file->text, file->n, file->path, arena, &plan, err));
    uint64_t fingerprint = clv_onnx_fingerprint(model);
    if (plan->fingerprint != fingerprint)
        return clv_fail(err, CLV_EFORMAT,
                        "%s is a plan for model '%s' (fingerprint %016llx), not for '%s' (%016llx)",
                        file->path, plan->model, (unsigned long long)plan->fingerprint, name,
                        (unsigned long long)fingerprint);
    CLV_TRY(clv_plan_find_nodes(plan, model->main, arena, err));
    CLV_TRY(clv_plan_check(plan, model->main, arena, err));
    *ret = plan;
    return CLV_OK;
}
