/* presolve_dominated.h - choices that another choice of the same node beats: dead-end elimination.
 *
 * Goldstein's rule ("Efficient rotamer elimination applied to protein side-chains and related spin
 * glasses", Biophysical Journal 66, 1994; first Desmet et al., Nature 356, 1992). Choice a goes if
 * there is a b that costs no more whatever the neighbours choose,
 *
 *     cost(a) - cost(b) + sum over edges of min over j of (M(a, j) - M(b, j)) >= 0,
 *
 * and (ours) takes no more memory in any row. Most pairs fall at a first test: b against a where
 * every neighbour makes the choice that suits a best. Choices go one after the other, each beaten
 * by one that stays: of equals, the first stays. A node is looked at again only where something it
 * was judged by has changed; and layers of a model repeat: nodes with the same costs, memory and
 * matrices are judged once. O(pairs of choices * edges), entries where that does not settle it;
 * capped in all.
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_DOMINATED_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_DOMINATED_H

#include "solver/intra_op/presolve_problem.h"

/* Choices that another choice of the node beats whatever the neighbours do. Asks about nodes that
 * are fresh, and then they are not. */
clv_status clv_pre_dominated(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *fold,
                             clv_error *err);

#endif
