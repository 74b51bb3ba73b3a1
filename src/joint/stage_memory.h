/* stage_memory.h - what a stage holds at least, while operators are given strategies and stages one
 * after another.
 *
 * While an operator runs, its device has the weights of all operators of its stage, what the
 * operator reads as it needs it and writes as it makes it, the least workspace that plans are tried
 * with, and what others left for later: of one stage every tensor that is still to be read, of
 * several the outputs of the model. Gaps are left out and most of what is in flight, so what does
 * not fit here fits no device.
 */
#ifndef CLV_JOINT_STAGE_MEMORY_H
#define CLV_JOINT_STAGE_MEMORY_H

#include "cost/shard_problem.h"

typedef struct {
    const clv_shard_problem *problem;
    const clv_costs *costs;    /* of the whole model */
    const clv_cluster *stages; /* a device each: its meshes */
    bool piped;                /* several micro-batches are in flight for certain */
} clv_stage_space;

/* Made before an operator and read behind it. */
typedef struct {
    int32_t maker;          /* node of its operator; -1: an input of the model */
    int32_t node;           /* whose choice decides its layout; -1: nothing is known of that */
    const int64_t *bytes;   /* by choice of the node; without one the least that it may have */
    const clv_layout *need; /* by choice of the operator, where that reads it too: if that is how it
                               lies, it is there once; NULL: it does not */
} clv_waiting;

typedef struct {
    const clv_shard_problem *of;
    int64_t capacity_bytes; /* of the device that has least */
    bool one_stage;
    int64_t *weight_bytes;  /* by choice of an operator: of weights that are read there first */
    int64_t *running_bytes; /* the same: of what it reads and writes */
    int64_t *rest_bytes;    /* by its node, of one stage: the least weights of all behind it */
    int32_t *first_waiting, *end_waiting; /* by node of an operator */
    clv_waiting *waiting;
} clv_stage_memory;

/* Of a stage so far. */
typedef struct {
    int64_t weight_bytes, most_bytes; /* the most besides weights at one operator */
} clv_stage_held;

/* What tensors may use on the device that has least. O(devices). */
int64_t clv_stage_capacity(const clv_cluster *stages);

/* Everything lives in the arena. O(operators * tensors + choices * operands). */
clv_status clv_stage_memory_make(const clv_stage_space *of, clv_arena *arena, clv_stage_memory *ret,
                                 clv_error *err);

/* The operator of a node runs on a stage behind all those before it, which have a choice and a
 * stage, by node. False: the stage holds more than it can. O(tensors that wait). */
bool clv_stage_memory_run(const clv_stage_memory *m, int32_t node, const int32_t *choice_of,
                          const int32_t *stage_of, clv_stage_held *io);

#endif
