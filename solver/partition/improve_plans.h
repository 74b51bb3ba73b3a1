/* improve_plans.h - steps of the search that start from plans already judged: best-first local
 * search over the neighbours of iterated_search.h, refinement by integer programs (refine_ilp.h),
 * annealing (anneal.h), other starts (Marti 2003, "Multi-start methods", Handbook of
 * Metaheuristics).
 *
 * Each adds plans, has them judged, and searches on from what is better. Nothing here looks at the
 * clock but through clv_candidates_is_over(). All return CLV_ENOMEM, or what the judge says; their
 * work is limited by the judgements left and the steps that each algorithm allows itself.
 */
#ifndef CLV_SOLVER_PARTITION_IMPROVE_PLANS_H
#define CLV_SOLVER_PARTITION_IMPROVE_PLANS_H

#include "solver/partition/search_state.h"

/* Best-first: iterated local search (iterated_search.h) from the best plan that has neighbours
 * left, again and again, until that many judgements in a row brought nothing better; while nothing
 * fits, out of the device that lacks memory. */
clv_status clv_plans_climb(clv_search_state *s, clv_error *err);

/* The same from cuts that are not good enough to be judged themselves. */
clv_status clv_plans_start_elsewhere(clv_search_state *s, clv_error *err);

/* Boundaries that matter most, placed anew by integer programs (refine_ilp.h). */
clv_status clv_plans_refine(clv_search_state *s, clv_error *err);

/* Windows of several groups, placed anew by integer programs (refine_window.h), for the period. */
clv_status clv_plans_refine_windows(clv_search_state *s, clv_error *err);

/* The plan behind a bound of the latency, cuts with the devices in its order, and cuts in any
 * order; late, so that it is only more that is tried. */
clv_status clv_plans_cut_more(clv_search_state *s, clv_error *err);

/* Simulated annealing (anneal.h) from the best plan, for the period of small problems. */
clv_status clv_plans_anneal(clv_search_state *s, clv_error *err);

/* Where the search looks ahead, before the first verdict: what it would try if all fitted. That is
 * withdrawn where the verdict says otherwise. */
clv_status clv_plans_look_ahead(clv_search_state *s, clv_error *err);

/* Where the search looks ahead: takes the verdicts that are still to come, one by one, and climbs
 * on wherever one says that another plan is the best, or measured other times. Meanwhile neighbours
 * of the best plan fill up what is under way to a batch, so that compilers stay busy. After
 * CLV_SEARCH_PATIENCE verdicts without a better plan nothing but those is offered; it ends when all
 * else is judged and the number of verdicts, with what began before, is one of whole batches: at 2,
 * 4 or 8 jobs the last of a batch take no more time, as they run beside the others. What is under
 * way then is withdrawn. */
clv_status clv_plans_follow_verdicts(clv_search_state *s, clv_error *err);

/* Cuts by the times that were measured meanwhile. */
clv_status clv_plans_recalibrate(clv_search_state *s, clv_error *err);

#endif
