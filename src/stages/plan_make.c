#include "stages/plan_make.h"

#include <stdio.h>

#include "plan/plan_copies.h"
#include "problem/quotient.h"

/* A unit is maximal when no unit of its own group reads what it writes: with an acyclic quotient no
 * path leaves a group and comes back, so direct readers decide. */
static bool is_maximal(const clv_partition_problem *p, const int32_t *device_of, int32_t unit)
{
    for (int32_t net = p->unit_first_net[unit]; net < p->unit_first_net[unit + 1]; net++)
        for (int32_t k = p->net_first[net]; k < p->net_first[net + 1]; k++)
            if (device_of[p->net_to[k]] == device_of[unit])
                return false;
    return true;
}

/* Sharding nodes of every group but the last one that has units: what is left over is that one. */
static clv_status add_sharding_nodes(const clv_workload *w, const clv_partition_problem *p,
                                     const int32_t *device_of, clv_arena *arena, clv_plan *plan,
                                     clv_error *err)
{
    int32_t last = -1; /* the group of the highest stage; ties to the highest device */
    for (int32_t d = 0; d < plan->n_devices; d++)
        if (plan->devices[d].stage >= 0 &&
            (last < 0 || plan->devices[d].stage >= plan->devices[last].stage))
            last = d;
    int32_t *cap = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    if (!cap)
        return clv_fail_nomem(err, "sharding nodes");
    for (int32_t u = 0; u < p->n_units; u++) {
        clv_plan_device *d = &plan->devices[device_of[u]];
        clv_op candidate = w->units->at[u].candidate;
        if (device_of[u] == last || candidate.i < 0 || !is_maximal(p, device_of, u))
            continue;
        if (!CLV_PUSH_ROOM(arena, d->sharding_nodes, d->n_sharding_nodes, cap[device_of[u]]))
            return clv_fail_nomem(err, "sharding nodes");
        const char *name = clv_arena_str(arena, w->types->graph->ops[candidate.i].label);
        if (!name)
            return clv_fail_nomem(err, "sharding nodes");
        d->sharding_nodes[d->n_sharding_nodes++] = name;
    }
    return CLV_OK;
}

static clv_status add_devices(const clv_workload *w, const clv_compile_report *report,
                              clv_arena *arena, clv_plan *plan, clv_error *err)
{
    const clv_cluster *c = w->cluster;
    plan->n_devices = c->n_devices;
    plan->devices = CLV_NEW_ARRAY(arena, clv_plan_device, c->n_devices);
    if (!plan->devices)
        return clv_fail_nomem(err, "devices of a plan");
    for (int32_t d = 0; d < c->n_devices; d++) {
        clv_plan_device *to = &plan->devices[d];
        *to = clv_plan_idle_device(c, d);
        clv_plan_forget_use(to);
        if (!report || !report->devices)
            continue;
        const clv_device_report *from = &report->devices[d];
        to->weight_bytes = from->weight_bytes;
        to->activation_bytes = from->activation_bytes;
        to->workspace_bytes = from->workspace_bytes;
        to->peak_bytes = from->peak_bytes;
        to->state_bytes = from->state_bytes;
        to->in_flight_bytes = from->in_flight_bytes;
        to->capacity_bytes = from->capacity_bytes;
        to->busy_ns = from->busy_ns;
    }
    return CLV_OK;
}

static clv_status add_ops(const clv_workload *w, const int32_t *device_of, clv_arena *arena,
                          clv_plan *plan, clv_error *err)
{
    const clv_graph *g = w->types->graph;
    int32_t *device_of_op = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    if (!device_of_op)
        return clv_fail_nomem(err, "operators of a plan");
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t d = device_of[w->units->of[i]];
        device_of_op[g->ops[i].file_index] = d;
        plan->devices[d].n_ops++;
        plan->devices[d].flops += w->costs->of[i].flops;
    }
    plan->n_ops = g->n_ops;
    plan->device_of_op = device_of_op;
    return CLV_OK;
}

static clv_status add_stages(const clv_partition_problem *p, const int32_t *device_of,
                             clv_arena *arena, clv_plan *plan, clv_error *err)
{
    int32_t *stage = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    if (!stage)
        return clv_fail_nomem(err, "stages");
    plan->n_stages = clv_partition_stages(p, device_of, arena, stage);
    if (plan->n_stages < 0)
        return clv_fail_nomem(err, "stages");
    for (int32_t d = 0; d < plan->n_devices; d++)
        plan->devices[d].stage = stage[d];
    return CLV_OK;
}

static clv_status add_transfers(const clv_workload *w, const clv_compile_report *report,
                                clv_arena *arena, clv_plan *plan, clv_error *err)
{
    if (!report || !report->devices)
        return CLV_OK;
    plan->transfers = CLV_NEW_ARRAY(arena, clv_plan_transfer, report->n_transfers);
    if (!plan->transfers)
        return clv_fail_nomem(err, "transfers of a plan");
    for (int32_t i = 0; i < report->n_transfers; i++) {
        const clv_transfer *t = &report->transfers[i];
        const char *name = clv_arena_str(arena, w->types->graph->tensors[t->tensor.i].name);
        if (!name)
            return clv_fail_nomem(err, "transfers of a plan");
        clv_basis basis = clv_route_between(w->cluster, t->from, t->to)->basis;
        plan->transfers[plan->n_transfers++] =
            (clv_plan_transfer){ name, t->from, t->to, t->bytes, t->ns, basis };
    }
    return CLV_OK;
}

clv_status clv_plan_make(const clv_workload *w, const clv_partition_problem *problem,
                         const clv_judged *judged, clv_arena *arena, clv_plan **ret, clv_error *err)
{
    const clv_verdict *verdict = judged->verdict;
    const int32_t *device_of = judged->assignment->device_of;
    clv_plan *plan = CLV_NEW(arena, clv_plan);
    if (!plan)
        return clv_fail_nomem(err, "a plan");
    plan->configuration = "cleave";
    plan->proportion = judged->assignment->proportion;
    plan->outcome = verdict->outcome;
    plan->short_device = verdict->device;
    plan->short_bytes = verdict->short_bytes;
    plan->latency_ns = verdict->latency_ns;
    plan->period_ns = verdict->period_ns;
    CLV_TRY(add_devices(w, judged->report, arena, plan, err));
    CLV_TRY(add_ops(w, device_of, arena, plan, err));
    CLV_TRY(add_stages(problem, device_of, arena, plan, err));
    CLV_TRY(add_sharding_nodes(w, problem, device_of, arena, plan, err));
    CLV_TRY(add_transfers(w, judged->report, arena, plan, err));
    *ret = plan;
    return CLV_OK;
}
