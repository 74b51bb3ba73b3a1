#include "pipeline/annotated_plan.h"

#include "cluster/alike_devices.h"
#include "cost/resharder.h"
#include "cost/shard_choices.h"
#include "cost/shard_tables.h"
#include "graph/infer_bound.h"
#include "lower/spmd_plan.h"
#include "notation/layout_spec.h"
#include "notation/layout_text.h"
#include "notation/spec_shards.h"
#include "pipeline/annotated_mesh.h"
#include "pipeline/annotated_notes.h"
#include "pipeline/annotated_stages.h"
#include "pipeline/plan_open.h"
#include "plan/plan_annotations.h"
#include "plan/plan_check.h"
#include "plan/plan_copies.h"
#include "plan/plan_mesh.h"
#include "proto/fingerprint.h"
#include "sharding/graph_factors.h"
#include "sharding/mesh_levels.h"
#include "sharding/refine_uneven.h"

/* What a choice of an operator costs beside what its specs ask for: an input that comes otherwise
 * than it is needed weighs most, for nodes take inputs as they are delivered. */
enum { INPUT_MOVES = 1000, OUTPUT_MOVES = 10, REFUSED = -1 };

typedef struct {
    const clv_annotated_model *of;
    const clv_graph *g;
    const clv_types *types;
    clv_arena *arena, *scratch;
    clv_annotated_notes notes;
    clv_annotated_stages stages;
    clv_annotated_mesh said;
    clv_plan copies; /* that alone; of none other where it has none */
    clv_plan *plan;
    /* of the mesh that is tried */
    clv_mesh mesh, *meshes; /* the form; on the devices of each stage */
    const clv_factors *factors;
    clv_resharder *resharder;
    clv_layout *kept; /* by tensor */
    bool *is_made;    /* by tensor: an operator has made it, so kept is known */
    clv_plan_collective *collectives;
    int32_t n_collectives, cap_collectives;
    const char *why_not; /* the first operator without a split; NULL */
} building;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "an annotated plan"); }

static clv_status find_types(building *b, clv_error *err)
{
    clv_inference *inference;
    CLV_TRY(clv_infer_bound(b->of->model, b->of->bindings, b->of->n_bindings, b->arena, &inference,
                            err));
    b->types = inference->main;
    return CLV_OK;
}

/* -- a plan but for its splits -- */

static clv_status add_devices(building *b, clv_error *err)
{
    int32_t n = (int32_t)b->notes.configuration->num_devices, per_mesh = b->stages.per_mesh;
    clv_plan *plan = b->plan;
    int32_t *device_of_op = CLV_NEW_ARRAY(b->arena, int32_t, b->g->n_ops);
    plan->devices = CLV_NEW_ARRAY(b->arena, clv_plan_device, n);
    if (!plan->devices || !device_of_op)
        return no_memory(err);
    for (int32_t d = 0; d < n; d++) {
        const char *name = b->notes.configuration->n_device > 0
                               ? b->notes.configuration->device[d]
                               : clv_arena_printf(b->arena, "device%d", (int)d);
        if (!name)
            return no_memory(err);
        plan->devices[d] = (clv_plan_device){ .name = name,
                                              .kind = "device",
                                              .stage = -1,
                                              .weight_bytes = CLV_PLAN_UNKNOWN,
                                              .activation_bytes = CLV_PLAN_UNKNOWN,
                                              .workspace_bytes = CLV_PLAN_UNKNOWN,
                                              .peak_bytes = CLV_PLAN_UNKNOWN,
                                              .capacity_bytes = CLV_PLAN_UNKNOWN,
                                              .reserved_bytes = CLV_PLAN_UNKNOWN,
                                              .buffer_bytes = CLV_PLAN_UNKNOWN,
                                              .headroom_bytes = CLV_PLAN_UNKNOWN,
                                              .state_bytes = CLV_PLAN_UNKNOWN,
                                              .in_flight_bytes = CLV_PLAN_UNKNOWN };
    }
    for (int32_t k = 0; k < b->stages.n_meshes * per_mesh; k++)
        plan->devices[b->stages.device[k]].stage = b->stages.stage_of_mesh[k / per_mesh];
    for (int32_t i = 0; i < b->g->n_ops; i++) {
        const int32_t *of_mesh = b->stages.device + b->stages.mesh_of_op[i] * per_mesh;
        device_of_op[b->g->ops[i].file_index] = of_mesh[0];
        for (int32_t k = 0; k < per_mesh; k++)
            plan->devices[of_mesh[k]].n_ops++;
    }
    plan->n_devices = n;
    plan->device_of_op = device_of_op;
    return CLV_OK;
}

