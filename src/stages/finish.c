#include "stages/finish.h"

#include "explain/host_copies.h"
#include "explain/no_fit.h"
#include "explain/plan_kernels.h"
#include "plan/plan.h"
#include "plan/plan_check.h"
#include "stages/advise.h"
#include "stages/manual.h"
#include "stages/microbatches.h"
#include "stages/plan_make.h"
#include "stages/training.h"

/* What was left open in the model, and what was said of it while it was read. */
static clv_status add_open_things(const clv_stage_search *s, clv_plan *plan, clv_error *err)
{
    const clv_request *req = s->req;
    const clv_graph *g = req->model->main;
    const clv_inference *inf = s->analysis.inference;
    const clv_costs *costs = s->analysis.costs;
    plan->open_tensors = CLV_NEW_ARRAY(s->arena, const char *, inf->n_open);
    plan->unknown_ops = CLV_NEW_ARRAY(s->arena, const char *, costs->n_unknown);
    plan->bindings = CLV_NEW_ARRAY(s->arena, const char *, req->n_bindings);
    if (!plan->open_tensors || !plan->unknown_ops || !plan->bindings)
        return clv_fail_nomem(err, "notes of a plan");
    for (int32_t i = 0; i < inf->n_open; i++)
        plan->open_tensors[plan->n_open_tensors++] =
            clv_arena_str(s->arena, g->tensors[inf->open[i].i].name);
    for (int32_t i = 0; i < costs->n_unknown; i++) {
        const clv_op_info *op = &g->ops[costs->unknown[i].i];
        plan->unknown_ops[plan->n_unknown_ops++] = clv_arena_printf(
            s->arena, "%.*s (%.*s)", CLV_STR_ARG(op->label), CLV_STR_ARG(op->type));
    }
    for (int32_t i = 0; i < req->n_bindings; i++) {
        const clv_binding *b = &req->bindings[i];
        plan->bindings[plan->n_bindings++] =
            clv_arena_printf(s->arena, "%.*s=%lld", CLV_STR_ARG(b->symbol), (long long)b->value);
    }
    for (int32_t i = 0; i < req->model->n_warnings; i++)
        CLV_TRY(clv_plan_add_note(plan, clv_arena_str(s->arena, req->model->warnings[i]), s->arena,
                                  err));
    for (int32_t i = 0; i < inf->n_conflicts; i++)
        CLV_TRY(clv_plan_add_note(plan, clv_arena_str(s->arena, inf->conflicts[i]), s->arena, err));
    return CLV_OK;
}

static const char *search_name(const clv_request *req)
{
    const clv_partition_options *o = &req->search;
    if (req->sharding_nodes)
        return "manual";
    if (o->kind == CLV_SEARCH_DOCUMENTED)
        return o->first_fit ? "documented, first-fit" : "documented";
    return o->first_fit ? "first-fit" : "default";
}

/* What was asked, and how the search went. The plan outlives the compiler and may outlive the
 * model. */
static clv_status add_search(const clv_stage_search *s, const clv_partition_result *result,
                             clv_plan *plan, clv_error *err)
{
    const clv_request *req = s->req;
    plan->model = clv_arena_printf(s->arena, "%s", req->model_name);
    plan->compiler = clv_arena_printf(s->arena, "%s", s->compiler->name);
    if (!plan->model || !plan->compiler)
        return clv_fail_nomem(err, "a plan");
    plan->cluster = s->cluster->name;
    plan->objective = req->search.objective;
    plan->search = search_name(req);
    plan->n_judged = result->n_judged;
    plan->stopped = clv_end_name(result->solve.end);
    if (result->solve.found || result->solve.end == CLV_END_BOUND)
        plan->bound_ns = (int64_t)result->solve.bound.whole;
    for (int32_t i = 0; i < result->n_judged; i++)
        plan->n_fitting += result->tried[i].verdict.outcome == CLV_FITS;
    return CLV_OK;
}

clv_status clv_stage_finish(clv_stage_search *s, const clv_partition_result *result, clv_plan **ret,
                            clv_error *err)
{
    const clv_request *req = s->req;
    const clv_graph *g = req->model->main;
    const clv_partition_problem *whole = s->overlay ? s->overlay->whole : s->problem;
    clv_assignment best = { .proportion = result->best.proportion };
    clv_verdict verdict = result->best.verdict;
    clv_compile_report built = { .devices = NULL }, *report = req->compiler ? NULL : &built;
    clv_plan *plan;
    CLV_TRY(clv_training_unfold(s, result->best.device_of, &best.device_of, err));
    if (report) /* once more, for the numbers of the table */
        CLV_TRY(s->compiler->compile(s->compiler, &(clv_compile_worker){ 0, s->arena, NULL }, &best,
                                     &verdict, report, err));
    CLV_TRY(clv_plan_make(&s->workload, whole, &(clv_judged){ &best, &verdict, report }, s->arena,
                          &plan, err));
    const clv_plan_layouts whole_tensors = { .graph = g, .types = s->workload.types };
    CLV_TRY(clv_plan_add_host_copies(&whole_tensors, s->cluster, s->arena, plan, err));
    if (report && !req->terse)
        CLV_TRY(clv_plan_add_whole_kernels(s->workload.costs, s->workload.cluster, s->arena, plan,
                                           err));
    clv_manual_mark_plan(s, plan);
    CLV_TRY(req->sharding_nodes ? clv_rule_state_find_broken(&s->rules, g, plan, s->arena, err)
                                : clv_rule_state_check(&s->rules, g, plan, s->arena, err));
    if (s->rules.conflict)
        plan->outcome = CLV_INFEASIBLE;
    CLV_TRY(clv_training_mark_plan(s, best.device_of, s->arena, plan, err));
    clv_microbatches_mark_plan(s, report, plan);
    CLV_TRY(add_search(s, result, plan, err));
    CLV_TRY(add_open_things(s, plan, err));
    CLV_TRY(clv_note_shortages_tried(result, plan, s->arena, err));
    CLV_TRY(clv_rule_state_mark_plan(&s->rules, plan, s->arena, err));
    if (s->compiler->warning)
        CLV_TRY(clv_plan_add_note(plan, clv_arena_printf(s->arena, "%s", s->compiler->warning),
                                  s->arena, err));
    if (result->solve.found) {
        CLV_TRY(clv_plan_check(plan, g, s->arena, err));
    } else if (!s->rules.conflict) {
        const clv_verdict *v = &result->best.verdict;
        CLV_TRY(clv_note_shortage(v, g, report, plan, s->arena, err));
        /* advice on an external compiler would take it minutes */
        if (v->outcome != CLV_FAILED && !req->terse && !req->compiler)
            CLV_TRY(clv_stage_advise(s, &result->best, plan, err));
    }
    *ret = plan;
    return CLV_OK;
}
