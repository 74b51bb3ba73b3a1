/* bound_contraction.h - a lower bound of the period from what takes too long to be sent: units are
 * contracted, then bound_load.h bounds the smaller problem.
 *
 * Within a period no port is busy for longer than it. So where all that one unit sends to another
 * takes longer than that over any link, both are on one device; and so is all that lies on a way
 * from one of them to the other, or devices would wait for each other (clv_rules_close). Taken as
 * one unit each, such groups cannot be shared out as evenly as their units could. The longer the
 * period, the fewer must be together and the less these bounds are: the least period that is no
 * less than its own bound is found by bisection. Edge contraction by a reduction test, as for
 * minimum cuts (Padberg, Rinaldi 1990); the test by link times is ours. It wins where weights are
 * computed in the model, tensors are large, or links slow.
 */
#ifndef CLV_SOLVER_PARTITION_BOUND_CONTRACTION_H
#define CLV_SOLVER_PARTITION_BOUND_CONTRACTION_H

#include "problem/partition_problem.h"

/* At least low_ns, which must be a bound, at most best_ns, which a plan has. CLV_ENOMEM. O((units *
 * kinds^2 * 40 + pins) * log best_ns), within a limit of work. */
clv_status clv_bound_contraction(const clv_partition_problem *p, int64_t low_ns, int64_t best_ns,
                                 clv_arena *arena, int64_t *ret_ns, clv_error *err);

#endif