static clv_status add_bindings(building *b, clv_error *err)
{
    const clv_annotated_model *of = b->of;
    const char **all = CLV_NEW_ARRAY(b->arena, const char *, of->n_bindings);
    if (!all)
        return no_memory(err);
    for (int32_t i = 0; i < of->n_bindings; i++)
        if (!(all[i] = clv_arena_printf(b->arena, "%.*s=%lld", CLV_STR_ARG(of->bindings[i].symbol),
                                        (long long)of->bindings[i].value)))
            return no_memory(err);
    b->plan->bindings = all;
    b->plan->n_bindings = of->n_bindings;
    return CLV_OK;
}

static clv_status begin_plan(building *b, clv_error *err)
{
    b->plan = CLV_NEW(b->arena, clv_plan);
    if (!b->plan)
        return no_memory(err);
    const char *name = clv_arena_printf(b->arena, "%s", b->of->name);
    if (!name)
        return no_memory(err);
    *b->plan = (clv_plan){ .model = name,
                           .fingerprint = clv_onnx_fingerprint(b->of->model),
                           .configuration = b->notes.configuration->name,
                           .cluster = b->notes.configuration->name,
                           .compiler = "none",
                           .outcome = CLV_FITS,
                           .n_stages = b->stages.n_stages,
                           .n_ops = b->g->n_ops,
                           .search = "annotations",
                           .fill_ns = CLV_PLAN_UNKNOWN,
                           .drain_ns = CLV_PLAN_UNKNOWN };
    CLV_TRY(add_bindings(b, err));
    return add_devices(b, err);
}

/* -- how an operator is split -- */

/* A tensor at an operator, and what that says of it. */
typedef struct {
    int32_t op;
    clv_tensor t;
    const clv_sharding_spec *spec; /* NULL: nothing */
} operand;

static operand operand_of(const building *b, int32_t op, clv_tensor t)
{
    const clv_node_annotation *note = b->notes.note_of[op];
    operand ret = { op, t, NULL };
    for (int32_t i = 0; note && t.i >= 0 && i < note->n_specs && !ret.spec; i++)
        if (clv_str_is(clv_tensor_at(b->g, t)->name, note->specs[i].tensor))
            ret.spec = &note->specs[i];
    return ret;
}

/* In so many parts as the spec, dimension by dimension? Most choices fail by that. */
static bool has_its_counts(const building *b, const clv_layout *layout,
                           const clv_sharding_spec *spec, int32_t rank)
{
    int64_t left[CLV_RANK_MAX];
    for (int32_t d = 0; d < rank; d++)
        left[d] = 1;
    for (int32_t a = 0; a < b->mesh.n_axes; a++)
        if (layout->dim[a] >= 0)
            left[layout->dim[a]] *= b->mesh.size[a];
    for (int32_t i = 0; i < spec->n_dims; i++) {
        int64_t axis = spec->dims[i].axis + (spec->dims[i].axis < 0 ? rank : 0), n = 1;
        for (int32_t k = 0; k < spec->dims[i].n_simple; k++)
            n *= spec->dims[i].simple[k].num_shards;
        left[axis] = left[axis] == n ? 1 : 0;
    }
    for (int32_t d = 0; d < rank; d++)
        if (left[d] != 1)
            return false;
    return true;
}

