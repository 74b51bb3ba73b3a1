/* solve.h - from a partition problem to the best plan that a judge accepts: the door of the search
 * for partitions.
 *
 * The search sees numbers only. It makes assignments and has them judged; it never sums up an
 * solution's quality itself. It is a multi-start local search (Marti 2003) over acyclic partitions:
 * seeds by chain partitioning (seed_plans.h), iterated local search and integer programs from the
 * best of them (improve_plans.h), and lower bounds that end it where they are met (bound_plans.h).
 * Same problem, options and judge: same result, at any number of threads.
 */
#ifndef CLV_SOLVER_PARTITION_SOLVE_H
#define CLV_SOLVER_PARTITION_SOLVE_H

#include "solver/partition/search_types.h"

/* Everything of ret lives in the arena. CLV_ELIMIT: sums would overflow; CLV_ECANCELED: stopped
 * before a plan that fits; CLV_ENOMEM; and what the judge says. About max_judged judgements, and
 * O(units + pins) for each step of work between them, which is limited. */
clv_status clv_partition_solve(const clv_partition_problem *p, const clv_partition_judge *judge,
                               const clv_partition_options *options, clv_arena *arena,
                               clv_partition_result *ret, clv_error *err);

#endif
