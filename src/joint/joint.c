#include "joint/joint.h"

#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "explain/advice.h"
#include "joint/joint_form.h"
#include "joint/joint_plan.h"
#include "joint/joint_search.h"
#include "joint/joint_shapes.h"
#include "plan/plan_json.h"
#include "plan/plan_note.h"
#include "rules/joint_rules.h"

#define FREE_OPS_MAX 100000 /* more are split only if asked: it takes gigabytes then */

bool clv_joint_asked(const clv_request *req)
{
    return req->mesh || req->max_share > 1 || req->stages > 0;
}

/* A search that is given, a limit on it or its first find are of whole operators. */
bool clv_joint_may(const clv_request *req)
{
    int32_t n = req->devices > 0 ? req->devices : req->cluster->n_devices;
    return req->max_share == 0 && n > 1 && !req->sharding_nodes && !req->compiler &&
           req->search.kind == CLV_SEARCH_DEFAULT && !req->search.first_fit &&
           req->search.max_judged == 0 && req->model->main->n_ops <= FREE_OPS_MAX;
}

/* The form of the best plan, and the plan, made again where they stay. */
static clv_status make_again(clv_joint *j, clv_form **ret)
{
    clv_form *f = CLV_NEW(j->arena, clv_form);
    if (!f)
        return clv_fail_nomem(j->err, "a form of mesh");
    *f = (clv_form){ .j = j, .arena = j->arena, .err = j->err, .shape = j->shape, .jobs = 1 };
    CLV_TRY(clv_form_open(f));
    CLV_TRY(clv_form_pins(j, f->factors, f->mesh, f->arena, &f->pins, j->err));
    CLV_TRY(clv_form_build(f, j->limit_bytes > 0 ? j->limit_bytes : CLV_STRATEGY_UNLIMITED));
    CLV_TRY(clv_form_cut(f, j->answer, &f->best_cut));
    f->best_problem = f->problem;
    f->best_local = f->local;
    *ret = f;
    return CLV_OK;
}

static clv_status make_best(clv_joint *j, clv_plan **ret)
{
    if (j->plain) {
        *ret = j->plain;
        return CLV_OK;
    }
    if (!j->kept)
        CLV_TRY(make_again(j, &j->kept));
    const clv_form *f = j->kept;
    j->idle = f->pins ? f->pins->idle : NULL;
    return clv_joint_plan_make(j->req, j->cluster, j->levels.order, f->mesh, f->best_problem,
                               j->answer, f->best_local, f->best_cut, j->arena, ret, j->err);
}

/* -- all forms -- */

/* Of the time until then: the rest is for shards. */
static int64_t half_of(int64_t deadline_ns)
{
    return deadline_ns > 0 ? deadline_ns - (deadline_ns - clv_now_ns()) / 2 : 0;
}

/* One device a mesh: the pipeline alone. */
static clv_status run_plain(clv_joint *j)
{
    clv_request req = *j->req;
    clv_plan *plan;
    req.cluster = j->cluster;
    if (req.stages > 0)
        req.devices = j->cluster->n_devices;
    req.terse = true;
    if (j->n_shapes > 0)
        req.search.deadline_ns = half_of(req.search.deadline_ns);
    CLV_TRY(clv_pipeline_cut(&req, j->analysis, j->arena, &plan, j->err));
    clv_score made = clv_joint_score(j, plan);
    if (clv_score_is_better(&made, j->any, &j->best)) {
        j->any = true;
        j->best = made;
        j->plain = plan;
    }
    clv_joint_take_bound(j, plan->bound_ns);
    return CLV_OK;
}

static clv_status check_asked(const clv_request *req, clv_error *err)
{
    if (req->sharding_nodes)
        return clv_fail(err, CLV_EUSAGE, "sharding nodes are given: a mesh needs a search");
    if (req->compiler)
        return clv_fail(
            err, CLV_EUSAGE,
            "an external compiler takes whole operators: it cannot be asked for a mesh");
    return CLV_OK;
}

/* Why it ended, of all forms together; what the cut of one says is not true of the others. */
static const char *end_of(const clv_joint *j, const clv_plan *plan)
{
    const clv_search_options *asked = &j->req->search;
    bool fits = plan->outcome == CLV_FITS;
    if (fits && plan->bound_ns > 0 && j->best.ns <= plan->bound_ns)
        return "optimal";
    if (fits && asked->gap > 0 && clv_plan_gap(plan) >= 0 && clv_plan_gap(plan) <= asked->gap)
        return "gap";
    if (j->req->stop && j->req->stop(j->req->stop_ctx))
        return "stopped";
    return clv_time_is_up(asked->deadline_ns) ? "deadline" : "searched";
}

static void tell_end(const clv_joint *j, clv_plan *plan)
{
    plan->bound_ns = !j->unbounded && j->bound_ns < INT64_MAX ? j->bound_ns : 0;
    plan->stopped = end_of(j, plan);
}

static clv_status run_without(clv_joint *j)
{
    j->without = true;
    return clv_joint_try_forms(j);
}

/* A plan that lacks memory: is that for the rules on tensors? */
static clv_status note_rules(const clv_joint *j, clv_plan *plan)
{
    clv_joint other = *j;
    if (plan->outcome != CLV_OOM || j->n_shapes == 0 ||
        (!j->req->data_parallel && !clv_split_pins_asked(&j->rules)))
        return CLV_OK;
    other.any = false;
    CLV_TRY(run_without(&other));
    if (!other.any || other.best.outcome != CLV_FITS)
        return CLV_OK;
    return clv_plan_note(plan,
                         "without what is asked of tensors there is a plan that fits this memory",
                         j->arena, j->err);
}

