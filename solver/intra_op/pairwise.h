/* pairwise.h - a strategy problem laid out for search: a pairwise energy (Markov random field)
 * with memory rows.
 *
 * Costs are doubles here: what never may be chosen costs `never`, which is more than all that may
 * be, so a solution without it is always cheaper than one with it. Sums of costs below 2^53 are
 * exact. Edges over the same two nodes are one; an edge over three and more becomes a node of its
 * own whose choices are the combinations that cost less than never, tied to those of its nodes
 * (hidden variable encoding: Dechter, "On the expressiveness of networks with hidden variables",
 * AAAI 1990). Memory is counted in rows: the moments at which it can bind, each with its room.
 */
#ifndef CLV_SOLVER_INTRA_OP_PAIRWISE_H
#define CLV_SOLVER_INTRA_OP_PAIRWISE_H

#include "problem/intra_op_problem.h"

/* One end of an edge: what the other's choices cost, by own choice. */
typedef struct {
    int32_t to;
    int32_t back;       /* the arc of the other end */
    const double *cost; /* [own choice * choices of to + to's choice] */
} clv_pairwise_arc;

/* A node holds usage[choice] in the rows lo .. hi - 1. */
typedef struct {
    int32_t lo, hi;
    int64_t least; /* of the usages */
    const int64_t *usage;
} clv_pairwise_span;

typedef struct {
    int32_t n, n_given; /* nodes; those of the problem come first */
    int32_t n_rows;
    int32_t max_choices;
    double never;
    double total;                /* no solution without a never costs more */
    const int32_t *first_choice; /* n + 1 */
    const double *cost;          /* by choice */
    const int32_t *first_arc;    /* n + 1, by target ascending, no two to the same node */
    const clv_pairwise_arc *arc;
    const int32_t *first_span; /* n + 1 */
    const clv_pairwise_span *span;
    const int64_t *limit; /* by row, all alike, in units of 2^shift */
    int32_t shift;        /* 0 unless sums of usages would pass 63 bits; rounded the safe way */
} clv_pairwise;

static inline int32_t clv_pairwise_n_choices(const clv_pairwise *f, int32_t node)
{
    return f->first_choice[node + 1] - f->first_choice[node];
}

/* All in the arena; p must outlive it. CLV_ELIMIT where an edge over many nodes has more finite
 * combinations than CLV_PAIRWISE_MAX_COMBINATIONS. O(size of p + matrices + s log s), s spans. */
clv_status clv_pairwise_make(const clv_intra_op_problem *p, clv_arena *arena, clv_pairwise **ret,
                             clv_error *err);

#define CLV_PAIRWISE_MAX_COMBINATIONS 1000000

#endif
