#include "joint/joint.h"

#include <string.h>

#include "base/crew.h"
#include "joint/joint_form.h"
#include "joint/joint_plan.h"
#include "joint/joint_rules.h"

#define MESH_AXES_TRIED 2 /* of forms not given: a third axis finds little and costs much */
#define FORMS_AT_ONCE   4 /* tried before what they found leaves others out */

bool clv_joint_asked(const clv_request *req)
{
    return req->mesh || req->max_share > 1 || req->stages > 0;
}

static void take_bound(clv_joint *j, int64_t bound_ns)
{
    if (bound_ns <= 0)
        j->unbounded = true;
    else if (bound_ns < j->bound_ns)
        j->bound_ns = bound_ns;
}

static clv_status merge(clv_joint *j, const clv_form *f)
{
    if (f->status != CLV_OK) {
        if (j->err)
            *j->err = f->own_error;
        return f->status;
    }
    if (f->refused && j->refused.status == CLV_OK)
        j->refused = f->own_error;
    if (f->pins && f->pins->conflict && !j->conflict) {
        j->conflict = clv_arena_printf(j->arena, "%s", f->pins->conflict);
        if (!j->conflict)
            return clv_fail_nomem(j->err, "rules on tensors");
    }
    if (f->bounded)
        take_bound(j, f->bound_ns);
    if (!f->any || !clv_score_is_better(&f->best, j->any, &j->best))
        return CLV_OK;
    j->any = true;
    j->best = f->best;
    j->plain = NULL;
    j->shape = f->shape;
    j->limit_bytes = f->limit_bytes;
    j->answer = CLV_NEW_ARRAY(j->arena, int32_t, f->n_answer);
    if (!j->answer)
        return clv_fail_nomem(j->err, "strategies");
    memcpy(j->answer, f->answer, (size_t)f->n_answer * sizeof *f->answer);
    return CLV_OK;
}

static void work(void *ctx, int32_t i)
{
    clv_form *f = (clv_form *)ctx + i;
    f->status = clv_form_run(f);
}

/* So many at once, whatever the threads: what they know of each other decides what is left out. */
static clv_status run_forms(clv_joint *j)
{
    int32_t jobs = j->req->jobs > 0 ? j->req->jobs : CLV_DEFAULT_JOBS;
    for (int32_t i = 0; i < j->n_shapes; i += FORMS_AT_ONCE) {
        clv_form forms[FORMS_AT_ONCE] = { { .j = NULL } };
        int32_t n = j->n_shapes - i < FORMS_AT_ONCE ? j->n_shapes - i : FORMS_AT_ONCE;
        clv_status status = CLV_OK;
        for (int32_t k = 0; k < n; k++)
            forms[k] = (clv_form){ .j = j, .shape = j->shapes[i + k], .jobs = n > 1 ? 1 : jobs };
        clv_crew_share(n, jobs, work, forms);
        for (int32_t k = 0; k < n && status == CLV_OK; k++)
            status = merge(j, &forms[k]);
        for (int32_t k = 0; k < n; k++)
            clv_arena_free(forms[k].arena);
        CLV_TRY(status);
    }
    return CLV_OK;
}

/* The best plan, made again where it stays. */
static clv_status make_best(clv_joint *j, clv_plan **ret)
{
    clv_form f = { .j = j, .arena = j->arena, .err = j->err, .shape = j->shape, .jobs = 1 };
    clv_plan *cut;
    if (j->plain) {
        *ret = j->plain;
        return CLV_OK;
    }
    CLV_TRY(clv_form_open(&f));
    CLV_TRY(clv_form_pins(j, f.mesh, f.arena, &f.pins, j->err));
    j->idle = f.pins ? f.pins->idle : NULL;
    CLV_TRY(clv_form_build(&f, NULL, j->limit_bytes > 0 ? j->limit_bytes : CLV_STRATEGY_UNLIMITED));
    CLV_TRY(clv_form_cut(&f, j->answer, &cut));
    return clv_joint_plan_make(j->req, j->cluster, j->levels.order, f.mesh, f.problem, j->answer,
                               f.local, cut, j->arena, ret, j->err);
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
    take_bound(j, plan->bound_ns);
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
    return run_forms(j);
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
    CLV_TRY(run_forms(j));
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
