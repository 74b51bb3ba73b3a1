#include "joint/mesh_shapes.h"

#include "joint/mesh_candidate.h"

#define MESH_AXES_TRIED 2 /* of shapes not given: a third axis finds little and costs much */

bool clv_joint_needs_shards(const clv_joint *j)
{
    return j->req->data_parallel || clv_tensor_constraints_need_mesh(&j->rules);
}

static clv_status add_shape(clv_joint *j, const clv_mesh_form *shape, clv_error *err)
{
    if (!CLV_PUSH_ROOM(j->arena, j->shapes, j->n_shapes, j->cap_shapes))
        return clv_fail_nomem(err, "forms of meshes");
    j->shapes[j->n_shapes++] = *shape;
    return CLV_OK;
}

/* -- the shape that is asked for -- */

static clv_status check_size(const clv_joint *j, int32_t n, clv_error *err)
{
    const clv_request *req = j->req;
    int32_t devices = j->cluster->n_devices;
    if (n > devices || devices % n != 0)
        return clv_fail(err, CLV_EUSAGE,
                        "mesh '%s' does not go into %d devices a whole number of times", req->mesh,
                        (int)devices);
    if (req->stages > 0 && n * req->stages != devices)
        return clv_fail(
            err, CLV_EUSAGE,
            "%d stages of mesh '%s' have %lld devices, expected the %d that are planned for",
            (int)req->stages, req->mesh, (long long)n * req->stages, (int)devices);
    if (j->random && n > 1)
        return clv_fail(err, CLV_EUSAGE,
                        "mesh '%s' has %d devices, and operator '%.*s' (%.*s) would draw other "
                        "random numbers on each: give it a seed, or stages of one device",
                        req->mesh, (int)n, CLV_STR_ARG(j->random->label),
                        CLV_STR_ARG(j->random->type));
    if (req->max_share > 0 && n > req->max_share)
        return clv_fail(err, CLV_EUSAGE,
                        "mesh '%s' has %d devices, more than the %d that are allowed for a stage",
                        req->mesh, (int)n, (int)req->max_share);
    return CLV_OK;
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
    CLV_TRY(check_size(j, n, err));
    if (n > 1)
        return add_shape(j, &shape, err);
    /* a mesh of one device: rules on its axes are read all the same */
    CLV_TRY(clv_mesh_make(&shape, j->cluster, (clv_mesh_devices){ j->levels.order, 1 }, j->arena,
                          &single, err));
    j->whole = true;
    return clv_mesh_candidate_constraints(j, j->factors, single, j->arena, &constraints, err);
}

/* -- all shapes -- */

static bool is_allowed(const clv_joint *j, int32_t per_mesh)
{
    int32_t n = j->cluster->n_devices;
    if ((j->random && per_mesh > 1) || (j->req->stages > 0 && per_mesh * j->req->stages != n))
        return false;
    return n % per_mesh == 0 && (j->req->max_share == 0 || per_mesh <= j->req->max_share);
}

/* The levels of the first devices in the order of links, which are those of the first mesh. */
static clv_status add_shapes_of(clv_joint *j, int32_t per_mesh, clv_error *err)
{
    clv_link_levels levels;
    const clv_mesh_form *shapes;
    int32_t n;
    CLV_TRY(clv_mesh_levels(j->cluster, (clv_mesh_devices){ j->levels.order, per_mesh }, j->arena,
                            &levels, err));
    CLV_TRY(clv_mesh_forms(&levels, MESH_AXES_TRIED, j->arena, &shapes, &n, err));
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(add_shape(j, &shapes[i], err));
    return CLV_OK;
}

static clv_status add_all(clv_joint *j, clv_error *err)
{
    int32_t n = j->cluster->n_devices, stages = j->req->stages;
    bool any = is_allowed(j, 1);
    j->whole = any && !clv_joint_needs_shards(j);
    for (int32_t per_mesh = n; per_mesh > 1; per_mesh--) {
        if (!is_allowed(j, per_mesh))
            continue;
        any = true;
        CLV_TRY(add_shapes_of(j, per_mesh, err));
    }
    if (any)
        return CLV_OK;
    if (n % stages != 0)
        return clv_fail(err, CLV_EUSAGE,
                        "%d stages: %d devices cannot be dealt out to so many alike", (int)stages,
                        (int)n);
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

clv_status clv_joint_list_shapes(clv_joint *j, clv_error *err)
{
    return j->req->mesh ? add_given(j, err) : add_all(j, err);
}
