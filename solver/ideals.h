/* ideals.h - the best contiguous placement, exactly: a search over the order ideals of the blocks.
 *
 * An ideal is a set of blocks with all that must come before them. Devices in a line hold the
 * differences of growing ideals, so an answer is a path from the empty ideal to the full one, and
 * each step is a piece with a load.
 *
 * For a limit T on the load, ideals are met smallest first. Kept for each: which devices can have
 * made it, how many of each kind, with which largest load; only what is not beaten in all of these.
 * From an ideal, all pieces of load up to T are grown block by block. A piece is given up as soon
 * as what it has taken, with what it receives, is above T, or when what is left without it is more
 * than the remaining devices could do within T. That is what keeps it small: where T is near the
 * optimum, few ideals have as much behind them as their devices could do. The paper's program looks
 * at every pair of ideals.
 *
 * T grows from the combinatorial bound towards the best answer known. Each T that fails is a bound;
 * the first that succeeds gives the optimum.
 *
 * Cost: for each T, O(sum over reached ideals of the pieces grown from it * (nets of a block +
 * n / 64)); memory O(reached ideals * (n / 64 + labels)).
 */
#ifndef CLV_SOLVER_IDEALS_H
#define CLV_SOLVER_IDEALS_H

#include "solver/blocks.h"
#include "solver/solver.h"

/* Throughput and fewest devices, contiguous. Ends with the optimum proven, or when the run is over,
 * or when it would take more than a fixed amount of memory and work: then with what was proven
 * until there. First solves the one line of the blocks in their order, which takes O(n^2) and gives
 * an answer. */
clv_status clv_solve_ideals(clv_place_run *run, const clv_blocks *b, clv_arena *arena,
                            clv_error *err);

#endif
