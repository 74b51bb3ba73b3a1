#include "explain/host_copies.h"

#include <string.h>

#include "cost/shard_tables.h"
#include "graph/first_caches.h"
#include "plan/plan_mesh.h"
#include "sharding/parts.h"

#define WHAT "inputs and outputs of a plan"

/* A device's place: which mesh, and where in it; a plan without meshes has one for each device. */
typedef struct {
    int32_t mesh, position; /* mesh -1: none */
} place;

typedef struct {
    const clv_plan_layouts *of;
    const clv_cluster *cluster;
    const clv_plan *plan;
    const place *places; /* by device */
    int32_t *reached;    /* by mesh: the last tensor that an operator of it reads or writes; -1 */
    bool *stays;         /* by tensor: as a state does */
    int64_t *link_ns;    /* by device: of all copies so far in one direction */
    clv_basis basis;     /* the least of the links so far */
    clv_arena *arena;
} copier;

static int32_t mesh_of_op(const copier *c, clv_op op)
{
    int32_t file_index = clv_op_at(c->of->graph, op)->file_index;
    return c->places[c->plan->device_of_op[file_index]].mesh;
}

/* Bytes of the part at a position of the mesh. */
static int64_t part_bytes(const copier *c, clv_tensor t, int32_t position)
{
    clv_tensor_split split;
    clv_split_dims dims;
    clv_part part;
    if (!c->of->kept || !clv_split_of_type(&c->of->types->of[t.i], &split))
        return c->of->types->bytes[t.i];
    memcpy(split.share, c->of->mesh.share, sizeof split.share);
    clv_split_dims_of(&c->of->kept[t.i], &split, &dims);
    clv_layout_part(&c->of->kept[t.i], &c->of->mesh, &split, &dims, position, &part);
    return part.bytes;
}

/* Is it the first of the devices that have its part of the tensor? */
static bool is_first_holder(const copier *c, clv_tensor t, int32_t position)
{
    const clv_mesh *mesh = &c->of->mesh;
    uint32_t copies = c->of->kept ? clv_layout_copy_axes(&c->of->kept[t.i], mesh) : 0;
    for (int32_t a = 0; copies >> a; a++)
        if (copies >> a & 1 && clv_mesh_coord(mesh, position, a) != 0)
            return false;
    return true;
}

/* Between the host and the devices of the meshes that were reached. */
static clv_status copy(copier *c, clv_tensor t, bool once, clv_plan_host_copy *ret, clv_error *err)
{
    const clv_graph *g = c->of->graph;
    clv_plan_host_copy made = { .tensor = clv_arena_str(c->arena, clv_tensor_at(g, t)->name) };
    int32_t *devices = CLV_NEW_ARRAY(c->arena, int32_t, c->plan->n_devices);
    if (!made.tensor || !devices)
        return clv_fail_nomem(err, WHAT);
    for (int32_t d = 0; d < c->plan->n_devices; d++) {
        const place *at = &c->places[d];
        if (at->mesh < 0 || c->reached[at->mesh] != t.i ||
            (once && !is_first_holder(c, t, at->position)))
            continue;
        int64_t bytes = part_bytes(c, t, at->position);
        if (bytes <= 0)
            continue;
        const clv_device_kind *kind = clv_device_kind_of(c->cluster, d);
        clv_basis basis = clv_device_host_link(kind).basis;
        int64_t ns = clv_host_copy_ns(kind, bytes);
        c->basis = basis < c->basis ? basis : c->basis;
        made.bytes = bytes > INT64_MAX - made.bytes ? INT64_MAX : made.bytes + bytes;
        made.ns = ns > made.ns ? ns : made.ns;
        c->link_ns[d] = ns > INT64_MAX - c->link_ns[d] ? INT64_MAX : c->link_ns[d] + ns;
        devices[made.n_devices++] = d;
    }
    made.devices = devices;
    *ret = made;
    return CLV_OK;
}

/* Until the last device is done; the links are free again then. */
static int64_t take_longest(copier *c)
{
    int64_t longest = 0;
    for (int32_t d = 0; d < c->plan->n_devices; d++) {
        longest = c->link_ns[d] > longest ? c->link_ns[d] : longest;
        c->link_ns[d] = 0;
    }
    return longest;
}

