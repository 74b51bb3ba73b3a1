/* pieces.h - can so many devices keep up with a period? Exactly, for a trunk, transfers aside.
 *
 * The devices of a legal plan can be put in an order in which each waits only for those before it,
 * so the units of the first so many are closed under "comes before": an order ideal. The answer is
 * a walk over sets of used devices, alike ones being one class, with the largest ideals that each
 * can hold; an ideal inside another one needs no look.
 */
#ifndef CLV_SOLVER_PARTITION_PIECES_H
#define CLV_SOLVER_PARTITION_PIECES_H

#include "solver/partition/bound.h"
#include "solver/partition/trunk.h"

typedef struct clv_pieces clv_pieces; /* lives in the arena */

typedef enum {
    CLV_PIECES_NO, /* proven: no plan has a period as small */
    CLV_PIECES_YES,
    CLV_PIECES_UNKNOWN /* too many ideals: the limit of work was reached */
} clv_pieces_answer;

/* Devices of one kind and capacity are a class. The
 * trunk and the partition must outlive it. CLV_ENOMEM. O(units * (64 + kinds)). */
clv_status clv_pieces_new(const clv_partition_problem *p, const clv_trunk *trunk,
                          const clv_bound_options *o, clv_arena *arena, clv_pieces **ret,
                          clv_error *err);

/* May the work of each device be at most period_ns, and its weights and what is alive beside them
 * in its memory? O(classes * used sets * ideals * 64), within a limit of work for the lifetime.
 * CLV_ENOMEM. */
clv_status clv_pieces_ask(clv_pieces *s, int64_t period_ns, clv_pieces_answer *ret, clv_error *err);

/* The plan behind the last CLV_PIECES_YES: n_units devices; units that the trunk left out go where
 * the last unit that they wait for is. *ret_period_ns (may be NULL): the busiest device. False when
 * there is none, or when units left out would make it illegal. O(units + nets' readers). */
bool clv_pieces_plan(const clv_pieces *s, int32_t *device_of, int64_t *ret_period_ns);

#endif
