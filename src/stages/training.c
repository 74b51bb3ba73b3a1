#include "stages/training.h"

#include "graph/backward.h"

#define REST_MAX 20000 /* operators: as units, what a search still takes in its stride */

/* A unit is of the backward pass when all its operators are; the fold adds those that read from
 * one. */
static void mark_units(const clv_run *r, const bool *backward_op, bool *backward)
{
    const clv_subgraphs *units = r->analysis.units;
    for (int32_t u = 0; u < units->n; u++) {
        const clv_subgraph *unit = &units->at[u];
        backward[u] = unit->n > 0;
        for (int32_t k = 0; k < unit->n; k++)
            backward[u] &= backward_op[units->order[unit->first + k].i];
    }
}

/* Visits each read of an initialiser by an operator of a unit that is backward or not. */
static void visit_weights(const clv_run *r, const bool *backward, bool which, int32_t *last,
                          int32_t *weight_of)
{
    const clv_graph *g = r->req->model->main;
    const clv_subgraphs *units = r->analysis.units;
    for (int32_t i = 0; i < g->n_ops; i++) {
        clv_op id = units->order[i];
        const clv_op_info *op = &g->ops[id.i];
        int32_t u = units->of[id.i];
        for (int32_t k = 0; k < op->n_in && backward[u] == which; k++) {
            clv_tensor t = g->inputs_of[op->first_in + k];
            int32_t w = t.i >= 0 ? g->tensors[t.i].weight : -1;
            if (w >= 0 && !which)
                last[w] = u;
            else if (w >= 0 && last[w] > weight_of[u])
                weight_of[u] = last[w];
        }
    }
}

/* For each backward unit the last forward one that reads a weight that it reads; -1: there is none.
 */
static clv_status find_weights(const clv_run *r, const bool *backward, int32_t *weight_of)
{
    int32_t n = r->req->model->main->n_weights;
    int32_t *last = CLV_NEW_ARRAY(r->arena, int32_t, n);
    if (!last)
        return clv_fail_nomem(r->err, "a training problem");
    for (int32_t w = 0; w < n; w++)
        last[w] = -1;
    visit_weights(r, backward, false, last, weight_of);
    visit_weights(r, backward, true, last, weight_of);
    return CLV_OK;
}

static clv_status judge_folded(void *ctx, const clv_assignment *assignments, int32_t n,
                               clv_verdict *verdicts, clv_error *err)
{
    clv_run *r = ctx;
    clv_mark mark = clv_arena_mark(r->arena);
    clv_assignment *whole = CLV_NEW_ARRAY(r->arena, clv_assignment, n);
    if (!whole)
        return clv_fail_nomem(err, "a batch of plans");
    for (int32_t k = 0; k < n; k++) {
        whole[k].proportion = assignments[k].proportion;
        whole[k].busy_ns = assignments[k].busy_ns;
        CLV_TRY(clv_run_expand(r, assignments[k].device_of, &whole[k].device_of));
    }
    clv_status status = r->pool_judge.judge(r->pool_judge.ctx, whole, n, verdicts, err);
    clv_arena_rewind(r->arena, mark);
    return status;
}

/* What is left over is one unit, which would tie the updates of all weights together: each operator
 * of it becomes a unit. */
static clv_status split_rest(clv_run *r)
{
    const clv_subgraphs *units = r->analysis.units;
    const clv_subgraph *rest = units->n > 0 ? &units->at[units->n - 1] : NULL;
    if (!rest || rest->candidate.i >= 0 || rest->n < 2 || rest->n > REST_MAX)
        return CLV_OK;
    clv_op *nodes = CLV_NEW_ARRAY(r->arena, clv_op, units->n - 1 + rest->n);
    if (!nodes)
        return clv_fail_nomem(r->err, "a training problem");
    for (int32_t u = 0; u < units->n - 1; u++)
        nodes[u] = units->at[u].candidate;
    for (int32_t k = 0; k < rest->n; k++)
        nodes[units->n - 1 + k] = units->order[rest->first + k];
    return clv_subgraphs_of_nodes(r->analysis.inference->main, r->analysis.costs, nodes,
                                  units->n - 1 + rest->n, r->arena, &r->analysis.units, r->err);
}

