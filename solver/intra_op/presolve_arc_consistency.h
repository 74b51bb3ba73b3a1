/* presolve_arc_consistency.h - choices that no solution worth having can use.
 *
 * Arc consistency with a queue, AC-3 (Mackworth, "Consistency in networks of relations", Artificial
 * Intelligence 8, 1977): a choice goes if it costs never, if a neighbour has no choice left that it
 * goes with, or, which is ours, if it takes more memory in some row than is left when all other
 * nodes hold the least. Packing leaves no matrix with a row or column of nothing but never, so
 * where no node loses a choice by itself none does over an edge. O(spans * choices + rows log
 * rows), and entries of matrices with never around choices that go.
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_ARC_CONSISTENCY_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_ARC_CONSISTENCY_H

#include "solver/intra_op/presolve_problem.h"

/* Choices that cannot be: of cost never, without partner over an edge, or with more memory than is
 * left when all others hold the least. A node may keep none. */
clv_status clv_pre_arc_consistency(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *fold,
                                   clv_error *err);

#endif
