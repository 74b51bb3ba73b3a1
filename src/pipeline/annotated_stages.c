#include "pipeline/annotated_stages.h"

#include <stdlib.h>

typedef struct {
    const clv_annotated_nodes *nodes;
    clv_arena *arena;
    int32_t *parent;    /* by device: union-find (Tarjan 1975), the root is the lowest */
    bool *is_named;     /* by device: some spec has it */
    int64_t *value;     /* distinct pipeline_stage values, ascending */
    int32_t *device_of; /* by value: a device of it; -1: none yet */
    int32_t n_values;
    int32_t *device_of_op; /* one of those that the node names; -1: it names none */
    int32_t *stage_at;     /* by root: its stage; -1: none is given */
    int32_t *mesh_at;      /* by root */
} finding;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "annotated stages"); }

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* -- devices that work together -- */

static int32_t root_of(finding *f, int32_t device)
{
    while (f->parent[device] != device)
        device = f->parent[device] = f->parent[f->parent[device]];
    return device;
}

static void join(finding *f, int32_t a, int32_t b)
{
    int32_t x = root_of(f, a), y = root_of(f, b);
    f->parent[x > y ? x : y] = x > y ? y : x;
}

static int32_t join_all(finding *f, const int64_t *devices, int32_t n, int32_t first)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t device = (int32_t)devices[i];
        f->is_named[device] = true;
        first = first < 0 ? device : first;
        join(f, first, device);
    }
    return first;
}

/* A device of the node; -1: its specs name none. */
static int32_t join_specs(finding *f, const clv_node_annotation *note)
{
    int32_t first = -1;
    for (int32_t i = 0; i < note->n_specs; i++) {
        const clv_sharding_spec *spec = &note->specs[i];
        for (int32_t k = 0; k < spec->n_device; k++) {
            const clv_device_group *group = NULL;
            for (int32_t g = 0; g < spec->n_groups && !group; g++)
                if (spec->groups[g].key == spec->device[k])
                    group = &spec->groups[g];
            first = group ? join_all(f, group->devices, group->n_devices, first)
                          : join_all(f, &spec->device[k], 1, first);
        }
    }
    return first;
}

static clv_status find_values(finding *f, clv_error *err)
{
    const clv_annotated_nodes *nodes = f->nodes;
    int32_t n = 0;
    f->value = CLV_NEW_ARRAY(f->arena, int64_t, nodes->graph->n_ops);
    f->device_of = CLV_NEW_ARRAY(f->arena, int32_t, nodes->graph->n_ops);
    if (!f->value || !f->device_of)
        return no_memory(err);
    for (int32_t i = 0; i < nodes->graph->n_ops; i++)
        if (nodes->note_of[i] && nodes->note_of[i]->has_stage)
            f->value[n++] = nodes->note_of[i]->stage;
    qsort(f->value, (size_t)n, sizeof *f->value, by_value);
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || f->value[i] != f->value[f->n_values - 1]) {
            f->device_of[f->n_values] = -1;
            f->value[f->n_values++] = f->value[i];
        }
    return CLV_OK;
}

static int32_t place_of(const finding *f, int64_t stage)
{
    const int64_t *at = bsearch(&stage, f->value, (size_t)f->n_values, sizeof *f->value, by_value);
    return (int32_t)(at - f->value);
}

/* Devices of a node together; device_of_op is one of them, or -1. */
static void join_nodes(finding *f)
{
    const clv_annotated_nodes *nodes = f->nodes;
    for (int32_t i = 0; i < nodes->graph->n_ops; i++) {
        const clv_node_annotation *note = nodes->note_of[i];
        f->device_of_op[i] = note ? join_specs(f, note) : -1;
        if (note && note->has_stage && f->device_of_op[i] >= 0) {
            int32_t *device = &f->device_of[place_of(f, note->stage)];
            *device = *device < 0 ? f->device_of_op[i] : *device;
        }
    }
}

/* Nodes that have a stage and name no device run on the first that their stage has; where no node
 * names any, stage k is device k. */
