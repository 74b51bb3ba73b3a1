#include "joint/joint.h"

#include <string.h>

#include "joint/joint_form.h"
#include "joint/joint_plan.h"
#include "joint/joint_rules.h"
#include "joint/joint_search.h"

#define MESH_AXES_TRIED 2 /* of forms not given: a third axis finds little and costs much */

bool clv_joint_asked(const clv_request *req)
{
    return req->mesh || req->max_share > 1 || req->stages > 0;
}

/* The form of the best plan, and the plan, made again where they stay. */
static clv_status make_again(clv_joint *j, clv_form **ret)
{
    clv_form *f = CLV_NEW(j->arena, clv_form);
    if (!f)
        return clv_fail_nomem(j->err, "a form of mesh");
    *f = (clv_form){ .j = j, .arena = j->arena, .err = j->err, .shape = j->shape, .jobs = 1 };
    CLV_TRY(clv_form_open(f));
    CLV_TRY(clv_form_pins(j, f->mesh, f->arena, &f->pins, j->err));
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

/* One device a mesh: the pipeline alone. */
static clv_status run_plain(clv_joint *j)
{
    clv_request req = *j->req;
    clv_plan *plan;
    req.cluster = j->cluster;
    if (req.stages > 0)
        req.devices = j->cluster->n_devices;
    req.terse = true;
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

static bool may_share(const clv_joint *j, int32_t per_mesh)
{
    int32_t n = j->cluster->n_devices;
    if (j->req->stages > 0 && per_mesh * j->req->stages != n)
        return false;
    return n % per_mesh == 0 && (j->req->max_share == 0 || per_mesh <= j->req->max_share);
}

static clv_status add_shape(clv_joint *j, const clv_mesh_form *shape)
{
    if (!CLV_PUSH_ROOM(j->arena, j->shapes, j->n_shapes, j->cap_shapes))
        return clv_fail_nomem(j->err, "forms of meshes");
    j->shapes[j->n_shapes++] = *shape;
    return CLV_OK;
}

/* A mesh of one device, asked for: rules on its axes are read all the same. */
static clv_status run_single(clv_joint *j, const clv_mesh_form *shape)
{
    const clv_mesh *mesh;
    clv_split_pins *pins;
    CLV_TRY(clv_mesh_make(shape, j->cluster, j->levels.order, 1, j->arena, &mesh, j->err));
    CLV_TRY(clv_form_pins(j, mesh, j->arena, &pins, j->err));
    return run_plain(j);
}

static clv_status add_given(clv_joint *j)
{
    clv_mesh_form shape;
    int32_t n = 1;
    CLV_TRY(clv_mesh_form_parse(j->req->mesh, j->arena, &shape, j->err));
    for (int32_t a = 0; a < shape.n_axes; a++)
        n = shape.size[a] <= CLV_DEVICES_MAX / n ? n * shape.size[a] : CLV_DEVICES_MAX + 1;
    if (n > j->cluster->n_devices || j->cluster->n_devices % n != 0)
        return clv_fail(j->err, CLV_EUSAGE,
                        "mesh '%s' does not go into %d devices a whole number of times",
                        j->req->mesh, (int)j->cluster->n_devices);
    if (j->req->stages > 0 && n * j->req->stages != j->cluster->n_devices)
        return clv_fail(
            j->err, CLV_EUSAGE,
            "%d stages of mesh '%s' have %lld devices, expected the %d that are planned for",
            (int)j->req->stages, j->req->mesh, (long long)n * j->req->stages,
            (int)j->cluster->n_devices);
    if (j->req->max_share > 0 && n > j->req->max_share)
        return clv_fail(j->err, CLV_EUSAGE,
                        "mesh '%s' has %d devices, more than the %d that are allowed for a stage",
                        j->req->mesh, (int)n, (int)j->req->max_share);
    return n == 1 ? run_single(j, &shape) : add_shape(j, &shape);
}

/* The levels of the first devices in the order of links, which are those of the first mesh. */
static clv_status add_forms_of(clv_joint *j, int32_t per_mesh)
{
    clv_link_levels levels;
    const clv_mesh_form *shapes;
    int32_t n;
    CLV_TRY(clv_mesh_levels(j->cluster, j->levels.order, per_mesh, j->arena, &levels, j->err));
    CLV_TRY(clv_mesh_forms(&levels, MESH_AXES_TRIED, j->arena, &shapes, &n, j->err));
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(add_shape(j, &shapes[i]));
    return CLV_OK;
}

/* Whole operators do not do what is asked of tensors. */
static bool needs_shards(const clv_joint *j)
{
    return j->req->data_parallel || clv_split_pins_need_mesh(&j->rules);
}

/* The largest meshes first: most often the best for latency, so that others need not be searched.
 */
static clv_status add_all(clv_joint *j)
{
    bool any = false;
    for (int32_t per_mesh = j->cluster->n_devices; per_mesh >= 1; per_mesh--) {
        if (!may_share(j, per_mesh))
            continue;
        any = true;
        if (per_mesh > 1)
            CLV_TRY(add_forms_of(j, per_mesh));
        else if (!needs_shards(j))
            CLV_TRY(run_plain(j));
    }
    if (any)
        return CLV_OK;
    if (j->cluster->n_devices % j->req->stages != 0)
        return clv_fail(j->err, CLV_EUSAGE,
                        "%d stages: %d devices cannot be dealt out to so many alike",
                        (int)j->req->stages, (int)j->cluster->n_devices);
    return clv_fail(j->err, CLV_EUSAGE,
                    "%d stages of %d devices have more than the %d that are allowed for each",
                    (int)j->req->stages, (int)(j->cluster->n_devices / j->req->stages),
                    (int)j->req->max_share);
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

/* What a cut of one form says of bounds is not true of all forms. */
static void tell_end(const clv_joint *j, clv_plan *plan)
{
    bool bounded = !j->unbounded && j->bound_ns < INT64_MAX;
    plan->bound_ns = bounded ? j->bound_ns : 0;
    plan->stopped =
        bounded && plan->outcome == CLV_FITS && j->best.ns <= j->bound_ns ? "optimal" : "searched";
}

static clv_status run_without(clv_joint *j)
{
    j->without = true;
    return clv_joint_try_forms(j);
}

/* A plan that lacks memory: is that for the rules on tensors? */
static clv_status note_memory(const clv_joint *j, clv_plan *plan)
{
    clv_joint other = *j;
    if (plan->outcome != CLV_OOM || j->n_shapes == 0 ||
        (!j->req->data_parallel && !clv_split_pins_asked(&j->rules)))
        return CLV_OK;
    other.any = false;
    CLV_TRY(run_without(&other));
    if (!other.any || other.best.outcome != CLV_FITS)
        return CLV_OK;
    return clv_joint_add_note(
        plan, "without what is asked of tensors there is a plan that fits this memory", j->arena,
        j->err);
}

/* Where rules on tensors leave no choice, the best plan without them is shown. */
static clv_status run_asked(clv_joint *j)
{
    CLV_TRY(j->req->mesh ? add_given(j) : add_all(j));
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

clv_status clv_joint_run(const clv_request *req, const clv_analysis *analysis, clv_arena *arena,
                         clv_plan **ret, clv_error *err)
{
    clv_joint j = {
        .req = req, .analysis = analysis, .arena = arena, .err = err, .bound_ns = INT64_MAX
    };
    int32_t n = req->devices ? req->devices : req->cluster->n_devices;
    CLV_TRY(check_asked(req, err));
    CLV_TRY(clv_cluster_take(req->cluster, n, req->memory_bytes, arena, &j.cluster, err));
    CLV_TRY(clv_mesh_levels(j.cluster, NULL, n, arena, &j.levels, err));
    CLV_TRY(clv_factors_all(req->model, analysis->inference->main, arena, &j.factors, err));
    if (req->constraints)
        CLV_TRY(clv_joint_rules_read(req, j.cluster, arena, &j.rules, err));
    CLV_TRY(run_asked(&j));
    CLV_TRY(make_best(&j, ret));
    tell_end(&j, *ret);
    CLV_TRY(note_memory(&j, *ret));
    CLV_TRY(
        clv_joint_rules_tell(&j.rules, j.idle, j.without ? j.conflict : NULL, arena, *ret, err));
    return CLV_OK;
}
