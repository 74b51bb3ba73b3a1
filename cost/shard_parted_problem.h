/* shard_parted_problem.h - the strategy problem of a pipeline whose stages change in known places.
 *
 * Strategies that are best one after the other need not be so where branches run side by side:
 * there what is dealt out counts as its share, and what is sent to other stages counts.
 */
#ifndef CLV_COST_SHARD_PARTED_PROBLEM_H
#define CLV_COST_SHARD_PARTED_PROBLEM_H

#include "cost/shard_pipeline_bound.h"

/* The same nodes and choices. A stretch in n parts costs 1/n, and its begin what it takes to send
 * it for n - 1 of the n. It shares what does not change with the other; what does lives in the
 * arena. O(nodes + edges + entries of the stretches). */
clv_status clv_shard_parted_problem(const clv_shard_problem *s, const clv_parted_stretches *parted,
                                    clv_arena *arena, clv_shard_problem **ret, clv_error *err);

#endif
