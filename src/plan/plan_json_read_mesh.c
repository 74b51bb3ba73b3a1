#include "plan/plan_json_read_mesh.h"

#include <inttypes.h>

#include "plan/plan_copies.h"
#include "plan/plan_json.h"
#include "plan/plan_mesh.h"
#include "sharding/mesh.h"

/* -- devices in groups -- */

/* Numbers of devices into ret, n of them; taken: by device, is it in a group already? group: what
 * one is called. */
static clv_status read_group(const clv_json_at *list, const clv_plan *plan, const char *group,
                             bool *taken, int32_t *ret, clv_error *err)
{
    clv_json_at at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_length(list, &n, err));
    for (int32_t i = 0; i < n; i++) {
        int64_t device = 0;
        at = clv_json_element(list, i, i ? &at : NULL);
        CLV_TRY(clv_json_int(&at, 0, plan->n_devices - 1, &device, err));
        if (taken[device])
            return clv_fail(err, CLV_EFORMAT, "%s: device %d is in a %s already",
                            CLV_PLAN_PATH(&at), (int)device, group);
        taken[device] = true;
        ret[i] = (int32_t)device;
    }
    return CLV_OK;
}

/* -- copies -- */

static clv_status read_copy(const clv_json_at *list, clv_plan *plan, bool *taken, int32_t *ret,
                            clv_error *err)
{
    int32_t n = 0;

    CLV_TRY(clv_json_length(list, &n, err));
    if (plan->n_copies == 0)
        plan->copy_devices = n;
    if (n < 1 || n != plan->copy_devices)
        return clv_fail(err, CLV_EFORMAT, "%s: has %d devices, expected %s%d as the first copy",
                        CLV_PLAN_PATH(list), (int)n, n < 1 ? "1 or more, " : "",
                        (int)plan->copy_devices);
    return read_group(list, plan, "copy", taken, ret, err);
}

clv_status clv_plan_read_copies(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                clv_error *err)
{
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(root, "copies", false, &list, err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, err));
    if (n < 2)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: has %d element%s, expected the devices of 2 copies "
                        "or more",
                        CLV_PLAN_PATH(&list), (int)n, n == 1 ? "" : "s");
    /* no device is in two copies, so there is room for all of them */
    int32_t *device = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    bool *taken = CLV_NEW_ARRAY(arena, bool, plan->n_devices);
    if (!device || !taken)
        return clv_fail_nomem(err, "a plan");
    for (int32_t c = 0; c < n; c++) {
        at = clv_json_element(&list, c, c ? &at : NULL);
        CLV_TRY(read_copy(&at, plan, taken, device + c * plan->copy_devices, err));
        plan->n_copies++;
    }
    plan->copy_device = device;
    clv_error why;
    clv_status status = clv_plan_check_copies(plan, arena, &why);
    if (status != CLV_OK)
        return clv_fail(err, status, "%s: %s", CLV_PLAN_PATH(&list), why.message);
    return clv_plan_set_leads(plan, arena, err);
}

/* -- the mesh -- */

/* Proportions: at most so large that sizes of dimensions may be multiplied by their sum. */
#define SHARE_MAX 1000000

static clv_status read_shares(const clv_json_at *axis, clv_arena *arena, clv_plan_axis *ret,
                              clv_error *err)
{
    clv_json_at at = { 0 };
    clv_plan_list list;

    CLV_TRY(clv_plan_get_list(axis, "shares", sizeof *ret->shares, arena, &list, err));
    if (!list.room)
        return CLV_OK;
    if (list.n != ret->size)
        return clv_fail(err, CLV_EFORMAT, "%s: has %d elements, expected %d, one a coordinate",
                        CLV_PLAN_PATH(&list.at), (int)list.n, (int)ret->size);
    for (int32_t i = 0; i < list.n; i++) {
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(clv_json_int(&at, 1, SHARE_MAX, (int64_t *)list.room + i, err));
    }
    ret->shares = list.room;
    return CLV_OK;
}

