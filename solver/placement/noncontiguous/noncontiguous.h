/* noncontiguous.h - free placements for throughput: search and proof by turns. */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_NONCONTIGUOUS_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_NONCONTIGUOUS_H

#include "solver/placement/common/blocks.h"
#include "solver/placement/common/place_search.h"

/* Throughput, free. Starts from the answer that the run has, if any; ends when the run is over, or
 * with fixed amounts of work done. Memory: some 10 MB for a problem of hundreds of blocks, at most
 * about 500 MB. */
clv_status clv_noncontiguous_solve(clv_place_search *search, const clv_blocks *b, clv_arena *arena,
                                   clv_error *err);

#endif
