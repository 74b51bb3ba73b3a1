#include "joint/joint_forms.h"

#include "graph/backward.h"
#include "joint/mesh_open.h"
#include "rules/mesh_rules.h"

#define MESH_AXES_TRIED 2 /* of shapes not given: a third axis finds little and costs much */

bool clv_joint_needs_shards(const clv_joint *j)
{
    return j->req->data_parallel || clv_tensor_constraints_need_mesh(&j->rules);
}

clv_status clv_joint_fail_without_stages(const clv_joint *j, int32_t devices, clv_error *err)
{
    return clv_fail(err, CLV_EUSAGE,
                    "profile '%.40s' has no stages, and no mesh of %d devices: expected fewer "
                    "--devices",
                    j->req->backend->name, (int)devices);
}

/* -- groups -- */

/* Are copies of a plan of use, and does nothing speak against them? A model that is trained is one;
 * rules may name devices, which are those of one plan. */
static clv_status may_be_copied(clv_joint *j, bool *ret, clv_error *err)
{
    const clv_request *req = j->req;
    bool *backward_op = NULL;
    *ret = false;
    if (j->any_will_do || req->copies == 1)
        return CLV_OK;
    if (req->copies == 0 && req->search.objective != CLV_THROUGHPUT)
        return CLV_OK;
    if (clv_mesh_rules_name_devices(&j->rules))
        return CLV_OK;
    CLV_TRY(clv_backward_ops(req->model->main, req->backward, j->arena, &backward_op, err));
    *ret = backward_op == NULL;
    if (*ret)
        j->backward = "none"; /* so that no cut looks once more */
    return CLV_OK;
}

/* May a plan leave devices without work, for fewer do as well? */
static bool may_be_fewer(const clv_joint *j)
{
    return !j->any_will_do && j->req->devices == 0 && j->req->copies <= 1 &&
           j->req->search.objective == CLV_LATENCY && !clv_mesh_rules_name_devices(&j->rules);
}

/* Copies need groups that are alike; where only the first has work, others may be as they are. */
static bool are_alike(const clv_joint *j, int32_t groups)
{
    int32_t n = clv_joint_group_devices(j, groups);
    for (int32_t g = 1; g < clv_joint_copies(j, groups); g++)
        if (!clv_cluster_groups_alike(j->cluster, j->levels.order, j->levels.order + g * n, n))
            return false;
    return true;
}

/* Has a group room for the weights? One group is tried in any case, to show what is missing. */
static bool has_room(const clv_joint *j, int32_t groups)
{
    int64_t left_bytes = j->analysis->costs->total.weight_bytes;
    for (int32_t k = 0; k < clv_joint_group_devices(j, groups); k++)
        left_bytes -= clv_device_capacity(clv_device_kind_of(j->cluster, j->levels.order[k]));
    return groups == 1 || left_bytes <= 0;
}

/* So many copies as are asked for. */
static clv_status check_copies(const clv_joint *j, bool may_copy, clv_error *err)
{
    int32_t n = j->cluster->n_devices, copies = j->req->copies;
    if (!may_copy)
        return clv_fail(err, CLV_EUSAGE, "%d copies of a plan: expected 1, as %s", (int)copies,
                        clv_mesh_rules_name_devices(&j->rules)
                            ? "rules name devices"
                            : "the model is trained, and copies of it would not learn together");
    if (n % copies != 0)
        return clv_fail(err, CLV_EUSAGE,
                        "%d copies of a plan: %d devices cannot be dealt out to so many alike",
                        (int)copies, (int)n);
    if (!are_alike(j, copies))
        return clv_fail(err, CLV_EUSAGE,
                        "%d copies of a plan: the groups of %d devices would not be alike, in kind "
                        "or links",
                        (int)copies, (int)(n / copies));
    return CLV_OK;
}

