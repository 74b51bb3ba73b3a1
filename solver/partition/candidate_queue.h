/* candidate_queue.h - candidate plans that wait for the judge, and what became of them: a FIFO
 * queue with a visited set of hashed plans, as Woodruff and Zemel 1993 ("Hashing vectors for tabu
 * search", Annals of Operations Research 41) keep it.
 *
 * All searches put assignments into the queue and have them judged (candidate_verdicts.h). The
 * queue refuses what was there before, keeps all verdicts in order, knows the best, and says when
 * to stop. The visited set is an open-addressing hash table; equal hashes are settled by comparing
 * the plans, so two plans are never taken for one.
 */
#ifndef CLV_SOLVER_PARTITION_CANDIDATE_QUEUE_H
#define CLV_SOLVER_PARTITION_CANDIDATE_QUEUE_H

#include "solver/common/incumbent.h"
#include "solver/partition/rule_repair.h"
#include "solver/partition/search_types.h"

/* Judgements kept back for lower proportions while nothing fits. */
#define CLV_RETRIES 2

typedef struct {
    const clv_partition_problem *p;
    const clv_partition_judge *judge;
    const clv_partition_options *options;
    clv_arena *arena;     /* for what the result keeps */
    clv_candidate *tried; /* [0 .. n_judged) have verdicts; [n_judged .. n_known) are started, and
                             theirs are believed; [n_known .. n) wait */
    int32_t n_judged, n_known, n, cap, cap_hash;
    uint64_t *hash; /* of each */
    int32_t *slot;  /* open addressing: index in tried plus 1 */
    int32_t n_slots;
    int32_t max_judged;
    int32_t best;        /* of those known, by clv_candidates_better; earlier on ties; -1: none */
    int32_t best_judged; /* the same of those judged */
    clv_rule_repair *repair; /* where p has rules; else NULL */
    int64_t **busy_ns; /* of those known: by device, as in clv_assignment, to be read where it is
                          judged; NULL: not asked for */
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

/* Where it is in tried; -1: it never was in the queue. O(units). */
int32_t clv_candidates_find(const clv_candidate_queue *queue, const int32_t *device_of,
                            double proportion);

/* Puts a copy into the queue unless it was there before, breaks a rule of the problem, or there is
 * no budget; *ret_added says which (may be NULL). move is kept, not copied. CLV_ENOMEM. O(units).
 */
clv_status clv_candidates_add(clv_candidate_queue *queue, const int32_t *device_of,
                              double proportion, const char *move, bool *ret_added, clv_error *err);

/* Takes those from number first on out again: they may be added later, and there is budget for
 * them. O(n). */
void clv_candidates_forget(clv_candidate_queue *queue, int32_t first);

/* Sets is_over where the deadline has passed or the caller said stop; not before a verdict. */
void clv_candidates_check_limits(clv_candidate_queue *queue);
bool clv_candidates_is_over(clv_candidate_queue *queue); /* no more plans; looks at the clock */
bool clv_candidates_has_fit(const clv_candidate_queue *queue); /* is there a plan that fits? */
bool clv_candidates_has_judged_fit(const clv_candidate_queue *queue); /* not just believed */

/* Are all devices asked for, and does the assignment leave one without units? O(units). */
clv_status clv_candidates_leave_out(const clv_candidate_queue *queue, const int32_t *device_of,
                                    bool *ret, clv_error *err);

/* Is plan a of tried better than plan b: of two that fit the one that uses all devices that are
 * asked for, then by the objective? */
bool clv_candidates_better(const clv_candidate_queue *queue, int32_t a, int32_t b);

#endif
