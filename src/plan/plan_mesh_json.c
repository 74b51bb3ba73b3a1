#include "plan/plan_mesh_json.h"

#include <inttypes.h>
#include <string.h>

#include "graph/graph.h"
#include "plan/plan_json.h"
#include "plan/plan_mesh.h"
#include "sharding/mesh.h"
#include "sharding/steps.h"

/* Reading; writing is in plan_mesh_put.c. */

/* -- the mesh -- */

/* Proportions: at most so large that sizes of dimensions may be multiplied by their sum. */
#define SHARE_MAX 1000000

static clv_status read_shares(clv_plan_reader *r, const clv_json_at *axis, clv_plan_axis *ret)
{
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(axis, "shares", false, &list, r->err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, r->err));
    int64_t *shares = CLV_NEW_ARRAY(r->arena, int64_t, n);
    if (!shares)
        return clv_fail_nomem(r->err, "a plan");
    if (n != ret->size)
        return clv_fail(r->err, CLV_EFORMAT, "%s: has %d elements, expected %d, one a coordinate",
                        SHOW(&list), (int)n, (int)ret->size);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(clv_json_int(&at, 1, SHARE_MAX, &shares[i], r->err));
    }
    ret->shares = shares;
    return CLV_OK;
}

static clv_status read_axes(clv_plan_reader *r, const clv_json_at *mesh)
{
    static const char *const keys[] = { "name", "size", "shares", NULL };
    clv_plan_axis *axes;
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(mesh, "axes", true, &list, r->err));
    CLV_TRY(clv_json_length(&list, &n, r->err));
    if (n < 1 || n > CLV_MESH_AXES_MAX)
        return clv_fail(r->err, CLV_EFORMAT, "%s: has %d elements, expected 1 to %d", SHOW(&list),
                        (int)n, CLV_MESH_AXES_MAX);
    axes = CLV_NEW_ARRAY(r->arena, clv_plan_axis, n);
    if (!axes)
        return clv_fail_nomem(r->err, "a plan");
    for (int32_t a = 0; a < n; a++) {
        at = clv_json_element(&list, a, a ? &at : NULL);
        CLV_TRY(clv_json_keys(&at, keys, r->err));
        CLV_TRY(clv_plan_get_string(r, &at, "name", true, &axes[a].name));
        CLV_TRY(
            clv_plan_get_int32(r, &at, "size", true, 1, CLV_PLAN_JSON_DEVICES_MAX, &axes[a].size));
        CLV_TRY(read_shares(r, &at, &axes[a]));
    }
    r->plan->axes = axes;
    r->plan->n_axes = n;
    return CLV_OK;
}

/* The devices of one mesh; taken: which are in one already. */
static clv_status read_one_mesh(clv_plan_reader *r, const clv_json_at *list, bool *taken,
                                int32_t *ret)
{
    clv_json_at at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_length(list, &n, r->err));
    if (n != r->plan->mesh_devices)
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s: has %d devices, expected %d, the product of the axes", SHOW(list),
                        (int)n, (int)r->plan->mesh_devices);
    for (int32_t i = 0; i < n; i++) {
        int64_t device = 0;
        at = clv_json_element(list, i, i ? &at : NULL);
        CLV_TRY(clv_json_int(&at, 0, r->plan->n_devices - 1, &device, r->err));
        if (taken[device])
            return clv_fail(r->err, CLV_EFORMAT, "%s: device %d is in a mesh already", SHOW(&at),
                            (int)device);
        taken[device] = true;
        ret[i] = (int32_t)device;
    }
    return CLV_OK;
}

static clv_status read_meshes(clv_plan_reader *r, const clv_json_at *mesh)
{
    clv_plan *plan = r->plan;
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(mesh, "devices", true, &list, r->err));
    CLV_TRY(clv_json_length(&list, &n, r->err));
    if (n < 1)
        return clv_fail(r->err, CLV_EFORMAT, "%s: is empty, expected the devices of each mesh",
                        SHOW(&list));
    /* No device is in two meshes, so there is room for all of them. */
    int32_t *device = CLV_NEW_ARRAY(r->arena, int32_t, plan->n_devices);
    bool *taken = CLV_NEW_ARRAY(r->arena, bool, plan->n_devices);
    if (!device || !taken)
        return clv_fail_nomem(r->err, "a plan");
    for (int32_t m = 0; m < n; m++) {
        at = clv_json_element(&list, m, m ? &at : NULL);
        CLV_TRY(read_one_mesh(r, &at, taken, device + m * plan->mesh_devices));
    }
    plan->n_meshes = n;
    plan->mesh_device = device;
    return clv_plan_fill_leads(plan, r->arena, r->err);
}

/* Devices of a mesh run together, so they are of one stage. */
static clv_status check_mesh_stages(clv_plan_reader *r, const clv_json_at *mesh)
{
    const clv_plan *plan = r->plan;

    for (int32_t d = 0; d < plan->n_devices; d++) {
        int32_t lead = plan->lead_of_device[d], stage = plan->devices[d].stage;
        int32_t expected = lead < 0 ? -1 : plan->devices[lead].stage;
        if (stage != expected)
            return clv_fail(r->err, CLV_EFORMAT, "%s: device %d has stage %d, expected %d as %s",
                            SHOW(mesh), (int)d, (int)stage, (int)expected,
                            lead < 0 ? "it is in no mesh" : "the first of its mesh");
    }
    return CLV_OK;
}

