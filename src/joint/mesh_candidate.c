#include "joint/mesh_candidate.h"

#include <string.h>

#include "cost/shard_parted.h"
#include "cost/shard_parted_problem.h"
#include "cost/shard_path_bound.h"
#include "joint/strategy_enumeration.h"
#include "problem/intra_op_forest.h"
#include "stages/stages.h"

#define MEMORY_ROUNDS    4     /* choices are made anew for less memory so often */
#define FLIGHT_ROUNDS    2     /* and so often for what is in flight */
#define COMPARED_CUTS    4     /* of a plan that is found for comparison, */
#define COMPARED_GAP     0.01  /* and the gap that is enough for its strategies, */
#define COMPARED_CUT_GAP 0.2   /* and for a cut */
#define LEAST_SECONDS_S  0.01  /* for a candidate, when time is up: a solution is there by then */
#define SOLVER_GAP       0.001 /* of the intra-operator problem: a tenth of a plan's */
#define EXACT_NODES      64    /* so few are solved to the end */
#define NOT_KNOWN        (-1)
#define WIDE_PART        100 /* a solution that costs 1/100 more than is proven may be far off */
/* Solutions of one strategy problem that are cut into stages; one stage takes little time. */
#define CUTS_MAX      512
#define ONE_STAGE_MAX 4096
#define LISTS_MAX     4 /* so often */
/* What these cost, in words of memory, beside the exact searches: a solution that is cut, an
 * operator that is given a strategy and a stage. */
#define CUT_WORK 20000
#define TRY_WORK 40

/* -- opening -- */

static clv_status open_mesh(clv_mesh_candidate *c, clv_error *err)
{
    if (!c->arena)
        c->arena = clv_arena_new(clv_arena_alloc(c->j->arena), 0);
    if (!c->arena)
        return clv_fail_nomem(err, "a form of mesh");
    return c->on.mesh ? CLV_OK : clv_mesh_open(c->j, &c->form, c->arena, &c->on, err);
}

static clv_status open_stages(clv_mesh_candidate *c, clv_error *err)
{
    return c->on.excluded ? CLV_OK : clv_mesh_open_stages(c->j, &c->form, c->arena, &c->on, err);
}

/* -- choices within a limit on memory -- */

/* What strategies may take: of lean ones, so much more than that. */
#define LEAN_TIMES 1.5
static int64_t limit_of(const clv_mesh_candidate *c)
{
    int64_t most = clv_mesh_memory_bytes(&c->on);
    double lean = LEAN_TIMES * (double)clv_mesh_split_bytes(c->j, &c->on);
    return c->form.lean && lean < (double)most ? (int64_t)lean : most;
}

static bool by_latency(const clv_mesh_candidate *c)
{
    return c->j->req->search.objective == CLV_LATENCY;
}

/* Operators that are alike for the mesh, and what they may do. */
static clv_status build_tables(clv_mesh_candidate *c, clv_error *err)
{
    const clv_joint *j = c->j;
    if (c->tables)
        return CLV_OK;
    c->classes = j->classes;
    if (c->on.factors != j->factors)
        CLV_TRY(clv_op_classes_make(j->analysis->types, c->on.factors, j->analysis->costs, c->arena,
                                    &c->classes, err));
    clv_shard_space space = { .types = j->analysis->types,
                              .factors = c->on.factors,
                              .costs = j->analysis->costs,
                              .classes = &c->classes,
                              .cluster = j->cluster,
                              .mesh = c->on.mesh,
                              .resharder = c->on.resharder,
                              .filter = c->on.constraints && c->on.constraints->any
                                            ? &c->on.constraints->filter
                                            : NULL };
    return clv_shard_tables_new(&space, c->arena, &c->tables, err);
}

static clv_status build_problem(clv_mesh_candidate *c, int64_t limit_bytes, clv_error *err)
{
    CLV_TRY(build_tables(c, err));
    if (c->problem)
        return clv_shard_problem_limit(c->problem, limit_bytes, c->arena, &c->problem, err);
    return clv_shard_problem_build(c->tables, limit_bytes, c->arena, &c->problem, err);
}

