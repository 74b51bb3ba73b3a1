#include "plan/plan_mesh.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sharding/mesh.h"
#include "sharding/steps.h"

clv_status clv_plan_set_leads(clv_plan *plan, clv_arena *arena, clv_error *err)
{
    int32_t *lead = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);

    if (!lead)
        return clv_fail_nomem(err, "a plan");
    for (int32_t d = 0; d < plan->n_devices; d++)
        lead[d] = clv_plan_has_mesh(plan) ? -1 : d;
    for (int32_t i = plan->copy_devices; i < plan->n_copies * plan->copy_devices; i++)
        lead[plan->copy_device[i]] = -1;
    for (int32_t i = 0; i < plan->n_meshes * plan->mesh_devices; i++)
        lead[plan->mesh_device[i]] = plan->mesh_device[i - i % plan->mesh_devices];
    plan->lead_of_device = lead;
    return CLV_OK;
}

bool clv_plan_collective_is_local(const clv_plan_collective *c)
{
    return strcmp(c->kind, clv_step_name(CLV_STEP_SLICE)) == 0 ||
           strcmp(c->kind, clv_step_name(CLV_STEP_NEUTRAL)) == 0;
}

int32_t clv_plan_count_sending(const clv_plan *plan)
{
    int32_t n = 0;
    for (int32_t i = 0; i < plan->n_collectives; i++)
        n += !clv_plan_collective_is_local(&plan->collectives[i]);
    return n;
}

const char *clv_plan_mesh_text(const clv_plan *plan, clv_arena *arena)
{
    const char *text = "";

    for (int32_t a = 0; text && a < plan->n_axes; a++)
        text = clv_arena_printf(arena, "%s%s%s=%" PRId32, text, a ? "x" : "", plan->axes[a].name,
                                plan->axes[a].size);
    return text;
}

/* -- axes by name -- */

/* The axis whose name text starts with, when a character of `end` or the end of the text comes
 * after it; -1: none. */
static int32_t axis_at(const clv_plan *plan, const char *text, char end)
{
    for (int32_t a = 0; a < plan->n_axes; a++) {
        size_t n = strlen(plan->axes[a].name);
        if (strncmp(text, plan->axes[a].name, n) == 0 && (text[n] == end || text[n] == '\0'))
            return a;
    }
    return -1;
}

/* Axes of a text ascend: the fault where this one does not follow the one before. */
static const char *order_fault(const clv_plan *plan, const char *text, const char *word,
                               int32_t axis, int32_t before, char buf[CLV_MESH_FAULT])
{
    int n = (int)strcspn(word, "=, ");

    if (axis < 0)
        snprintf(buf, CLV_MESH_FAULT, "'%.60s' names '%.*s', which is no axis of the mesh", text,
                 n < CLV_MESH_NAME_MAX ? n : CLV_MESH_NAME_MAX, word);
    else if (axis <= before)
        snprintf(buf, CLV_MESH_FAULT,
                 "'%.60s' has axis '%s' twice or out of order, expected the order of the mesh",
                 text, plan->axes[axis].name);
    else
        return NULL;
    return buf;
}

const char *clv_plan_split_fault(const clv_plan *plan, const char *split, char buf[CLV_MESH_FAULT])
{
    const char *at = split;
    int32_t before = -1;

    while (*at) {
        int32_t axis = axis_at(plan, at, '=');
        const char *fault = order_fault(plan, split, at, axis, before, buf);
        if (fault)
            return fault;
        before = axis;
        at += strlen(plan->axes[axis].name);
        size_t n = *at == '=' ? strcspn(at + 1, " =,") : 0;
        const char *end = at + 1 + n;
        if (n == 0 || (*end != '\0' && (*end != ' ' || end[1] == '\0'))) {
            snprintf(buf, CLV_MESH_FAULT,
                     "'%.60s' names no factor for axis '%s', expected words like %s=n with one "
                     "space between them",
                     split, plan->axes[axis].name, plan->axes[axis].name);
            return buf;
        }
        at = *end ? end + 1 : end;
    }
    return NULL;
}

const char *clv_plan_axes_fault(const clv_plan *plan, const char *axes, char buf[CLV_MESH_FAULT])
{
    const char *fault = NULL, *at = axes;
    int32_t before = -1;

    do {
        int32_t axis = axis_at(plan, at, ',');
        fault = order_fault(plan, axes, at, axis, before, buf);
        before = axis;
        at += strcspn(at, ",");
    } while (!fault && *at++ == ',');
    return fault;
}

/* -- the form -- */

static const char *axis_fault(const clv_plan *plan, int32_t a, char buf[CLV_MESH_FAULT])
{
    const clv_plan_axis *axis = &plan->axes[a];

    if (!axis->name || !clv_mesh_is_name(axis->name)) {
        snprintf(buf, CLV_MESH_FAULT,
                 "axis %" PRId32 " of the mesh has the name '%.60s', expected " CLV_MESH_NAME_RULE,
                 a, axis->name ? axis->name : "");
        return buf;
    }
    for (int32_t b = 0; b < a; b++)
        if (strcmp(plan->axes[b].name, axis->name) == 0) {
            snprintf(buf, CLV_MESH_FAULT, "two axes of the mesh are named '%.60s'", axis->name);
            return buf;
        }
    if (axis->size >= 1)
        return NULL;
    snprintf(buf, CLV_MESH_FAULT,
             "axis '%.60s' of the mesh has size %" PRId32 ", expected 1 or more", axis->name,
             axis->size);
    return buf;
}

