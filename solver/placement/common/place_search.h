/* place_search.h - a placement problem while it is solved: options, result, and the incumbent that
 * all methods share.
 *
 * The methods of portfolio.h offer assignments, which clv_place_judge() judges, raise the bound,
 * and look whether it is over. One thread.
 */
#ifndef CLV_SOLVER_PLACEMENT_COMMON_PLACE_SEARCH_H
#define CLV_SOLVER_PLACEMENT_COMMON_PLACE_SEARCH_H

#include "problem/place_problem.h"
#include "solver/common/incumbent.h"

typedef struct {
    clv_solve_options solve; /* jobs: placements are solved by one thread */
    clv_place_rules rules;
    bool late_enumeration; /* few assignments are not tried first: for tests of other methods */
    bool brief;            /* latency: one turn of the search, some seconds at most */
} clv_place_options;

typedef struct {
    clv_solve_result solve; /* by node: its device; value and bound in the unit of the file */
    clv_place_value value;  /* of the solution */
} clv_place_result;

/* Solves a problem with all methods that suit it: clv_place_solve() (solver/placement/portfolio.h),
 * for methods that solve parts of a problem, or the problem under other rules. */
typedef clv_status clv_place_solver(const clv_place_problem *p, const clv_place_options *options,
                                    clv_arena *arena, clv_place_result *ret, clv_error *err);

typedef struct {
    const clv_place_problem *p;
    const clv_place_options *options;
    clv_place_result *result;
    clv_place_solver *solve_part;
    clv_arena *judge_arena; /* of clv_place_judge(); rewound by it */
    clv_incumbent incumbent;
    double step;              /* all objectives are multiples of it; 0: that is not known */
    bool sums_round;          /* sums of times and costs may be rounded */
    int64_t enumeration_work; /* that all assignments took, or more (enumerate_assignments.h) */
} clv_place_search;

/* Finds step and sums_round: sums of numbers that are all multiples of a power of two are exact as
 * long as no sum has more than 53 bits. O(nodes * kinds + edges). */
void clv_place_find_step(clv_place_search *s);

/* Objective of the best solution so far, INFINITY without; no legal solution is below the bound. */
double clv_place_best(const clv_place_search *s);
double clv_place_bound(const clv_place_search *s);
const int32_t *clv_place_best_solution(const clv_place_search *s); /* by node; NULL without */
double clv_place_seconds(const clv_place_search *s);               /* since the start */
/* Seconds that the search has in all; 0: no deadline. */
double clv_place_time_s(const clv_place_search *s);

/* Deadline, stop, or the bound near enough: return at once. Looks at the clock: some 30 ns. */
bool clv_place_over(clv_place_search *s);
bool clv_place_over_ctx(void *search); /* the same, for callbacks */
/* Judges, and keeps it if it is legal and better. method is a text that stays. */
clv_status clv_place_offer(clv_place_search *s, const char *method, const int32_t *device_of,
                           clv_error *err);
/* The same for an assignment by group: by class (p->class_of) or block (clv_contraction.block_of).
 */
clv_status clv_place_offer_groups(clv_place_search *s, const char *method, const int32_t *group_of,
                                  const int32_t *device_of_group, clv_error *err);
/* bound: proven for every legal solution, rounded down; INFINITY: there is none. Goes up to the
 * next objective that a solution may have. */
void clv_place_raise(clv_place_search *s, const char *method, double bound);

#endif
