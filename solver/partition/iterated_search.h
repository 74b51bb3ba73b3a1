/* iterated_search.h - from a judged plan to plans worth judging next: iterated local search
 * (Lourenco, Martin and Stuetzle 2003) with steepest descent.
 *
 * Neighbours of a plan (moves.h) are scored by sums. A descent makes the best move by score until
 * the score gets no better; then the optimum is perturbed by one move uphill, or by a few, and the
 * descent begins again. Only where all this ends is judged, so one judgement can pay for a thousand
 * moves. If that is nothing new, single moves that look better are judged one by one. Ours is the
 * score: what devices lack comes before any time, and an evenness that guides descents over the
 * plateaus of a period. It wins where seeds are near a good plan, as they mostly are.
 */
#ifndef CLV_SOLVER_PARTITION_ITERATED_SEARCH_H
#define CLV_SOLVER_PARTITION_ITERATED_SEARCH_H

#include "problem/latency_estimate.h"
#include "solver/partition/candidate_queue.h"
#include "solver/partition/moves.h"

/* Less is better, first member first. */
typedef struct {
    double over_bytes; /* what devices lack, by weights and what verdicts say of the rest */
    double first, second, third;
} clv_score;

typedef struct {
    clv_move move;
    clv_score score;
} clv_scored;

typedef struct {
    clv_candidate_queue *queue;
    clv_groups *g;
    clv_latency_estimate latency;
    clv_moves moves;
    int64_t *reserve_bytes; /* by device: its need besides weights, learned from OOM verdicts */
    bool weights_only;      /* reserves do not count: the plan at hand fits, so others may */
    int32_t *base;          /* scratch: a plan to come back to */
    int32_t n_pins;         /* of the problem */
    int64_t work;           /* steps left for all that is not judging */
    clv_score goal;         /* what a proposal has to beat */
    int32_t goal_plan;      /* the plan whose score that is; -1: none yet */
    clv_scored *scored;
    int32_t n_scored, cap_scored;
} clv_iterated_search;

/* queue must outlive it and stay where it is. CLV_ENOMEM. O(units + pins + devices^2). */
clv_status clv_iterated_search_new(clv_candidate_queue *queue, clv_arena *arena,
                                   clv_iterated_search *ret, clv_error *err);

/* Learns from an OOM verdict of a plan how much its device needs besides weights. O(units). */
void clv_iterated_search_learn_reserve(clv_iterated_search *ls, const clv_candidate *plan);

/* Puts at most room new plans on the queue, made from a judged one. *ret_added 0: it has no more to
 * give. */
clv_status clv_iterated_search_expand(clv_iterated_search *ls, int32_t plan, int32_t room,
                                      int32_t *ret_added, clv_error *err);

/* Puts at most room neighbours of a plan on the queue, the best by sums first, better than the plan
 * or not. *ret_added 0: all were there before. */
clv_status clv_iterated_search_neighbours(clv_iterated_search *ls, int32_t plan, int32_t room,
                                          int32_t *ret_added, clv_error *err);

/* Searches from a plan that was not judged; what beats the best plan by its sums goes to the queue.
 */
clv_status clv_iterated_search_from(clv_iterated_search *ls, const int32_t *device_of,
                                    clv_error *err);

/* Loads a plan and scores it with the exact estimate, for callers with proposals of their own. */
clv_score clv_iterated_search_score(clv_iterated_search *ls, const int32_t *device_of);
/* Is a strictly better than b? Lexicographic. */
bool clv_score_less(const clv_score *a, const clv_score *b);

#endif
