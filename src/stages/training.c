#include "stages/training.h"

#include "compile/builtin.h"
#include "graph/backward.h"
#include "problem/quotient.h"

#define REST_OPS_MAX 20000 /* as units of their own, what a search still handles quickly */

/* The units that remain at the end are one, which would tie the updates of all weights together:
 * each operator of it becomes a unit. */
static clv_status split_rest(clv_stage_search *s, clv_error *err)
{
    const clv_subgraphs *units = s->analysis.units;
    const clv_subgraph *rest = units->n > 0 ? &units->at[units->n - 1] : NULL;
    if (!rest || rest->candidate.i >= 0 || rest->n < 2 || rest->n > REST_OPS_MAX)
        return CLV_OK;
    clv_op *nodes = CLV_NEW_ARRAY(s->arena, clv_op, units->n - 1 + rest->n);
    if (!nodes)
        return clv_fail_nomem(err, "a training problem");
    for (int32_t u = 0; u < units->n - 1; u++)
        nodes[u] = units->at[u].candidate;
    for (int32_t k = 0; k < rest->n; k++)
        nodes[units->n - 1 + k] = units->order[rest->first + k];
    return clv_subgraphs_of_nodes(s->analysis.costs, nodes, units->n - 1 + rest->n, s->arena,
                                  &s->analysis.units, err);
}

clv_status clv_training_find_backward(clv_stage_search *s, clv_error *err)
{
    const clv_request *req = s->req;
    if (req->sharding_nodes || req->constraints || req->search.objective != CLV_THROUGHPUT ||
        req->microbatches == 1)
        return CLV_OK; /* rules speak of all operators */
    CLV_TRY(clv_backward_ops(req->model->main, req->backward, s->arena, &s->backward_op, err));
    return s->backward_op ? split_rest(s, err) : CLV_OK;
}

/* -- folding -- */

/* A unit is of the backward pass when all its operators are; the fold adds those that read from
 * one. */
static void mark_backward_units(const clv_stage_search *s, bool *backward)
{
    const clv_subgraphs *units = s->analysis.units;
    for (int32_t u = 0; u < units->n; u++) {
        const clv_subgraph *unit = &units->at[u];
        backward[u] = unit->n > 0;
        for (int32_t k = 0; k < unit->n; k++)
            backward[u] &= s->backward_op[units->order[unit->first + k].i];
    }
}

/* Visits each read of an initialiser by an operator of a unit that is backward or not: the last
 * forward unit that reads a weight, then for each backward unit the last of those of its weights.
 */
static void visit_weights(const clv_stage_search *s, const bool *backward, bool which,
                          int32_t *last_of_weight, int32_t *last_of_unit)
{
    const clv_graph *g = s->req->model->main;
    const clv_subgraphs *units = s->analysis.units;
    for (int32_t i = 0; i < g->n_ops; i++) {
        clv_op id = units->order[i];
        const clv_op_info *op = &g->ops[id.i];
        int32_t u = units->of[id.i];
        for (int32_t k = 0; k < op->n_in && backward[u] == which; k++) {
            clv_tensor t = g->inputs_of[op->first_in + k];
            int32_t w = t.i >= 0 ? g->tensors[t.i].weight : -1;
            if (w >= 0 && !which)
                last_of_weight[w] = u;
            else if (w >= 0 && last_of_weight[w] > last_of_unit[u])
                last_of_unit[u] = last_of_weight[w];
        }
    }
}

/* A batch of plans for the forward pass, judged with the backward pass beside it. */
static clv_status judge_folded(void *ctx, const clv_assignment *assignments, int32_t n,
                               clv_verdict *verdicts, clv_error *err)
{
    clv_stage_search *s = ctx;
    clv_mark mark = clv_arena_mark(s->arena);
    clv_assignment *whole = CLV_NEW_ARRAY(s->arena, clv_assignment, n);
    if (!whole)
        return clv_fail_nomem(err, "a batch of plans");
    for (int32_t k = 0; k < n; k++) {
        whole[k].proportion = assignments[k].proportion;
        whole[k].busy_ns = assignments[k].busy_ns;
        CLV_TRY(clv_training_unfold(s, assignments[k].device_of, &whole[k].device_of, err));
    }
    clv_status status = s->pool_judge.judge(s->pool_judge.ctx, whole, n, verdicts, err);
    clv_arena_rewind(s->arena, mark);
    return status;
}

