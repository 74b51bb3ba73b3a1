/* shard_problem.h - from a model and a mesh to the intra-operator problem as numbers, and what its
 * choices mean: the formulation of Alpa (Zheng et al. 2022), with resharding by shortest paths.
 *
 * An operator is a node. Its choices say for each mesh axis which factor of its sharding rule the
 * axis splits, if any. A choice costs the time of the largest part.
 *
 * A tensor that is read more than once, or that the model returns, is a node too: its choices are
 * the layouts in which it may lie. So what several readers want is made once. Any other tensor is
 * an edge from its writer to its reader. Edges cost what it takes to come from the layout there is
 * to the one that is wanted (reshard.h).
 *
 * Memory, by layout, in bytes of the fullest device: at moment 0, when a device begins, all weights
 * and inputs of the model; at moment 1, when it is done, all weights and outputs. Of outputs that
 * are views of the same memory one counts, and none that are views of weights. Results in between
 * are not counted: at neither moment more than any plan holds in all stages together, so that no
 * bound is too high. A weight that several operators read counts in the first.
 *
 * Values known before the run, and what computes them, lie everywhere and are no part of it.
 */
#ifndef CLV_COST_SHARD_PROBLEM_H
#define CLV_COST_SHARD_PROBLEM_H

#include "cost/shard_tables.h"
#include "problem/intra_op_problem.h"

typedef struct {
    const clv_types *types;
    const clv_mesh *mesh;
    const clv_intra_op_problem *problem;
    const clv_factors *factors;    /* n_ops; of those that are nodes */
    const int32_t *node_of_op;     /* n_ops; -1: no node */
    const int32_t *node_of_tensor; /* n_tensors; -1: no node */
    /* By node, then by its choice: of an operator, of a tensor; NULL where it is the other one. */
    const clv_op_choice **op_choice;
    const clv_op_cost **op_cost; /* what each of those costs */
    const clv_layout **layout;
} clv_shard_problem;

/* limit_bytes: of memory, CLV_INTRA_OP_UNLIMITED. Everything lives in the arena; work on distinct
 * layouts of distinct shapes is done once. CLV_ELIMIT where sums do not fit 64 bits. O(edges, and
 * for each distinct pair of lists of layouts their product). */
clv_status clv_shard_problem_build(clv_shard_tables *tables, int64_t limit_bytes, clv_arena *arena,
                                   clv_shard_problem **ret, clv_error *err);
/* The same problem with another limit. O(1). */
clv_status clv_shard_problem_limit(const clv_shard_problem *s, int64_t limit_bytes,
                                   clv_arena *arena, clv_shard_problem **ret, clv_error *err);

/* What a solution of the problem, choice by node as clv_intra_op_solve() gives it, means: */

/* What it chooses for an operator; NULL where that is no part of the problem. */
const clv_op_choice *clv_shard_choice(const clv_shard_problem *s, const int32_t *solution,
                                      clv_op op);
/* Layouts that it gives a tensor: as its writer leaves it (of an input of the model: as it is
 * given), where it lies, and as the explicit input k of an operator needs it. Tensors and operators
 * that are no part of the problem: copies. */
clv_layout clv_shard_made(const clv_shard_problem *s, const int32_t *solution, clv_tensor t);
clv_layout clv_shard_home(const clv_shard_problem *s, const int32_t *solution, clv_tensor t);
clv_layout clv_shard_need(const clv_shard_problem *s, const int32_t *solution, clv_op op,
                          int32_t k);

#endif