/* Does the layout give every device of the operator's stage the part that the spec gives it? */
static clv_status is_like(building *b, const operand *o, const clv_layout *layout, bool *ret,
                          clv_error *err)
{
    clv_tensor_split split;
    clv_layout_spec own;
    *ret = false;
    for (int32_t a = 0; a < b->mesh.n_axes; a++)
        if (layout->dim[a] == CLV_AXIS_PARTIAL)
            return CLV_OK;
    if (!clv_split_of_type(&b->types->of[o->t.i], &split)) {
        *ret = o->spec->n_dims == 0; /* copies */
        return CLV_OK;
    }
    if (!has_its_counts(b, layout, o->spec, split.rank))
        return CLV_OK;
    clv_mark mark = clv_arena_mark(b->scratch);
    CLV_TRY(clv_layout_to_spec(layout, &b->meshes[b->stages.mesh_of_op[o->op]], &split, b->scratch,
                               &own, err));
    clv_status status = clv_specs_same_parts(&own.spec, o->spec, &split, b->scratch, ret, err);
    clv_arena_rewind(b->scratch, mark);
    return status;
}

/* Adds to *cost what the choice moves of input k; REFUSED: its spec is another. */
static clv_status rate_input(building *b, int32_t op, const clv_op_choice *choice, int32_t k,
                             int32_t *cost, clv_error *err)
{
    clv_tensor t = clv_op_input(b->g, &b->g->ops[op], k);
    if (t.i < 0)
        return CLV_OK;
    clv_layout need = clv_choice_in(&b->factors[op], &b->mesh, choice, k);
    const operand o = operand_of(b, op, t);
    bool same;
    if (!o.spec) {
        need = clv_layout_plain(&need, &b->mesh);
        *cost += b->is_made[t.i] && !clv_layout_equal(&need, &b->kept[t.i]) ? INPUT_MOVES : 0;
        return CLV_OK;
    }
    CLV_TRY(is_like(b, &o, &need, &same, err));
    *cost = same ? *cost : REFUSED;
    return CLV_OK;
}

static clv_status rate(building *b, int32_t op, const clv_op_choice *choice, int32_t *ret,
                       clv_error *err)
{
    const clv_op_info *info = &b->g->ops[op];
    *ret = 0;
    for (int32_t k = 0; k < clv_op_n_explicit(info) && *ret != REFUSED; k++)
        CLV_TRY(rate_input(b, op, choice, k, ret, err));
    for (int32_t k = 0; k < info->n_out && *ret != REFUSED; k++) {
        clv_tensor t = clv_op_output(b->g, info, k);
        const operand o = operand_of(b, op, t);
        clv_layout made = clv_choice_out(&b->factors[op], &b->mesh, choice, k);
        bool same = clv_layout_partial_axes(&made) == 0;
        if (o.spec)
            CLV_TRY(is_like(b, &o, &made, &same, err));
        *ret += same ? 0 : OUTPUT_MOVES;
    }
    return CLV_OK;
}

/* The choice that goes with the specs and moves least; the first of those, in the order of
 * clv_choice_next(). *ret_found false: none does. */
static clv_status choose(building *b, int32_t op, clv_op_choice *ret, bool *ret_found,
                         clv_error *err)
{
    const clv_factors *f = &b->factors[op];
    clv_op_choice c = { { -1, -1, -1 } };
    int32_t least = REFUSED;
    *ret = c;
    do {
        int32_t cost;
        if (!clv_choice_may(b->types, (clv_op){ op }, f, &b->mesh, &c))
            continue;
        CLV_TRY(rate(b, op, &c, &cost, err));
        if (cost != REFUSED && (least == REFUSED || cost < least)) {
            least = cost;
            *ret = c;
        }
    } while (least != 0 && clv_choice_next(f, &b->mesh, true, &c));
    *ret_found = least != REFUSED;
    return CLV_OK;
}

/* -- where an output lies -- */

/* As its spec says; without one as it is made, parts of a sum added up. */
static clv_status find_kept(building *b, const operand *o, const clv_layout *made, clv_layout *ret,
                            bool *ret_found, clv_error *err)
{
    const clv_layout *found = NULL;
    clv_tensor_split split;
    bool same = false;
    *ret = *made;
    *ret_found = true;
    if (!o->spec) {
        for (int32_t a = 0; a < b->mesh.n_axes; a++)
            if (ret->dim[a] == CLV_AXIS_PARTIAL) {
                ret->dim[a] = CLV_AXIS_COPY;
                ret->reduce[a] = CLV_REDUCE_NONE;
            }
        return CLV_OK;
    }
    CLV_TRY(is_like(b, o, made, &same, err));
    if (same)
        return CLV_OK;
    *ret_found = false;
    if (!clv_split_of_type(&b->types->of[o->t.i], &split))
        return CLV_OK;
    CLV_TRY(clv_layout_from_spec(o->spec, &b->meshes[b->stages.mesh_of_op[o->op]], &split, b->arena,
                                 &found, err));
    if (found)
        *ret = clv_layout_plain(found, &b->mesh);
    *ret_found = found != NULL;
    return CLV_OK;
}

