#include "joint/joint.h"

#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "cost/weights.h"
#include "explain/advice.h"
#include "explain/plan_kernels.h"
#include "graph/states.h"
#include "joint/candidate_search.h"
#include "joint/choice.h"
#include "joint/compared_forms.h"
#include "joint/joint_forms.h"
#include "joint/judged_forms.h"
#include "joint/mesh_candidate.h"
#include "joint/whole_plan.h"
#include "lower/spmd_ops.h"
#include "plan/plan_check.h"
#include "plan/plan_copies.h"
#include "rules/constraints_read.h"
#include "rules/mesh_rules.h"
#include "rules/rule_state.h"
#include "sharding/graph_factors.h"
#include "stages/stages.h"

#define UNASKED_OPS_MAX 100000 /* more are split only if asked: it takes gigabytes then */

/* What forms are searched with: by Cleave's own times, where a compiler judges what was found. */
static clv_request request_for_forms(const clv_request *req)
{
    clv_request own = *req;
    own.compiler = NULL;
    if (req->compiler) { /* it has its own candidates, and says what is too slow */
        own.search.max_judged = 0;
        own.max_latency_ns = 0;
    }
    return own;
}

static bool leaves_forms(const clv_request *req)
{
    clv_request own = request_for_forms(req);
    return clv_request_leaves_search(&own);
}

/* A search that is given, a limit on it or its first find are of whole operators. */
static bool may_split(const clv_request *req)
{
    return req->max_share == 0 && leaves_forms(req) && req->model->main->n_ops <= UNASKED_OPS_MAX;
}

bool clv_joint_may(const clv_request *req)
{
    int32_t n = req->devices > 0 ? req->devices : req->cluster->n_devices;
    bool may_copy =
        req->search.objective == CLV_THROUGHPUT && req->copies == 0 && leaves_forms(req);
    return req->copies > 1 || req->backend || (n > 1 && (may_split(req) || may_copy));
}

/* -- all forms -- */

/* The devices of a group; of one group all, in the cluster's own order. */
static clv_status group_cluster(const clv_joint *j, int32_t groups, clv_cluster **ret,
                                clv_error *err)
{
    *ret = j->cluster;
    return groups == 1 ? CLV_OK
                       : clv_cluster_pick(j->cluster, j->levels.order,
                                          clv_joint_group_devices(j, groups), j->arena, ret, err);
}

#define COMPARED_PLANS 4 /* that are judged for one that is found for comparison */

/* What a plan is looked for. */
typedef enum {
    TO_BEAT_THE_BEST, /* of other forms, or to be within half of what a plan must be worth of it */
    TO_BE_TAKEN,      /* as one of those is: now the best of its form */
    TO_COMPARE        /* be it no better than the best */
} purpose;

/* No plan is of use that is slower than one that is known; of equals, the simpler is taken. */
static void limit_search(const clv_joint *j, const clv_joint_form *form, purpose why,
                         clv_partition_options *search)
{
    const clv_joint_found *best = clv_joint_best_fit(j);
    if (why == TO_COMPARE)
        search->max_judged = COMPARED_PLANS;
    if (why == TO_COMPARE || !best)
        return;
    search->enough_ns = clv_joint_of_one(j, form->groups, clv_joint_no_use_ns(j, form)) + 1;
    search->rival_ns = clv_joint_of_one(j, form->groups, best->score.ns);
    search->rival_gap = why == TO_BEAT_THE_BEST ? clv_joint_rival_gap(j) : 0;
}

static bool is_near(const clv_plan *plan)
{
    return strcmp(plan->stopped, clv_end_name(CLV_END_GAP)) == 0;
}

/* One device a mesh: stages of whole operators on the devices of a group. */
static clv_status plan_whole_operators(clv_joint *j, int32_t groups, purpose why, clv_error *err)
{
    clv_request req = *j->req;
    clv_analysis analysis = *j->analysis;
    clv_cluster *group;
    const clv_joint_form form = { .groups = groups };
    clv_plan *plan;
    int64_t *deadline_ns = &req.search.solve.deadline_ns;
    CLV_TRY(group_cluster(j, groups, &group, err));
    analysis.host_ns = 0; /* clv_joint_of_all() adds it */
    req.cluster = group;
    req.memory_bytes = 0; /* the cluster has it */
    req.max_latency_ns = clv_joint_max_latency_ns(j);
    if (req.stages > 0 || req.devices > 0)
        req.devices = group->n_devices;
    req.terse = true;
    req.backward = j->backward;
    limit_search(j, &form, why, &req.search);
    if (why != TO_BE_TAKEN && j->n_forms > 0 && *deadline_ns > 0)
        *deadline_ns -= (*deadline_ns - clv_now_ns()) / 2; /* the other half is for shards */
    CLV_TRY(clv_stages_plan(&req, &analysis, j->arena, &plan, err));
    int64_t bound_ns = clv_joint_of_all(j, groups, clv_joint_bound_of(plan));
    if (why != TO_COMPARE)
        clv_joint_lower_bound(j, bound_ns);
    return clv_joint_take(j,
                          &(clv_joint_found){ .form = form,
                                              .score = clv_joint_score(j, groups, plan),
                                              .facts = clv_joint_facts(j, groups, 1, plan),
                                              .bound_ns = bound_ns < INT64_MAX ? bound_ns : 0,
                                              .is_near = req.search.rival_gap > 0 && is_near(plan),
                                              .plain = plan },
                          err);
}

