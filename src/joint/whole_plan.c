#include "joint/whole_plan.h"

#include "cost/shard_choices.h"
#include "explain/host_copies.h"
#include "explain/plan_kernels.h"
#include "explain/shard_findings.h"
#include "lower/derived_layouts.h"
#include "lower/plan_specs.h"
#include "lower/spmd_plan.h"
#include "notation/layout_text.h"
#include "plan/plan_check.h"
#include "plan/plan_copies.h"

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
    if (!devices || !lead)
        return no_memory(err);
    for (int32_t d = 0; d < n; d++) {
        devices[d] = clv_plan_idle_device(w->cluster, d);
        lead[d] = -1;
    }
    for (int32_t m = 0; m < w->cut->n_devices; m++)
        for (int32_t i = 0; i < per_mesh; i++) {
            int32_t d = device_at(w, m, i);
            const clv_plan_device own = devices[d];
            lead[d] = device_at(w, m, 0);
            devices[d] = w->cut->devices[m];
            devices[d].n_ops = 0; /* without collectives, below */
            devices[d].name = own.name;
            devices[d].kind = own.kind;
            devices[d].capacity_bytes = own.capacity_bytes;
            devices[d].reserved_bytes = own.reserved_bytes;
            devices[d].buffer_bytes = own.buffer_bytes;
            devices[d].headroom_bytes = own.headroom_bytes;
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

static clv_status widen_ops(widening *w, clv_error *err)
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
            .axes = clv_plan_axes_text(w->mesh, c->step.axes, w->arena),
            .tensor = clv_arena_str(w->arena, clv_tensor_at(g, c->tensor)->name),
            .reader = c->reader.i < 0 ? NULL : clv_arena_str(w->arena, g->ops[c->reader.i].label),
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

static clv_status add_kernels(widening *w, const clv_costs *costs, const clv_cluster *meshes,
                              clv_error *err)
{
    const clv_local_model *l = w->local;
    const clv_graph *g = l->model->main;
    clv_running *at = CLV_NEW_ARRAY(w->arena, clv_running, g->n_ops);
    if (!at)
        return no_memory(err);
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_communication *c =
            l->communication_of[i] < 0 ? NULL : &l->communications[l->communication_of[i]];
        at[i] = (clv_running){ .op = l->op_of[i],
                               .device = w->cut->device_of_op[i],
                               .cost = &l->costs->of[i],
                               .collective = c ? clv_step_name(c->step.kind) : NULL,
                               .tensor = c ? clv_tensor_at(costs->graph, c->tensor)->name
                                           : (clv_str){ 0 } };
    }
    const clv_run_order order = { costs, meshes, w->cut->proportion, at, g->n_ops };
    CLV_TRY(clv_plan_add_kernels(&order, w->arena, w->plan, err));
    for (int32_t i = 0; i < w->plan->n_kernels; i++)
        w->plan->kernels[i].device = device_at(w, w->plan->kernels[i].device, 0);
    return CLV_OK;
}

static clv_status add_splits(widening *w, clv_error *err)
{
    const clv_graph *g = w->req->model->main;
    const char **split = CLV_NEW_ARRAY(w->arena, const char *, g->n_ops);
    clv_plan_axis *axes = CLV_NEW_ARRAY(w->arena, clv_plan_axis, w->mesh->n_axes);
    if (!split || !axes)
        return no_memory(err);
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_choice *choice = clv_shard_choice(w->problem, w->solution, (clv_op){ i });
        const char *text =
            choice ? clv_plan_split_text(&w->problem->factors[i], w->mesh, choice, w->arena) : "";
        if (!text)
            return no_memory(err);
        split[g->ops[i].file_index] = text;
    }
    for (int32_t a = 0; a < w->mesh->n_axes; a++)
        axes[a] = (clv_plan_axis){ .name = w->mesh->name[a], .size = w->mesh->size[a] };
    w->plan->split_of_op = split;
    w->plan->axes = axes;
    w->plan->n_axes = w->mesh->n_axes;
    w->plan->mesh_devices = w->mesh->n_devices;
    return CLV_OK;
}

/* -- what follows -- */

/* Specs, partial sums, uneven parts and names, as for a plan that is read; what the host sends. */
static clv_status add_what_follows(const widening *w, clv_error *err)
{
    clv_plan_decisions d;
    clv_spmd s = { .model = w->req->model,
                   .types = w->problem->types,
                   .plan = w->plan,
                   .mesh = clv_plan_mesh_form(w->plan),
                   .factors = w->problem->factors };
    CLV_TRY(clv_derive_layouts(&s, w->arena, &d, err));
    CLV_TRY(clv_plan_derive_specs(w->plan, &d.layouts, w->arena, err));
    CLV_TRY(clv_plan_add_findings(w->plan, &d.layouts, w->arena, err));
    return clv_plan_add_host_copies(&d.layouts, w->cluster, w->arena, w->plan, err);
}

/* Axes are named for what they do, where nobody has named them: rules may speak of them. */
static const clv_mesh *name_axes(const clv_joint *j, const clv_mesh_candidate *c,
                                 const clv_joint_found *found)
{
    clv_mesh *named = CLV_NEW(j->arena, clv_mesh);
    if (!named)
        return NULL;
    *named = *c->on.mesh;
    if (!c->form.mesh.name[0] && !clv_tensor_constraints_asked(&j->rules))
        clv_axis_roles_name(found->roles, named);
    return named;
}

clv_status clv_joint_whole_plan(const clv_joint *j, const clv_mesh_candidate *c,
                                const clv_joint_found *found, clv_plan **ret, clv_error *err)
{
    const clv_graph *g = j->req->model->main;
    widening w = { .req = j->req,
                   .cluster = j->cluster,
                   .order = j->levels.order,
                   .mesh = name_axes(j, c, found),
                   .problem = c->best_problem,
                   .solution = found->solution,
                   .local = c->best_local,
                   .cut = c->best_cut,
                   .plan = CLV_NEW(j->arena, clv_plan),
                   .arena = j->arena };
    if (!w.plan || !w.mesh)
        return no_memory(err);
    *w.plan = *w.cut;
    w.plan->search = "joint";
    w.plan->overlap = j->req->overlap;
    w.plan->cluster = j->cluster->name;
    w.plan->backward_op = NULL;
    CLV_TRY(widen_devices(&w, err));
    CLV_TRY(widen_ops(&w, err));
    CLV_TRY(widen_transfers(&w, err));
    CLV_TRY(add_collectives(&w, err));
    CLV_TRY(add_kernels(&w, j->analysis->costs, c->on.stages, err));
    CLV_TRY(add_splits(&w, err));
    CLV_TRY(add_what_follows(&w, err));
    const clv_mesh_devices group = { w.order, w.cut->n_devices * w.mesh->n_devices };
    CLV_TRY(clv_plan_copy(w.plan, group, clv_joint_copies(j, found->form.groups), j->arena, err));
    *ret = w.plan;
    return w.plan->outcome == CLV_FITS ? clv_plan_check(w.plan, g, j->arena, err) : CLV_OK;
}