static clv_status add_step(building *b, clv_tensor t, int32_t op, const clv_layout *from,
                           const clv_step *step, clv_error *err)
{
    char text[2][CLV_LAYOUT_TEXT];
    int32_t rank = b->types->of[t.i].rank;
    clv_plan_collective c = {
        .kind = clv_step_name(step->kind),
        .axes = clv_plan_axes_text(&b->mesh, step->axes, b->arena),
        .tensor = clv_arena_str(b->arena, clv_tensor_at(b->g, t)->name),
        .from = clv_arena_printf(b->arena, "%s", clv_layout_show(text[0], from, &b->mesh, rank)),
        .to = clv_arena_printf(b->arena, "%s", clv_layout_show(text[1], &step->to, &b->mesh, rank)),
        .stage = b->stages.stage_of_mesh[b->stages.mesh_of_op[op]],
        .bytes = step->sent,
    };
    if (!c.axes || !c.tensor || !c.from || !c.to ||
        !CLV_PUSH_ROOM(b->arena, b->collectives, b->n_collectives, b->cap_collectives))
        return no_memory(err);
    b->collectives[b->n_collectives++] = c;
    return CLV_OK;
}

/* The steps that bring an output from how it is made to where it lies. */
static clv_status keep_output(building *b, int32_t op, clv_tensor t, const clv_layout *made,
                              bool *ret_found, clv_error *err)
{
    clv_layout at = clv_layout_plain(made, &b->mesh), kept;
    clv_chain chain;
    clv_error inner;
    const operand o = operand_of(b, op, t);
    CLV_TRY(find_kept(b, &o, &at, &kept, ret_found, err));
    b->kept[t.i] = kept;
    b->is_made[t.i] = true;
    if (!*ret_found || clv_layout_equal(&at, &kept) || clv_shard_is_known(b->types, t))
        return CLV_OK;
    const clv_relayout move = { &b->types->of[t.i], &at, &kept };
    clv_status status = clv_resharder_chain(b->resharder, &move, b->arena, &chain, &inner);
    if (status == CLV_ENOMEM)
        return no_memory(err);
    *ret_found = status == CLV_OK;
    for (int32_t i = 0; status == CLV_OK && i < chain.n; i++) {
        CLV_TRY(add_step(b, t, op, &at, &chain.steps[i], err));
        at = chain.steps[i].to;
    }
    return CLV_OK;
}

/* -- a mesh on which all of it goes -- */

static clv_status note_failure(building *b, int32_t op, const char *of, clv_error *err)
{
    if (b->why_not)
        return CLV_OK;
    b->why_not = clv_arena_printf(b->arena, "no split of operator '%.*s' (%.*s) over %d devices %s",
                                  CLV_STR_ARG(b->g->ops[op].label), CLV_STR_ARG(b->g->ops[op].type),
                                  (int)b->mesh.n_devices, of);
    return b->why_not ? CLV_OK : no_memory(err);
}

static clv_status split_operator(building *b, int32_t op, bool *ret_found, clv_error *err)
{
    const clv_op_info *info = &b->g->ops[op];
    clv_op_choice choice = { { -1, -1, -1 } };
    *ret_found = true;
    if (clv_shard_takes_part(b->types, (clv_op){ op }) || b->notes.note_of[op])
        CLV_TRY(choose(b, op, &choice, ret_found, err));
    if (!*ret_found)
        return note_failure(b, op, "takes its inputs as their specs say", err);
    for (int32_t k = 0; k < info->n_out && *ret_found; k++) {
        clv_tensor t = clv_op_output(b->g, info, k);
        clv_layout made = clv_choice_out(&b->factors[op], &b->mesh, &choice, k);
        if (t.i >= 0)
            CLV_TRY(keep_output(b, op, t, &made, ret_found, err));
    }
    if (!*ret_found)
        return note_failure(b, op, "leads to the specs of its outputs", err);
    b->plan->split_of_op[info->file_index] =
        clv_plan_split_text(&b->factors[op], &b->mesh, &choice, b->arena);
    return b->plan->split_of_op[info->file_index] ? CLV_OK : no_memory(err);
}