static clv_status start_folded(void *ctx, const clv_assignment *assignment, clv_error *err)
{
    clv_stage_search *s = ctx;
    clv_assignment whole = *assignment;
    CLV_TRY(clv_training_unfold(s, assignment->device_of, &whole.device_of, err));
    return s->pool_judge.start(s->pool_judge.ctx, &whole, err);
}

static clv_status take_folded(void *ctx, clv_verdict *verdict, clv_error *err)
{
    const clv_stage_search *s = ctx;
    return s->pool_judge.take(s->pool_judge.ctx, verdict, err);
}

static void drop_folded(void *ctx, int32_t n_kept)
{
    const clv_stage_search *s = ctx;
    s->pool_judge.drop(s->pool_judge.ctx, n_kept);
}

clv_status clv_training_fold(clv_stage_search *s, clv_error *err)
{
    int32_t n = s->problem->n_units, n_weights = s->req->model->main->n_weights;
    if (!s->backward_op)
        return CLV_OK;
    bool *backward = CLV_NEW_ARRAY(s->arena, bool, n);
    int32_t *forward_reader =
        CLV_NEW_ARRAY(s->arena, int32_t, n); /* of a weight; by unit; -1: none */
    int32_t *last_of_weight = CLV_NEW_ARRAY(s->arena, int32_t, n_weights);
    if (!backward || !forward_reader || !last_of_weight)
        return clv_fail_nomem(err, "a training problem");
    for (int32_t u = 0; u < n; u++)
        forward_reader[u] = -1;
    for (int32_t w = 0; w < n_weights; w++)
        last_of_weight[w] = -1;
    mark_backward_units(s, backward);
    visit_weights(s, backward, false, last_of_weight, forward_reader);
    visit_weights(s, backward, true, last_of_weight, forward_reader);
    CLV_TRY(clv_overlay_build(s->problem, backward, forward_reader, s->arena, &s->overlay, err));
    if (!s->overlay)
        return CLV_OK;
    CLV_TRY(clv_overlay_live(s->overlay, s->judge.live_bytes, s->arena, err));
    if (!s->req->compiler)
        clv_builtin_set_backward(s->compiler, s->overlay->backward);
    s->pool_judge = s->judge;
    s->judge.judge = judge_folded;
    s->judge.start = start_folded;
    s->judge.take = take_folded;
    s->judge.drop = drop_folded;
    s->judge.ctx = s;
    s->judge.live_bytes = s->overlay->live_bytes;
    s->judge.held_bytes = NULL;
    s->problem = &s->overlay->folded;
    return CLV_OK;
}

/* -- unfolding -- */

clv_status clv_training_unfold(const clv_stage_search *s, const int32_t *device_of,
                               const int32_t **ret, clv_error *err)
{
    *ret = device_of;
    if (!s->overlay)
        return CLV_OK;
    int32_t *whole = CLV_NEW_ARRAY(s->arena, int32_t, s->overlay->whole->n_units);
    if (!whole)
        return clv_fail_nomem(err, "a plan");
    clv_overlay_expand(s->overlay, device_of, whole);
    *ret = whole;
    return CLV_OK;
}

int32_t clv_training_forward_unit(const clv_stage_search *s, int32_t unit)
{
    return s->overlay ? s->overlay->forward[unit] : unit;
}

clv_status clv_training_mark_plan(const clv_stage_search *s, const int32_t *device_of,
                                  clv_arena *arena, clv_plan *plan, clv_error *err)
{
    const clv_graph *g = s->req->model->main;
    if (!s->overlay)
        return CLV_OK;
    const clv_partition_problem *folded = &s->overlay->folded;
    int32_t *stage = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    int32_t *device = CLV_NEW_ARRAY(arena, int32_t, folded->n_units);
    bool *backward = CLV_NEW_ARRAY(arena, bool, g->n_ops);
    if (!stage || !device || !backward)
        return clv_fail_nomem(err, "stages");
    for (int32_t u = 0; u < folded->n_units; u++)
        device[u] = device_of[s->overlay->forward[u]];
    plan->n_stages = clv_partition_stages(folded, device, arena, stage);
    if (plan->n_stages < 0)
        return clv_fail_nomem(err, "stages");
    for (int32_t d = 0; d < plan->n_devices; d++)
        plan->devices[d].stage = stage[d];
    for (int32_t i = 0; i < g->n_ops; i++)
        backward[g->ops[i].file_index] = s->overlay->backward[s->analysis.units->of[i]];
    plan->backward_op = backward;
    return CLV_OK;
}
