/* solver.h - the door of all solvers of placements, and what they share while they run.
 *
 * clv_place_solve() runs the portfolio: an answer in milliseconds, then better ones and better
 * bounds, until one meets the other or time is up. Every answer is judged by clv_place_judge();
 * solvers offer answers and raise the bound, and look whether the run is over.
 */
#ifndef CLV_SOLVER_PLACEMENT_SOLVER_H
#define CLV_SOLVER_PLACEMENT_SOLVER_H

#include "problem/place_problem.h"

typedef enum {
    CLV_END_OPTIMAL, /* the bound meets the objective */
    CLV_END_GAP,     /* near enough, as asked */
    CLV_END_DEADLINE,
    CLV_END_SEARCHED,  /* every solver has done what it can */
    CLV_END_STOPPED,   /* the caller said stop */
    CLV_END_INFEASIBLE /* proven: there is no legal answer */
} clv_place_end;

typedef struct {
    clv_place_rules rules;
    double deadline_s; /* 0: none; answers then depend on the input and the seed alone */
    double gap;        /* (objective - bound) / objective at which to stop; 0: at the optimum */
    uint64_t seed;
    bool brief;              /* latency: one turn of the search, some seconds at most */
    bool (*stop)(void *ctx); /* asked often, on the calling thread; may be NULL */
    void *stop_ctx;
    /* Told of each better answer or bound; objective is INFINITY before the first answer. May be
     * NULL. */
    void (*news)(void *ctx, const char *solver, double objective, double bound, double seconds);
    void *news_ctx;
} clv_place_options;

typedef struct {
    bool found;
    int32_t *device_of; /* by node; NULL unless found */
    clv_place_value value;
    double bound; /* no legal answer is below */
    clv_place_end end;
    double seconds;
    const char *found_by, *bound_by; /* names of solvers */
    char why[160];                   /* infeasible: what fits nowhere */
} clv_place_result;

clv_status clv_place_solve(const clv_place_problem *p, const clv_place_options *options,
                           clv_arena *arena, clv_place_result *ret, clv_error *err);

/* -- for solvers -- */

typedef struct clv_place_run clv_place_run;

const clv_place_problem *clv_run_problem(const clv_place_run *run);
const clv_place_options *clv_run_options(const clv_place_run *run);
/* Objective of the best answer so far, INFINITY without; no legal answer is below the bound. */
double clv_run_best(const clv_place_run *run);
const int32_t *clv_run_answer(const clv_place_run *run); /* by node; NULL without */
double clv_run_bound(const clv_place_run *run);
double clv_run_seconds(const clv_place_run *run);
/* Deadline, stop, or the bound near enough: return at once. Looks at the clock: some 30 ns. */
bool clv_run_over(clv_place_run *run);
/* Judges; keeps it if it is legal and better. */
clv_status clv_run_offer(clv_place_run *run, const char *solver, const int32_t *device_of,
                         clv_error *err);
/* bound: proven for every legal answer, in the instance's unit, rounded down. */
void clv_run_raise(clv_place_run *run, const char *solver, double bound);

#endif
