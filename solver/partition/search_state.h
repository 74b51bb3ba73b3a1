/* search_state.h - the state of a search for a partition (solve.h), and what all its steps do with
 * it. */
#ifndef CLV_SOLVER_PARTITION_SEARCH_STATE_H
#define CLV_SOLVER_PARTITION_SEARCH_STATE_H

#include "solver/partition/bound.h"
#include "solver/partition/candidate_verdicts.h"
#include "solver/partition/iterated_search.h"
#include "solver/partition/time_calibration.h"
#include "solver/partition/unit_chain.h"

/* Judgements without a better plan after which a search gives up, once something fits. */
#define CLV_SEARCH_PATIENCE 6
/* Cuts made again with the room learned from verdicts. */
#define CLV_SEARCH_RECUTS 4

typedef struct {
    clv_candidate_queue queue;
    clv_iterated_search local;         /* of the default search only, and the next one too */
    clv_unit_chain *chain;             /* the units in order, to be cut */
    clv_time_calibration *calibration; /* NULL: the model's times hold */
    int32_t *order, *device_of;        /* scratch: devices in an order; a plan */
    int64_t *room_bytes;               /* scratch: by device */
    int64_t *alive_room_bytes; /* by device: for weights, beside the most that a unit has alive */
    /* By plan: has no more neighbours to give that are better than the best; none at all. */
    bool *is_expanded, *is_exhausted;
    int32_t n_marked, cap_expanded, cap_exhausted;
    bool is_bounded;   /* the bound is known, or there is none */
    clv_bound bound;   /* the last one, and the plan and orders behind it */
    int64_t swap_work; /* left for clv_device_swap() */
} clv_search_state;

/* s is zero but for calibration and swap_work, and stays where it is. CLV_ENOMEM. */
clv_status clv_search_open(clv_search_state *s, const clv_partition_problem *p,
                           const clv_partition_judge *judge, const clv_partition_options *options,
                           clv_arena *arena, clv_error *err);

/* What the default search needs besides. CLV_ENOMEM. O(units + pins). */
clv_status clv_search_open_default(clv_search_state *s, clv_error *err);

/* Judges what waits. Where other times were measured, all sums are made of those from then on. */
clv_status clv_search_judge(clv_search_state *s, clv_error *err);
/* Waits for one verdict more. *ret_calibrated: it measured other times. */
clv_status clv_search_take(clv_search_state *s, bool *ret_calibrated, clv_error *err);

/* device_of goes to the queue, repaired where it breaks rules; without a repair it does not. */
clv_status clv_search_add(clv_search_state *s, const char *label, clv_error *err);

/* room_bytes for weights, learned from verdicts. Devices that no verdict speaks of need as much as
 * the neediest one, if all is set. False when there is nothing to learn from. O(devices). */
bool clv_search_learned_room(clv_search_state *s, bool all);

#endif