/* The request's deadline, or hardly any time when it is over; 0: there is none. */
static int64_t least_deadline(int64_t deadline_ns)
{
    int64_t least_ns = clv_deadline_in(LEAST_SECONDS_S);
    return deadline_ns == 0 || deadline_ns > least_ns ? deadline_ns : least_ns;
}

/* From when on a plan is of no use beside the best one; INT64_MAX: there is none that fits. */
static int64_t of_no_use_ns(const clv_mesh_candidate *c)
{
    return c->compares
               ? INT64_MAX
               : clv_joint_of_one(c->j, c->form.groups, clv_joint_no_use_ns(c->j, &c->form));
}

/* A bound of the strategy problem from which on no plan takes less than this; 0: there is no such
 * bound. */
static clv_int128 bound_for(const clv_mesh_candidate *c, int64_t ns)
{
    clv_int128 dealt_out = (clv_int128)ns * c->on.n_stages;
    if (ns >= INT64_MAX)
        return 0;
    return c->saved >= 0 && ns + c->saved < dealt_out ? ns + c->saved : dealt_out;
}

/* What the best plan of other forms takes, of one copy; INT64_MAX: it is of no interest. */
static int64_t rival_ns(const clv_mesh_candidate *c)
{
    const clv_joint_found *best = clv_joint_best_fit(c->j);
    return best && !c->compares && !c->thorough
               ? clv_joint_of_one(c->j, c->form.groups, best->score.ns)
               : INT64_MAX;
}

static clv_intra_op_options solve_options(const clv_mesh_candidate *c,
                                          const clv_intra_op_problem *p)
{
    const clv_joint *j = c->j;
    return (clv_intra_op_options){
        .solve = { .deadline_ns = least_deadline(j->req->search.solve.deadline_ns),
                   .gap = p->n_nodes <= EXACT_NODES ? 0
                          : c->compares             ? COMPARED_GAP
                                                    : SOLVER_GAP,
                   .jobs = c->jobs,
                   .stop = j->req->stop,
                   .stop_ctx = j->req->stop_ctx },
        .brief = true,
        .times = c->times,
        .known = c->known,
        /* as soon as the bound says that the best plan is not beaten, the rest is of no use */
        .enough = bound_for(c, of_no_use_ns(c)),
        .rival = bound_for(c, rival_ns(c)),
        .rival_gap = clv_joint_rival_gap(j)
    };
}

/* The limit of the problem as it was built last; INT64_MAX: none. */
static int64_t limit_asked(const clv_mesh_candidate *c)
{
    int64_t limit_bytes = c->problem->problem->usage_limit;
    return limit_bytes == CLV_INTRA_OP_UNLIMITED ? INT64_MAX : limit_bytes;
}

/* Do strategies that were found with as much memory or more do, as good as is wanted? */
static bool is_solved(const clv_mesh_candidate *c, double gap)
{
    return c->strategy.solve.found && c->strategy.value.peak <= limit_asked(c) &&
           clv_solve_gap(&c->strategy.solve) <= gap;
}

/* Of the problem as it was built last. */
static clv_status solve(clv_mesh_candidate *c, clv_error *err)
{
    if (limit_asked(c) > c->solved_bytes) { /* more may cost less */
        c->strategy.solve.found = false;
        c->known = 0;
    }
    clv_intra_op_options options = solve_options(c, c->problem->problem);
    if (is_solved(c, options.solve.gap))
        return CLV_OK;
    CLV_TRY(clv_intra_op_solve(c->problem->problem, &options, c->arena, &c->strategy, err));
    c->solved_bytes = limit_asked(c);
    c->known = c->strategy.solve.bound.whole;
    if (c->strategy.solve.found || c->strategy.solve.end == CLV_END_INFEASIBLE ||
        c->strategy.solve.end == CLV_END_BOUND)
        return CLV_OK;
    /* choice 0 of every operator and tensor is a plan, if a slow one: all weights are everywhere */
    c->strategy.solve.solution = CLV_NEW_ARRAY(c->arena, int32_t, c->problem->problem->n_nodes);
    if (!c->strategy.solve.solution)
        return clv_fail_nomem(err, "strategies");
    c->strategy.solve.found = true;
    return CLV_OK;
}

