/* memory_plan.h - the memory of one device's group, planned statically: weights, and an arena in
 * which every tensor has an offset for as long as it lives.
 *
 * docs/cost-model.md, "Memory and schedule", has the rules. A group's result depends on its units,
 * the kind of device, the proportion and how it is packed alone, so it can be kept and used again.
 */
#ifndef CLV_COMPILE_MEMORY_PLAN_H
#define CLV_COMPILE_MEMORY_PLAN_H

#include "compile/candidate.h"
#include "compile/offset_packing.h"

typedef struct {
    int64_t weight_bytes;
    int64_t activation_bytes; /* at the fullest moment, without workspace */
    int64_t workspace_bytes;  /* then */
    int64_t arena_bytes;      /* high-water mark, workspace included */
    int64_t live_bytes;       /* most alive at one time, workspace included: no arena is smaller */
    int64_t io_bytes;    /* the model's inputs that it reads and outputs that it makes, aligned, */
    int64_t state_bytes; /* but for its states (clv_slot_is_state): those that it makes */
    int64_t stash_bytes; /* what forward operators here leave for backward ones here, aligned */
    int64_t busy_ns;
    bool is_packed; /* as the group */
    int32_t n_ops;
    int32_t peak_position; /* first operator with live_bytes alive; -1 in an empty group */
} clv_group_result;

typedef struct {
    clv_placed_buffer *at;
    int32_t n, cap;
} clv_placed_buffers;

/* What one worker needs to plan groups of a program: marks as long as its slots and weights, kept
 * between calls and never cleared, for an entry counts only with the current epoch. */
typedef struct {
    const clv_program *program;
    int64_t *buffer_of;   /* n_slots: epoch << 32 | buffer + 1 (0: no memory of its own) */
    int32_t *weight_seen; /* n_weights: epoch */
    int32_t epoch;
} clv_memory_planner;

clv_status clv_memory_planner_init(clv_memory_planner *planner, const clv_program *p,
                                   clv_arena *arena, clv_error *err);

/* buffers may be NULL; else all of them in the order in which they begin to live, kept in the
 * arena. Scratch is given back where buffers is NULL. CLV_ENOMEM, *ret untouched. O(operators and
 * edges of the group), and what offset_packing.h takes. */
clv_status clv_plan_memory(clv_memory_planner *planner, const clv_group *group, clv_arena *arena,
                           clv_group_result *ret, clv_placed_buffers *buffers, clv_error *err);

/* weights, then the arena at the next aligned address */
int64_t clv_group_peak(const clv_group_result *r);

#endif
