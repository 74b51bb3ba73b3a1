/* solver.c - the portfolio, and what its solvers share: the best answer, the bound, the clock. */
#include "solver/placement/solver.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "solver/placement/common/blocks.h"
#include "solver/placement/contiguous/contiguous.h"
#include "solver/placement/contiguous/lines.h"
#include "solver/placement/fewest.h"
#include "solver/placement/latency/latency.h"
#include "solver/placement/mip/place_ilp.h"
#include "solver/placement/noncontiguous/free.h"

/* Objective and bound are the same within this part: what rounding to ticks can lose is far less
 * (2^-56 of all work, for each node). */
#define PROOF_PART 1e-9

/* More nodes have a line of filled devices as a first answer for latency, too. */
#define FILL_NODES 5000

struct clv_place_run {
    const clv_place_problem *p;
    const clv_place_options *options;
    clv_arena *arena;
    clv_place_result *result;
    int64_t start_ns;
    bool over; /* time is up, or somebody said stop: result->end says which */
};

/* -- for solvers -- */

const clv_place_problem *clv_run_problem(const clv_place_run *run) { return run->p; }
const clv_place_options *clv_run_options(const clv_place_run *run) { return run->options; }
double clv_run_bound(const clv_place_run *run) { return run->result->bound; }
double clv_run_seconds(const clv_place_run *run) { return clv_seconds_since(run->start_ns); }

double clv_run_best(const clv_place_run *run)
{
    return run->result->found ? run->result->value.objective : INFINITY;
}

const int32_t *clv_run_answer(const clv_place_run *run)
{
    return run->result->found ? run->result->device_of : NULL;
}

static double part_left(const clv_place_run *run)
{
    double best = clv_run_best(run), bound = run->result->bound;
    if (isinf(best))
        return isinf(bound) ? 0 : INFINITY;
    return best > 0 ? (best - bound) / best : 0;
}

bool clv_run_over(clv_place_run *run)
{
    double gap = run->options->gap > PROOF_PART ? run->options->gap : PROOF_PART;
    if (run->over || part_left(run) <= gap)
        return true;
    if (run->options->stop && run->options->stop(run->options->stop_ctx)) {
        run->result->end = CLV_END_STOPPED;
        run->over = true;
    } else if (run->options->deadline_s > 0 && clv_run_seconds(run) >= run->options->deadline_s) {
        run->result->end = CLV_END_DEADLINE;
        run->over = true;
    }
    return run->over;
}

static void tell(const clv_place_run *run, const char *solver)
{
    if (run->options->news)
        run->options->news(run->options->news_ctx, solver, clv_run_best(run), run->result->bound,
                           clv_run_seconds(run));
}

clv_status clv_run_offer(clv_place_run *run, const char *solver, const int32_t *device_of,
                         clv_error *err)
{
    clv_place_value value;
    CLV_TRY(
        clv_place_judge(run->p, &run->options->rules, device_of, run->arena, &value, NULL, err));
    if (!value.legal || value.objective >= clv_run_best(run))
        return CLV_OK;
    memcpy(run->result->device_of, device_of, (size_t)run->p->n_nodes * sizeof *device_of);
    run->result->value = value;
    run->result->found = true;
    run->result->found_by = solver;
    tell(run, solver);
    return CLV_OK;
}

void clv_run_raise(clv_place_run *run, const char *solver, double bound)
{
    if (bound <= run->result->bound)
        return;
    run->result->bound = bound;
    run->result->bound_by = solver;
    tell(run, solver);
}

/* -- what is infeasible at once -- */

static bool fits_somewhere(const clv_blocks *b, int32_t u)
{
    for (int32_t k = 0; k < b->n_kinds; k++) {
        const clv_place_kind *kind = &b->p->kinds[k];
        if (kind->count > 0 && clv_block_time(b, k, u) != CLV_BLOCK_NEVER &&
            (kind->capacity_bytes < 0 || b->bytes[u] <= kind->capacity_bytes))
            return true;
    }
    return false;
}

static void say_why(clv_place_result *r, const char *fmt, ...) CLV_PRINTF(2, 3);
static void say_why(clv_place_result *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    clv_words(r->why, sizeof r->why, fmt, args);
    va_end(args);
}