static clv_status place_bare_nodes(finding *f, clv_error *err)
{
    const clv_graph *g = f->nodes->graph;
    bool any = false;
    for (int32_t d = 0; d < f->nodes->n_devices; d++)
        any |= f->is_named[d];
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_node_annotation *note = f->nodes->note_of[i];
        if (!note || !note->has_stage || f->device_of_op[i] >= 0)
            continue;
        int32_t k = place_of(f, note->stage);
        if (f->device_of[k] < 0 && any)
            return clv_fail(err, CLV_EUNSUPP,
                            "annotations: no node of pipeline_stage %lld has a spec that names its "
                            "devices, and those of other stages have",
                            (long long)note->stage);
        if (!any && k >= f->nodes->n_devices)
            return clv_fail(err, CLV_EUNSUPP,
                            "annotations: %d stages and no spec, expected a device for each, and "
                            "the configuration has %lld",
                            (int)f->n_values, (long long)f->nodes->n_devices);
        f->device_of_op[i] = any ? f->device_of[k] : k;
        f->is_named[f->device_of_op[i]] = true;
    }
    return CLV_OK;
}

/* -- meshes -- */

/* The stage of each mesh that is given one, counted from 0. */
static clv_status give_stages(finding *f, clv_error *err)
{
    const clv_graph *g = f->nodes->graph;
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_node_annotation *note = f->nodes->note_of[i];
        if (!note || !note->has_stage)
            continue;
        int32_t *stage = &f->stage_at[root_of(f, f->device_of_op[i])];
        int32_t k = place_of(f, note->stage);
        if (*stage >= 0 && *stage != k)
            return clv_fail(err, CLV_EUNSUPP,
                            "annotations: node '%.*s' has pipeline_stage %lld on device %d, which "
                            "has nodes of stage %lld too, expected one stage a device",
                            CLV_STR_ARG(g->ops[i].label), (long long)note->stage,
                            (int)f->device_of_op[i], (long long)f->value[*stage]);
        *stage = k;
    }
    for (int32_t i = 0; i < g->n_ops && f->n_values > 0; i++)
        if (f->device_of_op[i] >= 0 && f->stage_at[root_of(f, f->device_of_op[i])] < 0)
            return clv_fail(err, CLV_EUNSUPP,
                            "annotations: node '%.*s' has no pipeline_stage, and no other node of "
                            "its device %d has one",
                            CLV_STR_ARG(g->ops[i].label), (int)f->device_of_op[i]);
    return CLV_OK;
}

/* Meshes by their lowest device. */
static clv_status list_meshes(finding *f, clv_annotated_stages *ret, clv_error *err)
{
    int32_t n_devices = (int32_t)f->nodes->n_devices, n = 0;
    int32_t *count = CLV_NEW_ARRAY(f->arena, int32_t, n_devices);
    int32_t *stage_of = CLV_NEW_ARRAY(f->arena, int32_t, n_devices);
    int32_t *device = CLV_NEW_ARRAY(f->arena, int32_t, n_devices);
    if (!count || !stage_of || !device)
        return no_memory(err);
    for (int32_t d = 0; d < n_devices; d++) {
        if (!f->is_named[d])
            continue;
        if (root_of(f, d) == d) {
            stage_of[n] = f->stage_at[d];
            f->mesh_at[d] = n++;
        }
        count[f->mesh_at[root_of(f, d)]]++;
    }
    if (n == 0)
        return clv_fail(err, CLV_EFORMAT,
                        "annotations: no node names a device or a pipeline_stage");
    for (int32_t m = 1; m < n; m++)
        if (count[m] != count[0])
            return clv_fail(err, CLV_EUNSUPP,
                            "annotations: some nodes are split over %d devices and others over %d, "
                            "expected equally many",
                            (int)count[0], (int)count[m]);
    ret->per_mesh = count[0];
    ret->n_meshes = n;
    for (int32_t d = n_devices - 1; d >= 0; d--) /* counted down, so that each is ascending */
        if (f->is_named[d]) {
            int32_t m = f->mesh_at[root_of(f, d)];
            device[m * ret->per_mesh + --count[m]] = d;
        }
    ret->device = device;
    ret->stage_of_mesh = stage_of;
    ret->n_stages = f->n_values;
    return CLV_OK;
}

/* -- where operators run -- */

/* Of two meshes the one of the later stage; -1 is none. */
static int32_t later(const clv_annotated_stages *s, int32_t a, int32_t b)
{
    return a < 0 || (b >= 0 && s->stage_of_mesh[b] > s->stage_of_mesh[a]) ? b : a;
}

static void fill_from_inputs(const clv_graph *g, const clv_annotated_stages *s, int32_t *mesh_of_op)
{
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t last = -1;
        for (int32_t k = 0; mesh_of_op[i] < 0 && k < g->ops[i].n_in; k++) {
            clv_tensor t = clv_op_input(g, &g->ops[i], k);
            clv_op from = t.i >= 0 ? clv_tensor_at(g, t)->producer : CLV_NO_OP;
            last = later(s, last, from.i >= 0 ? mesh_of_op[from.i] : -1);
        }
        mesh_of_op[i] = mesh_of_op[i] < 0 ? last : mesh_of_op[i];
    }
}