static clv_status read_overlap(clv_plan_reader *r, const clv_json_at *mesh)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(mesh, "overlap", false, &at, r->err));
    return at.json ? clv_json_number(&at, 0, 1, &r->plan->overlap, r->err) : CLV_OK;
}

clv_status clv_plan_read_mesh(clv_plan_reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "axes", "devices", "overlap", NULL };
    clv_plan *plan = r->plan;
    char buf[CLV_MESH_FAULT];
    int64_t product = 1;
    clv_json_at mesh;

    CLV_TRY(clv_json_member(root, "mesh", false, &mesh, r->err));
    if (!mesh.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&mesh, keys, r->err));
    CLV_TRY(read_axes(r, &mesh));
    CLV_TRY(read_overlap(r, &mesh));
    for (int32_t a = 0; a < plan->n_axes && product <= plan->n_devices; a++)
        product *= plan->axes[a].size;
    if (product > plan->n_devices)
        return clv_fail(r->err, CLV_EFORMAT, "%s.axes: make a mesh of more than the %d devices",
                        SHOW(&mesh), (int)plan->n_devices);
    plan->mesh_devices = (int32_t)product;
    const char *fault = clv_plan_form_fault(plan, buf);
    if (fault)
        return clv_fail(r->err, CLV_EFORMAT, "%s.axes: %s", SHOW(&mesh), fault);
    CLV_TRY(read_meshes(r, &mesh));
    return check_mesh_stages(r, &mesh);
}

clv_status clv_plan_check_lead(clv_plan_reader *r, const clv_json_at *at, int32_t device)
{
    int32_t lead = clv_plan_lead(r->plan, device);

    if (lead == device)
        return CLV_OK;
    if (lead < 0)
        return clv_fail(r->err, CLV_EFORMAT, "%s: device %d is in no mesh", SHOW(at), (int)device);
    return clv_fail(r->err, CLV_EFORMAT,
                    "%s: device %d is not the first of its mesh, expected %d, which stands for all "
                    "of it",
                    SHOW(at), (int)device, (int)lead);
}

/* -- splits -- */

static clv_status read_split_run(clv_plan_reader *r, const clv_json_at *run, const char **split_of,
                                 int64_t *total)
{
    char buf[CLV_MESH_FAULT];
    const char *split = NULL;
    int64_t count = 0;
    int32_t n = 0;

    CLV_TRY(clv_json_length(run, &n, r->err));
    if (n != 2)
        return clv_fail(r->err, CLV_EFORMAT, "%s: has %d elements, a run is [split, count]",
                        SHOW(run), (int)n);
    clv_json_at split_at = clv_json_element(run, 0, NULL);
    clv_json_at count_at = clv_json_element(run, 1, &split_at);
    CLV_TRY(clv_json_copy_string(&split_at, r->arena, &split, r->err));
    CLV_TRY(clv_json_int(&count_at, 1, CLV_PLAN_JSON_OPS_MAX, &count, r->err));
    const char *fault = clv_plan_split_fault(r->plan, split, buf);
    if (fault)
        return clv_fail(r->err, CLV_EFORMAT, "%s: %s", SHOW(&split_at), fault);
    if (count > r->plan->n_ops - *total)
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s: the runs hold %" PRId64 " operators up to here, 'count' says %" PRId32,
                        SHOW(run), *total + count, r->plan->n_ops);
    for (int64_t i = 0; i < count; i++)
        split_of[*total + i] = split;
    *total += count;
    return CLV_OK;
}

clv_status clv_plan_read_splits(clv_plan_reader *r, const clv_json_at *at)
{
    clv_json_at run = { 0 };
    int64_t total = 0;
    int32_t n = 0;

    if (!at->json)
        return CLV_OK;
    if (!clv_plan_has_mesh(r->plan))
        return clv_fail(r->err, CLV_EFORMAT, "%s: operators are split, but the plan has no mesh",
                        SHOW(at));
    const char **split_of = CLV_NEW_ARRAY(r->arena, const char *, r->plan->n_ops);
    if (!split_of)
        return clv_fail_nomem(r->err, "a plan");
    CLV_TRY(clv_json_length(at, &n, r->err));
    for (int32_t i = 0; i < n; i++) {
        run = clv_json_element(at, i, i ? &run : NULL);
        CLV_TRY(read_split_run(r, &run, split_of, &total));
    }
    if (total != r->plan->n_ops)
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s: the runs hold %" PRId64 " operators, 'count' says %" PRId32, SHOW(at),
                        total, r->plan->n_ops);
    r->plan->split_of_op = split_of;
    return CLV_OK;
}

/* -- what is told -- */

