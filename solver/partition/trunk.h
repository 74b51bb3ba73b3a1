/* trunk.h - the units of a problem whose order is nearly a line, for bounds.
 *
 * Most units of a model must run in one order: what is read far away is a mask or a table that
 * costs little. The trunk leaves out units that wait for nothing near them, or that nothing near
 * waits for. Leaving units out only makes a problem easier: what bounds the trunk from below bounds
 * the whole.
 */
#ifndef CLV_SOLVER_PARTITION_TRUNK_H
#define CLV_SOLVER_PARTITION_TRUNK_H

#include "problem/partition_problem.h"

/* Units that a word of bits tells of. */
#define CLV_TRUNK_WORD 64

typedef struct {
    int32_t n;     /* units kept */
    int32_t *unit; /* n: their ids, ascending */
    int32_t *at;   /* n_units: place in unit; -1: left out */
    uint64_t
        *preds; /* n: bit k: unit i waits for unit i - 1 - k, directly or through some left out */
    bool *cut;  /* n: all units before lead here, and all behind come from here */
} clv_trunk;

/* near: so many units away at most; fewer leave out more. with_ideals: all units that need not wait
 * for one are near it, so that a set closed under "comes before" is a prefix of the trunk and a
 * word of bits behind it; near is at most CLV_TRUNK_WORD then. CLV_ENOMEM. A few passes, each
 * O(units + nets' readers), and O(units * near) more with ideals. */
clv_status clv_trunk_new(const clv_partition_problem *p, int32_t near, bool with_ideals,
                         clv_arena *arena, clv_trunk *ret, clv_error *err);

#endif
