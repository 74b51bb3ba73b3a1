#include "joint/whole_plan.h"

#include "base/map.h"
#include "cost/shard_choices.h"
#include "explain/shard_findings.h"
#include "notation/layout_spec.h"
#include "notation/layout_text.h"
#include "plan/plan_check.h"
#include "proto/fingerprint.h"

typedef struct {
    const clv_request *req;
    const clv_cluster *cluster;
    const int32_t *order;
    const clv_mesh *mesh;
    const clv_shard_problem *problem;
    const int32_t *solution;
    const clv_local_model *local;
    const clv_plan *cut;
    clv_plan *plan;
    clv_arena *arena;
    clv_mesh *meshes;     /* by mesh of the cluster: the form on its devices */
    const char **name_of; /* by tensor of the whole model; NULL: not yet copied */
    clv_map specs_of;
    clv_sharding_spec *specs;
    int32_t n_specs, cap_specs;
} widening;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "a plan"); }

static int32_t device_at(const widening *w, int32_t mesh, int32_t i)
{
    return w->order[mesh * w->mesh->n_devices + i];
}

static clv_status widen_devices(widening *w, clv_error *err)
{
    int32_t n = w->cluster->n_devices, per_mesh = w->mesh->n_devices;
    clv_plan_device *devices = CLV_NEW_ARRAY(w->arena, clv_plan_device, n);
    int32_t *lead = CLV_NEW_ARRAY(w->arena, int32_t, n);
    w->meshes = CLV_NEW_ARRAY(w->arena, clv_mesh, w->cut->n_devices);
    if (!devices || !lead || !w->meshes)
        return no_memory(err);
    for (int32_t m = 0; m < w->cut->n_devices; m++) {
        w->meshes[m] = *w->mesh;
        w->meshes[m].device = w->order + m * per_mesh;
        for (int32_t i = 0; i < per_mesh; i++) {
            int32_t d = device_at(w, m, i);
            const clv_device_kind *kind = clv_device_kind_of(w->cluster, d);
            lead[d] = device_at(w, m, 0);
            devices[d] = w->cut->devices[m];
            devices[d].n_ops = 0; /* without collectives, below */
            devices[d].name = w->cluster->devices[d].name;
            devices[d].kind = kind->name;
            devices[d].capacity_bytes = kind->memory_bytes - kind->reserved_bytes;
        }
    }
    w->plan->devices = devices;
    w->plan->n_devices = n;
    w->plan->lead_of_device = lead;
    w->plan->mesh_device = w->order;
    w->plan->n_meshes = w->cut->n_devices;
    if (w->cut->outcome == CLV_OOM)
        w->plan->short_device = device_at(w, w->cut->short_device, 0);
    return CLV_OK;
}

/* The mesh of each operator of the whole model, by its id. */
static clv_status widen_ops(widening *w, int32_t *mesh_of, clv_error *err)
{
    const clv_graph *g = w->req->model->main;
    int32_t *device_of = CLV_NEW_ARRAY(w->arena, int32_t, g->n_ops);
    if (!device_of)
        return no_memory(err);
    for (int32_t i = 0; i < w->local->model->main->n_ops; i++) {
        clv_op op = w->local->op_of[i];
        if (op.i < 0)
            continue;
        int32_t m = w->cut->device_of_op[i];
        mesh_of[op.i] = m;
        device_of[g->ops[op.i].file_index] = device_at(w, m, 0);
        for (int32_t k = 0; k < w->mesh->n_devices; k++)
            w->plan->devices[device_at(w, m, k)].n_ops++;
    }
    w->plan->n_ops = g->n_ops;
    w->plan->device_of_op = device_of;
    return CLV_OK;
}

static clv_status widen_transfers(widening *w, clv_error *err)
{
    int32_t per_mesh = w->mesh->n_devices;
    clv_plan_transfer *all =
        CLV_NEW_ARRAY(w->arena, clv_plan_transfer, (size_t)w->cut->n_transfers * (size_t)per_mesh);
    if (!all)
        return no_memory(err);
    w->plan->n_transfers = 0;
    for (int32_t t = 0; t < w->cut->n_transfers; t++)
        for (int32_t i = 0; i < per_mesh; i++) {
            clv_plan_transfer one = w->cut->transfers[t];
            one.from = device_at(w, one.from, i);
            one.to = device_at(w, one.to, i);
            all[w->plan->n_transfers++] = one;
        }
    w->plan->transfers = w->cut->transfers ? all : NULL;
    return CLV_OK;
}

static const char *copy_str(clv_arena *arena, clv_str s)
{
    return clv_arena_printf(arena, "%.*s", CLV_STR_ARG(s));
}