static clv_status begin_form(building *b, const clv_mesh_form *form, const clv_cluster *cluster,
                             clv_error *err)
{
    const clv_mesh *mesh;
    clv_factors *all, *cut;
    CLV_TRY(clv_mesh_make(form, cluster, CLV_MESH_ALL_DEVICES, b->arena, &mesh, err));
    b->mesh = *mesh;
    for (int32_t a = 0; a < b->said.n_axes; a++)
        b->mesh.share[a] = b->said.axes[a].shares;
    for (int32_t m = 0; m < b->stages.n_meshes; m++) {
        b->meshes[m] = b->mesh;
        b->meshes[m].device = b->stages.device + m * b->stages.per_mesh;
    }
    CLV_TRY(clv_factors_all(b->of->model, b->types, b->arena, &all, err));
    CLV_TRY(clv_factors_for_mesh(b->types, all, &b->mesh, b->arena, &cut, err));
    b->factors = cut;
    b->n_collectives = 0;
    if (b->g->n_tensors > 0)
        memset(b->is_made, 0, (size_t)b->g->n_tensors * sizeof *b->is_made);
    return clv_resharder_new(&b->mesh, cluster, NULL, b->arena, &b->resharder, err);
}

/* *ret_found: every operator has a split. */
static clv_status try_form(building *b, const clv_mesh_form *form, const clv_cluster *cluster,
                           bool *ret_found, clv_error *err)
{
    CLV_TRY(begin_form(b, form, cluster, err));
    *ret_found = true;
    for (int32_t i = 0; i < b->g->n_ops && *ret_found; i++)
        CLV_TRY(split_operator(b, i, ret_found, err));
    return CLV_OK;
}

/* The plan is that of the mesh that was tried last. */
static clv_status take_mesh(building *b, clv_error *err)
{
    clv_plan *plan = b->plan;
    clv_plan_axis *axes = CLV_NEW_ARRAY(b->arena, clv_plan_axis, b->mesh.n_axes);
    if (!axes)
        return no_memory(err);
    for (int32_t a = 0; a < b->mesh.n_axes; a++)
        axes[a] = (clv_plan_axis){ .name = b->mesh.name[a],
                                   .size = b->mesh.size[a],
                                   .shares = b->mesh.share[a] };
    plan->axes = axes;
    plan->n_axes = b->mesh.n_axes;
    plan->mesh_devices = b->stages.per_mesh;
    plan->n_meshes = b->stages.n_meshes;
    plan->mesh_device = b->stages.device;
    plan->collectives = b->collectives;
    plan->n_collectives = b->n_collectives;
    return clv_plan_set_leads(plan, b->arena, err);
}

/* The meshes that may be meant: the one that the file says, else all of so many devices. */
static clv_status list_forms(building *b, const clv_mesh_form **ret, int32_t *ret_n, clv_error *err)
{
    int32_t per_mesh = b->stages.per_mesh;
    const clv_link_levels alike = { .n_devices = per_mesh, .n_levels = 1, .size = &per_mesh };
    if (b->said.n_axes == 0)
        return clv_mesh_forms(&alike, CLV_MESH_AXES_MAX, b->arena, ret, ret_n, err);
    clv_mesh_form *said = CLV_NEW(b->arena, clv_mesh_form);
    if (!said)
        return no_memory(err);
    said->n_axes = b->said.n_axes;
    for (int32_t a = 0; a < said->n_axes; a++) {
        said->size[a] = b->said.axes[a].size;
        said->name[a] = b->said.axes[a].name;
    }
    *ret = said;
    *ret_n = 1;
    return CLV_OK;
}

