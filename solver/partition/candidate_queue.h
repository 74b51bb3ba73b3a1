/* candidate_queue.h - candidate plans that wait for the judge, and what became of them: a FIFO
 * queue with a visited set of hashed plans, as Woodruff and Zemel 1993 ("Hashing vectors for tabu
 * search", Annals of Operations Research 41) keep it.
 *
 * All searches put assignments into the queue and have them judged batch by batch. The queue
 * refuses what was there before, keeps all verdicts in order, knows the best, and says when to
 * stop. The visited set is an open-addressing hash table; equal hashes are settled by comparing the
 * plans, so two plans are never taken for one.
 */
#ifndef CLV_SOLVER_PARTITION_CANDIDATE_QUEUE_H
#define CLV_SOLVER_PARTITION_CANDIDATE_QUEUE_H

#include "solver/common/incumbent.h"
#include "solver/partition/rule_repair.h"
#include "solver/partition/search_types.h"

typedef struct {
    const clv_partition_problem *p;
    const clv_partition_judge *judge;
    const clv_partition_options *options;
    clv_arena *arena;     /* for what the result keeps */
    clv_candidate *tried; /* [0 .. n_judged) have verdicts, [n_judged .. n) wait */
    int32_t n_judged, n, cap, cap_hash;
    uint64_t *hash; /* of each */
    int32_t *slot;  /* open addressing: index in tried plus 1 */
    int32_t n_slots;
    int32_t max_judged;
    int32_t best;            /* -1: none; of those judged, by clv_verdict_better; earlier on ties */
    clv_rule_repair *repair; /* where p has rules; else NULL */
    int64_t **busy_ns; /* of those judged: by device, as in clv_assignment; NULL: not asked for */
    int32_t cap_busy;
    bool asks_times;         /* set before anything is judged */
    clv_incumbent incumbent; /* the best that fits, and the bound */
    clv_solve_result result;
    bool is_full; /* more plans were offered than may be judged */
    bool is_over; /* the deadline has passed, or the caller said stop */
    bool is_done; /* there is a solution that needs no better one */
    clv_end why;  /* of is_done */
} clv_candidate_queue;

/* ret must stay where it is. CLV_ENOMEM. */
clv_status clv_candidates_open(const clv_partition_problem *p, const clv_partition_judge *judge,
                               const clv_partition_options *options, clv_arena *arena,
                               clv_candidate_queue *ret, clv_error *err);
/* Writes into result why the search ended; later plans are refused. */
void clv_candidates_close(clv_candidate_queue *queue);

/* Where it is in tried; -1: it never was in the queue. O(units). */
int32_t clv_candidates_find(const clv_candidate_queue *queue, const int32_t *device_of,
                            double proportion);

/* Puts a copy into the queue unless it was there before, breaks a rule of the problem, or there is
 * no budget; *ret_added says which (may be NULL). move is kept, not copied. CLV_ENOMEM. O(units).
 */
clv_status clv_candidates_add(clv_candidate_queue *queue, const int32_t *device_of,
                              double proportion, const char *move, bool *ret_added, clv_error *err);

/* Judges all that wait, in batches, until it is done or over. CLV_ENOMEM, or what the judge says.
 */
clv_status clv_candidates_judge(clv_candidate_queue *queue, clv_error *err);

bool clv_candidates_is_over(clv_candidate_queue *queue); /* no more plans; looks at the clock */
bool clv_candidates_has_fit(const clv_candidate_queue *queue); /* is there a plan that fits? */

/* Are all devices asked for, and does the assignment leave one without units? O(units). */
clv_status clv_candidates_leave_out(const clv_candidate_queue *queue, const int32_t *device_of,
                                    bool *ret, clv_error *err);

/* Is plan a of tried better than plan b: of two that fit the one that uses all devices that are
 * asked for, then by the objective? */
bool clv_candidates_better(const clv_candidate_queue *queue, int32_t a, int32_t b);

/* A bound of the objective; may end the search. A lower one than before says nothing. */
void clv_candidates_raise_bound(clv_candidate_queue *queue, int64_t bound_ns, const char *method);

/* When all are out of memory: the plan with the smallest shortage at an available memory proportion
 * of 0.3, then 0.1, stopping at the first success; without one n_more next-smallest plans in the
 * same way. Then the plan `other` as well, if it is not -1; it is tried so too where something
 * fits, when its times are better. */
clv_status clv_candidates_retry(clv_candidate_queue *queue, int32_t n_more, int32_t other,
                                clv_error *err);

#endif