static const char *axes_text(const widening *w, uint32_t axes)
{
    const char *text = "";
    for (int32_t a = 0; text && a < w->mesh->n_axes; a++)
        if (axes >> a & 1)
            text = clv_arena_printf(w->arena, "%s%s%s", text, *text ? "," : "", w->mesh->name[a]);
    return text;
}

static const char *layout_text(const widening *w, const clv_layout *layout, clv_tensor t)
{
    char text[CLV_LAYOUT_TEXT];
    const clv_type *type = &w->problem->types->of[t.i];
    int32_t rank = type->kind == CLV_TYPE_TENSOR && type->rank > 0 ? type->rank : 0;
    return clv_arena_printf(w->arena, "%s", clv_layout_show(text, layout, w->mesh, rank));
}

static clv_status add_collectives(widening *w, clv_error *err)
{
    const clv_local_model *l = w->local;
    const clv_graph *g = w->req->model->main;
    clv_plan_collective *all = CLV_NEW_ARRAY(w->arena, clv_plan_collective, l->n_communications);
    if (!all)
        return no_memory(err);
    for (int32_t i = 0; i < l->model->main->n_ops; i++) {
        if (l->communication_of[i] < 0)
            continue;
        const clv_communication *c = &l->communications[l->communication_of[i]];
        clv_tensor from = clv_op_input(l->model->main, &l->model->main->ops[i], 0);
        all[w->plan->n_collectives++] = (clv_plan_collective){
            .kind = clv_step_name(c->step.kind),
            .axes = axes_text(w, c->step.axes),
            .tensor = copy_str(w->arena, clv_tensor_at(g, c->tensor)->name),
            .reader = c->reader.i < 0 ? NULL : copy_str(w->arena, g->ops[c->reader.i].label),
            .from = layout_text(w, &l->layout_of[from.i], c->tensor),
            .to = layout_text(w, &c->step.to, c->tensor),
            .stage = w->cut->devices[w->cut->device_of_op[i]].stage,
            .bytes = c->step.sent,
            .ns = c->step.ns,
        };
    }
    w->plan->collectives = all;
    return CLV_OK;
}

/* "dp=b tp=n" */
static const char *split_text(const widening *w, int32_t op)
{
    const char *text = "";
    const clv_op_choice *choice = clv_shard_choice(w->problem, w->solution, (clv_op){ op });
    for (int32_t a = 0; text && choice && a < w->mesh->n_axes; a++)
        if (choice->factor[a] >= 0)
            text = clv_arena_printf(w->arena, "%s%s%s=%s", text, *text ? " " : "", w->mesh->name[a],
                                    w->problem->factors[op].factors[choice->factor[a]].name);
    return text;
}

static clv_status add_splits(widening *w, clv_error *err)
{
    const clv_graph *g = w->req->model->main;
    const char **split = CLV_NEW_ARRAY(w->arena, const char *, g->n_ops);
    clv_plan_axis *axes = CLV_NEW_ARRAY(w->arena, clv_plan_axis, w->mesh->n_axes);
    if (!split || !axes)
        return no_memory(err);
    for (int32_t i = 0; i < g->n_ops; i++)
        if (!(split[g->ops[i].file_index] = split_text(w, i)))
            return no_memory(err);
    for (int32_t a = 0; a < w->mesh->n_axes; a++)
        axes[a] = (clv_plan_axis){ .name = w->mesh->name[a], .size = w->mesh->size[a] };
    w->plan->split_of_op = split;
    w->plan->axes = axes;
    w->plan->n_axes = w->mesh->n_axes;
    w->plan->mesh_devices = w->mesh->n_devices;
    return CLV_OK;
}

/* -- annotations -- */

/* A spec but for its tensor's name: the same for all tensors of a shape that lie alike in a stage,
 * and there are few of those. */
enum { KEY_START = 3 }; /* of the dims in a key: behind mesh, dtype and rank */

static clv_status find_spec(widening *w, int32_t m, const clv_tensor_split *split,
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
    CLV_TRY(clv_map_put_key(&w->specs_of, key, size, w->n_specs, &id, err));
    if (id == w->n_specs) {
        clv_layout_spec made;
        if (!CLV_PUSH_ROOM(w->arena, w->specs, w->n_specs, w->cap_specs))
            return no_memory(err);
        CLV_TRY(clv_layout_to_spec(layout, &w->meshes[m], split, w->arena, &made, err));
        w->specs[w->n_specs++] = made.spec;
    }
    *ret = &w->specs[id];
    return CLV_OK;
}

/* The specs of an operator that is on a mesh. */
typedef struct {
    clv_sharding_spec *at;
    int32_t n, mesh;
} op_specs;