static clv_status list_groups(clv_joint *j, clv_error *err)
{
    int32_t n = j->cluster->n_devices, *groups = CLV_NEW_ARRAY(j->arena, int32_t, n);
    bool may_copy;
    if (!groups)
        return clv_fail_nomem(err, "groups of devices");
    CLV_TRY(may_be_copied(j, &may_copy, err));
    if (j->req->copies > 1)
        CLV_TRY(check_copies(j, may_copy, err));
    bool may_group = may_copy || may_be_fewer(j);
    int32_t first = j->req->copies > 1 ? j->req->copies : 1,
            last = may_group && j->req->copies == 0 ? n : first;
    for (int32_t g = first; g <= last; g++)
        if (n % g == 0 && (g == j->req->copies || has_room(j, g)) && are_alike(j, g))
            groups[j->n_groups++] = g;
    j->groups = groups;
    return CLV_OK;
}

static clv_status add_form(clv_joint *j, const clv_mesh_form *mesh, int32_t groups, clv_error *err)
{
    if (!CLV_PUSH_ROOM(j->arena, j->forms, j->n_forms, j->cap_forms))
        return clv_fail_nomem(err, "forms of meshes");
    j->forms[j->n_forms++] = (clv_joint_form){ *mesh, groups, false };
    return CLV_OK;
}

/* -- the mesh that is asked for -- */

static clv_status check_size(const clv_joint *j, const clv_mesh_form *shape, int32_t n,
                             clv_error *err)
{
    const clv_request *req = j->req;
    int32_t devices = j->cluster->n_devices, copies = req->copies > 1 ? req->copies : 1;
    if (n > devices || devices % n != 0)
        return clv_fail(err, CLV_EUSAGE,
                        "mesh '%s' does not go into %d devices a whole number of times", req->mesh,
                        (int)devices);
    if (devices / copies % n != 0)
        return clv_fail(err, CLV_EUSAGE,
                        "mesh '%s' does not go into the %d devices of each of %d copies a whole "
                        "number of times",
                        req->mesh, (int)(devices / copies), (int)copies);
    if (req->stages > 0 && n * req->stages * copies != devices)
        return clv_fail(
            err, CLV_EUSAGE,
            "%d stages of mesh '%s' have %lld devices, expected the %d that are planned for",
            (int)req->stages, req->mesh, (long long)n * req->stages, (int)(devices / copies));
    if (j->random && n > 1)
        return clv_fail(err, CLV_EUSAGE,
                        "mesh '%s' has %d devices, and operator '%.*s' (%.*s) would draw other "
                        "random numbers on each: give it a seed, or stages of one device",
                        req->mesh, (int)n, CLV_STR_ARG(j->random->label),
                        CLV_STR_ARG(j->random->type));
    char why[CLV_MESSAGE_SIZE];
    if (!clv_backend_runs_mesh(&j->limits, shape->n_axes, n, why))
        return clv_fail(err, CLV_EUSAGE, "mesh '%s': %s", req->mesh, why);
    if (req->max_share > 0 && n > req->max_share)
        return clv_fail(err, CLV_EUSAGE,
                        "mesh '%s' has %d devices, more than the %d that are allowed for a stage",
                        req->mesh, (int)n, (int)req->max_share);
    return CLV_OK;
}

bool clv_joint_allows(const clv_joint *j, int32_t per_mesh, int32_t groups)
{
    int32_t n = clv_joint_group_devices(j, groups);
    if ((j->random && per_mesh > 1) || (j->req->stages > 0 && per_mesh * j->req->stages != n))
        return false;
    if (!clv_backend_runs_mesh(&j->limits, 1, per_mesh, NULL) ||
        (j->req->backend && !j->req->backend->stages && per_mesh != n))
        return false;
    return n % per_mesh == 0 && (j->req->max_share == 0 || per_mesh <= j->req->max_share);
}

