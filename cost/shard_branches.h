/* shard_branches.h - what branches that read one tensor take at least, where they may run on
 * several stages.
 *
 * An operator that reads it is whole on one stage: with what brings the tensor to where it is
 * needed, and what it makes to where it lies or its only reader needs it. On another stage than the
 * tensor's it begins when the tensor is there; on the tensor's, something is sent once it is done,
 * as the branches meet on another stage. So of three equal operators two share a stage out of two,
 * and none on the other stage is done sooner than it takes to send the tensor and to run it.
 */
#ifndef CLV_COST_SHARD_BRANCHES_H
#define CLV_COST_SHARD_BRANCHES_H

#include "cost/shard_problem.h"
#include "problem/intra_op_between.h"

typedef struct {
    int64_t ns, behind_ns; /* at least; and until what it leads to is sent */
} clv_shard_branch;

typedef struct {
    const int64_t *sent_ns; /* by choice of the tensor: to come to another stage, at least */
    clv_shard_branch *at;   /* [choice * n + operator], those that take most first */
    int32_t n;              /* operators */
    int32_t n_choices;      /* of the tensor */
} clv_shard_branches;

/* The part begins with the node of the tensor. behind_ns: by node of the problem, of operators that
 * read it. Sets all of ret but sent_ns. What is found lives in the arena.
 * O(entries of edges in the part + choices of the tensor * n log n). */
clv_status clv_shard_branches_find(const clv_shard_problem *s, const clv_intra_op_part *part,
                                   const int64_t *behind_ns, clv_arena *arena,
                                   clv_shard_branches *ret, clv_error *err);

/* How long they all take at least from when the tensor is there to where they meet, on its stage
 * and so many others, where that is one of the others. O(n). */
int64_t clv_shard_branches_ns(const clv_shard_branches *b, int32_t choice, int32_t others);

#endif
