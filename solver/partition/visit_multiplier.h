/* visit_multiplier.h - what it costs to come to a part of a cluster that slow links join:
 * Lagrangian relaxation (Held and Karp 1971; Fisher 1981) of "a part's devices have one run each".
 *
 * So many runs make so many visits to parts, and to all visits but the first they come from another
 * part, over a slow link. A state that knew how many devices of a part are used would have that
 * many times the cells. Instead each visit costs a multiplier, its runs sharing in it, that is
 * given back where a part is come to from another one. No plan pays more than it is given back, so
 * any multiplier gives a bound. Every plan's time is linear in it, so what is proven is concave in
 * it: the best of those that leaving a part takes anywhere is found by bisection. It wins where
 * servers of few devices are joined by slow links.
 */
#ifndef CLV_SOLVER_PARTITION_VISIT_MULTIPLIER_H
#define CLV_SOLVER_PARTITION_VISIT_MULTIPLIER_H

#include "solver/partition/segment_dp_state.h"

/* Multipliers in ns that may prove most, ascending: at least one, and no more than can be
 * compared by so many solutions. CLV_ENOMEM. O(splits * log splits). */
clv_status clv_visit_multipliers_list(clv_segment_dp_state *dp, int32_t most_solutions,
                                      const double **multipliers, int32_t *n_multipliers,
                                      clv_error *err);

/* Sets the multiplier, and ns of the splits by it. O(splits). */
void clv_visit_multiplier_set(clv_segment_dp_state *dp, double multiplier_ns);

#endif