/* By throughput copies on single devices come first: where the model fits one, nothing is faster
 * but what splits operators. By latency a plan for all devices may leave some without work. */
static clv_status plan_groups_of_whole_operators(clv_joint *j, clv_error *err)
{
    bool any = j->req->search.objective == CLV_THROUGHPUT;
    int32_t stages = j->req->stages;
    for (int32_t g = j->n_groups - 1; g >= 0; g--) {
        int32_t groups = j->groups[g];
        if (clv_joint_allows(j, 1, groups) && (stages > 0 || any || g == 0))
            CLV_TRY(plan_whole_operators(j, groups, TO_BEAT_THE_BEST, err));
    }
    return CLV_OK;
}

/* A plan that was near enough to the best, and would be taken in its place: now its best. */
static clv_status finish_near(clv_joint *j, clv_error *err)
{
    const clv_joint_found *chosen;
    while (!clv_joint_time_is_up(j) && (chosen = clv_joint_choose(j)) && chosen->is_near) {
        const clv_joint_form form = chosen->form;
        j->found[chosen - j->found].is_near = false;
        if (form.mesh.n_axes > 0)
            CLV_TRY(clv_joint_try_thoroughly(j, &form, err));
        else
            CLV_TRY(plan_whole_operators(j, form.groups, TO_BE_TAKEN, err));
    }
    return CLV_OK;
}

/* Why there is no plan to show at all. */
static clv_status no_form(const clv_joint *j, clv_error *err)
{
    int32_t n = j->cluster->n_devices;
    if (j->refused.status != CLV_OK)
        return clv_fail(err, j->refused.status, "%s", j->refused.message);
    if (j->n_forms == 0 && j->req->backend && !j->req->backend->stages)
        return clv_joint_fail_without_stages(j, n, err);
    if (j->n_forms == 0)
        return clv_fail(err, CLV_EUSAGE,
                        "tensors are to be split, but no mesh of two devices or more goes into %d",
                        (int)n);
    int32_t stages = clv_joint_stages(j, &j->forms[0]);
    if (j->unlike && j->req->mesh)
        return clv_fail(err, CLV_EUSAGE,
                        "mesh '%s': the devices of %d stages would not be alike, in kind or links",
                        j->req->mesh, (int)stages);
    if (j->unlike && j->req->stages > 0)
        return clv_fail(err, CLV_EUSAGE,
                        "%d stages of %d devices: they would not be alike, in kind or links",
                        (int)stages, (int)(n / stages));
    if (j->unlike)
        return clv_fail(err, CLV_EUSAGE,
                        "tensors are to be split, but with each mesh that goes into %d devices the "
                        "stages would not be alike, in kind or links",
                        (int)n);
    return clv_fail(err, CLV_ESOLVER, "no strategies were found for any form of mesh");
}

static clv_status try_without_tensor_rules(clv_joint *j, clv_error *err)
{
    j->without_tensor_rules = true;
    return clv_joint_try_forms(j, err);
}

/* By latency meshes come first: most models are so much faster on one that the bound of stages of
 * whole operators says at once that these are of no use. Where any plan will do they are more
 * likely to fit, as they deal out weights more evenly. Not within a deadline, as stages of whole
 * operators are sure to find a plan soon. */
static bool meshes_first(const clv_joint *j)
{
    const clv_partition_options *o = &j->req->search;
    bool asked = j->any_will_do || (o->objective == CLV_LATENCY && o->solve.deadline_ns == 0);
    return asked && j->n_forms > 0;
}

/* -- for comparison -- */