clv_status clv_run_find_backward(clv_run *r)
{
    const clv_request *req = r->req;
    if (req->sharding_nodes || req->constraints || req->search.objective != CLV_THROUGHPUT ||
        req->microbatches == 1)
        return CLV_OK; /* rules speak of all operators */
    CLV_TRY(clv_backward_ops(req->model->main, req->backward, r->arena, &r->backward_op, r->err));
    return r->backward_op ? split_rest(r) : CLV_OK;
}

clv_status clv_run_overlay(clv_run *r)
{
    int32_t n = r->problem->n_units;
    if (!r->backward_op)
        return CLV_OK;
    bool *backward = CLV_NEW_ARRAY(r->arena, bool, n);
    int32_t *weight_of = CLV_NEW_ARRAY(r->arena, int32_t, n);
    if (!backward || !weight_of)
        return clv_fail_nomem(r->err, "a training problem");
    for (int32_t u = 0; u < n; u++)
        weight_of[u] = -1;
    mark_units(r, r->backward_op, backward);
    CLV_TRY(find_weights(r, backward, weight_of));
    CLV_TRY(clv_overlay_build(r->problem, backward, weight_of, r->arena, &r->overlay, r->err));
    if (!r->overlay)
        return CLV_OK;
    CLV_TRY(clv_overlay_live(r->overlay, r->judge.live_bytes, r->arena, r->err));
    if (!r->req->compiler)
        clv_builtin_set_backward(r->compiler, r->overlay->backward);
    r->pool_judge = r->judge;
    r->judge.judge = judge_folded;
    r->judge.ctx = r;
    r->judge.live_bytes = r->overlay->live_bytes;
    r->judge.held_bytes = NULL;
    r->problem = &r->overlay->folded;
    return CLV_OK;
}

clv_status clv_run_expand(const clv_run *r, const int32_t *device_of, const int32_t **ret)
{
    *ret = device_of;
    if (!r->overlay)
        return CLV_OK;
    int32_t *whole = CLV_NEW_ARRAY(r->arena, int32_t, r->overlay->whole->n_units);
    if (!whole)
        return clv_fail_nomem(r->err, "a plan");
    clv_overlay_expand(r->overlay, device_of, whole);
    *ret = whole;
    return CLV_OK;
}

int32_t clv_run_unit(const clv_run *r, int32_t unit)
{
    return r->overlay ? r->overlay->forward[unit] : unit;
}

clv_status clv_run_tell_training(const clv_run *r, const int32_t *device_of, clv_arena *arena,
                                 clv_plan *plan, clv_error *err)
{
    const clv_graph *g = r->req->model->main;
    if (!r->overlay)
        return CLV_OK;
    const clv_partition *folded = &r->overlay->folded;
    int32_t *stage = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    int32_t *device = CLV_NEW_ARRAY(arena, int32_t, folded->n_units);
    bool *backward = CLV_NEW_ARRAY(arena, bool, g->n_ops);
    if (!stage || !device || !backward)
        return clv_fail_nomem(err, "stages");
    for (int32_t u = 0; u < folded->n_units; u++)
        device[u] = device_of[r->overlay->forward[u]];
    plan->n_stages = clv_partition_stages(folded, device, arena, stage);
    for (int32_t d = 0; d < plan->n_devices; d++)
        plan->devices[d].stage = stage[d];
    for (int32_t i = 0; i < g->n_ops; i++)
        backward[g->ops[i].file_index] = r->overlay->backward[r->analysis.units->of[i]];
    plan->backward_op = backward;
    return CLV_OK;
}
