/* contraction.h - a placement with all that is never split joined to blocks: what the solvers work
 * on.
 *
 * Strongly connected components (Tarjan 1972, "Depth-first search and linear graph algorithms",
 * SIAM J. Computing) where rules are contiguous, and transfers as nets of a hypergraph (Catalyurek,
 * Aykanat 1999, "Hypergraph-partitioning-based decomposition for parallel sparse-matrix vector
 * multiplication", IEEE TPDS). Ours: blocks without time join a neighbour where no solution gets
 * worse.
 *
 * For throughput and fewest devices. Times are whole ticks, rounded down, a tick being so small
 * that it does not show (see tick); so sums are exact, moves can be undone, and a bound in ticks is
 * a bound. A net is a send cost and the blocks that it joins, sender and readers alike: every
 * paying device that holds some of them, but not all, pays. Nets of the same blocks are one.
 */
#ifndef CLV_SOLVER_PLACEMENT_COMMON_CONTRACTION_H
#define CLV_SOLVER_PLACEMENT_COMMON_CONTRACTION_H

#include "solver/placement/common/block_groups.h"

typedef struct {
    const clv_place_problem *p;
    int32_t n, n_kinds, n_nets;
    bool roomy;               /* all bytes together fit any device, so memory never matters */
    double tick;              /* in the problem's unit: a power of two */
    const int32_t *block_of;  /* by node of p */
    const int64_t *time;      /* [kind * n + block] ticks; CLV_BLOCK_NEVER */
    const int64_t *bytes;     /* n */
    const int32_t *net_first; /* n_nets + 1, into pins */
    const int32_t *pins;      /* blocks of a net, at least two, ascending */
    const int64_t *net_cost;  /* n_nets: ticks, above 0 */
    const int32_t *at_first;  /* n + 1, into at: nets of a block, ascending */
    const int32_t *at;
    /* Contiguous rules: which block must not come behind which; block ids are in such an order. No
     * arcs where the rules are free. */
    const int32_t *after_first, *after;   /* n + 1: those directly behind */
    const int32_t *before_first, *before; /* n + 1: those directly before */
} clv_contraction;

static inline int64_t clv_block_time(const clv_contraction *b, int32_t kind, int32_t block)
{
    return b->time[(size_t)kind * (size_t)b->n + (size_t)block];
}

/* Ticks in the problem's unit, never more than they are. */
double clv_contraction_from_ticks(const clv_contraction *b, int64_t ticks);
/* The other way, rounded up: a load of at most x is one of at most so many ticks. At most
 * CLV_TICKS_MAX, which no load exceeds. */
int64_t clv_contraction_to_ticks(const clv_contraction *b, double x);
/* device_of by block to device_of by node. O(nodes). */
void clv_contraction_project(const clv_contraction *b, const int32_t *of_block, int32_t *of_node);

/* The load of each device, in ticks, of an assignment by block. kind_of by device; stamp: scratch
 * by device. O(n + devices + pins). */
void clv_contraction_loads(const clv_contraction *b, const int32_t *kind_of,
                           const int32_t *device_of, int32_t *stamp, int64_t *load);

#define CLV_TICKS_MAX (INT64_C(1) << 56)

/* Classes, and where contiguous strongly connected groups of them, and then blocks without time
 * that have one neighbour only, where no memory can run short by it. O(nodes + edges log). */
clv_status clv_contraction_new(const clv_place_problem *p, const clv_place_rules *rules,
                               clv_arena *arena, clv_contraction **ret, clv_error *err);

#endif