/* -- bounds -- */

/* How many runs may be in the pipeline at once, at least 1, where their number is left open: each
 * has states of its own that stay in place. n_stages: as many as fill it. */
static int32_t most_in_flight(const clv_mesh_candidate *c)
{
    const clv_joint *j = c->j;
    int64_t weight_bytes = j->analysis->costs->total.weight_bytes;
    int64_t state_bytes = j->kept_bytes - weight_bytes;
    if (by_latency(c) || j->req->microbatches > 0 || state_bytes <= 0)
        return c->on.n_stages;
    clv_int128 room = (clv_int128)clv_mesh_memory_bytes(&c->on) * c->on.mesh->n_devices;
    clv_int128 most = (room - weight_bytes) / state_bytes;
    return most < 1 ? 1 : most < c->on.n_stages ? (int32_t)most : c->on.n_stages;
}

static bool is_filled(const clv_mesh_candidate *c) { return c->in_flight == c->on.n_stages; }

/* The least objective where all stages together work for so long on one run. A pipeline that is not
 * filled takes as many runs as it has room for, the first of them all the way, then drains. */
static clv_int128 of_stages(const clv_mesh_candidate *c, clv_int128 work_ns)
{
    clv_int128 share = (work_ns + c->on.n_stages - 1) / c->on.n_stages;
    clv_int128 first = c->path > share ? c->path : share, n = c->in_flight;
    return is_filled(c) ? share : (first + (n - 1) * share + n - 1) / n;
}

/* What no plan of it beats, found without a search. Of one stage: the cheapest choices of all
 * operators, without what is between them; dealt out to several. Latency: stages may work side by
 * side on one sample, but not on what waits for each other. */
static clv_status find_floor(clv_mesh_candidate *c, clv_error *err)
{
    clv_int128 least;
    c->in_flight = most_in_flight(c);
    if (c->floor > 0 && is_filled(c))
        return CLV_OK;
    CLV_TRY(build_tables(c, err));
    CLV_TRY(clv_shard_least(c->tables, &least, err));
    if (by_latency(c) || !is_filled(c))
        CLV_TRY(clv_shard_path_bound_ns(c->tables, c->j->path, c->on.n_stages, &c->path, err));
    least = of_stages(c, least);
    least = by_latency(c) && c->path > least ? c->path : least;
    c->floor = least > c->floor ? least : c->floor;
    return CLV_OK;
}

static bool is_beaten(const clv_mesh_candidate *c, clv_int128 bound_ns)
{
    return bound_ns >= of_no_use_ns(c);
}

/* What the forest says, dealt out to the stages. */
static void raise_to_share(clv_mesh_candidate *c)
{
    clv_int128 least = of_stages(c, c->forest);
    c->floor = least > c->floor ? least : c->floor;
}

/* Of one form, its mesh is open. */
static clv_status bound_form(clv_mesh_candidate *c, clv_error *err)
{
    c->floor = 0;
    CLV_TRY(clv_mesh_open_stages(c->j, &c->form, c->arena, &c->on, err));
    if (c->on.excluded)
        return CLV_OK;
    CLV_TRY(find_floor(c, err));
    if (is_beaten(c, c->floor) || (by_latency(c) && (c->on.n_stages > 1 || c->form.groups > 1)))
        return CLV_OK; /* of several stages a path says more of latency than a share of the sum, and
                          with fewer devices there is mostly no need to know more */
    if (!c->problem) { /* else that of the form with most memory: none needs more */
        CLV_TRY(build_problem(c, clv_mesh_memory_bytes(&c->on), err));
        CLV_TRY(clv_intra_op_forest(c->problem->problem, c->arena, &c->forest, err));
    }
    raise_to_share(c);
    return CLV_OK;
}

clv_status clv_mesh_candidate_bound(clv_mesh_candidate *c, const clv_joint_form *forms, int32_t n,
                                    clv_int128 *ret, clv_error *err)
{
    c->form = forms[0];
    CLV_TRY(open_mesh(c, err));
    bool none = c->on.excluded, unlike = false;
    for (int32_t i = 0; i < n; i++) {
        c->form = forms[i];
        if (!none)
            CLV_TRY(bound_form(c, err));
        ret[i] = c->on.excluded ? CLV_EXCLUDED : c->floor;
        unlike |= c->on.unlike;
    }
    c->on.unlike = unlike;
    return CLV_OK;
}