const char *clv_plan_form_fault(const clv_plan *plan, char buf[CLV_MESH_FAULT])
{
    int64_t product = 1;

    if (plan->n_axes < 1 || plan->n_axes > CLV_MESH_AXES_MAX) {
        snprintf(buf, CLV_MESH_FAULT, "the mesh has %" PRId32 " axes, expected 1 to %d",
                 plan->n_axes, CLV_MESH_AXES_MAX);
        return buf;
    }
    for (int32_t a = 0; a < plan->n_axes; a++) {
        const char *fault = axis_fault(plan, a, buf);
        if (fault)
            return fault;
        product = product > INT32_MAX ? product : product * plan->axes[a].size;
    }
    if (product == plan->mesh_devices)
        return NULL;
    snprintf(buf, CLV_MESH_FAULT,
             "a mesh has %" PRId32 " devices, expected %" PRId64 ", the product of its axes",
             plan->mesh_devices, product);
    return buf;
}

/* -- the check -- */

/* leads: room for n_devices. */
static clv_status check_devices(const clv_plan *plan, int32_t *leads, clv_error *err)
{
    int64_t n = (int64_t)plan->n_meshes * plan->mesh_devices;

    if (plan->n_meshes < 1 || n > plan->n_devices)
        return clv_fail(err, CLV_EFORMAT,
                        "the plan has %" PRId32 " meshes of %" PRId32 " devices, but %" PRId32
                        " devices",
                        plan->n_meshes, plan->mesh_devices, plan->n_devices);
    for (int32_t d = 0; d < plan->n_devices; d++)
        leads[d] = -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t d = plan->mesh_device[i];
        if (d < 0 || d >= plan->n_devices)
            return clv_fail(err, CLV_EFORMAT,
                            "mesh %" PRId32 " has device %" PRId32 ", there are %" PRId32,
                            i / plan->mesh_devices, d, plan->n_devices);
        if (leads[d] >= 0)
            return clv_fail(err, CLV_EFORMAT, "device '%s' is in a mesh twice",
                            plan->devices[d].name);
        leads[d] = plan->mesh_device[i - i % plan->mesh_devices];
    }
    return CLV_OK;
}

static clv_status check_leads(const clv_plan *plan, const int32_t *leads, clv_error *err)
{
    for (int32_t d = 0; d < plan->n_devices; d++) {
        int32_t lead = leads[d];
        if (!plan->lead_of_device || plan->lead_of_device[d] != lead)
            return clv_fail(err, CLV_EFORMAT,
                            "device '%s' is not counted to the mesh that it is in",
                            plan->devices[d].name);
        if (lead >= 0 && plan->devices[d].stage != plan->devices[lead].stage)
            return clv_fail(err, CLV_EFORMAT,
                            "device '%s' has stage %" PRId32 ", but '%s' of the same mesh has "
                            "stage %" PRId32,
                            plan->devices[d].name, plan->devices[d].stage, plan->devices[lead].name,
                            plan->devices[lead].stage);
    }
    return CLV_OK;
}

static clv_status check_ops(const clv_plan *plan, clv_error *err)
{
    char buf[CLV_MESH_FAULT];

    for (int32_t i = 0; i < plan->n_ops; i++) {
        int32_t d = plan->device_of_op[i];
        if (d < 0 || d >= plan->n_devices)
            return clv_fail(err, CLV_EFORMAT,
                            "node %" PRId32 " is on device %" PRId32 ", there are %" PRId32, i, d,
                            plan->n_devices);
        if (plan->lead_of_device[d] != d)
            return clv_fail(err, CLV_EFORMAT,
                            "node %" PRId32 " is on device '%s', which is not the first of a mesh",
                            i, plan->devices[d].name);
        const char *split = plan->split_of_op ? plan->split_of_op[i] : "";
        const char *fault = clv_plan_split_fault(plan, split ? split : "", buf);
        if (fault)
            return clv_fail(err, CLV_EFORMAT, "the split of node %" PRId32 ": %s", i, fault);
    }
    return CLV_OK;
}

static clv_status check_collectives(const clv_plan *plan, clv_error *err)
{
    char buf[CLV_MESH_FAULT];

    for (int32_t i = 0; i < plan->n_collectives; i++) {
        const clv_plan_collective *c = &plan->collectives[i];
        const char *fault = clv_plan_axes_fault(plan, c->axes ? c->axes : "", buf);
        if (fault)
            return clv_fail(err, CLV_EFORMAT, "collective %" PRId32 ": %s", i, fault);
        if (c->stage < 0 || c->stage >= plan->n_stages)
            return clv_fail(err, CLV_EFORMAT,
                            "collective %" PRId32 " is in stage %" PRId32 ", there are %" PRId32, i,
                            c->stage, plan->n_stages);
    }
    return CLV_OK;
}

static clv_status check_all(const clv_plan *plan, int32_t *leads, clv_error *err)
{
    char buf[CLV_MESH_FAULT];
    const char *fault = clv_plan_form_fault(plan, buf);

    if (fault)
        return clv_fail(err, CLV_EFORMAT, "%s", fault);
    CLV_TRY(check_devices(plan, leads, err));
    CLV_TRY(check_leads(plan, leads, err));
    CLV_TRY(check_ops(plan, err));
    return check_collectives(plan, err);
}

clv_status clv_plan_check_mesh(const clv_plan *plan, clv_arena *arena, clv_error *err)
{
    if (!clv_plan_has_mesh(plan)) {
        if (plan->n_meshes || plan->mesh_devices > 1 || plan->split_of_op || plan->n_collectives)
            return clv_fail(err, CLV_EFORMAT,
                            "the plan splits operators, but its mesh has no axes");
        return CLV_OK;
    }
    clv_mark mark = clv_arena_mark(arena);
    int32_t *leads = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    clv_status status =
        leads ? check_all(plan, leads, err) : clv_fail_nomem(err, "checking a plan");
    clv_arena_rewind(arena, mark);
    return status;
}
