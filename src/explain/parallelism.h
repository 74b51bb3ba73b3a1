/* parallelism.h - the kinds of parallelism that a sharded plan uses, by the names of the field.
 *
 * Found from the layouts alone, so that a plan is named for what it is, whoever made it. The names
 * are of Shoeybi et al. 2019 (Megatron), Rajbhandari et al. 2020 (ZeRO), Korthikanti et al. 2022
 * (sequence parallel). For an axis of the mesh:
 *
 *   data parallel         the axis splits the batch of at least half of the matmuls with weights,
 *                         and not their weights
 *   context parallel      the same for the sequence
 *   Megatron column       a weight is split on its output dimension: the result stays split
 *   Megatron row          a weight is split on its reduced dimension: the result is a partial sum
 *   head parallel attention   the heads of an attention's matmuls, or of an attention operator
 *   sequence parallel     norms are split on the sequence, between matmuls of the two kinds above
 *   expert parallel       experts (experts.h) are dealt out: the leading dimension of a weight that
 *                         has a slice for each, or, where each has its own, over stages
 *   vocabulary parallel embedding   rows of a table that is looked up by tokens
 *   vocabulary parallel output      columns of the last matmul, as many as the largest table has
 *                         rows, where they go out of the model with no activation function behind
 *   table sharding        tables of a model with several of them, by rows or columns
 *   ZeRO-like             weights are kept split and gathered before use
 *
 * and of the whole: pipeline, with more than one stage. A matmul is any contraction with a weight:
 * MatMul, Gemm, Conv, Einsum and their quantised forms. The batch is dimension 0 of what it reads,
 * the outer part where a reshape fused more into it; where all inputs of the model have a batch of
 * one, dimension 0 of a flat activation is the sequence.
 */
#ifndef CLV_EXPLAIN_PARALLELISM_H
#define CLV_EXPLAIN_PARALLELISM_H

#include "plan/plan_layouts.h"

/* By axis, then in the order above; the pipeline last. What was not found is not listed. The list
 * is in the arena. CLV_ENOMEM. O(operators + edges) for each axis. */
clv_status clv_find_parallelism(const clv_plan_layouts *layouts, clv_arena *arena,
                                const clv_plan_finding **ret, int32_t *ret_n, clv_error *err);

#endif
