/* pareto_dp.h - all Pareto-optimal pairs of totals of two sides that share blocks.
 *
 * Biobjective dynamic programming over a decision diagram (decision_diagram.h): the lists of
 * undominated labels of Nemhauser and Ullmann 1969 (Discrete dynamic programming and capital
 * allocation, Management Science 15) on the paths of Hansen 1980 (Bicriterion path problems, LNEMS
 * 177). A side adds up what its blocks cost there, and where it pays, the nets that it holds some
 * but not all blocks of. A label is a pair of totals; each pair found comes with the sides that
 * make it.
 *
 * It serves two things. With two devices for sides it cuts what they hold anew in the best way
 * there is (local_search.h). With one device for side 0, and prices for what side 1 leaves, it
 * solves the pricing problem (pricing.h).
 *
 * First, from the end, the least weighted sum that each state can still lead to is found: labels
 * that cannot stay within what is asked are pruned by this completion bound. Ours is what is done
 * where labels of a state are still too many:
 * - relaxed (state-space relaxation, Christofides, Mingozzi and Toth 1981, Networks 11): near
 *   labels become one with the smaller of both totals each, so totals are never above what is
 *   possible and bounds stay valid; weighted sums fall by as little as may be;
 * - otherwise one of them goes, so that totals are real, and perhaps not the best.
 *
 * It wins over moves of single blocks where a net of many blocks is cut. Cost: O(states) for the
 * sums, O(states * width) for the labels; memory 4 bytes for each label kept.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_PARETO_DP_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_PARETO_DP_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/noncontiguous/decision_diagram.h"

typedef struct clv_pareto_dp clv_pareto_dp;

/* Costs by block of clv_contraction; on a side without a limit (INT64_MAX) they may be negative. */
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
clv_status clv_pareto_dp_new(const clv_contraction *b, clv_arena *arena, clv_pareto_dp **ret,
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
