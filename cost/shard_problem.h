/* shard_problem.h - from a model and a mesh to the strategy problem as numbers, and what its
 * choices mean.
 *
 * An operator is a node. Its choices say for each mesh axis which factor of its sharding rule the
 * axis splits, if any. A choice costs the time of the largest part.
 *
 * A tensor that is read more than once, or that the model returns, is a node too: its choices are
 * the layouts in which it may lie. So what several readers want is made once. Any other tensor is
 * an edge from its writer to its reader. Edges cost what it takes to come from the layout there is
 * to the one that is wanted (reshard.h).
 *
 * Memory: at the one moment 0 all weights, inputs and outputs of the model together, by layout, in
 * bytes of the fullest device. Results in between are not counted: less than any plan needs, so no
 * bound is too high for it. A weight that several operators read counts in the first.
 *
 * Values known before the run, and what computes them, lie everywhere and are no part of it.
 */
#ifndef CLV_COST_SHARD_PROBLEM_H
#define CLV_COST_SHARD_PROBLEM_H

#include "cost/resharder.h"
#include "cost/shard_cost.h"
#include "problem/strategy.h"

/* By mesh axis the factor that it splits, or -1. */
typedef struct {
    int16_t factor[CLV_MESH_AXES_MAX];
} clv_op_choice;

/* What choices may be, as a user's rules say; NULL: all that the rules of the operators allow. */
typedef struct {
    /* Of operators. At least one choice that the operator's rule allows must pass. */
    bool (*allow)(void *ctx, clv_op op, const clv_factors *f, const clv_op_choice *choice);
    /* A layout of a tensor that may lie in some ways only, no weight; NULL: it may lie in any. Such
     * a tensor is a node, however often it is read. */
    const clv_layout *(*like)(void *ctx, clv_tensor t);
    bool (*lies)(void *ctx, clv_tensor t, const clv_layout *layout); /* may it lie so? */
    void *ctx;
} clv_choice_filter;

typedef struct {
    const clv_types *types;
    const clv_mesh *mesh;
    const clv_strategies *problem;
    const clv_factors *factors;    /* n_ops; of those that are nodes */
    const int32_t *node_of_op;     /* n_ops; -1: no node */
    const int32_t *node_of_tensor; /* n_tensors; -1: no node */
    /* By choice of the problem, whichever the node is. */
    const clv_op_choice *op_choice;
    const clv_layout *layout;
} clv_shard_problem;

/* Is it known before the run, so that it lies everywhere and is no part of the problem? */
bool clv_shard_is_known(const clv_types *types, clv_tensor t);

/* factors: of clv_factors_all(). limit_bytes: of memory, CLV_STRATEGY_UNLIMITED. path: NULL, or
 * only the operators on a path (shard_path.h) and what goes from one to the next, without memory:
 * no plan, in however many stages, has less latency than that costs. Everything lives in the arena;
 * work on distinct layouts of distinct shapes is done once. CLV_ELIMIT where sums do not fit 64
 * bits. O(edges, and for each distinct pair of lists of layouts their product). */
clv_status clv_shard_problem_build(const clv_types *types, const clv_factors *factors,
                                   const clv_costs *costs, const clv_cluster *cluster,
                                   const clv_mesh *mesh, clv_resharder *resharder,
                                   const clv_choice_filter *filter, const int32_t *path,
                                   int64_t limit_bytes, clv_arena *arena, clv_shard_problem **ret,
                                   clv_error *err);

/* What an answer chooses for an operator; NULL where it is no part of the problem. answer: by node,
 * as clv_strategy_solve() gives it, here and below. */
const clv_op_choice *clv_shard_choice(const clv_shard_problem *s, const int32_t *answer, clv_op op);
/* Layouts that an answer gives a tensor: as its writer leaves it (of an input of the model: as it
 * is given), where it lies, and as the explicit input k of an operator needs it. answer: by node,
 * as clv_strategy_solve() gives it. Tensors and operators that are no part of the problem: copies.
 */
clv_layout clv_shard_made(const clv_shard_problem *s, const int32_t *answer, clv_tensor t);
clv_layout clv_shard_home(const clv_shard_problem *s, const int32_t *answer, clv_tensor t);
clv_layout clv_shard_need(const clv_shard_problem *s, const int32_t *answer, clv_op op, int32_t k);

#endif
