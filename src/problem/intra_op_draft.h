/* intra_op_draft.h - an intra-operator problem in the making: nodes, matrices, edges one by one.
 *
 * Equal matrices of edges of one shape are found by their contents and kept once. Whoever builds a
 * problem (a reader of files, the cost model, presolve) fills a draft and freezes it. Arguments
 * that break a rule of intra_op_problem.h are CLV_EFORMAT with one sentence that names the node or
 * edge by its number.
 */
#ifndef CLV_PROBLEM_INTRA_OP_DRAFT_H
#define CLV_PROBLEM_INTRA_OP_DRAFT_H

#include "problem/intra_op_problem.h"

typedef struct clv_intra_op_draft clv_intra_op_draft;

/* The draft and what it makes live in the arena. */
clv_status clv_intra_op_draft_new(clv_arena *arena, clv_intra_op_draft **ret, clv_error *err);

/* The next node: n choices with a cost each. */
clv_status clv_intra_op_draft_node(clv_intra_op_draft *d, int32_t n, const int64_t *cost,
                                   clv_error *err);
/* A span of the last node; usage of each of its choices. lo == hi: nothing is added. */
clv_status clv_intra_op_draft_span(clv_intra_op_draft *d, int64_t lo, int64_t hi,
                                   const int64_t *usage, clv_error *err);
/* For readers that meet the usages of nodes before their spans: usages that spans will refer to, by
 * the number in *ret; and a span of a node, not before that of the last span, as many usages as the
 * node has choices. Numbers are not negative. */
clv_status clv_intra_op_draft_usages(clv_intra_op_draft *d, int32_t n, const int64_t *usage,
                                     int64_t *ret, clv_error *err);
clv_status clv_intra_op_draft_hold(clv_intra_op_draft *d, int32_t node, int64_t lo, int64_t hi,
                                   int64_t usages, clv_error *err);
/* Number of the matrix with these entries, an old one if it is equal; in the frozen problem edges
 * of another shape have a copy of it instead. O(n). */
clv_status clv_intra_op_draft_matrix(clv_intra_op_draft *d, int64_t n, const int64_t *entry,
                                     int32_t *ret, clv_error *err);
/* How many entries that matrix has. */
int64_t clv_intra_op_draft_entries(const clv_intra_op_draft *d, int32_t matrix);
/* An edge over k nodes; they may come later than their edges. */
clv_status clv_intra_op_draft_edge(clv_intra_op_draft *d, int32_t k, const int32_t *node,
                                   int32_t matrix, clv_error *err);
/* Checks what could not be checked before (an edge's matrix is as large as its nodes say). */
clv_status clv_intra_op_draft_freeze(clv_intra_op_draft *d, const char *name, int64_t usage_limit,
                                     const clv_intra_op_problem **ret, clv_error *err);

#endif
