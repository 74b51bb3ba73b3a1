#include "joint/mesh_open.h"

#include "joint/stage_memory.h"
#include "lower/stage_cluster.h"
#include "rules/backend_filter.h"
#include "sharding/refine_uneven.h"

/* Beside a backend there are no rules of the user. */
static clv_status keep_to_backend(const clv_joint *j, const clv_split_model *model,
                                  clv_arena *arena, clv_tensor_constraints **ret, clv_error *err)
{
    *ret = CLV_NEW(arena, clv_tensor_constraints);
    if (!*ret)
        return clv_fail_nomem(err, "what a profile splits");
    (*ret)->any = true;
    return clv_backend_filter_make(j->req->backend, model, arena, &(*ret)->filter, err);
}

clv_status clv_mesh_open_constraints(const clv_joint *j, const clv_factors *factors,
                                     const clv_mesh *mesh, clv_arena *arena,
                                     clv_tensor_constraints **ret, clv_error *err)
{
    const clv_split_model model = { j->analysis->types, factors, mesh };
    *ret = NULL;
    if (j->req->backend)
        return keep_to_backend(j, &model, arena, ret, err);
    if (j->without_tensor_rules ||
        (!j->req->data_parallel && !clv_tensor_constraints_asked(&j->rules)))
        return CLV_OK;
    return clv_tensor_constraints_make(&j->rules, j->req->data_parallel, &model, arena, ret, err);
}

static clv_status make_mesh(const clv_joint *j, const clv_joint_form *form, clv_arena *arena,
                            clv_mesh_opened *ret, clv_error *err)
{
    clv_comm_options comm = { .overlap = j->req->overlap, .measured = j->measured };
    int32_t n = clv_joint_group_devices(j, form->groups) / clv_joint_stages(j, form);
    CLV_TRY(clv_mesh_make(&form->mesh, j->cluster, (clv_mesh_devices){ j->levels.order, n }, arena,
                          &ret->mesh, err));
    CLV_TRY(clv_resharder_new(ret->mesh, j->cluster, &comm, arena, &ret->resharder, err));
    return clv_factors_for_mesh(j->analysis->types, j->factors, ret->mesh, arena, &ret->factors,
                                err);
}

clv_status clv_mesh_open(const clv_joint *j, const clv_joint_form *form, clv_arena *arena,
                         clv_mesh_opened *ret, clv_error *err)
{
    *ret = (clv_mesh_opened){ .n_stages = clv_joint_stages(j, form) };
    CLV_TRY(make_mesh(j, form, arena, ret, err));
    clv_status status =
        clv_mesh_open_constraints(j, ret->factors, ret->mesh, arena, &ret->constraints, err);
    ret->refused = status == CLV_EFORMAT && !j->req->mesh; /* other shapes may do */
    ret->excluded = ret->refused || (ret->constraints && ret->constraints->conflict);
    return ret->excluded ? CLV_OK : status;
}

/* Stages are of one kind and joined alike inside, or what is found for the first is not true of the
 * others. */
static bool stages_are_alike(const clv_joint *j, const clv_mesh_opened *on)
{
    int32_t n = on->mesh->n_devices;
    for (int32_t s = 1; s < on->n_stages; s++)
        if (!clv_cluster_groups_alike(j->cluster, j->levels.order, j->levels.order + s * n, n))
            return false;
    return true;
}

clv_status clv_mesh_open_stages(const clv_joint *j, const clv_joint_form *form, clv_arena *arena,
                                clv_mesh_opened *io, clv_error *err)
{
    const clv_mesh_devices group = { j->levels.order, clv_joint_group_devices(j, form->groups) };
    io->n_stages = clv_joint_stages(j, form);
    CLV_TRY(
        clv_stage_cluster_make(j->cluster, group, io->mesh->n_devices, arena, &io->stages, err));
    io->unlike = io->excluded = !stages_are_alike(j, io);
    return CLV_OK;
}

int64_t clv_mesh_memory_bytes(const clv_mesh_opened *on)
{
    int64_t least = clv_stage_capacity(on->stages);
    return least < INT64_MAX / on->n_stages ? least * on->n_stages : INT64_MAX;
}

bool clv_mesh_has_room(const clv_joint *j, const clv_mesh_opened *on)
{
    return j->kept_bytes / on->mesh->n_devices <= clv_mesh_memory_bytes(on);
}

int64_t clv_mesh_split_bytes(const clv_joint *j, const clv_mesh_opened *on)
{
    return j->held_bytes / on->mesh->n_devices;
}