/* What one device gives, where that was left open, and the forms that were left out. */
static clv_status try_beside(clv_joint *j, clv_error *err)
{
    int32_t groups = j->n_groups > 0 ? j->groups[j->n_groups - 1] : 1;
    const clv_joint_form one = { .groups = groups };
    if (j->req->alternatives == 0 || j->any_will_do || j->req->terse || !clv_joint_best_fit(j) ||
        clv_joint_time_is_up(j))
        return CLV_OK;
    if (j->whole && groups > 1 && clv_joint_group_devices(j, groups) == 1 &&
        clv_joint_allows(j, 1, groups) && !clv_joint_has_outline(j, &one))
        CLV_TRY(plan_whole_operators(j, groups, TO_COMPARE, err));
    return clv_joint_try_compared(j, err);
}

/* Where rules on tensors leave no choice, the best plan without them is shown. */
static clv_status try_all(clv_joint *j, clv_error *err)
{
    CLV_TRY(clv_joint_list_forms(j, err));
    if (j->whole && !meshes_first(j))
        CLV_TRY(plan_groups_of_whole_operators(j, err));
    CLV_TRY(clv_joint_try_forms(j, err));
    if (j->whole && meshes_first(j) && !(j->any_will_do && clv_joint_best_fit(j)))
        CLV_TRY(plan_groups_of_whole_operators(j, err));
    CLV_TRY(finish_near(j, err));
    CLV_TRY(try_beside(j, err));
    if (!clv_joint_best(j) && j->conflict)
        CLV_TRY(try_without_tensor_rules(j, err));
    return clv_joint_best(j) ? CLV_OK : no_form(j, err);
}

static void add_known(int64_t *sum, int64_t bytes)
{
    *sum = bytes > 0 ? clv_weight_add(*sum, bytes) : *sum;
}

/* A state that is kept in place has bytes as it goes out alone. O(inputs). */
static clv_status count_held(clv_joint *j, clv_error *err)
{
    const clv_types *types = j->analysis->types;
    clv_states states;
    CLV_TRY(clv_states_find(types, j->arena, &states, err));
    j->kept_bytes = j->analysis->costs->total.weight_bytes;
    for (int32_t i = 0; i < states.n; i++)
        if (states.at[i].in.i < 0 || types->bytes[states.at[i].in.i] <= 0)
            add_known(&j->kept_bytes, clv_state_bytes(types, &states.at[i]));
    j->held_bytes = j->kept_bytes;
    for (int32_t i = 0; i < types->graph->n_inputs; i++)
        add_known(&j->held_bytes, types->bytes[types->graph->inputs[i].i]);
    return CLV_OK;
}

/* Rules, forms and the best of them. *ret_whole: rules place operators on devices, which is left
 * to the search of whole operators. */
static clv_status search(clv_joint *j, bool *ret_whole, clv_error *err)
{
    const clv_request *req = j->req;
    int32_t n = req->devices ? req->devices : req->cluster->n_devices;
    *ret_whole = false;
    j->backward = req->backward;
    if (req->sharding_nodes)
        return clv_fail(err, CLV_EUSAGE, "sharding nodes are given: %s a search",
                        j->asked ? "a mesh needs" : "copies of a plan need");
    CLV_TRY(clv_cluster_subset(req->cluster, n, req->memory_bytes, j->arena, &j->cluster, err));
    if (req->constraints)
        CLV_TRY(clv_constraints_parse(req->constraints, req->model->main, j->cluster, j->arena,
                                      &j->rules, err));
    *ret_whole = clv_mesh_rules_name_devices(&j->rules) && !j->asked && !clv_joint_needs_shards(j);
    if (*ret_whole)
        return CLV_OK;
    CLV_TRY(clv_mesh_rules_check(&j->rules, err));
    CLV_TRY(clv_backend_limits_find(req->backend, j->cluster, j->analysis->costs, j->arena,
                                    &j->limits, err));
    CLV_TRY(clv_mesh_levels(j->cluster, CLV_MESH_ALL_DEVICES, j->arena, &j->levels, err));
    if (j->splits)
        CLV_TRY(clv_factors_all(req->model, j->analysis->types, j->arena, &j->factors, err));
    CLV_TRY(clv_find_random(req->model, j->analysis->types, j->arena, &j->random, err));
    CLV_TRY(count_held(j, err));
    return try_all(j, err);
}

/* -- the plan -- */

/* A plan of whole operators for the devices of a group, on those of the cluster. */
static clv_status place_group(const clv_joint *j, int32_t groups, clv_plan *plan, clv_error *err)
{
    const clv_mesh_devices group = { j->levels.order, clv_joint_group_devices(j, groups) };
    if (groups == 1)
        return CLV_OK;
    CLV_TRY(clv_plan_place(plan, j->cluster, group.at, j->arena, err));
    CLV_TRY(clv_plan_copy(plan, group, clv_joint_copies(j, groups), j->arena, err));
    return plan->outcome == CLV_FITS ? clv_plan_check(plan, j->req->model->main, j->arena, err)
                                     : CLV_OK;
}

