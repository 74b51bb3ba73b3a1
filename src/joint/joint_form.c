#include "joint/joint_form.h"

#include <string.h>

#include "base/clock.h"
#include "lower/stage_cluster.h"
#include "problem/micro.h"
#include "problem/strategy_forest.h"

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

/* What all stages together have. */
static int64_t limit_of(const clv_form *f)
{
    int64_t least = INT64_MAX;
    for (int32_t d = 0; d < f->stages->n_devices; d++) {
        const clv_device_kind *k = clv_device_kind_of(f->stages, d);
        int64_t bytes = k->memory_bytes - k->reserved_bytes;
        least = bytes < least ? bytes : least;
    }
    return least < INT64_MAX / f->n_stages ? least * f->n_stages : INT64_MAX;
}

/* Operators that are alike for the mesh, and what they may do. */
static clv_status open_tables(clv_form *f)
{
    const clv_joint *j = f->j;
    if (f->tables)
        return CLV_OK;
    f->classes = j->classes;
    if (f->factors != j->factors)
        CLV_TRY(clv_op_classes_make(j->analysis->inference->main, f->factors, j->analysis->costs,
                                    f->arena, &f->classes, f->err));
    clv_shard_space space = { .types = j->analysis->inference->main,
                              .factors = f->factors,
                              .costs = j->analysis->costs,
                              .classes = &f->classes,
                              .cluster = j->cluster,
                              .mesh = f->mesh,
                              .resharder = f->resharder,
                              .filter = f->pins && f->pins->any ? &f->pins->filter : NULL };
    return clv_shard_tables_new(&space, f->arena, &f->tables, f->err);
}

