#include "joint/joint_form.h"

#include <string.h>

#include "base/clock.h"
#include "cost/shard_path.h"
#include "problem/micro.h"
#include "spmd/stage_cluster.h"

#define MEMORY_ROUNDS 4     /* strategies are chosen anew for less memory so often */
#define LEAST_SECONDS 0.01  /* for a form, when time is up: an answer is there by then */
#define SOLVER_GAP    0.001 /* of the strategy problem: a tenth of what a plan is to be near */

clv_score clv_joint_score(const clv_joint *j, const clv_plan *p)
{
    clv_score made = { p->outcome, p->period_ns, p->short_bytes };
    if (j->req->search.objective == CLV_LATENCY)
        made.ns = p->latency_ns;
    else if (j->req->microbatches > 0)
        made.ns = clv_micro_share_ns(p->latency_ns, p->period_ns, j->req->microbatches);
    return made;
}

/* The worst are plans that break rules. */
static int rank(const clv_score *s)
{
    return s->outcome == CLV_FITS ? 0 : s->outcome == CLV_INFEASIBLE ? 2 : 1;
}

/* A plan that fits before one that does not, then the faster, then the one that lacks less. */
bool clv_score_is_better(const clv_score *s, bool any, const clv_score *best)
{
    if (!any || rank(s) != rank(best))
        return !any || rank(s) < rank(best);
    if (s->outcome != CLV_FITS)
        return s->short_bytes < best->short_bytes;
    return s->ns < best->ns;
}

static int64_t capacity_of(const clv_form *f)
{
    int64_t least = INT64_MAX;
    for (int32_t d = 0; d < f->stages->n_devices; d++) {
        const clv_device_kind *k = clv_device_kind_of(f->stages, d);
        int64_t bytes = k->memory_bytes - k->reserved_bytes;
        least = bytes < least ? bytes : least;
    }
    return least;
}

/* path: as in clv_shard_problem_build(). */
clv_status clv_form_build(clv_form *f, const int32_t *path, int64_t limit_bytes)
{
    const clv_joint *j = f->j;
    return clv_shard_problem_build(j->analysis->inference->main, f->factors, j->analysis->costs,
                                   j->cluster, f->mesh, f->resharder,
                                   f->pins && f->pins->any ? &f->pins->filter : NULL, path,
                                   limit_bytes, f->arena, &f->problem, f->err);
}

/* Choice 0 of every operator and tensor is a plan, if a slow one that holds all weights everywhere.
 */
static clv_status split_nothing(clv_form *f)
{
    f->strategy.choice_of = CLV_NEW_ARRAY(f->arena, int32_t, f->problem->problem->n_nodes);
    if (!f->strategy.choice_of)
        return clv_fail_nomem(f->err, "strategies");
    f->strategy.found = true;
    return CLV_OK;
}

/* Seconds left of the request's time, hardly any when it is over; 0: there is no limit. */
static double seconds_left(const clv_request *req)
{
    if (req->search.deadline_ns == 0)
        return 0;
    double left = -clv_seconds_since(req->search.deadline_ns);
    return left > LEAST_SECONDS ? left : LEAST_SECONDS;
}

/* As soon as the bound says that the best plan so far is not beaten, the rest is of no use. */
static clv_wide enough_for(const clv_form *f, const int32_t *path)
{
    if (!f->j->any || f->j->best.outcome != CLV_FITS)
        return 0;
    return (clv_wide)f->j->best.ns * (path ? 1 : f->n_stages);
}

/* Of the problem as it was built last, for that path. */
static clv_status solve(clv_form *f, const int32_t *path)
{
    const clv_joint *j = f->j;
    clv_strategy_options options = { .gap = SOLVER_GAP,
                                     .brief = true,
                                     .enough = enough_for(f, path),
                                     .deadline_s = seconds_left(j->req),
                                     .jobs = f->jobs,
                                     .stop = j->req->stop,
                                     .stop_ctx = j->req->stop_ctx };
    CLV_TRY(clv_strategy_solve(f->problem->problem, &options, f->arena, &f->strategy, f->err));
    bool done = f->strategy.found || f->strategy.end == CLV_SOLVED_INFEASIBLE ||
                f->strategy.end == CLV_SOLVED_ENOUGH;
    return done ? CLV_OK : split_nothing(f);
}

static clv_status choose_strategies(clv_form *f, const int32_t *path, int64_t limit_bytes)
{
    CLV_TRY(clv_form_build(f, path, limit_bytes));
    return solve(f, path);
}

