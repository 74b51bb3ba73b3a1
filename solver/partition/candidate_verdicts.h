/* candidate_verdicts.h - verdicts of the plans in the queue: batch by batch, or one behind the
 * other while the search looks ahead.
 *
 * Where the judge is fast, a step of the search waits until all its plans are judged. Where it
 * takes long (its lookahead is not 0), plans are started as soon as they are offered, and the
 * search goes on without their verdicts: the "believer" of Ginsbourger, Le Riche and Carraro 2010
 * ("Kriging is well-suited to parallelize optimization"). Until a plan is judged it is believed to
 * fit and to take what its sums say, in proportion to the best plan judged; but for no good while
 * something was judged and nothing of it fits.
 *
 * The rule of order, which knows nothing of threads or time: verdicts are taken in the order of the
 * plans. That of plan k is taken when plan k + lookahead is started, when it is asked for
 * (clv_candidates_settle()), or when something was judged and nothing of it fits, as sums say
 * little of what is lacking. So a plan is made from the same verdicts at any number of workers, and
 * what is withdrawn was judged nowhere.
 */
#ifndef CLV_SOLVER_PARTITION_CANDIDATE_VERDICTS_H
#define CLV_SOLVER_PARTITION_CANDIDATE_VERDICTS_H

#include "solver/partition/candidate_queue.h"

bool clv_candidates_looks_ahead(const clv_candidate_queue *queue);

/* Judges all that wait, batch by batch, until it is done or over; where it looks ahead, starts
 * them. Then all are known. CLV_ENOMEM, or what the judge says. */
clv_status clv_candidates_judge(clv_candidate_queue *queue, clv_error *err);
/* The same, and the first n, or all, are judged. */
clv_status clv_candidates_settle(clv_candidate_queue *queue, int32_t n, clv_error *err);
/* What is believed, anew: times of the problem have changed. CLV_ENOMEM. O(lookahead * (units +
 * pins)). */
clv_status clv_candidates_believe(clv_candidate_queue *queue, clv_error *err);
/* Forgets those from number first on that are not judged, and waits until nothing of them runs. To
 * be called in the end, after failures too. O(n). */
void clv_candidates_withdraw(clv_candidate_queue *queue, int32_t first);

/* A bound of the objective; may end the search. A lower one than before says nothing. */
void clv_candidates_raise_bound(clv_candidate_queue *queue, int64_t bound_ns, const char *method);

/* When all are out of memory: the plan with the smallest shortage at an available memory proportion
 * of 0.3, then 0.1, stopping at the first success; without one n_more next-smallest plans in the
 * same way. Then the plan `other` as well, if it is not -1; it is tried so too where something
 * fits, when its times are better. */
clv_status clv_candidates_retry(clv_candidate_queue *queue, int32_t n_more, int32_t other,
                                clv_error *err);

/* Writes into result why the search ended; later plans are refused. */
void clv_candidates_close(clv_candidate_queue *queue);

#endif
