#include "stages/judge_open.h"

#include "compile/builtin.h"
#include "compile/external.h"
#include "plan/plan_json_write.h"
#include "proto/fingerprint.h"
#include "proto/onnx_annotate.h"
#include "proto/out_file.h"
#include "stages/microbatches.h"
#include "stages/plan_make.h"
#include "stages/training.h"

#define ANSWER_MAX_BYTES (1 << 20) /* of an external compiler's stdout */
#define JUDGE_BATCH      8         /* candidates given at once: enough for any --jobs in use */

/* Commits the file if all was written, else leaves nothing. */
static clv_status close_file(clv_out_file *out, clv_status status, clv_error *err)
{
    if (status == CLV_OK)
        return clv_out_commit(out, err);
    clv_out_abort(out);
    return status;
}

static clv_status write_text(const char *path, const char *text, size_t n, const clv_alloc *alloc,
                             clv_error *err)
{
    clv_out_file *out;
    CLV_TRY(clv_out_open(path, alloc, &out, err));
    clv_sink sink = clv_out_sink(out);
    return close_file(out, sink.write(sink.ctx, text, n, err), err);
}

/* What an external compiler is given: the candidate as an annotated model and as a plan file. */
static clv_status emit_candidate(void *ctx, const clv_assignment *candidate, const char *folder,
                                 clv_arena *arena, clv_error *err)
{
    const clv_stage_search *s = ctx;
    const clv_request *req = s->req;
    clv_plan *plan;
    const char *text;
    size_t n;
    clv_verdict unknown = { .outcome = CLV_FITS };
    const clv_partition_problem *whole = s->overlay ? s->overlay->whole : s->problem;
    CLV_TRY(clv_plan_make(&s->workload, whole, &(clv_judged){ candidate, &unknown, NULL }, arena,
                          &plan, err));
    CLV_TRY(clv_training_mark_plan(s, candidate->device_of, arena, plan, err));
    plan->model = req->model_name;
    plan->cluster = s->cluster->name;
    plan->compiler = s->compiler ? s->compiler->name : "";
    plan->objective = req->search.objective;
    plan->search = "candidate";
    plan->fingerprint = clv_onnx_fingerprint(req->model);
    CLV_TRY(clv_plan_write(plan, arena, &text, &n, err));
    const char *plan_path = clv_arena_printf(arena, "%s/plan.json", folder);
    const char *model_path = clv_arena_printf(arena, "%s/model.onnx", folder);
    if (!plan_path || !model_path)
        return clv_fail_nomem(err, "a candidate's files");
    CLV_TRY(write_text(plan_path, text, n, req->alloc, err));
    clv_out_file *out;
    CLV_TRY(clv_out_open(model_path, req->alloc, &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_onnx_model source = { req->file, req->model };
    return close_file(out, clv_onnx_annotate(&source, plan, true, &sink, arena, err), err);
}

clv_status clv_stage_judge_open(clv_stage_search *s, clv_error *err)
{
    const clv_request *req = s->req;
    int32_t jobs = clv_request_jobs(req);
    if (req->compiler) {
        clv_external_options options = { .source = clv_onnx_path(req->file),
                                         .command = req->compiler,
                                         .timeout_ms = req->compiler_timeout_ms,
                                         .max_answer_bytes = ANSWER_MAX_BYTES,
                                         .emit = emit_candidate,
                                         .emit_ctx = s,
                                         .stop = req->stop,
                                         .stop_ctx = req->stop_ctx };
        CLV_TRY(clv_external_open(&s->workload, &options, req->alloc, &s->compiler, err));
    } else {
        CLV_TRY(clv_builtin_open(&s->workload, jobs, req->alloc, &s->compiler, err));
    }
    CLV_TRY(clv_pool_open(s->compiler, jobs, JUDGE_BATCH, req->alloc, &s->pool, err));
    s->judge = clv_pool_judge(s->pool);
    clv_microbatches_begin(s);
    return CLV_OK;
}
