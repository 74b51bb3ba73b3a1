/* desk.h - where plans wait for the judge, and what became of them.
 *
 * Both searches put assignments on the desk and have them judged batch by batch. The desk refuses
 * what was there before, keeps all verdicts in order, knows the best, and says when to stop.
 */
#ifndef CLV_SOLVER_PARTITION_DESK_H
#define CLV_SOLVER_PARTITION_DESK_H

#include "solver/common/incumbent.h"
#include "solver/partition/obey.h"
#include "solver/partition/search.h"

typedef struct {
    const clv_partition_problem *p;
    const clv_partition_judge *judge;
    const clv_partition_options *options;
    clv_arena *arena; /* for what the result keeps */
    clv_tried *tried; /* [0 .. n_judged) have verdicts, [n_judged .. n) wait */
    int32_t n_judged, n, cap, cap_hash;
    uint64_t *hash; /* of each */
    int32_t *slot;  /* open addressing: index in tried plus 1 */
    int32_t n_slots;
    int32_t max_judged;
    int32_t best;      /* -1: none; of those judged, by clv_verdict_better; earlier on ties */
    clv_obey *obey;    /* where p has rules; else NULL */
    int64_t **busy_ns; /* of those judged: by device, as in clv_assignment; NULL: nobody asks */
    int32_t cap_told;
    bool asks_times;         /* set before anything is judged */
    clv_incumbent incumbent; /* the best that fits, and the bound */
    clv_solve_result result;
    bool is_full; /* more plans were offered than may be judged */
    bool is_over; /* the deadline has passed, or the caller said stop */
    bool done;    /* there is an answer that needs no better one */
    clv_end why;  /* of done */
} clv_desk;

/* Judgements kept back for lower proportions while nothing fits (B.024). */
#define CLV_RETRIES 2

/* max_judged when the caller gives none. */
int32_t clv_desk_default_budget(int32_t n_units);

/* ret must stay where it is. */
clv_status clv_desk_open(const clv_partition_problem *p, const clv_partition_judge *judge,
                         const clv_partition_options *options, clv_arena *arena, clv_desk *ret,
                         clv_error *err);
/* Why the search ended, into result; plans are not taken any more. */
void clv_desk_close(clv_desk *desk);

/* Where it is in tried; -1: it never was on the desk. O(units). */
int32_t clv_desk_find(const clv_desk *desk, const int32_t *device_of, double proportion);

/* Puts a copy on the desk unless it was there before, breaks a rule of the problem, or there is no
 * budget; *ret_added says which (may be NULL). move is kept, not copied. O(units). */
clv_status clv_desk_add(clv_desk *desk, const int32_t *device_of, double proportion,
                        const char *move, bool *ret_added, clv_error *err);

/* Judges all that wait, in batches, until it is done or over. */
clv_status clv_desk_judge(clv_desk *desk, clv_error *err);

bool clv_desk_over(clv_desk *desk);       /* no more plans, please; looks at the clock */
bool clv_desk_fits(const clv_desk *desk); /* is there a plan that fits? */

/* Latency or period of a verdict, whichever is the objective. */
int64_t clv_desk_objective(const clv_desk *desk, const clv_verdict *v);

/* A bound of the objective; may end the search. A lower one than before says nothing. */
void clv_desk_raise_bound(clv_desk *desk, int64_t bound_ns, const char *method);

/* B.024, B.025: when all are out of memory, the plan with the smallest OOM at proportion 0.3, then
 * 0.1, stopping at the first success; without one n_more next-smallest plans in the same way. Then
 * the plan `other` as well, if it is not -1; it is retried too where something fits, when its times
 * are better. */
clv_status clv_desk_retry(clv_desk *desk, int32_t n_more, int32_t other, clv_error *err);

#endif
