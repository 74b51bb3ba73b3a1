/* search_types.h - what a search for a partition (solve.h) is asked for and what it gives: the
 * types that the parts of the search share.
 */
#ifndef CLV_SOLVER_PARTITION_SEARCH_TYPES_H
#define CLV_SOLVER_PARTITION_SEARCH_TYPES_H

#include "problem/partition_problem.h"
#include "solver/common/solve.h"

typedef enum {
    CLV_SEARCH_DEFAULT,   /* balanced seeds, moves, best of all (solve.c) */
    CLV_SEARCH_DOCUMENTED /* the search of PopRT as its manual and tool document it, step by step
                             (poprt_search.h) */
} clv_search_kind;

typedef struct {
    clv_solve_options solve; /* nothing is tried at random; candidates are judged by the judge's
                                threads. A deadline counts after the first plans. Stopped before
                                one that fits: CLV_ECANCELED */
    clv_search_kind kind;
    clv_objective objective;
    bool first_fit; /* stop at the first plan that compiles */
    /* As many groups as devices, where there are units enough; where rules leave no plan that fits
     * with so many, fewer. */
    bool use_all_devices;
    int32_t max_judged;   /* 0: the default of the search */
    int32_t microbatches; /* for throughput: the least time of so many one behind the other, filling
                             and draining included; 0: the least period */
    /* A bound of the objective at which to end, solution or none: with CLV_END_BOUND a solution is
     * of no use. 0: not asked. */
    int64_t enough_ns;
    /* The objective of a plan that is known: once the bound says that none here has less, a gap of
     * rival_gap is enough. 0: there is none. */
    int64_t rival_ns;
    double rival_gap;
    /* What the exact search may cost, in words of memory touched, where several searches share it:
     * counted down. Where that shows that nothing fits, the plan that lacks least is not looked for
     * then. NULL: a limit of its own. */
    int64_t *work_left;
    bool only_period_is_bounded; /* the judge's latency may be below that of
                                    clv_partition_estimate() */
} clv_partition_options;

/* The least available memory proportion that plans are tried with where memory is short, unless a
 * device's default is less. */
#define CLV_PROPORTION_MIN 0.1

/* One assignment that is or was judged, for the report. */
typedef struct {
    const int32_t *device_of;
    double proportion; /* available memory proportion; 0: each device's default */
    clv_verdict verdict;
    const char *move; /* how it was made: "memory balance", "unit 12: device 0 to 1 (child)", ... */
    bool leaves_out;  /* all devices are asked for, and one has no units */
} clv_candidate;

typedef struct {
    clv_solve_result solve; /* found: some assignment fits. By unit: its device; ns of the objective
                               in the whole part of value and bound, 0: no bound is known */
    clv_candidate best;     /* found: the best that fits; else the one with the smallest OOM, or a
                               failed one if nothing else */
    int32_t n_judged;
    clv_candidate *tried; /* in the order judged */
    /* Nothing was judged, because no legal assignment meets the rules: proven, or none was found.
     * best has the outcome CLV_INFEASIBLE then. */
    bool rules_unmet, proven;
} clv_partition_result;

#endif