static clv_status read_axes(const clv_json_at *mesh, clv_plan *plan, clv_arena *arena,
                            clv_error *err)
{
    static const char *const keys[] = { "name", "size", "shares", NULL };
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(mesh, "axes", true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    if (n < 1 || n > CLV_MESH_AXES_MAX)
        return clv_fail(err, CLV_EFORMAT, "%s: has %d elements, expected 1 to %d",
                        CLV_PLAN_PATH(&list), (int)n, CLV_MESH_AXES_MAX);
    clv_plan_axis *axes = CLV_NEW_ARRAY(arena, clv_plan_axis, n);
    if (!axes)
        return clv_fail_nomem(err, "a plan");
    for (int32_t a = 0; a < n; a++) {
        at = clv_json_element(&list, a, a ? &at : NULL);
        CLV_TRY(clv_json_keys(&at, keys, err));
        CLV_TRY(clv_plan_require_string(&at, "name", arena, &axes[a].name, err));
        CLV_TRY(
            clv_plan_require_int32(&at, "size", 1, CLV_PLAN_JSON_DEVICES_MAX, &axes[a].size, err));
        CLV_TRY(read_shares(&at, arena, &axes[a], err));
    }
    plan->axes = axes;
    plan->n_axes = n;
    return CLV_OK;
}

/* The devices of one mesh; taken: by device, is it in one already? */
static clv_status read_one_mesh(const clv_json_at *list, const clv_plan *plan, bool *taken,
                                int32_t *ret, clv_error *err)
{
    int32_t n = 0;

    CLV_TRY(clv_json_length(list, &n, err));
    if (n != plan->mesh_devices)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: has %d devices, expected %d, the product of the axes",
                        CLV_PLAN_PATH(list), (int)n, (int)plan->mesh_devices);
    return read_group(list, plan, "mesh", taken, ret, err);
}

static clv_status read_meshes(const clv_json_at *mesh, clv_plan *plan, clv_arena *arena,
                              clv_error *err)
{
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(mesh, "devices", true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    if (n < 1)
        return clv_fail(err, CLV_EFORMAT, "%s: is empty, expected the devices of each mesh",
                        CLV_PLAN_PATH(&list));
    /* No device is in two meshes, so there is room for all of them. */
    int32_t *device = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    bool *taken = CLV_NEW_ARRAY(arena, bool, plan->n_devices);
    if (!device || !taken)
        return clv_fail_nomem(err, "a plan");
    for (int32_t m = 0; m < n; m++) {
        at = clv_json_element(&list, m, m ? &at : NULL);
        CLV_TRY(read_one_mesh(&at, plan, taken, device + m * plan->mesh_devices, err));
    }
    plan->n_meshes = n;
    plan->mesh_device = device;
    return clv_plan_set_leads(plan, arena, err);
}

clv_status clv_plan_read_mesh(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                              clv_error *err)
{
    static const char *const keys[] = { "axes", "devices", "overlap", NULL };
    char buf[CLV_MESH_FAULT];
    int64_t product = 1;
    clv_json_at mesh, overlap;

    CLV_TRY(clv_json_member(root, "mesh", false, &mesh, err));
    if (!mesh.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&mesh, keys, err));
    CLV_TRY(read_axes(&mesh, plan, arena, err));
    CLV_TRY(clv_json_member(&mesh, "overlap", false, &overlap, err));
    if (overlap.json)
        CLV_TRY(clv_json_number(&overlap, 0, 1, &plan->overlap, err));
    for (int32_t a = 0; a < plan->n_axes && product <= plan->n_devices; a++)
        product *= plan->axes[a].size;
    if (product > plan->n_devices)
        return clv_fail(err, CLV_EFORMAT, "%s.axes: make a mesh of more than the %d devices",
                        CLV_PLAN_PATH(&mesh), (int)plan->n_devices);
    plan->mesh_devices = (int32_t)product;
    const char *fault = clv_plan_form_fault(plan, buf);
    if (fault)
        return clv_fail(err, CLV_EFORMAT, "%s.axes: %s", CLV_PLAN_PATH(&mesh), fault);
    CLV_TRY(read_meshes(&mesh, plan, arena, err));
    int32_t *original;
    CLV_TRY(clv_plan_originals(plan, arena, &original, err));
    for (int32_t d = 0; d < plan->n_devices; d++) { /* those of a mesh run together */
        int32_t lead = plan->lead_of_device[original[d]], stage = plan->devices[d].stage;
        int32_t expected = lead < 0 ? -1 : plan->devices[lead].stage;
        if (stage != expected)
            return clv_fail(err, CLV_EFORMAT, "%s: device %d has stage %d, expected %d as %s",
                            CLV_PLAN_PATH(&mesh), (int)d, (int)stage, (int)expected,
                            lead < 0 ? "it is in no mesh" : "the first of its mesh");
    }
    return CLV_OK;
}

