/* branch_and_bound.h - small strategy problems solved by branch and bound, depth first.
 *
 * After Land, Doig, "An automatic method of solving discrete programming problems", Econometrica
 * 28, 1960. A part is a set of choices that are still open; it is divided by "this node takes this
 * choice, or any other" (as Little, Murty, Sweeney, Karel, Operations Research 11, 1963, do with an
 * arc of a tour), bounded as bound.h does, and dropped when nothing better is in it; choices that
 * no better solution has are closed. Messages and prices of a part start from those of the part it
 * came from. Ours: it branches on the node whose most frequent cheapest choices differ most in what
 * they pay for memory, the jumps that prices cannot reach. Exponential in general; wins below 2,000
 * choices. Edges of three and more nodes are refused.
 */
#ifndef CLV_SOLVER_INTRA_OP_BRANCH_AND_BOUND_H
#define CLV_SOLVER_INTRA_OP_BRANCH_AND_BOUND_H

#include "solver/intra_op/bound.h"

typedef struct clv_branch_and_bound clv_branch_and_bound;

/* *ret NULL: there are edges of three and more. start: of the same problem, where messages and
 * prices start, and its bound holds; may be NULL. p: as presolve leaves it, of some hundred nodes.
 * Memory: a copy of the messages for each level of depth. */
clv_status clv_branch_and_bound_new(const clv_intra_op_problem *p, const clv_intra_op_bound *start,
                                    clv_arena *arena, clv_branch_and_bound **ret, clv_error *err);
/* About so many more rounds. */
clv_status clv_branch_and_bound_run(clv_branch_and_bound *t, int64_t rounds,
                                    bool (*stop)(void *ctx), void *ctx, clv_error *err);
/* There is a solution of this cost: only better ones are looked for from now on. */
void clv_branch_and_bound_set_known_cost(clv_branch_and_bound *t, clv_int128 cost);
/* A better solution found since the last call, or NULL; *cost: of the best solution known, -1:
 * none. */
const int32_t *clv_branch_and_bound_poll_solution(clv_branch_and_bound *t, clv_int128 *cost);
/* No legal solution without a cost of never that is better than the best one known costs less; when
 * it is that cost, that solution is proven best (of CLV_INTRA_OP_NEVER: that there is none). */
clv_int128 clv_branch_and_bound_value(const clv_branch_and_bound *t);
/* Nothing more will come. */
bool clv_branch_and_bound_is_over(const clv_branch_and_bound *t);

#endif