static clv_status add_given(clv_joint *j, clv_error *err)
{
    clv_mesh_form shape;
    const clv_mesh *single;
    clv_tensor_constraints *constraints;
    int32_t n = 1;
    CLV_TRY(clv_mesh_form_parse(j->req->mesh, j->arena, &shape, err));
    for (int32_t a = 0; a < shape.n_axes; a++)
        n = shape.size[a] <= CLV_DEVICES_MAX / n ? n * shape.size[a] : CLV_DEVICES_MAX + 1;
    CLV_TRY(check_size(j, &shape, n, err));
    for (int32_t g = 0; g < j->n_groups && n > 1; g++)
        if (clv_joint_allows(j, n, j->groups[g]))
            CLV_TRY(add_form(j, &shape, j->groups[g], err));
    if (n > 1)
        return CLV_OK;
    /* a mesh of one device: rules on its axes are read all the same */
    CLV_TRY(clv_mesh_make(&shape, j->cluster, (clv_mesh_devices){ j->levels.order, 1 }, j->arena,
                          &single, err));
    j->whole = true;
    return clv_mesh_open_constraints(j, j->factors, single, j->arena, &constraints, err);
}

/* -- all meshes -- */

static int32_t axes_tried(const clv_joint *j)
{
    const clv_backend *b = j->req->backend;
    return b && b->mesh_axes < MESH_AXES_TRIED ? (int32_t)b->mesh_axes : MESH_AXES_TRIED;
}

/* The levels of the first devices in the order of links, which are those of the first mesh. */
static clv_status add_meshes_of(clv_joint *j, int32_t per_mesh, clv_error *err)
{
    clv_link_levels levels;
    const clv_mesh_form *shapes;
    int32_t n;
    CLV_TRY(clv_mesh_levels(j->cluster, (clv_mesh_devices){ j->levels.order, per_mesh }, j->arena,
                            &levels, err));
    CLV_TRY(clv_mesh_forms(&levels, axes_tried(j), j->arena, &shapes, &n, err));
    for (int32_t i = 0; i < n; i++)
        for (int32_t g = 0; g < j->n_groups; g++)
            if (clv_joint_allows(j, per_mesh, j->groups[g]))
                CLV_TRY(add_form(j, &shapes[i], j->groups[g], err));
    return CLV_OK;
}

static bool is_allowed_in_any(const clv_joint *j, int32_t per_mesh)
{
    bool any = false;
    for (int32_t g = 0; g < j->n_groups; g++)
        any |= clv_joint_allows(j, per_mesh, j->groups[g]);
    return any;
}

static clv_status add_all(clv_joint *j, clv_error *err)
{
    int32_t n = j->cluster->n_devices, stages = j->req->stages;
    bool any = is_allowed_in_any(j, 1);
    j->whole = any && !clv_joint_needs_shards(j);
    for (int32_t per_mesh = j->splits ? n : 1; per_mesh > 1; per_mesh--) {
        if (!is_allowed_in_any(j, per_mesh))
            continue;
        any = true;
        CLV_TRY(add_meshes_of(j, per_mesh, err));
    }
    if (any)
        return CLV_OK;
    n = clv_joint_group_devices(j, j->groups[0]);
    char why[CLV_MESSAGE_SIZE];
    if (stages == 0)
        return clv_joint_fail_without_stages(j, n, err);
    if (n % stages != 0)
        return clv_fail(err, CLV_EUSAGE,
                        "%d stages: %d devices cannot be dealt out to so many alike", (int)stages,
                        (int)n);
    if (!clv_backend_runs_mesh(&j->limits, 1, n / stages, why))
        return clv_fail(err, CLV_EUSAGE, "%d stage%s: %s", (int)stages, stages == 1 ? "" : "s",
                        why);
    if (j->random)
        return clv_fail(err, CLV_EUSAGE,
                        "%d stages of %d devices: operator '%.*s' (%.*s) would draw other random "
                        "numbers on each; give it a seed, or stages of one device",
                        (int)stages, (int)(n / stages), CLV_STR_ARG(j->random->label),
                        CLV_STR_ARG(j->random->type));
    return clv_fail(err, CLV_EUSAGE,
                    "%d stages of %d devices have more than the %d that are allowed for each",
                    (int)stages, (int)(n / stages), (int)j->req->max_share);
}

clv_status clv_joint_list_forms(clv_joint *j, clv_error *err)
{
    CLV_TRY(list_groups(j, err));
    return j->req->mesh ? add_given(j, err) : add_all(j, err);
}
