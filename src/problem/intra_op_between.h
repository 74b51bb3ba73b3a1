/* intra_op_between.h - what a part of an intra-operator problem costs at least between two of its
 * nodes, for each pair of their choices.
 */
#ifndef CLV_PROBLEM_INTRA_OP_BETWEEN_H
#define CLV_PROBLEM_INTRA_OP_BETWEEN_H

#include "problem/intra_op_problem.h"

#define CLV_INTRA_OP_NO_END (-1)

/* What parts are of, one after the other. */
typedef struct {
    const clv_intra_op_problem *p;
    int32_t *number;   /* scratch, by node */
    int64_t work_left; /* in entries looked at: counted down */
} clv_intra_op_whole;

/* Every edge has both of its nodes among these. */
typedef struct {
    const int32_t *node; /* n_nodes, none of them an end */
    int32_t n_nodes;
    const int32_t *edge; /* n_edges */
    int32_t n_edges;
    int32_t begin, end; /* the ends, different nodes; CLV_INTRA_OP_NO_END: there is none */
} clv_intra_op_part;

/* (*ret)[choice of begin * choices of end + choice of end]: no choices of the nodes inside, with
 * the edges, cost less; the costs of the ends themselves are not in it. An end that there is not
 * has one choice. Memory is no matter. Exact where the part is series-parallel: nodes with at most
 * two neighbours go first (RI and RII of the reductions of partitioned Boolean quadratic problems,
 * Scholz and Eckstein 2002); where none is left, the edge that matters least is cut off the node
 * with the fewest, and what it costs at least is kept. Sums end at CLV_INTRA_OP_NEVER.
 *
 * number: scratch, by node of the problem. *io_work, in entries looked at, is counted down; where
 * it is used up *ret is NULL. O(nodes * choices^3). The result lives in the arena. */
clv_status clv_intra_op_between(clv_intra_op_whole *of, const clv_intra_op_part *part,
                                clv_arena *arena, int64_t **ret, clv_error *err);

#endif