/* What a device of a mesh runs, cut into stages. */
clv_status clv_form_cut(clv_form *f, const int32_t *answer, clv_plan **ret)
{
    const clv_joint *j = f->j;
    clv_request req = *j->req;
    clv_inference inference = *j->analysis->inference;
    CLV_TRY(clv_local_model_make(j->req->model, j->analysis->costs, f->problem, answer,
                                 f->resharder, f->arena, &f->local, f->err));
    clv_analysis analysis = { .inference = &inference, .costs = f->local->costs };
    inference.main = f->local->types;
    inference.n_open = 0;
    inference.n_conflicts = 0;
    CLV_TRY(clv_subgraphs_build(f->local->types, f->local->costs, true, f->arena, &analysis.units,
                                f->err));
    req.model = f->local->model;
    req.cluster = f->stages;
    req.devices = j->req->devices || j->req->stages ? f->n_stages : 0;
    req.max_share = f->mesh->n_devices; /* rules on tensors are obeyed already */
    req.memory_bytes = 0;               /* the cluster has it */
    req.terse = true;
    req.jobs = f->jobs;
    req.search.progress = NULL; /* of the calling thread only */
    return clv_pipeline_cut(&req, &analysis, f->arena, ret, f->err);
}

/* No plan of the form has less latency: stages may work side by side on one sample, but not on what
 * waits for each other. */
static clv_status find_path_bound(clv_form *f, clv_wide *ret)
{
    const clv_joint *j = f->j;
    int32_t *path;
    CLV_TRY(clv_shard_path(j->analysis->inference->main, j->analysis->costs,
                           clv_device_kind_of(f->stages, 0), f->arena, &path, f->err));
    CLV_TRY(choose_strategies(f, path, CLV_STRATEGY_UNLIMITED));
    *ret = f->strategy.bound;
    return CLV_OK;
}

/* The cheapest choices of all operators, without what is between them, dealt out to the stages. */
static clv_wide least_share(const clv_form *f)
{
    const clv_strategies *p = f->problem->problem;
    clv_wide sum = 0;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int64_t least = p->cost[p->first_choice[v]];
        for (int32_t c = p->first_choice[v] + 1; c < p->first_choice[v + 1]; c++)
            least = p->cost[c] < least ? p->cost[c] : least;
        sum += least;
    }
    return (sum + f->n_stages - 1) / f->n_stages;
}

static clv_status take(clv_form *f, int64_t limit_bytes, const clv_plan *cut)
{
    clv_score made = clv_joint_score(f->j, cut);
    if (!clv_score_is_better(&made, f->any, &f->best))
        return CLV_OK;
    f->any = true;
    f->best = made;
    f->limit_bytes = limit_bytes;
    f->n_answer = f->problem->problem->n_nodes;
    f->answer = CLV_NEW_ARRAY(f->arena, int32_t, f->n_answer);
    if (!f->answer)
        return clv_fail_nomem(f->err, "strategies");
    memcpy(f->answer, f->strategy.choice_of, (size_t)f->n_answer * sizeof *f->answer);
    return CLV_OK;
}

/* Plans of the strategies for as much memory as the stages have together; where one lacks some, for
 * that much less. */
static clv_status cut_form(clv_form *f, int64_t limit)
{
    for (int32_t round = 0; f->strategy.found; round++) {
        clv_plan *cut;
        CLV_TRY(clv_form_cut(f, f->strategy.choice_of, &cut));
        CLV_TRY(take(f, limit, cut));
        if (cut->outcome != CLV_OOM || round + 1 == MEMORY_ROUNDS)
            break;
        limit -= (cut->short_bytes << round) * f->n_stages;
        if (limit <= 0)
            break;
        CLV_TRY(choose_strategies(f, NULL, limit));
    }
    return CLV_OK;
}

/* Not even the weights fit: the fastest strategies, to show what is missing. */
static clv_status show_infeasible(clv_form *f)
{
    if (f->j->any)
        return CLV_OK;
    CLV_TRY(choose_strategies(f, NULL, CLV_STRATEGY_UNLIMITED));
    return cut_form(f, 0);
}

static bool is_beaten(const clv_form *f, clv_wide bound)
{
    return f->j->any && f->j->best.outcome == CLV_FITS && bound >= f->j->best.ns;
}

