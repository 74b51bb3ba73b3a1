#include "stages/stage_search.h"

#include "cost/problem_build.h"
#include "rules/constraints_read.h"
#include "rules/tensor_constraints.h"
#include "rules/unit_constraints.h"
#include "stages/judge_open.h"
#include "stages/layer_units.h"
#include "stages/training.h"

clv_stage_search clv_stage_search_beside(const clv_stage_search *s)
{
    return (clv_stage_search){ .req = s->req,
                               .arena = s->arena,
                               .analysis = s->analysis,
                               .microbatches = s->microbatches,
                               .why_microbatches = s->why_microbatches };
}

/* Nothing is merged for the sake of a search that sees all plans. */
static clv_status make_single_units(clv_stage_search *s, clv_error *err)
{
    clv_subgraphs *single;
    if (!clv_request_leaves_search(s->req) || clv_request_keeps_layers(s->req))
        return CLV_OK;
    CLV_TRY(clv_subgraphs_of_ops(s->analysis.costs, CLV_SINGLE_OPS_MAX, s->arena, &single, err));
    if (single)
        s->analysis.units = s->plain_units = single;
    return CLV_OK;
}

/* Many devices need finer units than few, where none are given. */
static clv_status make_finer_units(clv_stage_search *s, clv_error *err)
{
    if (s->req->sharding_nodes)
        return CLV_OK;
    if (clv_request_keeps_layers(s->req))
        return clv_layer_units_make(s->analysis.costs, s->arena, &s->analysis.units, err);
    return clv_subgraphs_refine(s->analysis.costs, s->analysis.units, s->cluster->n_devices,
                                s->arena, &s->analysis.units, err);
}

/* Manual mode: the subgraphs are those of the given nodes. */
static clv_status make_manual_units(clv_stage_search *s, clv_error *err)
{
    CLV_TRY(clv_manual_cut_parse(s->req->sharding_nodes, s->req->model->main, s->cluster->n_devices,
                                 s->arena, &s->cut, err));
    CLV_TRY(clv_subgraphs_of_nodes(s->analysis.costs, s->cut.node, s->cut.n, s->arena,
                                   &s->analysis.units, err));
    return clv_manual_cut_check(&s->cut, s->analysis.units, s->req->model->main, err);
}

static clv_status read_rules(clv_stage_search *s, bool mesh_asked, clv_error *err)
{
    clv_constraints *rules = &s->rules.rules;
    CLV_TRY(clv_constraints_parse(s->req->constraints, s->req->model->main, s->cluster, s->arena,
                                  rules, err));
    clv_unit_constraints_drop_followers(rules, s->analysis.costs->goes_with);
    if (!mesh_asked && clv_tensor_constraints_need_mesh(rules))
        return clv_fail(err, CLV_EUSAGE, "there are rules that split tensors, %s",
                        s->req->max_share == 1
                            ? "but --max-tp 1 keeps operators whole: expected 2 or more, or none"
                            : "so a mesh is expected: --mesh, --max-tp or --stages");
    return CLV_OK;
}

/* Units of which the rules say one thing only. */
static clv_status make_ruled_units(clv_stage_search *s, clv_error *err)
{
    const clv_graph *g = s->analysis.costs->graph;
    int32_t n = g->n_ops, *mark = NULL;
    if (!s->by_ops) {
        CLV_TRY(clv_unit_constraints_mark(&s->rules.rules, g, s->arena, &mark, err));
        return clv_subgraphs_split(s->analysis.costs, s->analysis.units, mark, s->arena,
                                   &s->analysis.units, err);
    }
    clv_op *all = CLV_NEW_ARRAY(s->arena, clv_op, n);
    if (!all)
        return clv_fail_nomem(err, "constraints");
    for (int32_t i = 0; i < n; i++)
        all[i] = (clv_op){ i };
    return clv_subgraphs_of_nodes(s->analysis.costs, all, n, s->arena, &s->analysis.units, err);
}

clv_status clv_stage_search_open(clv_stage_search *s, int32_t devices, int64_t memory_bytes,
                                 clv_error *err)
{
    const clv_request *req = s->req;
    int32_t n = devices ? devices : req->cluster->n_devices;
    CLV_TRY(clv_cluster_subset(req->cluster, n, memory_bytes, s->arena, &s->cluster, err));
    s->memory_bytes = memory_bytes;
    if (req->constraints)
        CLV_TRY(read_rules(s, clv_request_asks_mesh(req), err));
    CLV_TRY(make_single_units(s, err));
    CLV_TRY(make_finer_units(s, err));
    if (req->sharding_nodes)
        CLV_TRY(make_manual_units(s, err));
    else if (s->rules.rules.n > 0)
        CLV_TRY(make_ruled_units(s, err));
    CLV_TRY(clv_training_find_backward(s, err));
    CLV_TRY(clv_problem_build(s->analysis.costs, s->analysis.units, s->cluster, s->arena,
                              &s->problem, err));
    if (s->rules.rules.n > 0 && !req->sharding_nodes)
        CLV_TRY(clv_unit_constraints_lower(&s->rules.rules, s->rules.skip, s->analysis.units,
                                           s->problem, s->arena, err));
    s->workload = (clv_workload){ req->model, s->analysis.types, s->analysis.costs,
                                  s->analysis.units, s->cluster };
    CLV_TRY(clv_stage_judge_open(s, err));
    return clv_training_fold(s, err);
}

void clv_stage_search_close(clv_stage_search *s)
{
    clv_pool_close(s->pool);
    clv_compiler_close(s->compiler);
    s->pool = NULL;
    s->compiler = NULL;
}

clv_status clv_stage_search_run(clv_stage_search *s, const clv_partition_options *options,
                                clv_partition_result *ret, clv_error *err)
{
    CLV_TRY(clv_partition_solve(s->problem, &s->judge, options, s->arena, ret, err));
    if (!ret->rules_unmet || s->by_ops || s->problem->n_units == s->req->model->main->n_ops)
        return CLV_OK;
    int32_t devices = s->cluster->n_devices;
    CLV_TRY(clv_stage_judge_finish_first(s, err));
    clv_stage_search_close(s);
    s->by_ops = true;
    CLV_TRY(clv_stage_search_open(s, devices, s->memory_bytes, err));
    return clv_partition_solve(s->problem, &s->judge, options, s->arena, ret, err);
}