static clv_status raise_by_forest(clv_mesh_candidate *c, clv_error *err)
{
    CLV_TRY(clv_intra_op_forest(c->problem->problem, c->arena, &c->forest, err));
    raise_to_share(c);
    return CLV_OK;
}

/* Several stages by latency: their sum says less than their paths. */
static bool counts_paths(const clv_mesh_candidate *c)
{
    return c->on.n_stages > 1 && by_latency(c);
}

/* More is known once the problem is there. For comparison strategies are found in any case, and
 * their bound says more. */
static clv_status raise_floor(clv_mesh_candidate *c, clv_error *err)
{
    clv_pipeline_bound pipeline;
    if (!counts_paths(c))
        return c->compares ? CLV_OK : raise_by_forest(c, err);
    const clv_pipeline_stages stages = { c->on.n_stages, c->on.stages };
    CLV_TRY(clv_shard_pipeline_bound_ns(c->problem, c->j->path, &stages, c->arena, &pipeline, err));
    c->parted = pipeline.parted;
    c->floor = pipeline.ns > c->floor ? pipeline.ns : c->floor;
    return CLV_OK;
}

/* -- stages -- */

/* Of the local model. What runs beside a long stretch of the critical path is apart from what reads
 * it: so one stage may do it while the next goes on along the path, as the keys and values that all
 * layers of a decoder make of the encoder's result. */
static clv_status make_units(const clv_mesh_candidate *c, clv_arena *arena, clv_subgraphs **ret,
                             clv_error *err)
{
    const clv_costs *costs = c->local->costs;
    const clv_shard_path *path;
    CLV_TRY(clv_subgraphs_build(costs, true, arena, ret, err));
    if (c->on.n_stages == 1 || !by_latency(c) || c->j->path->n_beside == 0)
        return CLV_OK;
    CLV_TRY(clv_shard_path_find(costs, clv_device_kind_of(c->on.stages, 0), arena, &path, err));
    int32_t n = costs->graph->n_ops, *mark = CLV_NEW_ARRAY(arena, int32_t, n);
    if (!mark)
        return clv_fail_nomem(err, "units of a mesh");
    for (int32_t i = 0; i < n; i++)
        mark[i] = path->beside[i];
    return clv_subgraphs_split(costs, *ret, mark, arena, ret, err);
}

/* What a device of a mesh runs, for these choices, cut into stages. enough_ns: plans that take so
 * long are of no use; 0: all are. */
static clv_status cut_into_stages(clv_mesh_candidate *c, const int32_t *solution, int64_t enough_ns,
                                  clv_arena *arena, clv_plan **ret, clv_error *err)
{
    const clv_joint *j = c->j;
    int64_t no_use_ns = of_no_use_ns(c);
    clv_request req = *j->req;
    clv_inference inference = *j->analysis->inference;
    const clv_sharded_model sharded = { j->req->model, j->analysis->costs, c->problem, solution,
                                        c->on.resharder };
    if (c->local_of != solution)
        CLV_TRY(clv_local_model_make(&sharded, arena, &c->local, err));
    c->local_of = solution;
    clv_analysis analysis = { .inference = &inference,
                              .costs = c->local->costs,
                              .types = c->local->types };
    inference.main = c->local->types;
    inference.n_open = 0;
    inference.n_conflicts = 0;
    CLV_TRY(make_units(c, arena, &analysis.units, err));
    req.model = c->local->model;
    req.cluster = c->on.stages;
    req.devices = j->req->devices || j->req->stages ? c->on.n_stages : 0;
    req.max_share = c->on.mesh->n_devices; /* rules on tensors are met already */
    req.memory_bytes = 0;                  /* the cluster has it */
    req.max_latency_ns = clv_joint_max_latency_ns(j);
    req.terse = true;
    req.backward = j->backward;
    req.jobs = c->jobs;
    req.search.enough_ns = enough_ns;
    req.no_use_ns = c->remade || no_use_ns == INT64_MAX ? 0 : no_use_ns;
    if (c->compares) {
        req.search.max_judged = COMPARED_CUTS;
        req.search.solve.gap = COMPARED_CUT_GAP;
    }
    req.search.work_left = c->work_left;
    clv_solve_detach(&req.search.solve); /* of the calling thread only */
    return clv_stages_plan(&req, &analysis, arena, ret, err);
}