/* Bounds first: a form that cannot beat the best so far is not searched. */
static clv_status try_form(clv_form *f)
{
    int64_t limit = capacity_of(f);
    clv_wide bound = 0;
    limit = limit < INT64_MAX / f->n_stages ? limit * f->n_stages : INT64_MAX;
    if (f->n_stages > 1 && f->j->req->search.objective == CLV_LATENCY)
        CLV_TRY(find_path_bound(f, &bound));
    if (is_beaten(f, bound))
        return CLV_OK;
    CLV_TRY(clv_form_build(f, NULL, limit));
    if (is_beaten(f, least_share(f)))
        return CLV_OK;
    CLV_TRY(solve(f, NULL));
    if (f->strategy.end == CLV_SOLVED_INFEASIBLE)
        return show_infeasible(f);
    /* one stage does all of it; of several the busiest does its share at least */
    clv_wide share = (f->strategy.bound + f->n_stages - 1) / f->n_stages;
    bound = share > bound ? share : bound;
    f->bounded = true;
    f->bound_ns = bound < INT64_MAX ? (int64_t)bound : 0;
    return is_beaten(f, bound) ? CLV_OK : cut_form(f, limit);
}

/* Stages are of one kind and joined alike inside, or what is found for the first is not true of the
 * others. */
static bool stages_are_alike(const clv_form *f)
{
    const clv_cluster *c = f->j->cluster;
    const int32_t *order = f->j->levels.order;
    int32_t n = f->mesh->n_devices;
    for (int32_t d = n; d < c->n_devices; d++) {
        int32_t first = order[d % n], start = d - d % n;
        if (c->devices[order[d]].kind != c->devices[first].kind)
            return false;
        for (int32_t k = 0; k < n; k++) {
            const clv_route *a = clv_route_between(c, first, order[k]);
            const clv_route *b = clv_route_between(c, order[d], order[start + k]);
            if (a->latency_ns != b->latency_ns || a->bytes_per_s < b->bytes_per_s ||
                a->bytes_per_s > b->bytes_per_s)
                return false;
        }
    }
    return true;
}

clv_status clv_form_open(clv_form *f)
{
    const clv_joint *j = f->j;
    int32_t n = 1;
    for (int32_t a = 0; a < f->shape.n_axes; a++)
        n *= f->shape.size[a];
    f->n_stages = j->cluster->n_devices / n;
    CLV_TRY(clv_mesh_make(&f->shape, j->cluster, j->levels.order, n, f->arena, &f->mesh, f->err));
    clv_comm_options comm = { .overlap = j->req->overlap };
    CLV_TRY(clv_resharder_new(f->mesh, j->cluster, &comm, f->arena, &f->resharder, f->err));
    CLV_TRY(clv_factors_units(j->analysis->inference->main, j->factors, f->mesh, f->arena,
                              &f->factors, f->err));
    return clv_stage_cluster_make(j->cluster, j->levels.order, n, f->arena, &f->stages, f->err);
}

clv_status clv_form_pins(const clv_joint *j, const clv_factors *factors, const clv_mesh *mesh,
                         clv_arena *arena, clv_split_pins **ret, clv_error *err)
{
    *ret = NULL;
    if (j->without || (!j->req->data_parallel && !clv_split_pins_asked(&j->rules)))
        return CLV_OK;
    return clv_split_pins_make(&j->rules, j->req->data_parallel, j->analysis->inference->main,
                               factors, mesh, arena, ret, err);
}

clv_status clv_form_run(clv_form *f)
{
    f->err = &f->own_error;
    f->arena = clv_arena_new(clv_arena_alloc(f->j->arena), 0);
    if (!f->arena)
        return clv_fail_nomem(f->err, "a form of mesh");
    CLV_TRY(clv_form_open(f));
    clv_status status = clv_form_pins(f->j, f->factors, f->mesh, f->arena, &f->pins, f->err);
    f->refused = status == CLV_EFORMAT && !f->j->req->mesh; /* others may do */
    if (f->refused || (f->pins && f->pins->conflict))
        return CLV_OK;
    CLV_TRY(status);
    if (stages_are_alike(f))
        return try_form(f);
    if (!f->j->req->mesh)
        return CLV_OK; /* left out */
    return clv_fail(f->err, CLV_EUSAGE,
                    "mesh '%s': the devices of %d stages would not be alike, in kind or links",
                    f->j->req->mesh, (int)f->n_stages);
}