clv_status clv_plan_check_lead(const clv_json_at *at, const clv_plan *plan, int32_t device,
                               clv_error *err)
{
    int32_t lead = clv_plan_lead(plan, device);

    if (lead == device)
        return CLV_OK;
    if (lead < 0)
        return clv_fail(err, CLV_EFORMAT, "%s: device %d is in no mesh", CLV_PLAN_PATH(at),
                        (int)device);
    return clv_fail(err, CLV_EFORMAT,
                    "%s: device %d is not the first of its mesh, expected %d, which stands for all "
                    "of it",
                    CLV_PLAN_PATH(at), (int)device, (int)lead);
}

/* -- splits -- */

static clv_status read_split_run(const clv_json_at *run, const clv_plan *plan, clv_arena *arena,
                                 const char **split_of, int64_t *total, clv_error *err)
{
    char buf[CLV_MESH_FAULT];
    const char *split = NULL;
    clv_json_at at[2];
    int64_t count = 0;

    CLV_TRY(clv_plan_open_run(run, "split", at, err));
    CLV_TRY(clv_json_copy_string(&at[0], arena, &split, err));
    CLV_TRY(clv_json_int(&at[1], 1, CLV_PLAN_JSON_OPS_MAX, &count, err));
    const char *fault = clv_plan_split_fault(plan, split, buf);
    if (fault)
        return clv_fail(err, CLV_EFORMAT, "%s: %s", CLV_PLAN_PATH(&at[0]), fault);
    if (count > plan->n_ops - *total)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: the runs hold %" PRId64 " operators up to here, 'count' says %" PRId32,
                        CLV_PLAN_PATH(run), *total + count, plan->n_ops);
    for (int64_t i = 0; i < count; i++)
        split_of[*total + i] = split;
    *total += count;
    return CLV_OK;
}

clv_status clv_plan_read_splits(const clv_json_at *operators, clv_plan *plan, clv_arena *arena,
                                clv_error *err)
{
    clv_json_at list, run = { 0 };
    int64_t total = 0;
    int32_t n = 0;

    CLV_TRY(clv_json_member(operators, "split_runs", false, &list, err));
    if (!list.json)
        return CLV_OK;
    if (!clv_plan_has_mesh(plan))
        return clv_fail(err, CLV_EFORMAT, "%s: operators are split, but the plan has no mesh",
                        CLV_PLAN_PATH(&list));
    const char **split_of = CLV_NEW_ARRAY(arena, const char *, plan->n_ops);
    if (!split_of)
        return clv_fail_nomem(err, "a plan");
    CLV_TRY(clv_json_length(&list, &n, err));
    for (int32_t i = 0; i < n; i++) {
        run = clv_json_element(&list, i, i ? &run : NULL);
        CLV_TRY(read_split_run(&run, plan, arena, split_of, &total, err));
    }
    if (total != plan->n_ops)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: the runs hold %" PRId64 " operators, 'count' says %" PRId32,
                        CLV_PLAN_PATH(&list), total, plan->n_ops);
    plan->split_of_op = split_of;
    return CLV_OK;
}
