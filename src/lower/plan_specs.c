#include "lower/plan_specs.h"

#include "base/map.h"
#include "notation/layout_spec.h"
#include "notation/spec_shards.h"
#include "plan/plan_annotations.h"
#include "plan/plan_mesh.h"
#include <inttypes.h>

typedef struct {
    const clv_plan *plan;
    const clv_plan_layouts *layouts;
    clv_arena *arena;
    clv_mesh *meshes;      /* the form on the devices of each mesh */
    int32_t *mesh_of_lead; /* by device; -1 */
    const char **name_of;  /* by tensor; NULL: not yet copied */
    clv_map specs_of;
    clv_sharding_spec *specs;
    int32_t n_specs, cap_specs;
} derivation;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "the specs of a plan"); }

static bool split_of(const clv_plan_layouts *layouts, clv_tensor t, clv_tensor_split *ret)
{
    bool ok = clv_split_of_type(&layouts->types->of[t.i], ret);
    memcpy(ret->share, layouts->mesh.share, sizeof ret->share);
    return ok;
}

/* A spec but for its tensor's name: the same for all tensors of a shape that lie alike in a stage,
 * and there are few of those. */
enum { KEY_START = 3 }; /* of the dims in a key: behind mesh, dtype and rank */

static clv_status find_spec(derivation *v, int32_t m, const clv_tensor_split *split,
                            const clv_layout *layout, const clv_sharding_spec **ret, clv_error *err)
{
    int64_t key[KEY_START + CLV_RANK_MAX + sizeof *layout / sizeof(int64_t) + 1] = { m,
                                                                                     split->dtype,
                                                                                     split->rank };
    int32_t n = KEY_START, id;
    for (int32_t i = 0; i < split->rank; i++)
        key[n++] = split->dims[i];
    memcpy(key + n, layout, sizeof *layout);
    size_t size = (size_t)n * sizeof *key + sizeof *layout;
    CLV_TRY(clv_map_put_key(&v->specs_of, key, size, v->n_specs, &id, err));
    if (id == v->n_specs) {
        clv_layout_spec made;
        if (!CLV_PUSH_ROOM(v->arena, v->specs, v->n_specs, v->cap_specs))
            return no_memory(err);
        CLV_TRY(clv_layout_to_spec(layout, &v->meshes[m], split, v->arena, &made, err));
        v->specs[v->n_specs++] = made.spec;
    }
    *ret = &v->specs[id];
    return CLV_OK;
}

static clv_status add_spec(derivation *v, clv_tensor t, int32_t m, const clv_layout *layout,
                           clv_node_annotation *note, clv_error *err)
{
    const clv_graph *g = v->layouts->graph;
    clv_sharding_spec *at = (clv_sharding_spec *)note->specs; /* room for all operands */
    const clv_sharding_spec *like;
    clv_tensor_split split;
    if (t.i < 0 || !split_of(v->layouts, t, &split))
        return CLV_OK;
    for (int32_t i = 0; i < note->n_specs; i++)
        if (at[i].tensor == v->name_of[t.i])
            return CLV_OK; /* read twice */
    if (!v->name_of[t.i] && !(v->name_of[t.i] = clv_arena_str(v->arena, clv_tensor_at(g, t)->name)))
        return no_memory(err);
    CLV_TRY(find_spec(v, m, &split, layout, &like, err));
    at[note->n_specs] = *like;
    at[note->n_specs++].tensor = v->name_of[t.i];
    return CLV_OK;
}

static clv_status annotate_op(derivation *v, const clv_op_info *op, clv_plan_annotation *ret,
                              clv_error *err)
{
    const clv_graph *g = v->layouts->graph;
    int32_t lead = v->plan->device_of_op[op->file_index], m = v->mesh_of_lead[lead];
    int32_t n_in = clv_op_n_explicit(op);
    clv_sharding_spec *specs = CLV_NEW_ARRAY(v->arena, clv_sharding_spec, n_in + op->n_out);
    if (!specs)
        return no_memory(err);
    clv_node_annotation note = { .configuration = v->plan->configuration,
                                 .specs = specs,
                                 .has_stage = true,
                                 .stage = v->plan->devices[lead].stage };
    for (int32_t k = 0; k < n_in; k++)
        CLV_TRY(add_spec(v, clv_op_input(g, op, k), m, &v->layouts->need[op->first_in + k], &note,
                         err));
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(g, op, k);
        if (t.i >= 0)
            CLV_TRY(add_spec(v, t, m, &v->layouts->kept[t.i], &note, err));
    }
    *ret = (clv_plan_annotation){ .file_index = op->file_index, .note = note };
    return CLV_OK;
}