static clv_status make_plan(clv_joint *j, const clv_joint_found *found, clv_plan **ret,
                            clv_error *err)
{
    clv_mesh_candidate *kept = found->kept;
    if (found->whole) {
        *ret = found->whole;
        return CLV_OK;
    }
    if (found->plain) {
        clv_cluster *group;
        *ret = found->plain;
        CLV_TRY(group_cluster(j, found->form.groups, &group, err));
        CLV_TRY(clv_plan_add_whole_kernels(j->analysis->costs, group, j->arena, *ret, err));
        return place_group(j, found->form.groups, *ret, err);
    }
    if (!kept) {
        kept = CLV_NEW(j->arena, clv_mesh_candidate);
        if (!kept)
            return clv_fail_nomem(err, "a form of mesh");
        *kept = (clv_mesh_candidate){ .j = j, .arena = j->arena, .form = found->form, .jobs = 1 };
        CLV_TRY(clv_mesh_candidate_remake(kept, found, err));
    }
    j->idle = kept->on.constraints ? kept->on.constraints->idle : NULL;
    return clv_joint_whole_plan(j, kept, found, ret, err);
}

/* Does the bound of all forms say that there is no plan to be found? */
static bool is_proven(const clv_joint *j, const clv_plan *plan)
{
    bool none_fits = j->bound_ns == INT64_MAX;
    bool all_late = j->req->search.objective == CLV_LATENCY && j->req->max_latency_ns > 0 &&
                    j->bound_ns > j->req->max_latency_ns;
    return !j->unbounded && !j->without_tensor_rules &&
           (plan->outcome == CLV_OOM ? none_fits : plan->outcome == CLV_LATE && all_late);
}

/* Why it ended, of all forms together; what the cut of one says is not true of the others. */
static const char *end_of(const clv_joint *j, const clv_joint_found *chosen, const clv_plan *plan)
{
    const clv_partition_options *asked = &j->req->search;
    bool fits = plan->outcome == CLV_FITS;
    if (fits && chosen->score.ns <= plan->bound_ns) /* nothing takes less than 0 */
        return clv_end_name(CLV_END_OPTIMAL);
    if (!fits && is_proven(j, plan))
        return clv_end_name(CLV_END_INFEASIBLE);
    if (fits && asked->solve.gap > 0 && clv_plan_gap(plan) >= 0 &&
        clv_plan_gap(plan) <= asked->solve.gap)
        return clv_end_name(CLV_END_GAP);
    if (j->req->stop && j->req->stop(j->req->stop_ctx))
        return clv_end_name(CLV_END_STOPPED);
    return clv_end_name(clv_time_is_up(asked->solve.deadline_ns) ? CLV_END_DEADLINE
                                                                 : CLV_END_SEARCHED);
}

/* What all forms together say of the search. */
static void add_search(const clv_joint *j, const clv_joint_found *chosen, clv_plan *plan)
{
    plan->bound_ns = !j->unbounded && j->bound_ns < INT64_MAX ? j->bound_ns : 0;
    if (clv_request_leaves_search(j->req))
        plan->search = "joint";
    if (j->n_judged > 0) {
        plan->n_judged = j->n_judged;
        plan->n_fitting = j->n_fitting;
    }
    plan->stopped = end_of(j, chosen, plan);
}

/* A plan that lacks memory: is that for the rules on tensors? */
static clv_status note_tensor_rules(const clv_joint *j, clv_plan *plan, clv_error *err)
{
    clv_joint other = *j;
    if (plan->outcome != CLV_OOM || j->n_forms == 0 ||
        (!j->req->data_parallel && !clv_tensor_constraints_asked(&j->rules)))
        return CLV_OK;
    other.best_at = -1;
    other.n_found = 0;
    CLV_TRY(try_without_tensor_rules(&other, err));
    if (!clv_joint_best_fit(&other))
        return CLV_OK;
    return clv_plan_add_note(
        plan, "without what is asked of tensors there is a plan that fits this memory", j->arena,
        err);
}

/* -- what would help -- */

