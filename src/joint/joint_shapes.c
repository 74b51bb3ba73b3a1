#include "joint/joint_shapes.h"

#define MESH_AXES_TRIED 2 /* of forms not given: a third axis finds little and costs much */

bool clv_joint_needs_shards(const clv_joint *j)
{
    return j->req->data_parallel || clv_split_pins_need_mesh(&j->rules);
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
static clv_status take_single(clv_joint *j, const clv_mesh_form *shape)
{
    const clv_mesh *mesh;
    clv_split_pins *pins;
    CLV_TRY(clv_mesh_make(shape, j->cluster, j->levels.order, 1, j->arena, &mesh, j->err));
    j->whole = true;
    return clv_form_pins(j, j->factors, mesh, j->arena, &pins, j->err);
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
    return n == 1 ? take_single(j, &shape) : add_shape(j, &shape);
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

static clv_status refuse_stages(const clv_joint *j)
{
    int32_t n = j->cluster->n_devices;
    if (n % j->req->stages != 0)
        return clv_fail(j->err, CLV_EUSAGE,
                        "%d stages: %d devices cannot be dealt out to so many alike",
                        (int)j->req->stages, (int)n);
    return clv_fail(j->err, CLV_EUSAGE,
                    "%d stages of %d devices have more than the %d that are allowed for each",
                    (int)j->req->stages, (int)(n / j->req->stages), (int)j->req->max_share);
}

static clv_status add_all(clv_joint *j)
{
    bool any = may_share(j, 1);
    j->whole = any && !clv_joint_needs_shards(j);
    for (int32_t per_mesh = j->cluster->n_devices; per_mesh > 1; per_mesh--) {
        if (!may_share(j, per_mesh))
            continue;
        any = true;
        CLV_TRY(add_forms_of(j, per_mesh));
    }
    return any ? CLV_OK : refuse_stages(j);
}

clv_status clv_joint_shapes(clv_joint *j) { return j->req->mesh ? add_given(j) : add_all(j); }
