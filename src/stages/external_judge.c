#include "stages/external_judge.h"

#include "compile/folder.h"
#include "plan/plan_json_write.h"
#include "proto/fingerprint.h"
#include "proto/onnx_annotate.h"
#include "proto/out_file.h"

#define ANSWER_MAX_BYTES (1 << 20) /* of an external compiler's stdout */

clv_status clv_external_judge_open(const clv_request *req, const clv_workload *workload,
                                   const clv_emitter *emitter, clv_compiler **ret, clv_error *err)
{
    const clv_external_options options = { .source = clv_onnx_path(req->file),
                                           .command = req->compiler,
                                           .host = req->host_compiler,
                                           .timeout_ms = req->compiler_timeout_ms,
                                           .max_answer_bytes = ANSWER_MAX_BYTES,
                                           .emitter = *emitter,
                                           .stop = req->stop,
                                           .stop_ctx = req->stop_ctx };
    return clv_external_open(workload, &options, req->alloc, ret, err);
}

/* Commits the file if all was written, else leaves nothing. */
static clv_status close_file(clv_out_file *out, clv_status status, clv_error *err)
{
    if (status == CLV_OK)
        return clv_out_commit(out, err);
    clv_out_abort(out);
    return status;
}

clv_status clv_candidate_write(const clv_request *req, clv_plan *plan, const char *folder,
                               clv_arena *arena, clv_error *err)
{
    const char *text;
    size_t n;
    clv_out_file *out;
    plan->model = req->model_name;
    plan->compiler = req->compiler;
    plan->objective = req->search.objective;
    plan->search = "candidate";
    plan->fingerprint = clv_onnx_fingerprint(req->model);
    CLV_TRY(clv_plan_write(plan, arena, &text, &n, err));
    CLV_TRY(clv_folder_write(folder, "plan.json", text, n, arena, err));
    const char *model_path = clv_arena_printf(arena, "%s/model.onnx", folder);
    if (!model_path)
        return clv_fail_nomem(err, "a candidate's files");
    CLV_TRY(clv_out_open(model_path, req->alloc, &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_onnx_model source = { req->file, req->model };
    return close_file(out, clv_onnx_annotate(&source, plan, true, &sink, arena, err), err);
}
