/* partial_stage.h - a stage of a contiguous placement that grows block by block behind an order
 * ideal: pins counted by net (Fiduccia, Mattheyses 1982, "A linear-time heuristic for improving
 * network partitions", DAC), ready blocks by predecessors that are missing (Kahn 1962, "Topological
 * sorting of large networks", CACM).
 *
 * Blocks join and leave in the manner of a stack; every sum follows, O(pins of the block's nets +
 * arcs) a change, so it wins where neighbours in a search tree differ by a block. What is ready is
 * known at any time: the blocks of which all that must come before are in the ideal or in the
 * stage. Ours is relief, a dominance between a stage and the same stage with one block more.
 */
#ifndef CLV_SOLVER_PLACEMENT_CONTIGUOUS_PARTIAL_STAGE_H
#define CLV_SOLVER_PLACEMENT_CONTIGUOUS_PARTIAL_STAGE_H

#include "solver/placement/common/fluid_bound.h"

typedef struct {
    const clv_contraction *b;
    const clv_fluid_bound *share;
    const int32_t *after_first, *after, *before_first,
        *before;           /* as in clv_contraction, or one line */
    size_t words;          /* of a row of bits, one a block */
    int64_t limit;         /* on the load of the stage */
    int64_t low;           /* no solution has all loads below it, so loads up to it are alike */
    uint64_t *behind;      /* [block * words]: all that must come behind it, and itself */
    uint64_t *may_relieve; /* row: blocks that can relieve at all (clv_partial_stage_find_relief) */
    uint64_t *row, *ready; /* the ideal with the stage; what may join */
    int32_t *waits;        /* by block: what must come before it and is not there */
    int32_t *net_before, *net_in; /* pins in the ideal, in the stage */
    int64_t time, bytes, value;   /* of the stage */
    int64_t in;    /* of nets that it shares with the ideal: they are cut whatever joins */
    int64_t cut;   /* of nets that begin in it and leave it */
    int64_t front; /* of nets that leave the ideal with the stage */
} clv_partial_stage;

/* line: the blocks are one chain in their order, and arcs do not count. O(n * (n + arcs) / 64 +
 * pins). */
clv_status clv_partial_stage_new(const clv_contraction *b, const clv_fluid_bound *share, bool line,
                                 clv_arena *arena, clv_partial_stage *ret, clv_error *err);

/* An empty stage behind an ideal, given by its row. O(n + arcs + pins). */
void clv_partial_stage_reset(clv_partial_stage *g, const uint64_t *row);

/* A block joins (by 1), or the last one that joined leaves (by -1). O(pins of its nets + arcs). */
void clv_partial_stage_change(clv_partial_stage *g, int32_t kind, int32_t block, int32_t by);

/* The lowest ready block from one on; n: none. */
int32_t clv_partial_stage_next_ready(const clv_partial_stage *g, int32_t from);

/* May it join a stage on this kind? Time and memory only grow. */
bool clv_partial_stage_can_add(const clv_partial_stage *g, int32_t kind, int32_t block);

static inline int64_t clv_partial_stage_load(const clv_partial_stage *g, int32_t kind)
{
    return g->time + (g->b->p->kinds[kind].pays ? g->in + g->cut : 0);
}

/* Two ways in which a block u that could join makes a stage not worth looking at. Whoever has u
 * later is relieved of it; and the load with u is at most low, which makes no solution worse, or at
 * most what it is without u. */
typedef struct {
    bool dominated; /* the stage as it is now; larger ones without u need not be */
    int32_t forced; /* u: no larger stage is better without it; -1: none */
} clv_stage_relief;

/* O(ready blocks * pins of their nets). */
clv_stage_relief clv_partial_stage_find_relief(const clv_partial_stage *g, int32_t kind);

#endif
