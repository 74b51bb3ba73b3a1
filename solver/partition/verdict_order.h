/* verdict_order.h - which of two verdicts is better: the one order of plans of all searches. What
 * fits is better than what does not, of what does not the one that lacks less: the rules of Deb
 * 2000, "An efficient constraint handling method for genetic algorithms". */
#ifndef CLV_SOLVER_PARTITION_VERDICT_ORDER_H
#define CLV_SOLVER_PARTITION_VERDICT_ORDER_H

#include "problem/partition_problem.h"

/* What the objective is counted in: latency, or period, or share_ns where that is set. No bound of
 * the period is above a share. O(1). */
int64_t clv_verdict_ns(const clv_verdict *v, clv_objective objective);

/* Is verdict a better than b? Fitting first; then the objective; then the other measure; then the
 * smaller OOM. A strict weak order: equal verdicts are not better. O(1). */
bool clv_verdict_better(const clv_verdict *a, const clv_verdict *b, clv_objective objective);

#endif