clv_status clv_form_build(clv_form *f, int64_t limit_bytes)
{
    CLV_TRY(open_tables(f));
    if (f->problem)
        return clv_shard_problem_limit(f->problem, limit_bytes, f->arena, &f->problem, f->err);
    return clv_shard_problem_build(f->tables, limit_bytes, f->arena, &f->problem, f->err);
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
static clv_int128 enough_for(const clv_form *f)
{
    if (!f->j->any || f->j->best.outcome != CLV_FITS)
        return 0;
    return (clv_int128)f->j->best.ns * f->n_stages;
}

/* Of the problem as it was built last. */
static clv_status solve(clv_form *f)
{
    const clv_joint *j = f->j;
    clv_strategy_options options = { .gap = SOLVER_GAP,
                                     .brief = true,
                                     .known = f->known,
                                     .enough = enough_for(f),
                                     .deadline_s = seconds_left(j->req),
                                     .jobs = f->jobs,
                                     .stop = j->req->stop,
                                     .stop_ctx = j->req->stop_ctx };
    CLV_TRY(clv_strategy_solve(f->problem->problem, &options, f->arena, &f->strategy, f->err));
    f->known = f->strategy.bound; /* limits only fall */
    bool done = f->strategy.found || f->strategy.end == CLV_SOLVED_INFEASIBLE ||
                f->strategy.end == CLV_SOLVED_ENOUGH;
    return done ? CLV_OK : split_nothing(f);
}

static clv_status choose_strategies(clv_form *f, int64_t limit_bytes)
{
    CLV_TRY(clv_form_build(f, limit_bytes));
    return solve(f);
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

/* What no plan of the form beats, found without a search. Of one stage: the cheapest choices of all
 * operators, without what is between them; dealt out to several. Latency: stages may work side by
 * side on one sample, but not on what waits for each other. */
static clv_status find_floor(clv_form *f)
{
    clv_int128 least, path = 0;
    if (f->floor > 0)
        return CLV_OK;
    CLV_TRY(open_tables(f));
    CLV_TRY(clv_shard_least(f->tables, &least, f->err));
    least = (least + f->n_stages - 1) / f->n_stages;
    if (f->j->path)
        CLV_TRY(clv_shard_path_ns(f->tables, f->j->path, f->n_stages, &path, f->err));
    f->floor = path > least ? path : least;
    return CLV_OK;
}

static clv_status take(clv_form *f, int64_t limit_bytes, clv_plan *cut)
{
    clv_score made = clv_joint_score(f->j, cut);
    if (!clv_score_is_better(&made, f->any, &f->best))
        return CLV_OK;
    f->any = true;
    f->best = made;
    f->limit_bytes = limit_bytes;
    f->best_problem = f->problem;
    f->best_local = f->local;
    f->best_cut = cut;
    f->n_answer = f->problem->problem->n_nodes;
    f->answer = CLV_NEW_ARRAY(f->arena, int32_t, f->n_answer);
    if (!f->answer)
        return clv_fail_nomem(f->err, "strategies");
    memcpy(f->answer, f->strategy.choice_of, (size_t)f->n_answer * sizeof *f->answer);
    return CLV_OK;
}

/* For how much memory strategies are chosen after a plan lacked some: for that much less, and less
 * than they took, or they would be the same again. */
static int64_t next_limit(const clv_form *f, int64_t limit, int64_t lack)
{
    clv_int128 used = f->strategy.value.peak;
    if (__builtin_mul_overflow(lack, (int64_t)f->n_stages, &lack))
        return 0;
    return (used <= limit - lack ? (int64_t)used : limit) - lack;
}

/* Plans of the strategies for as much memory as the stages have together; where one lacks some, for
 * less. */
static clv_status cut_form(clv_form *f, int64_t limit)
{
    for (int32_t round = 0; f->strategy.found; round++) {
        clv_plan *cut;
        CLV_TRY(clv_form_cut(f, f->strategy.choice_of, &cut));
        CLV_TRY(take(f, limit, cut));
        if (cut->outcome != CLV_OOM || round + 1 == MEMORY_ROUNDS)
            break;
        limit = next_limit(f, limit, cut->short_bytes << round);
        if (limit <= 0)
            break;
        CLV_TRY(choose_strategies(f, limit));
    }
    return CLV_OK;
}

/* Not even the weights fit: the fastest strategies, to show what is missing. */
static clv_status show_infeasible(clv_form *f)
{
    if (f->j->any && (f->j->best.outcome == CLV_FITS || !f->shows))
        return CLV_OK;
    f->known = 0; /* of answers that keep the limit */
    CLV_TRY(choose_strategies(f, CLV_STRATEGY_UNLIMITED));
    return cut_form(f, 0);
}

static bool is_beaten(const clv_form *f, clv_int128 bound)
{
    return f->j->any && f->j->best.outcome == CLV_FITS && bound >= f->j->best.ns;
}

/* Bounds first: a form that cannot beat the best so far is not searched. */
static clv_status try_form(clv_form *f)
{
    int64_t limit = limit_of(f);
    CLV_TRY(find_floor(f));
    if (is_beaten(f, f->floor))
        return CLV_OK;
    CLV_TRY(clv_form_build(f, limit));
    CLV_TRY(solve(f));
    if (f->strategy.end == CLV_SOLVED_INFEASIBLE)
        return show_infeasible(f);
    /* one stage does all of it; of several the busiest does its share at least */
    clv_int128 bound = (f->strategy.bound + f->n_stages - 1) / f->n_stages;
    bound = bound > f->floor ? bound : f->floor;
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

/* Can it be searched at all? Else it is out. */
static clv_status open_form(clv_form *f)
{
    f->err = &f->own_error;
    if (!f->arena)
        f->arena = clv_arena_new(clv_arena_alloc(f->j->arena), 0);
    if (!f->arena)
        return clv_fail_nomem(f->err, "a form of mesh");
    CLV_TRY(clv_form_open(f));
    clv_status status = clv_form_pins(f->j, f->factors, f->mesh, f->arena, &f->pins, f->err);
    f->refused = status == CLV_EFORMAT && !f->j->req->mesh; /* others may do */
    f->out = f->refused || (f->pins && f->pins->conflict);
    if (f->out)
        return CLV_OK;
    CLV_TRY(status);
    f->out = !stages_are_alike(f);
    if (!f->out || !f->j->req->mesh)
        return CLV_OK;
    return clv_fail(f->err, CLV_EUSAGE,
                    "mesh '%s': the devices of %d stages would not be alike, in kind or links",
                    f->j->req->mesh, (int)f->n_stages);
}

/* What is quick is found first. */
clv_status clv_form_bound(clv_form *f)
{
    clv_int128 sum;
    CLV_TRY(open_form(f));
    if (f->out)
        return CLV_OK;
    CLV_TRY(find_floor(f));
    if (is_beaten(f, f->floor) || (f->n_stages > 1 && f->j->path))
        return CLV_OK; /* of several stages a path says more of latency than a share of the sum */
    CLV_TRY(clv_form_build(f, limit_of(f)));
    CLV_TRY(clv_strategy_forest(f->problem->problem, f->arena, &sum, f->err));
    sum = (sum + f->n_stages - 1) / f->n_stages;
    f->floor = sum > f->floor ? sum : f->floor;
    return CLV_OK;
}

clv_status clv_form_run(clv_form *f)
{
    CLV_TRY(open_form(f));
    return f->out ? CLV_OK : try_form(f);
}
