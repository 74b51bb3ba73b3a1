#include "plan/plan_copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "plan/plan_mesh.h"

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "copies of a plan"); }

clv_plan_device clv_plan_idle_device(const clv_cluster *cluster, int32_t device)
{
    const clv_device_kind *kind = clv_device_kind_of(cluster, device);
    return (clv_plan_device){ .name = cluster->devices[device].name,
                              .kind = kind->name,
                              .stage = -1,
                              .capacity_bytes = clv_device_capacity(kind),
                              .reserved_bytes = kind->reserved_bytes,
                              .buffer_bytes = kind->buffer_bytes,
                              .headroom_bytes = clv_device_headroom(kind) };
}

/* -- another place -- */

static clv_status place_devices(clv_plan *plan, const clv_cluster *whole, const int32_t *order,
                                clv_arena *arena, clv_error *err)
{
    clv_plan_device *devices = CLV_NEW_ARRAY(arena, clv_plan_device, whole->n_devices);
    if (!devices)
        return no_memory(err);
    for (int32_t d = 0; d < whole->n_devices; d++)
        devices[d] = clv_plan_idle_device(whole, d);
    for (int32_t k = 0; k < plan->n_devices; k++)
        devices[order[k]] = plan->devices[k];
    plan->devices = devices;
    plan->n_devices = whole->n_devices;
    return CLV_OK;
}

static clv_status place_ops(clv_plan *plan, const int32_t *order, clv_arena *arena, clv_error *err)
{
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, plan->n_ops);
    if (!device_of)
        return no_memory(err);
    for (int32_t i = 0; i < plan->n_ops; i++)
        device_of[i] = order[plan->device_of_op[i]];
    plan->device_of_op = device_of;
    return CLV_OK;
}

static clv_status place_host_copies(const clv_plan_host_copy **at, int32_t n, const int32_t *order,
                                    clv_arena *arena, clv_error *err)
{
    clv_plan_host_copy *placed = CLV_NEW_ARRAY(arena, clv_plan_host_copy, n);
    if (!placed)
        return no_memory(err);
    for (int32_t i = 0; i < n; i++) {
        int32_t *devices = CLV_NEW_ARRAY(arena, int32_t, (*at)[i].n_devices);
        if (!devices)
            return no_memory(err);
        for (int32_t k = 0; k < (*at)[i].n_devices; k++)
            devices[k] = order[(*at)[i].devices[k]];
        qsort(devices, (size_t)(*at)[i].n_devices, sizeof *devices, clv_compare_int32);
        placed[i] = (*at)[i];
        placed[i].devices = devices;
    }
    *at = placed;
    return CLV_OK;
}

clv_status clv_plan_place(clv_plan *plan, const clv_cluster *whole, const int32_t *order,
                          clv_arena *arena, clv_error *err)
{
    CLV_TRY(place_devices(plan, whole, order, arena, err));
    CLV_TRY(place_ops(plan, order, arena, err));
    if (plan->outcome == CLV_OOM)
        plan->short_device = order[plan->short_device];
    for (int32_t i = 0; i < plan->n_transfers; i++) {
        plan->transfers[i].from = order[plan->transfers[i].from];
        plan->transfers[i].to = order[plan->transfers[i].to];
    }
    for (int32_t i = 0; i < plan->n_kernels; i++)
        plan->kernels[i].device = order[plan->kernels[i].device];
    if (!plan->host_copies)
        return CLV_OK;
    clv_plan_host_copies *copies = CLV_NEW(arena, clv_plan_host_copies);
    if (!copies)
        return no_memory(err);
    *copies = *plan->host_copies;
    CLV_TRY(place_host_copies(&copies->inputs, copies->n_inputs, order, arena, err));
    CLV_TRY(place_host_copies(&copies->outputs, copies->n_outputs, order, arena, err));
    plan->host_copies = copies;
    return CLV_OK;
}

/* -- copies -- */

clv_status clv_plan_copy(clv_plan *plan, clv_mesh_devices group, int32_t copies, clv_arena *arena,
                         clv_error *err)
{
    if (copies <= 1)
        return CLV_OK;
    plan->n_copies = copies;
    plan->copy_devices = group.n;
    plan->copy_device = group.at;
    for (int32_t i = group.n; i < copies * group.n; i++) {
        clv_plan_device *to = &plan->devices[group.at[i]];
        const char *name = to->name;
        *to = plan->devices[group.at[i % group.n]];
        to->name = name;
    }
    return clv_plan_set_leads(plan, arena, err);
}

clv_status clv_plan_originals(const clv_plan *plan, clv_arena *arena, int32_t **ret, clv_error *err)
{
    int32_t *of = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    if (!of)
        return no_memory(err);
    for (int32_t d = 0; d < plan->n_devices; d++)
        of[d] = d;
    for (int32_t i = 0; i < plan->n_copies * plan->copy_devices; i++)
        of[plan->copy_device[i]] = plan->copy_device[i % plan->copy_devices];
    *ret = of;
    return CLV_OK;
}

clv_status clv_plan_places(const clv_plan *plan, clv_arena *arena, int32_t **ret, clv_error *err)
{
    int32_t *place = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    if (!place)
        return no_memory(err);
    for (int32_t d = 0; d < plan->n_devices; d++)
        place[d] = -1;
    for (int32_t k = 0; k < plan->copy_devices; k++)
        place[plan->copy_device[k]] = k;
    *ret = place;
    return CLV_OK;
}

/* seen: room for n_devices, all false. */
static clv_status check_devices(const clv_plan *plan, bool *seen, clv_error *err)
{
    for (int32_t i = 0; i < plan->n_copies * plan->copy_devices; i++) {
        int32_t d = plan->copy_device[i], first = plan->copy_device[i % plan->copy_devices];
        if (d < 0 || d >= plan->n_devices)
            return clv_fail(err, CLV_EFORMAT, "copy %d of the plan has device %d, there are %d",
                            (int)(i / plan->copy_devices), (int)d, (int)plan->n_devices);
        if (seen[d])
            return clv_fail(err, CLV_EFORMAT, "device '%s' is in a copy of the plan twice",
                            plan->devices[d].name);
        seen[d] = true;
        if (plan->devices[d].stage != plan->devices[first].stage)
            return clv_fail(err, CLV_EFORMAT,
                            "device '%s' has stage %d, but '%s' at the same place of the first "
                            "copy has stage %d",
                            plan->devices[d].name, (int)plan->devices[d].stage,
                            plan->devices[first].name, (int)plan->devices[first].stage);
    }
    for (int32_t d = 0; d < plan->n_devices; d++)
        if (plan->devices[d].stage >= 0 && !seen[d])
            return clv_fail(err, CLV_EFORMAT,
                            "device '%s' has stage %d, but is in no copy of the "
                            "plan",
                            plan->devices[d].name, (int)plan->devices[d].stage);
    return CLV_OK;
}

clv_status clv_plan_check_copies(const clv_plan *plan, clv_arena *arena, clv_error *err)
{
    if (plan->n_copies <= 1)
        return CLV_OK;
    if (plan->copy_devices < 1 || plan->copy_devices > plan->n_devices / plan->n_copies)
        return clv_fail(err, CLV_EFORMAT,
                        "the plan has %d copies of %d devices each, but %d devices",
                        (int)plan->n_copies, (int)plan->copy_devices, (int)plan->n_devices);
    clv_mark mark = clv_arena_mark(arena);
    bool *seen = CLV_NEW_ARRAY(arena, bool, plan->n_devices);
    clv_status status = seen ? check_devices(plan, seen, err) : no_memory(err);
    clv_arena_rewind(arena, mark);
    return status;
}