static clv_status copy_inputs(copier *c, clv_plan_host_copies *ret, clv_error *err)
{
    const clv_graph *g = c->of->graph;
    clv_plan_host_copy *all = CLV_NEW_ARRAY(c->arena, clv_plan_host_copy, g->n_inputs);
    if (!all)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < g->n_inputs; i++) {
        clv_tensor t = g->inputs[i];
        const clv_tensor_info *info = clv_tensor_at(g, t);
        if (info->role != CLV_TENSOR_INPUT || c->stays[t.i] || c->of->types->bytes[t.i] < 0)
            continue;
        for (int32_t r = 0; r < info->n_readers; r++) {
            clv_op reader = g->readers_of[info->first_reader + r];
            if (clv_shard_takes_part(c->of->types, reader))
                c->reached[mesh_of_op(c, reader)] = t.i;
        }
        CLV_TRY(copy(c, t, false, &all[ret->n_inputs++], err));
    }
    ret->inputs = all;
    ret->inputs_ns = take_longest(c);
    return CLV_OK;
}

static clv_status copy_outputs(copier *c, clv_plan_host_copies *ret, clv_error *err)
{
    const clv_graph *g = c->of->graph;
    clv_plan_host_copy *all = CLV_NEW_ARRAY(c->arena, clv_plan_host_copy, g->n_outputs);
    if (!all)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < g->n_outputs; i++) {
        clv_tensor t = g->outputs[i];
        const clv_tensor_info *info = clv_tensor_at(g, t);
        if (info->role != CLV_TENSOR_RESULT || c->stays[t.i] || c->of->types->bytes[t.i] < 0 ||
            clv_shard_is_known(c->of->types, t))
            continue;
        c->stays[t.i] = true; /* a second time it is named */
        c->reached[mesh_of_op(c, info->producer)] = t.i;
        CLV_TRY(copy(c, t, true, &all[ret->n_outputs++], err));
    }
    ret->outputs = all;
    ret->outputs_ns = take_longest(c);
    return CLV_OK;
}

static clv_status find_places(const clv_plan *plan, clv_arena *arena, const place **ret,
                              clv_error *err)
{
    place *places = CLV_NEW_ARRAY(arena, place, plan->n_devices);
    if (!places)
        return clv_fail_nomem(err, WHAT);
    for (int32_t d = 0; d < plan->n_devices; d++)
        places[d] = (place){ clv_plan_has_mesh(plan) ? -1 : d, 0 };
    for (int32_t i = 0; i < plan->n_meshes * plan->mesh_devices; i++)
        places[plan->mesh_device[i]] = (place){ i / plan->mesh_devices, i % plan->mesh_devices };
    *ret = places;
    return CLV_OK;
}

static clv_status find_staying(copier *c, clv_error *err)
{
    clv_states states;
    c->stays = CLV_NEW_ARRAY(c->arena, bool, c->of->graph->n_tensors);
    if (!c->stays)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_states_find(c->of->types, c->arena, &states, err));
    CLV_TRY(clv_states_add_first(c->of->types, c->arena, &states, err));
    for (int32_t i = 0; i < states.n; i++) {
        if (states.at[i].in.i >= 0)
            c->stays[states.at[i].in.i] = true;
        c->stays[states.at[i].out.i] = true;
    }
    return CLV_OK;
}

clv_status clv_plan_add_host_copies(const clv_plan_layouts *layouts, const clv_cluster *cluster,
                                    clv_arena *arena, clv_plan *plan, clv_error *err)
{
    clv_plan_host_copies *made = CLV_NEW(arena, clv_plan_host_copies);
    copier c = { .of = layouts,
                 .cluster = cluster,
                 .plan = plan,
                 .reached = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices),
                 .link_ns = CLV_NEW_ARRAY(arena, int64_t, plan->n_devices),
                 .basis = CLV_MEASURED,
                 .arena = arena };
    if (!made || !c.reached || !c.link_ns)
        return clv_fail_nomem(err, WHAT);
    memset(c.reached, 0xff, (size_t)plan->n_devices * sizeof *c.reached); /* -1 */
    CLV_TRY(find_places(plan, arena, &c.places, err));
    CLV_TRY(find_staying(&c, err));
    CLV_TRY(copy_inputs(&c, made, err));
    CLV_TRY(copy_outputs(&c, made, err));
    made->basis = c.basis;
    plan->host_copies = made;
    return CLV_OK;
}