/* Where rules on tensors leave no choice, the best plan without them is shown. */
static clv_status run_asked(clv_joint *j)
{
    CLV_TRY(clv_joint_shapes(j));
    if (j->whole)
        CLV_TRY(run_plain(j));
    CLV_TRY(clv_joint_try_forms(j));
    if (!j->any && j->conflict)
        CLV_TRY(run_without(j));
    if (!j->any && j->refused.status != CLV_OK)
        return clv_fail(j->err, j->refused.status, "%s", j->refused.message);
    if (!j->any && j->n_shapes == 0)
        return clv_fail(j->err, CLV_EUSAGE,
                        "tensors are to be split, but no mesh of two devices or more goes into %d",
                        (int)j->cluster->n_devices);
    if (!j->any)
        return clv_fail(j->err, CLV_ESOLVER, "no strategies were found for any form of mesh");
    return CLV_OK;
}

/* Rules, forms and the best of them. *ret_whole: rules place operators on devices, which is left to
 * the search of whole operators. */
static clv_status search(clv_joint *j, bool *ret_whole)
{
    const clv_request *req = j->req;
    int32_t n = req->devices ? req->devices : req->cluster->n_devices;
    *ret_whole = false;
    CLV_TRY(check_asked(req, j->err));
    CLV_TRY(clv_cluster_take(req->cluster, n, req->memory_bytes, j->arena, &j->cluster, j->err));
    if (req->constraints)
        CLV_TRY(clv_joint_rules_read(req, j->cluster, j->arena, &j->rules, j->err));
    *ret_whole = clv_joint_rules_place(&j->rules) && !j->asked && !clv_joint_needs_shards(j);
    if (*ret_whole)
        return CLV_OK;
    CLV_TRY(clv_joint_rules_check(&j->rules, j->err));
    CLV_TRY(clv_mesh_levels(j->cluster, NULL, n, j->arena, &j->levels, j->err));
    CLV_TRY(
        clv_factors_all(req->model, j->analysis->inference->main, j->arena, &j->factors, j->err));
    return run_asked(j);
}

/* -- what would help -- */

static clv_status retry(void *ctx, const clv_room *room, clv_verdict *ret)
{
    const clv_joint *j = ctx;
    clv_request req = *j->req;
    clv_joint more = { .req = &req,
                       .asked = j->asked,
                       .any_will_do = true,
                       .analysis = j->analysis,
                       .arena = clv_arena_new(clv_arena_alloc(j->arena), 0),
                       .err = j->err,
                       .bound_ns = INT64_MAX };
    bool whole;
    if (!more.arena)
        return clv_fail_nomem(j->err, "advice");
    if (req.devices > 0 || room->devices != j->cluster->n_devices)
        req.devices = room->devices;
    req.memory_bytes = room->memory_bytes;
    req.microbatches = room->microbatches;
    req.search.progress = NULL;
    req.search.first_fit = true;
    clv_status status = search(&more, &whole);
    *ret = (clv_verdict){ .outcome = CLV_INFEASIBLE };
    if (status == CLV_OK && more.any)
        *ret = (clv_verdict){ .outcome = more.best.outcome, .short_bytes = more.best.short_bytes };
    clv_arena_free(more.arena);
    return status == CLV_EUSAGE ? CLV_OK : status; /* the mesh does not go into so many */
}

static clv_status note_weights(const clv_joint *j, clv_plan *plan)
{
    char weights[32], room[32];
    int64_t need = j->analysis->costs->total.weight_bytes, have = 0;
    for (int32_t d = 0; d < plan->n_devices; d++)
        have += plan->devices[d].capacity_bytes;
    if (need <= have)
        return CLV_OK;
    return clv_plan_note(
        plan,
        clv_arena_printf(j->arena,
                         "no plan can fit: the weights alone take %s, the %d device%s of this run "
                         "have %s",
                         clv_show_bytes(weights, need), (int)plan->n_devices,
                         plan->n_devices == 1 ? "" : "s", clv_show_bytes(room, have)),
        j->arena, j->err);
}

static clv_status advise(clv_joint *j, clv_plan *plan)
{
    clv_adviser a = { .asked = { j->cluster->n_devices, j->req->memory_bytes,
                                 j->req->microbatches },
                      .devices_most = j->req->cluster->n_devices,
                      .try_with = retry,
                      .ctx = j,
                      .plan = plan,
                      .arena = j->arena,
                      .err = j->err };
    if (plan->outcome != CLV_OOM || j->req->terse)
        return CLV_OK;
    CLV_TRY(note_weights(j, plan));
    CLV_TRY(clv_advise_microbatches(&a));
    CLV_TRY(clv_advise_memory(&a, j->analysis->costs->total.weight_bytes / j->cluster->n_devices));
    return clv_advise_devices(&a);
}

clv_status clv_joint_run(const clv_request *req, const clv_analysis *analysis, clv_arena *arena,
                         clv_plan **ret, clv_error *err)
{
    clv_joint j = { .req = req,
                    .asked = clv_joint_asked(req),
                    .analysis = analysis,
                    .arena = arena,
                    .err = err,
                    .bound_ns = INT64_MAX };
    bool whole;
    CLV_TRY(search(&j, &whole));
    if (whole)
        return clv_pipeline_cut(req, analysis, arena, ret, err);
    CLV_TRY(make_best(&j, ret));
    tell_end(&j, *ret);
    CLV_TRY(note_rules(&j, *ret));
    CLV_TRY(
        clv_joint_rules_tell(&j.rules, j.idle, j.without ? j.conflict : NULL, arena, *ret, err));
    return advise(&j, *ret);
}