static clv_status add_spec(widening *w, clv_tensor t, const clv_layout *layout, op_specs *specs,
                           clv_error *err)
{
    const clv_sharding_spec *like;
    clv_tensor_split split;
    if (!clv_split_of_type(&w->problem->types->of[t.i], &split))
        return CLV_OK;
    for (int32_t i = 0; i < specs->n; i++)
        if (specs->at[i].tensor == w->name_of[t.i])
            return CLV_OK; /* read twice */
    if (!w->name_of[t.i] &&
        !(w->name_of[t.i] = copy_str(w->arena, clv_tensor_at(w->req->model->main, t)->name)))
        return no_memory(err);
    CLV_TRY(find_spec(w, specs->mesh, &split, layout, &like, err));
    specs->at[specs->n] = *like;
    specs->at[specs->n++].tensor = w->name_of[t.i];
    return CLV_OK;
}

static clv_status annotate_op(widening *w, int32_t op, int32_t m, clv_plan_annotation *ret,
                              clv_error *err)
{
    const clv_graph *g = w->req->model->main;
    const clv_op_info *info = &g->ops[op];
    int32_t n_in = clv_op_n_explicit(info);
    op_specs specs = { CLV_NEW_ARRAY(w->arena, clv_sharding_spec, n_in + info->n_out), 0, m };
    if (!specs.at)
        return no_memory(err);
    for (int32_t k = 0; k < n_in; k++) {
        clv_tensor t = clv_op_input(g, info, k);
        clv_layout layout = clv_shard_need(w->problem, w->solution, (clv_op){ op }, k);
        if (t.i >= 0)
            CLV_TRY(add_spec(w, t, &layout, &specs, err));
    }
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(g, info, k);
        if (t.i < 0)
            continue;
        clv_layout layout = clv_shard_home(w->problem, w->solution, t);
        CLV_TRY(add_spec(w, t, &layout, &specs, err));
    }
    *ret = (clv_plan_annotation){ .file_index = info->file_index,
                                  .note = { .configuration = w->plan->configuration,
                                            .specs = specs.at,
                                            .n_specs = specs.n,
                                            .has_stage = true,
                                            .stage = w->cut->devices[m].stage } };
    return CLV_OK;
}

static clv_status annotate(widening *w, const int32_t *mesh_of, clv_error *err)
{
    const clv_graph *g = w->req->model->main;
    clv_plan_annotation *all = CLV_NEW_ARRAY(w->arena, clv_plan_annotation, g->n_ops);
    w->name_of = CLV_NEW_ARRAY(w->arena, const char *, g->n_tensors);
    if (!all || !w->name_of)
        return no_memory(err);
    CLV_TRY(clv_map_init(&w->specs_of, w->arena, 64, err));
    for (int32_t i = 0; i < g->n_ops; i++)
        CLV_TRY(annotate_op(w, i, mesh_of[i], &all[g->ops[i].file_index], err));
    w->plan->annotations = all;
    w->plan->n_annotations = g->n_ops;
    return CLV_OK;
}

clv_status clv_joint_whole_plan(const clv_joint *j, const clv_mesh_candidate *c, clv_plan **ret,
                                clv_error *err)
{
    const clv_graph *g = j->req->model->main;
    widening w = { .req = j->req,
                   .cluster = j->cluster,
                   .order = j->levels.order,
                   .mesh = c->mesh,
                   .problem = c->best_problem,
                   .solution = j->solution,
                   .local = c->best_local,
                   .cut = c->best_cut,
                   .plan = CLV_NEW(j->arena, clv_plan),
                   .arena = j->arena };
    int32_t *mesh_of = CLV_NEW_ARRAY(j->arena, int32_t, g->n_ops);
    if (!w.plan || !mesh_of)
        return no_memory(err);
    *w.plan = *w.cut;
    w.plan->search = "joint";
    w.plan->overlap = j->req->overlap;
    w.plan->fingerprint = clv_onnx_fingerprint(j->req->model);
    w.plan->cluster = j->cluster->name;
    w.plan->backward_op = NULL;
    CLV_TRY(widen_devices(&w, err));
    CLV_TRY(widen_ops(&w, mesh_of, err));
    CLV_TRY(widen_transfers(&w, err));
    CLV_TRY(add_collectives(&w, err));
    CLV_TRY(add_splits(&w, err));
    CLV_TRY(annotate(&w, mesh_of, err));
    if (w.plan->outcome == CLV_FITS)
        CLV_TRY(clv_plan_check(w.plan, g, j->arena, err));
    *ret = w.plan;
    return clv_plan_add_shard_findings(g, w.problem, w.solution, w.plan, j->arena, err);
}
