/* poprt_search.h - the search that PopRT's auto-sharding tool and its manual (Graphcore 2023)
 * document, step by step, to compare with (`--search documented`): breadth-first local search over
 * a queue of plans.
 *
 * It starts from the cut by weight bytes; each verdict says which neighbours join the queue.
 *   - Out of memory: one plan for each movable unit of the failing group, to the linked group with
 *     least bytes, unless the plan is farther from fitting than the best so far.
 *   - Fits, and the best is wanted: if it is among the five most balanced by FLOPs, its three most
 *     balanced neighbours, of which the first is judged, and the next one only if that fails.
 * Plans with the same sharding nodes are the same plan: the key of a plan is the set of ending
 * units of each group but the last. The search ends when the queue is empty. In the queue a plan is
 * its parent and one move, so a long queue costs little.
 */
#ifndef CLV_SOLVER_PARTITION_POPRT_SEARCH_H
#define CLV_SOLVER_PARTITION_POPRT_SEARCH_H

#include "solver/partition/candidate_queue.h"

/* Fills the queue. The best plan is queue->best: of those that fit and are among the five most
 * balanced, the one that the objective likes best; else the smallest OOM. CLV_ENOMEM, or what the
 * judge says. O(plans * (units + pins) + moves looked at). */
clv_status clv_poprt_search(clv_candidate_queue *queue, clv_error *err);

/* Its moves alone, beside what is in the queue already: plans judged before are not judged again,
 * and the queue's best is the best of all. *ret_best is the best that these moves met; -1: none. */
clv_status clv_poprt_moves(clv_candidate_queue *queue, int32_t *ret_best, clv_error *err);

#endif