/* By the very search that the user would start. */
static clv_status try_with(void *ctx, const clv_room *room, clv_verdict *ret, clv_error *err)
{
    const clv_joint *j = ctx;
    clv_request req = *j->req;
    clv_joint more = { .req = &req,
                       .asked = j->asked,
                       .splits = j->splits,
                       .any_will_do = true,
                       .analysis = j->analysis,
                       .arena = clv_arena_new(clv_arena_alloc(j->arena), 0),
                       .best_at = -1,
                       .bound_ns = INT64_MAX };
    bool whole;
    if (!more.arena)
        return clv_fail_nomem(err, "advice");
    if (req.devices > 0 || room->devices != j->cluster->n_devices)
        req.devices = room->devices;
    req.memory_bytes = room->memory_bytes;
    req.microbatches = room->microbatches;
    clv_solve_detach(&req.search.solve);
    req.search.first_fit = true;
    req.worth = 0;
    req.alternatives = 0;
    req.max_latency_ns = 0; /* more memory does not make it faster */
    clv_status status = search(&more, &whole, err);
    *ret = (clv_verdict){ .outcome = CLV_INFEASIBLE };
    const clv_joint_found *best = clv_joint_best(&more);
    if (status == CLV_OK && best)
        *ret =
            (clv_verdict){ .outcome = best->score.outcome, .short_bytes = best->score.short_bytes };
    clv_arena_free(more.arena);
    return status == CLV_EUSAGE ? CLV_OK : status; /* the mesh does not go into so many */
}

/* That no plan can fit, where what is kept between runs is too much. */
static clv_status note_kept(const clv_joint *j, clv_plan *plan, clv_error *err)
{
    char kept[32], room[32];
    int64_t have_bytes = 0, weight_bytes = j->analysis->costs->total.weight_bytes;
    for (int32_t d = 0; d < plan->n_devices; d++)
        have_bytes += plan->devices[d].capacity_bytes;
    if (j->kept_bytes <= have_bytes)
        return CLV_OK;
    bool too_heavy = weight_bytes > have_bytes;
    return clv_plan_add_note(
        plan,
        clv_arena_printf(
            j->arena, "no plan can fit: %s take %s, the %d device%s of this run have %s",
            too_heavy ? "the weights alone" : "weights and states",
            clv_show_bytes(kept, too_heavy ? weight_bytes : j->kept_bytes), (int)plan->n_devices,
            plan->n_devices == 1 ? "" : "s", clv_show_bytes(room, have_bytes)),
        j->arena, err);
}

static clv_status advise(clv_joint *j, clv_plan *plan, clv_error *err)
{
    clv_adviser a = { .asked = { j->cluster->n_devices, j->req->memory_bytes,
                                 j->req->microbatches },
                      .devices_most = j->req->cluster->n_devices,
                      .try_with = try_with,
                      .ctx = j,
                      .plan = plan,
                      .arena = j->arena };
    if (plan->outcome != CLV_OOM || j->req->terse)
        return CLV_OK;
    CLV_TRY(note_kept(j, plan, err));
    CLV_TRY(clv_advise_microbatches(&a, err));
    CLV_TRY(clv_advise_memory(&a, j->held_bytes / j->cluster->n_devices, err));
    return clv_advise_devices(&a, err);
}

clv_status clv_joint_plan(const clv_request *req, const clv_analysis *analysis, clv_arena *arena,
                          clv_plan **ret, clv_error *err)
{
    clv_joint j = { .req = req,
                    .asked = clv_request_asks_mesh(req),
                    .splits = clv_request_asks_mesh(req) || may_split(req),
                    .analysis = analysis,
                    .arena = arena,
                    .best_at = -1,
                    .bound_ns = INT64_MAX };
    bool whole;
    clv_request own = request_for_forms(req);
    j.req = &own;
    CLV_TRY(search(&j, &whole, err));
    if (whole)
        return clv_stages_plan(req, analysis, arena, ret, err);
    if (req->compiler)
        CLV_TRY(clv_joint_judge_forms(&j, req, make_plan, err));
    own.max_latency_ns = req->max_latency_ns;
    const clv_joint_found *chosen = clv_joint_choose(&j);
    CLV_TRY(make_plan(&j, chosen, ret, err));
    CLV_TRY(clv_joint_add_alternatives(&j, chosen, *ret, err));
    (*ret)->form = clv_joint_form_name(&j, chosen, arena);
    if (!(*ret)->form)
        return clv_fail_nomem(err, "a plan");
    if (!chosen->whole)
        clv_plan_add_host(*ret, analysis->host_ns);
    clv_plan_limit_latency(*ret, req->max_latency_ns);
    add_search(&j, chosen, *ret);
    if (!req->compiler)
        CLV_TRY(note_tensor_rules(&j, *ret, err));
    CLV_TRY(clv_mesh_rules_mark_plan(&j.rules, j.idle, j.without_tensor_rules ? j.conflict : NULL,
                                     *ret, arena, err));
    return req->compiler ? CLV_OK : advise(&j, *ret, err); /* by the compiler it would take long */
}
