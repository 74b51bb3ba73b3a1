/* stage_memory.h - what a stage holds at least, while operators are given strategies and stages one
 * after another.
 *
 * While an operator runs, its device has the weights of all operators of its stage, what the
 * operator reads as it needs it and writes as it makes it, the least workspace that plans are tried
 * with, and what others left for later (stage_waiting.h); while a tensor comes to another layout,
 * what that takes (stage_conversions.h). Gaps are left out, and of what is in flight what stages
 * send each other and what several of them read, so what does not fit here fits no device.
 */
#ifndef CLV_JOINT_STAGE_MEMORY_H
#define CLV_JOINT_STAGE_MEMORY_H

#include "joint/stage_conversions.h"

typedef struct {
    const clv_shard_problem *of;
    int64_t capacity_bytes; /* of the device that has least */
    bool one_stage, ample;  /* ample: nothing below is known, for there is room for everything */
    int64_t *kept_bytes;    /* by choice, all the time: of weights that are first read there; with
                               several micro-batches one more of the model's inputs and outputs,
                               but for states */
    int64_t *running_bytes; /* by choice of an operator: of what it reads and writes */
    int64_t *rest_bytes;    /* by node, of one stage: the least that all behind it keep */
    clv_stage_waiting waiting;
    clv_stage_conversions conversions;
} clv_stage_memory;

/* Of a stage so far. */
typedef struct {
    int64_t kept_bytes, most_bytes; /* all the time; the most besides at one time */
} clv_stage_held;

/* What tensors may use on the device that has least. O(devices). */
int64_t clv_stage_capacity(const clv_cluster *stages);

/* Everything lives in the arena. O() of its two parts, and choices * operands. */
clv_status clv_stage_memory_make(const clv_stage_space *of, clv_arena *arena, clv_stage_memory *ret,
                                 clv_error *err);

/* The operator of a node runs behind all those before it, which have a choice and a stage, by node;
 * or a tensor that it wrote comes to where it lies. io: by stage. False: a stage holds more than it
 * can. O(tensors that wait, for each conversion). */
bool clv_stage_memory_run(const clv_stage_memory *m, int32_t node, const int32_t *choice_of,
                          const int32_t *stage_of, clv_stage_held *io);

#endif
