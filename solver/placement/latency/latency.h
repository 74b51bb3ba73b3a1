/* latency.h - the solvers of the latency objective, and the order in which they run: a portfolio
 * (Huberman, Lukose, Hogg 1997).
 *
 * All work for free and for contiguous rules, with any kinds of devices. They are deterministic,
 * end by a budget of work, and return early when the run is over.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_H
#define CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_H

#include "solver/placement/common/place_search.h"

/* Solutions and bounds until one meets the other or the work is done. CLV_ENOMEM. */
clv_status clv_latency_solve(clv_place_search *search, clv_arena *arena, clv_error *err);

#endif