static clv_status split_all(building *b, clv_error *err)
{
    int32_t per_mesh = b->stages.per_mesh, n;
    const clv_mesh_form *forms;
    const clv_cluster *cluster;
    bool found = false;
    b->meshes = CLV_NEW_ARRAY(b->arena, clv_mesh, b->stages.n_meshes);
    b->kept = CLV_NEW_ARRAY(b->arena, clv_layout, b->g->n_tensors);
    b->is_made = CLV_NEW_ARRAY(b->arena, bool, b->g->n_tensors);
    b->plan->split_of_op = CLV_NEW_ARRAY(b->arena, const char *, b->g->n_ops);
    if (!b->meshes || !b->kept || !b->is_made || !b->plan->split_of_op)
        return no_memory(err);
    CLV_TRY(clv_cluster_of_alike(per_mesh, b->arena, &cluster, err));
    CLV_TRY(list_forms(b, &forms, &n, err));
    for (int32_t i = 0; i < n && !found; i++)
        CLV_TRY(try_form(b, &forms[i], cluster, &found, err));
    if (!found)
        return clv_fail(err, CLV_EUNSUPP, "%s: %s", b->of->name, b->why_not);
    return take_mesh(b, err);
}

/* What the file says, to be held against what follows from the plan. */
static clv_status add_given(building *b, clv_error *err)
{
    clv_plan_annotation *given = CLV_NEW_ARRAY(b->arena, clv_plan_annotation, b->g->n_ops);
    int32_t *op_at = CLV_NEW_ARRAY(b->arena, int32_t, b->g->n_ops);
    if (!given || !op_at)
        return no_memory(err);
    for (int32_t i = 0; i < b->g->n_ops; i++)
        op_at[b->g->ops[i].file_index] = i;
    for (int32_t at = 0; at < b->g->n_ops; at++) {
        const clv_node_annotation *note = b->notes.note_of[op_at[at]];
        if (!note)
            continue;
        clv_plan_annotation *one = &given[b->plan->n_annotations++];
        *one = (clv_plan_annotation){ .file_index = at, .note = *note };
        /* counted from 0, without gaps */
        one->note.stage = b->stages.stage_of_mesh[b->stages.mesh_of_op[op_at[at]]];
    }
    b->plan->annotations = given;
    const clv_plan said = { .uneven = b->said.uneven, .n_uneven = b->said.n_uneven };
    clv_plan_uneven *uneven = NULL;
    CLV_TRY(clv_plan_list_uneven(&said, b->g, b->arena, &uneven, &b->plan->n_uneven, err));
    b->plan->uneven = uneven;
    return CLV_OK;
}

static clv_status build(building *b, clv_error *err)
{
    CLV_TRY(find_types(b, err));
    CLV_TRY(clv_annotated_notes_read(b->of, b->types, b->arena, b->scratch, &b->notes, err));
    CLV_TRY(clv_annotated_copies_read(&b->notes, b->g, b->arena, &b->copies, err));
    const clv_annotated_nodes nodes = { b->g, b->notes.note_of,
                                        b->notes.configuration->num_devices };
    CLV_TRY(clv_annotated_stages_find(&nodes, b->arena, &b->stages, err));
    CLV_TRY(clv_annotated_mesh_read(&b->notes.set, b->notes.configuration, &b->stages, b->arena,
                                    &b->said, err));
    CLV_TRY(begin_plan(b, err));
    if (b->stages.per_mesh > 1) {
        CLV_TRY(split_all(b, err));
        CLV_TRY(add_given(b, err));
    }
    const clv_mesh_devices copy = { b->copies.copy_device, b->copies.copy_devices };
    CLV_TRY(clv_plan_copy(b->plan, copy, b->copies.n_copies, b->arena, err));
    CLV_TRY(clv_plan_check(b->plan, b->g, b->arena, err));
    return b->stages.per_mesh > 1 ? clv_plan_derive(b->plan, b->of->model, b->arena, err) : CLV_OK;
}

clv_status clv_plan_of_annotations(const clv_annotated_model *of, clv_arena *arena, clv_plan **ret,
                                   clv_error *err)
{
    building b = { .of = of,
                   .g = of->model->main,
                   .arena = arena,
                   .scratch = clv_arena_new(clv_arena_alloc(arena), 0) };
    if (!b.scratch)
        return no_memory(err);
    clv_status status = build(&b, err);
    clv_arena_free(b.scratch);
    if (status == CLV_OK)
        *ret = b.plan;
    return status;
}
