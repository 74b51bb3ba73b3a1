/* visit_multiplier.h - what it costs to enter a part of a cluster that slow links join:
 * Lagrangian relaxation (Held and Karp 1970; Geoffrion 1974) of "a part's devices have one run
 * each".
 *
 * A part of n devices holds n runs at most, so k runs make at least k / n visits, and each visit
 * but the first begins with a transfer over a slow link. A state that counted the devices used in
 * each part would multiply the cells. Instead the count is relaxed: each run costs 1 / n of a
 * multiplier, and the start, and each transfer from part to part, get a whole one back. A plan gets
 * back at least what its runs cost, so any multiplier gives a bound. Every plan's time is linear in
 * the multiplier, so the bound is concave in it: the best of the values that matter, what leaving a
 * part costs at some segment, is found by bisection. It wins where servers of few devices are
 * joined by slow links.
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