static clv_status read_kind(clv_plan_reader *r, const clv_json_at *object, const char **ret)
{
    clv_json_at at;
    const char *text = NULL;

    CLV_TRY(clv_json_member(object, "kind", true, &at, r->err));
    CLV_TRY(clv_json_string(&at, &text, r->err));
    for (int32_t k = 0; k < CLV_N_STEPS; k++)
        if (strcmp(text, clv_step_name((clv_step_kind)k)) == 0) {
            *ret = clv_step_name((clv_step_kind)k);
            return CLV_OK;
        }
    return clv_fail(r->err, CLV_EFORMAT,
                    "%s: '%.40s' is no collective, expected one like '%s' or '%s'", SHOW(&at), text,
                    clv_step_name(CLV_STEP_ALL_REDUCE), clv_step_name(CLV_STEP_ALL_GATHER));
}

static clv_status read_collective(clv_plan_reader *r, const clv_json_at *at, clv_plan_collective *c)
{
    static const char *const keys[] = { "kind", "axes", "stage", "tensor", "reader",
                                        "from", "to",   "bytes", "ns",     NULL };
    char buf[CLV_MESH_FAULT];

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(read_kind(r, at, &c->kind));
    CLV_TRY(clv_plan_get_string(r, at, "axes", true, &c->axes));
    const char *fault = clv_plan_axes_fault(r->plan, c->axes, buf);
    if (fault)
        return clv_fail(r->err, CLV_EFORMAT, "%s.axes: %s", SHOW(at), fault);
    CLV_TRY(clv_plan_get_int32(r, at, "stage", true, 0, r->plan->n_stages - 1, &c->stage));
    CLV_TRY(clv_plan_get_string(r, at, "tensor", true, &c->tensor));
    CLV_TRY(clv_plan_get_string(r, at, "reader", false, &c->reader));
    CLV_TRY(clv_plan_get_string(r, at, "from", false, &c->from));
    CLV_TRY(clv_plan_get_string(r, at, "to", false, &c->to));
    CLV_TRY(clv_plan_get_fact(r, at, "bytes", &c->bytes));
    return clv_plan_get_fact(r, at, "ns", &c->ns);
}

clv_status clv_plan_read_collectives(clv_plan_reader *r, const clv_json_at *root)
{
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_PLAN_GET_ROOM(r, root, "collectives", clv_plan_collective, &list, &r->plan->collectives,
                      &n);
    if (n > 0 && !clv_plan_has_mesh(r->plan))
        return clv_fail(r->err, CLV_EFORMAT, "%s: the plan has collectives, but no mesh",
                        SHOW(&list));
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(read_collective(r, &at, &r->plan->collectives[i]));
    }
    r->plan->n_collectives = n;
    return CLV_OK;
}

static clv_status read_findings(clv_plan_reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "name", "axes", "count", "of", NULL };
    clv_plan_finding *found = NULL;
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_PLAN_GET_ROOM(r, root, "found", clv_plan_finding, &list, &found, &n);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        found[i].axes = "";
        CLV_TRY(clv_json_keys(&at, keys, r->err));
        CLV_TRY(clv_plan_get_string(r, &at, "name", true, &found[i].name));
        CLV_TRY(clv_plan_get_string(r, &at, "axes", false, &found[i].axes));
        CLV_TRY(clv_plan_get_int32(r, &at, "count", true, 0, INT32_MAX, &found[i].n));
        CLV_TRY(clv_plan_get_string(r, &at, "of", true, &found[i].of));
    }
    r->plan->found = found;
    r->plan->n_found = n;
    return CLV_OK;
}

static clv_status read_uneven(clv_plan_reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "tensor", "axis", "sizes", NULL };
    clv_plan_uneven *uneven = NULL;
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_PLAN_GET_ROOM(r, root, "uneven_parts", clv_plan_uneven, &list, &uneven, &n);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(clv_json_keys(&at, keys, r->err));
        CLV_TRY(clv_plan_get_string(r, &at, "tensor", true, &uneven[i].tensor));
        CLV_TRY(clv_plan_get_int32(r, &at, "axis", true, 0, CLV_RANK_MAX - 1, &uneven[i].dim));
        CLV_TRY(clv_plan_get_string(r, &at, "sizes", true, &uneven[i].sizes));
    }
    r->plan->uneven = uneven;
    r->plan->n_uneven = n;
    return CLV_OK;
}

static clv_status read_partial(clv_plan_reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "tensor", "layout", NULL };
    clv_plan_partial *partial = NULL;
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_PLAN_GET_ROOM(r, root, "partial_sums", clv_plan_partial, &list, &partial, &n);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(clv_json_keys(&at, keys, r->err));
        CLV_TRY(clv_plan_get_string(r, &at, "tensor", true, &partial[i].tensor));
        CLV_TRY(clv_plan_get_string(r, &at, "layout", true, &partial[i].layout));
    }
    r->plan->partial = partial;
    r->plan->n_partial = n;
    return CLV_OK;
}

clv_status clv_plan_read_found(clv_plan_reader *r, const clv_json_at *root)
{
    CLV_TRY(read_findings(r, root));
    CLV_TRY(read_uneven(r, root));
    return read_partial(r, root);
}
