/* solve.h - the contract of all solvers: what a search is asked for beside its problem, what it
 * reports while it runs, and what it gives.
 *
 *     clv_partition_solve()   units of a model on devices        solver/partition/solve.h
 *     clv_place_solve()       nodes of a workload on devices     solver/placement/portfolio.h
 *     clv_intra_op_solve()    a choice for each operator         solver/intra_op/solve.h
 *
 * Each takes options that begin with a clv_solve_options and gives a result that begins with a
 * clv_solve_result. A solution is one number for each item of the problem: the device of a unit or
 * node, the choice of an operator. It is judged by src/problem, never by who made it. Same problem,
 * same options, no deadline: same result, at any number of threads.
 */
#ifndef CLV_SOLVER_COMMON_SOLVE_H
#define CLV_SOLVER_COMMON_SOLVE_H

#include <stddef.h>

#include "solver/common/limits.h"
#include "solver/common/objval.h"

typedef struct {
    const char *method; /* that found the last better solution or bound; "" before the first */
    clv_objval value;   /* of the best solution; infinite before the first */
    clv_objval bound;   /* no solution has less */
    int32_t n_judged, n_waiting; /* candidates, where a compiler judges them; else 0 */
    double seconds;              /* since the start */
} clv_solve_progress;

typedef struct {
    int64_t deadline_ns; /* of clv_now_ns(); 0: none, and the result depends on problem and seed */
    double gap;          /* enough when (value - bound) / value is no more; 0: the optimum */
    uint64_t seed;       /* of what is tried at random */
    int32_t jobs;        /* threads; 0 is as 1 */
    bool (*stop)(void *ctx); /* asked often, on the calling thread; true ends it. May be NULL */
    void *stop_ctx;
    /* Each better solution or bound, each batch of candidates; on the calling thread; or NULL. */
    void (*progress)(void *ctx, const clv_solve_progress *progress);
    void *progress_ctx;
} clv_solve_options;

typedef struct {
    bool found;
    int32_t *solution; /* by item; NULL unless found */
    clv_objval value;  /* as judged; infinite unless found */
    clv_objval bound;  /* proven: no solution has less; infinite: there is none */
    clv_end end;
    double seconds;
    const char *found_by, *bound_by; /* methods; "" where there is none */
    char why[200];                   /* infeasible: the reason, a sentence; else "" */
} clv_solve_result;

/* Without the caller's callbacks: for a search beside his, or on another thread. */
static inline void clv_solve_detach(clv_solve_options *o)
{
    o->stop = NULL;
    o->progress = NULL;
}

/* (value - bound) / value. */
static inline double clv_solve_gap(const clv_solve_result *r)
{
    return clv_objval_gap(r->value, r->bound);
}

#endif