/* A block that no device can take, or more bytes than all devices hold. */
static void check_fit(clv_place_run *run, const clv_blocks *b)
{
    const clv_place_problem *p = run->p;
    double all = 0, room = 0;
    for (int32_t k = 0; k < p->n_kinds; k++)
        if (p->kinds[k].count > 0)
            room += p->kinds[k].capacity_bytes < 0
                        ? INFINITY
                        : (double)p->kinds[k].capacity_bytes * p->kinds[k].count;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        all += (double)p->bytes[v];
        if (fits_somewhere(b, b->block_of[v]))
            continue;
        clv_run_raise(run, "memory", INFINITY);
        say_why(run->result,
                "node %lld and what must be with it hold %lld bytes and fit no device that can "
                "run them",
                (long long)p->id[v], (long long)b->bytes[b->block_of[v]]);
        return;
    }
    if (all > room) {
        clv_run_raise(run, "memory", INFINITY);
        say_why(run->result, "all nodes hold %.0f bytes, and all devices %.0f", all, room);
    }
}

/* -- the portfolio -- */

/* Everything on one device, of each kind: an answer at once. */
static clv_status try_single(clv_place_run *run, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = run->p;
    int32_t device = 0, *device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    if (!device_of)
        return clv_fail_nomem(err, "a placement");
    for (int32_t k = 0; k < p->n_kinds; device += p->kinds[k++].count) {
        if (p->kinds[k].count == 0)
            continue;
        for (int32_t v = 0; v < p->n_nodes; v++)
            device_of[v] = device;
        CLV_TRY(clv_run_offer(run, "one device", device_of, err));
    }
    return CLV_OK;
}

static clv_status run_solvers(clv_place_run *run, clv_arena *arena, clv_error *err)
{
    const clv_place_rules *rules = &run->options->rules;
    clv_blocks *b;
    CLV_TRY(clv_blocks_new(run->p, rules, arena, &b, err));
    check_fit(run, b);
    if (clv_run_over(run))
        return CLV_OK;
    CLV_TRY(try_single(run, arena, err));
    if (rules->objective == CLV_PLACE_DEVICES)
        clv_run_raise(run, "one device", run->p->n_nodes > 0 ? 1 : 0);
    if (clv_run_over(run))
        return CLV_OK;
    if (rules->objective == CLV_PLACE_LATENCY) {
        if (run->p->n_nodes > FILL_NODES) /* small ones have better first answers */
            CLV_TRY(clv_solve_fill(run, b, arena, err));
        return clv_latency_solve(run, arena, err);
    }
    if (rules->objective == CLV_PLACE_DEVICES && !rules->contiguous)
        return clv_solve_fewest(run, arena, err);
    CLV_TRY(rules->contiguous ? clv_solve_contiguous(run, b, arena, err)
                              : clv_free_solve(run, b, arena, err));
    if (rules->objective == CLV_PLACE_DEVICES || clv_run_over(run))
        return CLV_OK;
    CLV_TRY(clv_place_root_bound(run, b, arena, err));
    return clv_place_refine(run, b, arena, err);
}

static void set_end(clv_place_run *run)
{
    clv_place_result *r = run->result;
    double left = part_left(run);
    if (!r->found && isinf(r->bound)) {
        r->end = CLV_END_INFEASIBLE;
        if (!r->why[0])
            say_why(r, "no assignment keeps all rules");
    } else if (left <= PROOF_PART) {
        r->end = CLV_END_OPTIMAL;
        if (r->bound > r->value.objective || r->value.objective - r->bound <= 0)
            r->bound = r->value.objective;
    } else if (left <= run->options->gap) {
        r->end = CLV_END_GAP;
    }
    r->seconds = clv_run_seconds(run);
}

clv_status clv_place_solve(const clv_place_problem *p, const clv_place_options *options,
                           clv_arena *arena, clv_place_result *ret, clv_error *err)
{
    assert(p && options && arena && ret);
    clv_place_result result = { .end = CLV_END_SEARCHED, .found_by = "", .bound_by = "" };
    clv_place_run run = { .p = p, .options = options, .result = &result, .start_ns = clv_now_ns() };
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_status status = CLV_OK;
    result.device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    run.arena = clv_arena_new(clv_arena_alloc(arena), 0);
    if (!scratch || !run.arena || !result.device_of)
        status = clv_fail_nomem(err, "a placement");
    else
        status = run_solvers(&run, scratch, err);
    set_end(&run);
    clv_arena_free(scratch);
    clv_arena_free(run.arena);
    if (!result.found)
        result.device_of = NULL;
    if (status == CLV_OK)
        *ret = result;
    return status;
}
