/* mip_search.h - integer programs in the portfolio: windows around the busiest device (lns.h), and
 * the bound of the whole program's relaxation (mip_formulation.h).
 */
#ifndef CLV_SOLVER_PLACEMENT_MIP_MIP_SEARCH_H
#define CLV_SOLVER_PLACEMENT_MIP_MIP_SEARCH_H

#include "solver/common/ilp/ilp.h"
#include "solver/placement/common/contraction.h"
#include "solver/placement/common/place_search.h"

/* Throughput. Starts from the run's best solution and offers what is better, until no window gains,
 * or a fixed amount of work is done, or the run is over. For other objectives, without a solution,
 * and without a solver of programs nothing happens. lns.h; O(pins) for each window beside its
 * program. */
clv_status clv_mip_improve(clv_place_search *search, const clv_contraction *b, clv_arena *arena,
                           clv_error *err);

/* Throughput. Raises the run's bound to that of the linear relaxation of the whole program, where
 * that is small enough to be solved with a fixed amount of work. The bound is proven whatever the
 * solver says: clv_ilp_relax(). */
clv_status clv_mip_raise_bound(clv_place_search *search, const clv_contraction *b, clv_arena *arena,
                               clv_error *err);

typedef struct {
    int64_t most_ticks; /* largest load of a solution */
    clv_ilp_limits limits;
} clv_mip_relaxation;

/* The same without a run: in ticks, 0 where nothing is known. */
clv_status clv_mip_relaxation_bound(const clv_contraction *b, const clv_place_rules *rules,
                                    const clv_mip_relaxation *options, clv_arena *arena,
                                    int64_t *ret, clv_error *err);

#endif
