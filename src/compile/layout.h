/* layout.h - what one device's group needs: weights, an arena with offsets, time.
 *
 * docs/cost-model.md, "Memory and schedule", has the rules. A group's result depends on its units,
 * the kind of device, the proportion and how it is packed alone, so it can be kept and used again.
 */
#ifndef CLV_COMPILE_LAYOUT_H
#define CLV_COMPILE_LAYOUT_H

#include "compile/program.h"

/* Units first .. end - 1. */
typedef struct {
    int32_t first, end;
} clv_unit_range;

typedef struct {
    int32_t device, kind;
    double proportion;            /* effective: never 0 */
    bool is_packed;               /* addresses by pack.h, if that makes the arena smaller */
    const clv_unit_range *ranges; /* ascending, not touching */
    int32_t n_ranges;
    const int32_t *device_of; /* n_units, of the candidate */
    const int64_t *ticks;     /* of the kind, at this proportion */
} clv_group;

typedef struct {
    int64_t weight_bytes;
    int64_t activation_bytes; /* at the fullest moment, without workspace */
    int64_t workspace_bytes;  /* then */
    int64_t arena_bytes;      /* high-water mark, workspace included */
    int64_t live_bytes;       /* most alive at one time, workspace included: no arena is smaller */
    int64_t io_bytes;         /* the model's inputs that it reads and outputs that it makes, aligned */
    int64_t stash_bytes;      /* what forward operators here leave for backward ones here, aligned */
    int64_t busy_ns, flops;
    bool is_packed; /* as the group */
    int32_t n_ops;
    int32_t peak_position; /* first operator with live_bytes alive; -1 in an empty group */
} clv_group_result;

#define CLV_SLOT_WORKSPACE (-1)

/* A tensor (or an operator's workspace) in the arena, from its first to its last operator; both
 * count the group's own operators from 0. */
typedef struct {
    int32_t slot, first, last;
    int64_t offset, bytes;
} clv_place_problem;

typedef struct {
    clv_place_problem *at;
    int32_t n, cap;
} clv_placements;

/* Marks of one worker, as long as the program's slots and weights; kept between calls, never
 * cleared: an entry counts only with the current epoch. */
typedef struct {
    int64_t *buffer_of;   /* n_slots: epoch << 32 | buffer + 1 (0: no memory of its own) */
    int32_t *weight_seen; /* n_weights: epoch */
    int32_t epoch;
} clv_layout_marks;

clv_status clv_layout_marks_init(clv_layout_marks *m, const clv_program *p, clv_arena *arena,
                                 clv_error *err);

/* placements may be NULL; else every placement in the order made, kept in the arena. Scratch is
 * given back where placements is NULL. O(operators and edges of the group), and pack.h's. */
clv_status clv_layout(const clv_program *p, const clv_group *group, clv_layout_marks *marks,
                      clv_arena *arena, clv_group_result *ret, clv_placements *placements,
                      clv_error *err);

/* weights, then the arena at the next aligned address */
int64_t clv_group_peak(const clv_group_result *r);

#endif