clv_status clv_plan_derive_specs(clv_plan *plan, const clv_plan_layouts *layouts, clv_arena *arena,
                                 clv_error *err)
{
    const clv_graph *g = layouts->graph;
    clv_plan_annotation *all = CLV_NEW_ARRAY(arena, clv_plan_annotation, g->n_ops);
    derivation v = { .plan = plan,
                     .layouts = layouts,
                     .arena = arena,
                     .meshes = CLV_NEW_ARRAY(arena, clv_mesh, plan->n_meshes),
                     .mesh_of_lead = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices),
                     .name_of = CLV_NEW_ARRAY(arena, const char *, g->n_tensors) };
    if (!all || !v.meshes || !v.mesh_of_lead || !v.name_of)
        return no_memory(err);
    for (int32_t m = 0; m < plan->n_meshes; m++) {
        v.meshes[m] = layouts->mesh;
        v.meshes[m].device = plan->mesh_device + (int64_t)m * plan->mesh_devices;
        v.mesh_of_lead[v.meshes[m].device[0]] = m;
    }
    CLV_TRY(clv_map_init(&v.specs_of, arena, 64, err));
    for (int32_t i = 0; i < g->n_ops; i++)
        CLV_TRY(annotate_op(&v, &g->ops[i], &all[g->ops[i].file_index], err));
    plan->annotations = all;
    plan->n_annotations = g->n_ops;
    return CLV_OK;
}

/* -- what a file repeats -- */

typedef struct {
    const clv_op_info *op;
    const clv_plan_annotation *own;
    const char *split;
    const clv_plan_layouts *layouts;
    clv_arena *scratch;
} node_check;

/* A copy on each of so many devices, as a tensor of open size is annotated. */
static bool is_whole_on(const clv_sharding_spec *spec, int32_t n_devices)
{
    int32_t n = 0;
    for (int32_t i = 0; i < spec->n_device; i++) {
        int32_t members = 1;
        for (int32_t g = 0; g < spec->n_groups; g++)
            if (spec->groups[g].key == spec->device[i])
                members = spec->groups[g].n_devices;
        n += members;
    }
    return spec->n_dims == 0 && n == n_devices;
}

static clv_status check_spec(const node_check *c, const clv_sharding_spec *spec, clv_error *err)
{
    const clv_sharding_spec *own = NULL;
    clv_tensor t = clv_op_operand(c->layouts->graph, c->op, spec->tensor);
    clv_tensor_split split;
    bool same = false;
    for (int32_t i = 0; i < c->own->note.n_specs && !own; i++)
        if (strcmp(c->own->note.specs[i].tensor, spec->tensor) == 0)
            own = &c->own->note.specs[i];
    if (own && split_of(c->layouts, t, &split))
        CLV_TRY(clv_specs_same_parts(spec, own, &split, c->scratch, &same, err));
    else if (!own)
        same = is_whole_on(spec, c->layouts->mesh.n_devices);
    if (same)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT,
                    "annotations: node '%.*s' has '%.80s' as %.160s, but by operators.split_runs "
                    "('%.60s') it is %.160s: the splits decide; change them, or take the "
                    "annotation out",
                    CLV_STR_ARG(c->op->label), spec->tensor, clv_spec_show(spec, c->scratch),
                    c->split, own ? clv_spec_show(own, c->scratch) : "of a size that nobody knows");
}

clv_status clv_plan_check_specs(const clv_plan *plan, const clv_plan_annotation *given, int32_t n,
                                const clv_plan_layouts *layouts, clv_arena *arena, clv_error *err)
{
    const clv_graph *g = layouts->graph;
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    int32_t *op_at = scratch ? CLV_NEW_ARRAY(scratch, int32_t, g->n_ops) : NULL;
    clv_status status = op_at ? CLV_OK : no_memory(err);
    for (int32_t i = 0; status == CLV_OK && i < g->n_ops; i++)
        op_at[g->ops[i].file_index] = i;
    for (int32_t i = 0; status == CLV_OK && i < n; i++) {
        int32_t at = given[i].file_index;
        const char *split = plan->split_of_op ? plan->split_of_op[at] : "";
        const node_check c = { &g->ops[op_at[at]], &plan->annotations[at], split ? split : "",
                               layouts, scratch };
        clv_mark mark = clv_arena_mark(scratch);
        if (given[i].note.has_stage && given[i].note.stage != c.own->note.stage)
            status =
                clv_fail(err, CLV_EFORMAT,
                         "annotations: node '%.*s' has stage %" PRId64
                         ", but its device has stage %" PRId64 ": operators.device_runs decides",
                         CLV_STR_ARG(c.op->label), given[i].note.stage, c.own->note.stage);
        for (int32_t k = 0; status == CLV_OK && k < given[i].note.n_specs; k++)
            status = check_spec(&c, &given[i].note.specs[k], err);
        clv_arena_rewind(scratch, mark);
    }
    clv_arena_free(scratch);
    return status;
}
