/* search.h - from a partition problem to the best plan that a judge accepts.
 *
 * The search sees numbers only. It makes assignments and has them judged; it never sums up an
 * answer's quality itself. Same problem, options and judge: same result, at any number of threads.
 */
#ifndef CLV_SOLVER_PARTITION_SEARCH_H
#define CLV_SOLVER_PARTITION_SEARCH_H

#include "problem/partition_problem.h"
#include "solver/common/solve.h"

typedef enum {
    CLV_SEARCH_DEFAULT,   /* balanced seeds, moves, best of all (search.c) */
    CLV_SEARCH_DOCUMENTED /* the search of PopRT as its manual and tool document it, step by step
                             (documented.c) */
} clv_search_kind;

typedef struct {
    clv_solve_options solve; /* nothing is tried at random; candidates are judged by the judge's
                                threads. A deadline counts after the first plans. Stopped before
                                one that fits: CLV_ECANCELED */
    clv_search_kind kind;
    clv_objective objective;
    bool first_fit;       /* stop at the first plan that compiles */
    bool use_all_devices; /* as many groups as devices, where there are units enough */
    int32_t max_judged;   /* 0: the default of the search */
    int32_t microbatches; /* for throughput: the least time of so many one behind the other, filling
                             and draining included; 0: the least period */
    bool only_period_is_bounded; /* the judge's latency may be below that of
                                    clv_partition_estimate() */
} clv_partition_options;

/* One assignment that was judged, for the report. */
typedef struct {
    const int32_t *device_of;
    double proportion;
    clv_verdict verdict;
    const char *move; /* "memory balance", "unit 12: device 0 to 1 (child)", ... */
} clv_tried;

typedef struct {
    clv_solve_result solve; /* found: some assignment fits. By unit: its device; ns of the objective
                               in the whole part of value and bound, 0: no bound is known */
    clv_tried best;         /* found: the best that fits; else the one with the smallest OOM, or a
                               failed one if nothing else */
    int32_t n_judged;
    clv_tried *tried; /* in the order judged */
    /* Nothing was judged, because no legal assignment obeys the rules: proven, or none was found.
     * best has the outcome CLV_INFEASIBLE then. */
    bool none_obeys, proven;
} clv_partition_result;

clv_status clv_partition_solve(const clv_partition_problem *p, const clv_partition_judge *judge,
                               const clv_partition_options *options, clv_arena *arena,
                               clv_partition_result *ret, clv_error *err);

/* What the objective is counted in: latency, or period, or share_ns where that is set. No bound of
 * the period is above a share. */
int64_t clv_verdict_ns(const clv_verdict *v, clv_objective objective);

/* Is verdict a better than b? Fitting first; then the objective; then the other measure; then the
 * smaller OOM. A strict order: equal verdicts are not better. */
bool clv_verdict_better(const clv_verdict *a, const clv_verdict *b, clv_objective objective);

#endif