/* Are strategies only as good as they must be beside a plan that they do not beat? */
static bool is_near(const clv_mesh_candidate *c)
{
    return c->strategy.solve.end == CLV_END_GAP && rival_ns(c) < INT64_MAX &&
           clv_solve_gap(&c->strategy.solve) > SOLVER_GAP;
}

/* Not local model and cut, which may be scratch: see keep_all(). */
static clv_status keep_if_better(clv_mesh_candidate *c, int64_t limit_bytes,
                                 const int32_t *solution, const clv_plan *cut, bool *ret_is_better,
                                 clv_error *err)
{
    clv_score made = clv_joint_score(c->j, c->form.groups, cut);
    *ret_is_better = clv_score_is_better(&made, c->any, &c->best);
    if (!*ret_is_better)
        return CLV_OK;
    c->any = true;
    c->best = made;
    c->facts = clv_joint_facts(c->j, c->form.groups, c->on.mesh->n_devices, cut);
    for (int32_t i = 0; i < c->local->n_communications; i++)
        c->facts.collectives += clv_step_sends(c->local->communications[i].step.kind);
    clv_axis_roles_of(c->problem, solution, &c->j->role_ops, c->roles);
    c->limit_bytes = limit_bytes;
    c->is_near = is_near(c);
    c->best_problem = c->problem;
    c->n_solution = c->problem->problem->n_nodes;
    c->solution = CLV_NEW_ARRAY(c->arena, int32_t, c->n_solution);
    if (!c->solution)
        return clv_fail_nomem(err, "strategies");
    memcpy(c->solution, solution, (size_t)c->n_solution * sizeof *c->solution);
    return CLV_OK;
}

/* The same where local model and cut live as long as the candidate. */
static clv_status keep_all(clv_mesh_candidate *c, int64_t limit_bytes, const int32_t *solution,
                           clv_plan *cut, clv_error *err)
{
    bool is_better;
    CLV_TRY(keep_if_better(c, limit_bytes, solution, cut, &is_better, err));
    c->best_local = is_better ? c->local : c->best_local;
    c->best_cut = is_better ? cut : c->best_cut;
    return CLV_OK;
}

/* For how much memory choices are made after a plan lacked some: for that much less, and less than
 * they took, or they would be the same again. */
static int64_t next_limit(const clv_mesh_candidate *c, int64_t limit_bytes, int64_t lack_bytes)
{
    clv_int128 used = c->strategy.value.peak;
    if (__builtin_mul_overflow(lack_bytes, (int64_t)c->on.n_stages, &lack_bytes))
        return 0;
    return (used <= limit_bytes - lack_bytes ? (int64_t)used : limit_bytes) - lack_bytes;
}

/* Plans of the choices for as much memory as the stages have together; where one lacks some, for
 * less. */
static clv_status cut_for_memory(clv_mesh_candidate *c, int64_t limit_bytes, clv_error *err)
{
    for (int32_t round = 0; c->strategy.solve.found; round++) {
        clv_plan *cut;
        CLV_TRY(cut_into_stages(c, c->strategy.solve.solution, 0, c->arena, &cut, err));
        CLV_TRY(keep_all(c, limit_bytes, c->strategy.solve.solution, cut, err));
        if (cut->outcome != CLV_OOM || round + 1 == MEMORY_ROUNDS)
            break;
        limit_bytes = next_limit(c, limit_bytes, cut->short_bytes << round);
        if (limit_bytes <= 0)
            break;
        CLV_TRY(build_problem(c, limit_bytes, err));
        CLV_TRY(solve(c, err));
    }
    return CLV_OK;
}

