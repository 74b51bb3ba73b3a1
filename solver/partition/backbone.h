/* backbone.h - the units of a problem whose order is nearly a line, for bounds: a subgraph of small
 * width, and its cut vertices.
 *
 * Most units of a model must run in one order: what is read far away is a mask or a table that
 * costs little. The backbone leaves out units that wait for nothing near them, or that nothing near
 * waits for. Leaving units out only makes a problem easier: what bounds the backbone from below
 * bounds the whole. A cut vertex is a unit that all paths lead through: it dominates all behind it
 * and postdominates all before it (Lengauer, Tarjan 1979).
 */
#ifndef CLV_SOLVER_PARTITION_BACKBONE_H
#define CLV_SOLVER_PARTITION_BACKBONE_H

#include "problem/partition_problem.h"

/* Units that a word of bits says something of. */
#define CLV_BACKBONE_WORD 64

typedef struct {
    int32_t n;       /* units kept; the index of one is its place */
    int32_t *unit;   /* n: their ids, ascending */
    int32_t *at;     /* n_units: place in unit; -1: left out */
    uint64_t *preds; /* n: bit k: unit i waits for unit i - 1 - k, directly or through some left
                        out */
    bool *is_cut; /* n: a cut vertex: all units before lead here, and all behind come from here */
} clv_backbone;

/* near: so many units away at most; fewer leave out more. with_ideals: all units that need not wait
 * for one are near it, so that a set closed under "comes before" is a prefix of the backbone and a
 * word of bits behind it; near is at most CLV_BACKBONE_WORD then. CLV_ENOMEM. A few passes, each
 * O(units + nets' readers), and O(units * near) more with ideals. */
clv_status clv_backbone_new(const clv_partition_problem *p, int32_t near, bool with_ideals,
                            clv_arena *arena, clv_backbone *ret, clv_error *err);

#endif
