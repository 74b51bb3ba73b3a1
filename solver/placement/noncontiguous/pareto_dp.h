/* pareto_dp.h - all that two sides can share a line of blocks as: the heart of the free search.
 *
 * Every block of a line (decision_diagram.h) is put on side 0 or side 1. A side adds up what its
 * blocks cost there, and where it pays, the nets that it holds some but not all blocks of. Found
 * are the pairs (total of side 0, total of side 1) of which neither can be made smaller without
 * making the other larger, each with the sides that make it.
 *
 * The same serves for two things. With two devices for sides it cuts what they hold anew, in the
 * best way there is. With one device for side 0, and prices for what side 1 leaves, it finds the
 * set of blocks that is worth most of all that one device can hold within a load: what a bound
 * needs (column_generation.h).
 *
 * Method: dynamic programming. For every state a front of pairs is kept. First, from the end, the
 * least weighted sum of totals that each state can still lead to is found; a pair that cannot stay
 * within what is asked goes. Where pairs are still too many:
 * - relaxed, near pairs become one with the smaller of both totals each, so that totals are never
 *   above what is possible, which keeps bounds valid; pairs are taken together so that weighted
 * sums fall by as little as may be;
 * - otherwise one of them goes, so that totals are real, and perhaps not the best.
 *
 * Cost: O(states) for the sums, O(states * width) for the fronts; memory 4 bytes for each pair
 * kept.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_PARETO_DP_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_PARETO_DP_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/noncontiguous/decision_diagram.h"

typedef struct clv_pareto_dp clv_pareto_dp;

/* Costs by block of clv_blocks; on a side without a limit (INT64_MAX) they may be negative. */
#define CLV_PARETO_NEVER INT64_MIN

typedef struct {
    const int64_t *cost[2];
    bool pays[2];
    int64_t limit[2]; /* no totals above */
    double weight[2]; /* nor more than so much: weight[0] * total[0] + weight[1] * total[1] */
    double weighted;
    int64_t bytes[2]; /* nor more bytes; CLV_PLACE_UNLIMITED. Not looked at where relaxed. */
    bool relaxed;
    int32_t width; /* pairs of a state, at least 1 */
} clv_pareto_query;

typedef struct {
    int64_t total[2];
} clv_pareto_pair;

/* Lives in the arena, with all that it will need: as long as the arena is not rewound. */
clv_status clv_pareto_dp_new(const clv_blocks *b, clv_arena *arena, clv_pareto_dp **ret,
                             clv_error *err);

/* Which line from now on. */
void clv_pareto_dp_use(clv_pareto_dp *s, const clv_diagram *diagram);

/* Totals of the way with the least weighted sum, whatever the limits. O(states). The line must have
 * a way. */
clv_status clv_pareto_dp_least(clv_pareto_dp *s, const clv_pareto_query *ask, clv_pareto_pair *ret,
                               clv_error *err);

/* Nothing is found, and nothing proven, when the run is over: then false from clv_pareto_dp_done().
 */
clv_status clv_pareto_dp_run(clv_pareto_dp *s, const clv_pareto_query *ask,
                             clv_place_search *search, clv_error *err);

bool clv_pareto_dp_done(const clv_pareto_dp *s);
/* Totals of side 0 ascending, of side 1 descending. Until the next run. */
int32_t clv_pareto_dp_pairs(const clv_pareto_dp *s, const clv_pareto_pair **ret);
/* Side of each block, by its place in the line. O(n). */
void clv_pareto_dp_sides(const clv_pareto_dp *s, int32_t pair, uint8_t *side);
/* Pairs and steps looked at since clv_pareto_dp_new(): the measure of work. */
int64_t clv_pareto_dp_work(const clv_pareto_dp *s);

#endif