/* Has memory left no room for all that fills the pipeline? */
static bool is_unfilled(const clv_mesh_candidate *c)
{
    return c->on.n_stages > 1 && c->any && c->best.outcome == CLV_FITS && c->best_cut &&
           c->best_cut->why_microbatches == CLV_MICRO_MEMORY && !c->j->any_will_do;
}

/* Strategies that fill memory leave none for what is in flight: those that take less may do more in
 * the same time, with half of what is beside weights and inputs that are all split, then a quarter.
 */
static clv_status cut_for_flight(clv_mesh_candidate *c, int64_t limit_bytes, clv_error *err)
{
    int64_t least_bytes = clv_mesh_split_bytes(c->j, &c->on);
    for (int32_t round = 0; round < FLIGHT_ROUNDS && is_unfilled(c); round++) {
        clv_plan *cut;
        if (limit_bytes <= least_bytes)
            break;
        limit_bytes = least_bytes + (limit_bytes - least_bytes) / 2;
        if (c->strategy.value.peak <= limit_bytes)
            continue; /* the same strategies */
        CLV_TRY(build_problem(c, limit_bytes, err));
        CLV_TRY(solve(c, err));
        if (!c->strategy.solve.found)
            break;
        CLV_TRY(cut_into_stages(c, c->strategy.solve.solution, 0, c->arena, &cut, err));
        CLV_TRY(keep_all(c, limit_bytes, c->strategy.solve.solution, cut, err));
    }
    return CLV_OK;
}

/* The least that a plan takes so far, of any form. */
static int64_t best_so_far(const clv_mesh_candidate *c)
{
    int64_t ns = of_no_use_ns(c);
    if (!c->any || c->best.outcome != CLV_FITS)
        return ns;
    int64_t own = clv_joint_of_one(c->j, c->form.groups, c->best.ns);
    return own < ns ? own : ns;
}

/* The plan of strategies of which the floor says that stages share some: those that are best one
 * after the other need not be. */
static clv_status cut_shared(clv_mesh_candidate *c, int64_t limit_bytes, clv_error *err)
{
    clv_shard_problem *shared;
    clv_intra_op_result made;
    clv_plan *cut;
    if (c->parted.n == 0)
        return CLV_OK;
    CLV_TRY(clv_shard_parted_problem(c->problem, &c->parted, c->arena, &shared, err));
    clv_intra_op_options options = solve_options(c, shared->problem);
    options.enough = of_no_use_ns(c); /* of one run, as is what these cost */
    CLV_TRY(clv_intra_op_solve(shared->problem, &options, c->arena, &made, err));
    if (!made.solve.found || made.solve.end == CLV_END_BOUND)
        return CLV_OK;
    CLV_TRY(cut_into_stages(c, made.solve.solution, 0, c->arena, &cut, err));
    return keep_all(c, limit_bytes, made.solve.solution, cut, err);
}

/* About what a plan of such strategies takes; 0: there are none. */
static int64_t shared_ns(const clv_mesh_candidate *c)
{
    clv_int128 ns = c->strategy.solve.bound.whole - c->parted.saved;
    return c->parted.n > 0 && ns > 0 && ns < INT64_MAX ? (int64_t)ns : 0;
}

/* One stage does all of it; of several the busiest does its share at least, and all together take
 * no less of one run than that without what a pipeline saves. */
static clv_int128 bound_of_strategies(const clv_mesh_candidate *c)
{
    clv_int128 whole = c->strategy.solve.bound.whole, least = of_stages(c, whole);
    return c->saved >= 0 && whole - c->saved > least ? whole - c->saved : least;
}

/* Is a solution not proven to be near the best? */
static bool is_wide(const clv_intra_op_result *r)
{
    clv_int128 bound = r->solve.bound.whole;
    return r->value.cost < bound || r->value.cost - bound > bound / WIDE_PART;
}

/* Not even what a model keeps has room: the fastest choices, to show what is missing. */
static clv_status show_lack(clv_mesh_candidate *c, clv_error *err)
{
    CLV_TRY(build_problem(c, CLV_INTRA_OP_UNLIMITED, err));
    CLV_TRY(solve(c, err));
    return cut_for_memory(c, 0, err);
}

