/* incumbent.h - the incumbent: the best solution so far, the best bound, and whether that is
 * enough: what branch and bound keeps (Land, Doig 1960), for methods of any kind.
 *
 * One a search, on its calling thread; methods offer solutions that were judged and bounds that are
 * proven, and return when clv_incumbent_over(). Other threads look at
 * clv_incumbent_limits_elsewhere() alone.
 */
#ifndef CLV_SOLVER_COMMON_INCUMBENT_H
#define CLV_SOLVER_COMMON_INCUMBENT_H

#include "base/arena.h"
#include "solver/common/solve.h"

typedef struct {
    const clv_solve_options *options;
    clv_solve_result *result;
    int32_t n_items;
    int64_t start_ns;
    double proof_part; /* value and bound are the same within this part: what rounding loses */
    clv_objval enough_bound; /* a bound at which to end, solution or none; infinite: not asked */
    clv_objval rival; /* of the best solution elsewhere; infinite: none is known. Once the bound
                         says that none here is better, */
    double rival_gap; /* this gap is enough */
    atomic_int ended;
    clv_limits limits; /* of the calling thread */
} clv_incumbent;

/* Starts the clock. The solution is kept in an array of n_items in the arena. */
clv_status clv_incumbent_open(clv_incumbent *inc, const clv_solve_options *options, int32_t n_items,
                              clv_arena *arena, clv_solve_result *result, clv_error *err);
/* For other threads: they never call the caller's stop(). inc must stay where it is. */
clv_limits clv_incumbent_limits_elsewhere(clv_incumbent *inc);

/* Keeps a copy of the solution if it is the first or its value is less; false if it is not kept.
 * method stays the caller's. O(items). */
bool clv_incumbent_offer(clv_incumbent *inc, const int32_t *solution, clv_objval value,
                         const char *method);
/* Keeps it as it is the better one by an order of the caller's. */
void clv_incumbent_set(clv_incumbent *inc, const int32_t *solution, clv_objval value,
                       const char *method);
/* A proven bound, rounded down; false if it is not above the one known. */
bool clv_incumbent_raise(clv_incumbent *inc, clv_objval bound, const char *method);

/* The bound is as high as asked. */
bool clv_incumbent_is_bound_enough(const clv_incumbent *inc);
/* Proven, near enough to the bound, as asked or beside a rival, or that. */
bool clv_incumbent_is_enough(const clv_incumbent *inc);
/* That, or time is up, or the caller said stop: return at once. Looks at the clock. */
bool clv_incumbent_over(clv_incumbent *inc);

double clv_incumbent_seconds(const clv_incumbent *inc);
/* Calls the caller's progress(), if there is one. */
void clv_incumbent_report(const clv_incumbent *inc, const char *method, int32_t n_judged,
                          int32_t n_waiting);

/* Why it ended, into the result, with the time that it took. */
void clv_incumbent_close(clv_incumbent *inc);

#endif
