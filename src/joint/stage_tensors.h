/* stage_tensors.h - which tensors take memory of a stage, and how much in which layout.
 */
#ifndef CLV_JOINT_STAGE_TENSORS_H
#define CLV_JOINT_STAGE_TENSORS_H

#include "cost/resharder.h"
#include "cost/shard_problem.h"

/* Where operators are given strategies and stages. */
typedef struct {
    const clv_shard_problem *problem;
    const clv_costs *costs;    /* of the whole model */
    const clv_cluster *stages; /* a device each: its meshes */
    clv_resharder *resharder;  /* of the problem's mesh */
    bool piped;                /* several micro-batches are in flight for certain */
} clv_stage_space;

/* Is it made in the run, or given to it, and in no memory of weights? Of those that share memory
 * one is to be counted at a time. O(views of views). */
bool clv_stage_tensor_counts(const clv_stage_space *of, clv_tensor t);

/* Of one device. O(rank). */
int64_t clv_stage_tensor_bytes(const clv_stage_space *of, clv_tensor t, const clv_layout *layout);

/* How the operator, a node of the problem, needs its explicit input k by this choice of it. */
clv_layout clv_stage_need(const clv_stage_space *of, clv_op op, int32_t k, int32_t choice);

/* The first explicit input of an operator that is this tensor; -1: none. O(operands). */
int32_t clv_stage_input_number(const clv_stage_space *of, clv_op op, clv_tensor t);

/* The first that shares memory with it; -1: none. O(operands * views of views). */
int32_t clv_stage_input_sharing(const clv_stage_space *of, clv_op op, clv_tensor t);

#endif