clv_status clv_mesh_candidate_search(clv_mesh_candidate *c, clv_error *err)
{
    CLV_TRY(open_mesh(c, err));
    CLV_TRY(open_stages(c, err));
    if (c->on.excluded)
        return CLV_OK;
    int64_t limit_bytes = limit_of(c);
    CLV_TRY(find_floor(c, err));
    if (is_beaten(c, c->floor))
        return CLV_OK;
    if (!clv_mesh_has_room(c->j, &c->on)) /* forms hardly differ in what they lack */
        return clv_joint_best(c->j) ? CLV_OK : show_lack(c, err);
    CLV_TRY(build_problem(c, limit_bytes, err));
    CLV_TRY(raise_floor(c, err));
    if (is_beaten(c, c->floor))
        return CLV_OK;
    if (c->shares)
        return cut_shared(c, limit_bytes, err);
    c->saved = NOT_KNOWN;
    if (counts_paths(c))
        CLV_TRY(
            clv_shard_parted_ns(c->problem, c->j->path, c->on.n_stages, c->arena, &c->saved, err));
    CLV_TRY(solve(c, err));
    if (c->strategy.solve.end == CLV_END_INFEASIBLE) {
        bool is_known = clv_joint_best_fit(c->j) || (clv_joint_best(c->j) && !c->shows);
        return is_known ? CLV_OK : show_lack(c, err);
    }
    c->wide = is_wide(&c->strategy);
    if (c->compares && c->wide && !counts_paths(c))
        CLV_TRY(raise_by_forest(c, err));
    clv_int128 bound = bound_of_strategies(c);
    bound = bound > c->floor ? bound : c->floor;
    c->bounded = true;
    c->bound_ns = bound < INT64_MAX ? (int64_t)bound : 0;
    c->shared_ns = shared_ns(c);
    if (is_beaten(c, bound))
        return CLV_OK;
    CLV_TRY(cut_for_memory(c, limit_bytes, err));
    return cut_for_flight(c, limit_bytes, err);
}

void clv_mesh_candidate_follow(clv_mesh_candidate *c, const clv_mesh_candidate *before)
{
    c->arena = before->arena;
    c->jobs = before->jobs;
    c->on = before->on;
    c->classes = before->classes;
    c->tables = before->tables;
    c->problem = before->problem;
    c->strategy = before->strategy;
    c->solved_bytes = before->solved_bytes;
    c->known = before->known;
    c->local = before->local;
    c->local_of = before->local_of;
}

/* No more plans are to be cut: what may be better is left to the bound. */
static bool is_over(const clv_mesh_candidate *c)
{
    bool has_any = c->any && c->best.outcome == CLV_FITS;
    return *c->work_left <= 0 || (has_any && c->j->any_will_do) || clv_joint_time_is_up(c->j);
}

/* The plan of a solution; *io_bound: no plan of it takes less. */
static clv_status cut_one(clv_mesh_candidate *c, const int32_t *solution, int64_t limit_bytes,
                          clv_arena *scratch, clv_int128 *io_bound, clv_error *err)
{
    clv_plan *cut;
    bool is_better;
    int64_t best_ns = best_so_far(c);
    *c->work_left -= CUT_WORK;
    CLV_TRY(cut_into_stages(c, solution, best_ns < INT64_MAX ? best_ns : 0, scratch, &cut, err));
    if (strcmp(cut->stopped, clv_end_name(CLV_END_BOUND)) != 0)
        CLV_TRY(keep_if_better(c, limit_bytes, solution, cut, &is_better, err));
    int64_t bound = clv_joint_bound_of(cut);
    *io_bound = bound > *io_bound ? bound : *io_bound;
    return CLV_OK;
}

/* Plans of listed solutions, until no other can be better. None takes less than *ret_bound. */
static clv_status cut_listed(clv_mesh_candidate *c, const clv_strategy_list *list,
                             int64_t limit_bytes, clv_int128 *ret_bound, clv_error *err)
{
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(c->arena), 0);
    clv_status status = scratch ? CLV_OK : clv_fail_nomem(err, "strategies");
    *ret_bound = CLV_INT128_MAX;
    for (int32_t i = 0; i < list->n && status == CLV_OK; i++) {
        clv_int128 bound = list->floor[i];
        clv_mark mark = clv_arena_mark(scratch);
        if (bound < best_so_far(c) && !is_over(c))
            status = cut_one(c, list->solution[i], limit_bytes, scratch, &bound, err);
        clv_arena_rewind(scratch, mark);
        *ret_bound = bound < *ret_bound ? bound : *ret_bound;
    }
    clv_arena_free(scratch);
    c->local = NULL; /* it was scratch */
    c->local_of = NULL;
    return status;
}

