#include "pipeline/annotated_mesh.h"

#include "base/json.h"
#include "plan/copied_specs.h"
#include "plan/plan_copies.h"
#include "plan/plan_json_read_facts.h"
#include "plan/plan_json_read_mesh.h"
#include "plan/plan_mesh.h"
#include "proto/mesh_metadata.h"

/* A plan of which nothing is known but the stages of its devices. */
static clv_status begin(const clv_annotated_stages *s, int32_t n_devices, clv_arena *arena,
                        clv_plan *ret, clv_error *err)
{
    clv_plan_device *devices = CLV_NEW_ARRAY(arena, clv_plan_device, n_devices);
    if (!devices)
        return clv_fail_nomem(err, "an annotated mesh");
    for (int32_t d = 0; d < n_devices; d++)
        devices[d].stage = -1;
    for (int32_t k = 0; k < s->n_meshes * s->per_mesh; k++)
        devices[s->device[k]].stage = s->stage_of_mesh[k / s->per_mesh];
    *ret = (clv_plan){ .n_devices = n_devices, .devices = devices };
    return CLV_OK;
}

/* A metadata entry, and the member of a plan that it is. */
typedef struct {
    const char *name, *member;
    clv_status (*read)(const clv_json_at *, clv_plan *, clv_arena *, clv_error *);
} entry;

static const entry of_copies = { CLV_COPIES_KEY, "copies", clv_plan_read_copies };
static const entry of_mesh = { CLV_MESH_KEY, "mesh", clv_plan_read_mesh };
static const entry of_uneven = { CLV_UNEVEN_KEY, "uneven_parts", clv_plan_read_found };

/* text: an object that has the member alone. */
static clv_status read_entry(const entry *e, const char *text, clv_plan *plan, clv_arena *arena,
                             clv_error *err)
{
    const char *const keys[] = { e->member, NULL };
    clv_json *json = NULL;
    clv_json_at value;
    CLV_TRY(clv_json_parse(text, strlen(text), e->name, &json, err));
    clv_json_at root = clv_json_root(json, e->name);
    clv_status status = clv_json_keys(&root, keys, err);
    if (status == CLV_OK)
        status = clv_json_member(&root, e->member, true, &value, err);
    if (status == CLV_OK)
        status = e->read(&root, plan, arena, err);
    clv_json_free(json);
    return status;
}

static clv_status read_entries(const clv_annotation_set *set, clv_plan *plan, clv_arena *arena,
                               clv_error *err)
{
    CLV_TRY(read_entry(&of_mesh, set->mesh, plan, arena, err));
    if (!set->uneven)
        return CLV_OK;
    const char *text = clv_arena_printf(arena, "{\"%s\":%s}", of_uneven.member, set->uneven);
    return text ? read_entry(&of_uneven, text, plan, arena, err)
                : clv_fail_nomem(err, "an annotated mesh");
}

/* The devices of mesh m of the specs, as the mesh of the plan that has its first one. */
static clv_status order_mesh(const clv_plan *plan, const clv_annotated_stages *s, int32_t m,
                             int32_t *device, clv_error *err)
{
    const int32_t *of_specs = s->device + m * s->per_mesh;
    int32_t lead = plan->lead_of_device[of_specs[0]];
    bool same = plan->mesh_devices == s->per_mesh && lead >= 0;
    for (int32_t i = 0; i < s->per_mesh && same; i++)
        same = plan->lead_of_device[of_specs[i]] == lead;
    if (!same)
        return clv_fail(err, CLV_EFORMAT,
                        CLV_MESH_KEY ": the mesh with device %d is not of the %d devices that "
                                     "specs name together: correct it, or take it out",
                        (int)of_specs[0], (int)s->per_mesh);
    int32_t at = 0;
    while (plan->mesh_device[at * s->per_mesh] != lead)
        at++;
    memcpy(device + m * s->per_mesh, plan->mesh_device + at * s->per_mesh,
           (size_t)s->per_mesh * sizeof *device);
    return CLV_OK;
}

/* -- copies -- */

static clv_status take_first_copy(const clv_plan *plan, const int32_t *originals,
                                  const clv_op_info *op, clv_arena *arena,
                                  const clv_node_annotation **io, clv_error *err)
{
    const clv_node_annotation *of = *io;
    clv_node_annotation *note = CLV_NEW(arena, clv_node_annotation);
    clv_sharding_spec *specs = CLV_NEW_ARRAY(arena, clv_sharding_spec, of->n_specs);
    clv_error why;
    if (!note || !specs)
        return clv_fail_nomem(err, "annotated copies");
    *note = *of;
    note->specs = specs;
    for (int32_t i = 0; i < of->n_specs; i++) {
        specs[i] = of->specs[i];
        clv_status status = clv_plan_spec_of_one(plan, originals, arena, &specs[i], &why);
        if (status != CLV_OK)
            return clv_fail(err, status, CLV_COPIES_KEY ": node '%.*s': %s", CLV_STR_ARG(op->label),
                            why.message);
    }
    *io = note;
    return CLV_OK;
}

clv_status clv_annotated_copies_read(clv_annotated_notes *io, const clv_graph *g, clv_arena *arena,
                                     clv_plan *ret, clv_error *err)
{
    const clv_annotation_set *set = &io->set;
    int32_t *originals, n = (int32_t)io->configuration->num_devices;
    clv_plan_device *devices = CLV_NEW_ARRAY(arena, clv_plan_device, n);
    if (!devices)
        return clv_fail_nomem(err, "annotated copies");
    for (int32_t d = 0; d < n; d++) /* nothing is known of them yet */
        devices[d] = (clv_plan_device){ .name = "", .stage = -1 };
    *ret = (clv_plan){ .n_devices = n, .devices = devices };
    if (!set->copies || !set->meshes_of || strcmp(set->meshes_of, io->configuration->name) != 0)
        return CLV_OK;
    CLV_TRY(read_entry(&of_copies, set->copies, ret, arena, err));
    CLV_TRY(clv_plan_originals(ret, arena, &originals, err));
    for (int32_t i = 0; i < g->n_ops; i++)
        if (io->note_of[i])
            CLV_TRY(take_first_copy(ret, originals, &g->ops[i], arena, &io->note_of[i], err));
    return CLV_OK;
}

clv_status clv_annotated_mesh_read(const clv_annotation_set *set, const clv_configuration *of,
                                   clv_annotated_stages *io, clv_arena *arena,
                                   clv_annotated_mesh *ret, clv_error *err)
{
    clv_plan plan;
    *ret = (clv_annotated_mesh){ .n_axes = 0 };
    if (!set->mesh || !set->meshes_of || strcmp(set->meshes_of, of->name) != 0)
        return CLV_OK;
    int32_t *device = CLV_NEW_ARRAY(arena, int32_t, io->n_meshes * io->per_mesh);
    if (!device)
        return clv_fail_nomem(err, "an annotated mesh");
    CLV_TRY(begin(io, (int32_t)of->num_devices, arena, &plan, err));
    CLV_TRY(read_entries(set, &plan, arena, err));
    for (int32_t m = 0; m < io->n_meshes; m++)
        CLV_TRY(order_mesh(&plan, io, m, device, err));
    io->device = device;
    *ret = (clv_annotated_mesh){ plan.axes, plan.n_axes, plan.uneven, plan.n_uneven };
    return CLV_OK;
}
