#include "stages/judge_open.h"

#include "compile/builtin.h"
#include "stages/external_judge.h"
#include "stages/microbatches.h"
#include "stages/plan_make.h"
#include "stages/training.h"

#define JUDGE_BATCH 8  /* candidates given at once: enough for any --jobs in use */
#define LOOKAHEAD   16 /* of a compiler that takes long: the same for any --jobs */

/* What an external compiler is given: the candidate as an annotated model and as a plan file. */
static clv_status emit_candidate(void *ctx, const clv_assignment *candidate, const char *folder,
                                 clv_arena *arena, clv_error *err)
{
    const clv_stage_search *s = ctx;
    clv_plan *plan;
    clv_verdict unknown = { .outcome = CLV_FITS };
    const clv_partition_problem *whole = s->overlay ? s->overlay->whole : s->problem;
    CLV_TRY(clv_plan_make(&s->workload, whole, &(clv_judged){ candidate, &unknown, NULL }, arena,
                          &plan, err));
    CLV_TRY(clv_training_mark_plan(s, candidate->device_of, arena, plan, err));
    plan->cluster = s->cluster->name;
    return clv_candidate_write(s->req, plan, folder, arena, err);
}

clv_status clv_stage_judge_open(clv_stage_search *s, clv_error *err)
{
    const clv_request *req = s->req;
    int32_t jobs = clv_request_jobs(req);
    const clv_emitter emitter = { emit_candidate, s };
    if (req->compiler)
        CLV_TRY(clv_external_judge_open(req, &s->workload, &emitter, &s->compiler, err));
    else
        CLV_TRY(clv_builtin_open(&s->workload, jobs, req->alloc, &s->compiler, err));
    clv_pool_options options = { jobs, JUDGE_BATCH, req->compiler ? LOOKAHEAD : 0, s->first };
    CLV_TRY(clv_pool_open(s->compiler, &options, req->alloc, &s->pool, err));
    s->judge = clv_pool_judge(s->pool);
    clv_microbatches_begin(s);
    return CLV_OK;
}

clv_status clv_stage_judge_finish_first(clv_stage_search *s, clv_error *err)
{
    if (s->first)
        CLV_TRY(clv_pool_finish_first(s->pool, err));
    s->first = NULL;
    return CLV_OK;
}
