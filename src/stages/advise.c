#include "stages/advise.h"

#include "explain/advice.h"
#include "explain/no_fit.h"
#include "stages/training.h"

typedef struct {
    const clv_stage_search *s;
    const clv_candidate *given; /* the plan of manual mode, which is not searched for; else NULL */
} retrial;

/* By the very search that the user would start. */
static clv_status try_with(void *ctx, const clv_room *room, clv_verdict *ret, clv_error *err)
{
    const retrial *again = ctx;
    const clv_stage_search *s = again->s;
    clv_stage_search beside = clv_stage_search_beside(s);
    clv_partition_options options = s->req->search;
    clv_partition_result result = { .solve = { .found = false } };
    clv_mark scratch = clv_arena_mark(s->arena);
    beside.rules.skip = s->rules.skip;
    beside.by_ops = s->by_ops;
    beside.microbatches = room->microbatches;
    options.first_fit = true;
    options.use_all_devices = s->req->devices > 0 || room->devices != s->cluster->n_devices;
    clv_solve_detach(&options.solve);
    clv_status status = clv_stage_search_open(&beside, room->devices, room->memory_bytes, err);
    if (status == CLV_OK && again->given) {
        clv_assignment plan = { .device_of = again->given->device_of,
                                .proportion = again->given->proportion };
        status = beside.judge.judge(beside.judge.ctx, &plan, 1, &result.best.verdict, err);
    } else if (status == CLV_OK) {
        status =
            clv_partition_solve(beside.problem, &beside.judge, &options, s->arena, &result, err);
    }
    clv_stage_search_close(&beside);
    clv_arena_rewind(s->arena, scratch);
    *ret = result.best.verdict;
    return status;
}

clv_status clv_stage_advise(clv_stage_search *s, const clv_candidate *best, clv_plan *plan,
                            clv_error *err)
{
    const clv_subgraphs *units = s->analysis.units;
    bool by_hand = s->req->sharding_nodes != NULL;
    retrial again = { s, by_hand ? best : NULL };
    clv_adviser a = { .asked = { s->cluster->n_devices, s->req->memory_bytes, s->microbatches },
                      .devices_most = s->req->cluster->n_devices,
                      .try_with = try_with,
                      .ctx = &again,
                      .plan = plan,
                      .arena = s->arena };
    clv_fit_bound bound;
    clv_str last_op = { 0 };
    CLV_TRY(clv_partition_fit_bound(s->problem, s->judge.live_bytes, s->arena, &bound, err));
    if (bound.impossible && bound.unit >= 0) {
        const clv_subgraph *part = &units->at[clv_training_forward_unit(s, bound.unit)];
        last_op = s->req->model->main->ops[units->order[part->first + part->n - 1].i].label;
    }
    CLV_TRY(clv_note_fit_bound(&bound, by_hand, last_op, plan, s->arena, err));
    CLV_TRY(clv_advise_microbatches(&a, err));
    CLV_TRY(clv_advise_memory(&a, bound.least_bytes, err));
    /* more devices would not change cuts given by hand */
    return by_hand ? CLV_OK : clv_advise_devices(&a, err);
}