static void fill_from_readers(const clv_graph *g, const clv_annotated_stages *s,
                              int32_t *mesh_of_op)
{
    for (int32_t i = g->n_ops - 1; i >= 0; i--) {
        int32_t first = -1;
        for (int32_t k = 0; mesh_of_op[i] < 0 && k < g->ops[i].n_out; k++) {
            clv_tensor t = clv_op_output(g, &g->ops[i], k);
            const clv_tensor_info *info = t.i >= 0 ? clv_tensor_at(g, t) : NULL;
            for (int32_t r = 0; info && r < info->n_readers; r++) {
                int32_t m = mesh_of_op[g->readers_of[info->first_reader + r].i];
                first =
                    first < 0 || (m >= 0 && later(s, m, first) == first && m != first) ? m : first;
            }
        }
        if (mesh_of_op[i] < 0)
            mesh_of_op[i] = first < 0 ? 0 : first;
    }
}

/* Without stages each mesh is in the first that no tensor contradicts: one behind all that it reads
 * from. Meshes that wait for each other never come to rest. */
static clv_status level_meshes(const clv_graph *g, clv_annotated_stages *s, int32_t *stage_of,
                               const int32_t *mesh_of_op, clv_error *err)
{
    bool moved = true;
    for (int32_t m = 0; m < s->n_meshes; m++)
        stage_of[m] = 0;
    for (int32_t round = 0; moved; round++) {
        moved = false;
        for (int32_t i = 0; i < g->n_ops; i++)
            for (int32_t k = 0; k < g->ops[i].n_in; k++) {
                clv_tensor t = clv_op_input(g, &g->ops[i], k);
                clv_op from = t.i >= 0 ? clv_tensor_at(g, t)->producer : CLV_NO_OP;
                int32_t at = mesh_of_op[i], before = from.i >= 0 ? mesh_of_op[from.i] : at;
                if (before == at || stage_of[at] > stage_of[before])
                    continue;
                if (round > s->n_meshes)
                    return clv_fail(err, CLV_EUNSUPP,
                                    "annotations: node '%.*s' waits for devices that wait for its "
                                    "own, expected devices in an order",
                                    CLV_STR_ARG(g->ops[i].label));
                stage_of[at] = stage_of[before] + 1;
                s->n_stages = stage_of[at] >= s->n_stages ? stage_of[at] + 1 : s->n_stages;
                moved = true;
            }
    }
    s->n_stages = s->n_stages < 1 ? 1 : s->n_stages;
    return CLV_OK;
}

clv_status clv_annotated_stages_find(const clv_annotated_nodes *nodes, clv_arena *arena,
                                     clv_annotated_stages *ret, clv_error *err)
{
    const clv_graph *g = nodes->graph;
    int32_t n = (int32_t)nodes->n_devices;
    finding f = { .nodes = nodes,
                  .arena = arena,
                  .parent = CLV_NEW_ARRAY(arena, int32_t, n),
                  .is_named = CLV_NEW_ARRAY(arena, bool, n),
                  .device_of_op = CLV_NEW_ARRAY(arena, int32_t, g->n_ops),
                  .stage_at = CLV_NEW_ARRAY(arena, int32_t, n),
                  .mesh_at = CLV_NEW_ARRAY(arena, int32_t, n) };
    int32_t *mesh_of_op = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    if (!mesh_of_op || !f.parent || !f.is_named || !f.device_of_op || !f.stage_at || !f.mesh_at)
        return no_memory(err);
    for (int32_t d = 0; d < n; d++) {
        f.parent[d] = d;
        f.stage_at[d] = -1;
    }
    CLV_TRY(find_values(&f, err));
    join_nodes(&f);
    CLV_TRY(place_bare_nodes(&f, err));
    CLV_TRY(give_stages(&f, err));
    CLV_TRY(list_meshes(&f, ret, err));
    for (int32_t i = 0; i < g->n_ops; i++)
        mesh_of_op[i] = f.device_of_op[i] < 0 ? -1 : f.mesh_at[root_of(&f, f.device_of_op[i])];
    fill_from_inputs(g, ret, mesh_of_op);
    fill_from_readers(g, ret, mesh_of_op);
    ret->mesh_of_op = mesh_of_op;
    return f.n_values > 0 ? CLV_OK
                          : level_meshes(g, ret, (int32_t *)ret->stage_of_mesh, mesh_of_op, err);
}