/* A plan holds what its choices do not: what is in flight, and gaps. Within which limit choices
 * would have given a plan that fits, as the best one shows that lacks some; 0: none below *io. */
static clv_status leave_room(const clv_mesh_candidate *c, int64_t *io, clv_error *err)
{
    clv_intra_op_value value;
    CLV_TRY(clv_intra_op_judge(c->best_problem->problem, c->solution, c->arena, &value, err));
    clv_int128 limit = value.peak - (clv_int128)c->best.short_bytes * c->on.n_stages;
    *io = limit > 0 && limit < *io ? (int64_t)limit : 0;
    return CLV_OK;
}

/* Plans of all strategies within a limit that may still be better: as many as are listed at once,
 * then those behind them. */
static clv_status cut_all(clv_mesh_candidate *c, int64_t limit_bytes, clv_int128 *ret_bound,
                          clv_error *err)
{
    clv_int128 least = CLV_INT128_MAX, from = 0, of_listed;
    bool is_done = false;
    CLV_TRY(build_problem(c, limit_bytes, err));
    for (int32_t i = 0; i < (c->j->any_will_do ? 1 : LISTS_MAX) && !is_done; i++) {
        clv_strategy_list list;
        const clv_enumeration all = { .of = { c->problem, c->j->analysis->costs, c->on.stages,
                                              c->on.resharder, c->j->req->microbatches > 1 },
                                      .latency = by_latency(c),
                                      .from = from,
                                      .below = best_so_far(c),
                                      .most = c->on.n_stages > 1 ? CUTS_MAX : ONE_STAGE_MAX };
        CLV_TRY(clv_strategies_enumerate(&all, c->arena, &list, err));
        *c->work_left -= (int64_t)list.tries * TRY_WORK;
        CLV_TRY(cut_listed(c, &list, limit_bytes, &of_listed, err));
        least = of_listed < least ? of_listed : least;
        is_done = list.rest <= from || list.rest >= best_so_far(c) || is_over(c);
        from = list.rest > from ? list.rest : from;
    }
    *ret_bound = from < least ? from : least;
    return CLV_OK;
}

clv_status clv_mesh_candidate_exhaust(clv_mesh_candidate *c, clv_error *err)
{
    clv_int128 bound, of_fewer;
    c->jobs = 1; /* a plan of so few operators is found before a thread begins */
    c->bounded = true;
    CLV_TRY(open_mesh(c, err));
    CLV_TRY(open_stages(c, err));
    int64_t limit_bytes = clv_mesh_memory_bytes(&c->on);
    CLV_TRY(cut_all(c, limit_bytes, &bound, err));
    c->bound_ns = bound > c->bound_ns ? (int64_t)bound : c->bound_ns;
    if (!c->any || c->best.outcome != CLV_OOM || bound >= best_so_far(c))
        return CLV_OK;
    CLV_TRY(leave_room(c, &limit_bytes, err));
    return cut_all(c, limit_bytes, &of_fewer, err); /* of fewer strategies: no bound of all */
}

clv_status clv_mesh_candidate_remake(clv_mesh_candidate *c, const clv_joint_found *found,
                                     clv_error *err)
{
    int64_t limit_bytes = found->limit_bytes > 0 ? found->limit_bytes : CLV_INTRA_OP_UNLIMITED;
    CLV_TRY(open_mesh(c, err));
    CLV_TRY(open_stages(c, err));
    CLV_TRY(build_problem(c, limit_bytes, err));
    c->remade = true;
    CLV_TRY(cut_into_stages(c, found->solution, 0, c->arena, &c->best_cut, err));
    c->best_problem = c->problem;
    c->best_local = c->local;
    return CLV_OK;
}
