#include "pipeline/pipeline.h"

#include "pipeline/batch_search.h"
#include "pipeline/plan_model.h"
#include "request/batch_symbol.h"

clv_status clv_pipeline_run(const clv_request *req, clv_arena *arena, clv_plan **ret,
                            clv_error *err)
{
    clv_batch_symbol batch;
    CLV_TRY(clv_batch_symbol_find(req, arena, &batch, err));
    return batch.symbol < 0 ? clv_plan_model(req, arena, ret, err)
                            : clv_batch_search(req, &batch, arena, ret, err);
}
