/* simple_bounds.h - bounds without search: by work, and by the largest block.
 *
 * The two classical bounds of makespan scheduling, mean load and longest job (McNaughton 1959,
 * Scheduling with deadlines and loss functions, Management Science 6), here for devices of several
 * kinds. Ours: the longest job takes with it what is cheaper to hold than to send. They win where
 * transfers are cheap, or one block dominates.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_SIMPLE_BOUNDS_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_SIMPLE_BOUNDS_H

#include "solver/placement/noncontiguous/column_generation.h"

/* Raises the search's bound to all work over all devices, as if it could be shared out evenly and
 * nothing were sent. O(n * kinds^2). */
void clv_work_bound_raise(clv_column_gen *f);

/* A load that some device has at least, in the unit of the problem: every block is somewhere. Of
 * the blocks with most time, O(states) each. Overwrites the prices in use. */
clv_status clv_block_bound(clv_column_gen *f, double *ret, clv_error *err);

#endif
