/* steps.h - the steps that lead from one layout of a tensor to another.
 *
 * A step changes what some axes do; the devices that differ only in these axes do it together, all
 * such groups at once:
 *
 *   slice           copy -> split         each keeps its part of what it has; nothing is sent
 *   neutral         copy -> partial       one keeps its copy, the others have the neutral element
 *                                         (of max, min and mean: all keep it); nothing is sent
 *   all-gather      split -> copy         parts are put together
 *   reduce-scatter  partial -> split      each reduces its own part
 *   all-reduce      partial -> copy
 *   all-to-all      split -> split        of another dimension or factor
 *   permute         the same parts on other devices; each part is sent whole
 *
 * An axis is split off or put together only where no other axis splits further inside (the largest
 * nest of its factor): then a step is right for uneven parts too.
 */
#ifndef CLV_SHARDING_STEPS_H
#define CLV_SHARDING_STEPS_H

#include "sharding/layouts.h"

typedef enum {
    CLV_STEP_SLICE,
    CLV_STEP_NEUTRAL,
    CLV_STEP_ALL_GATHER,
    CLV_STEP_REDUCE_SCATTER,
    CLV_STEP_ALL_REDUCE,
    CLV_STEP_ALL_TO_ALL,
    CLV_STEP_PERMUTE,
    CLV_N_STEPS
} clv_step_kind;

const char *clv_step_name(clv_step_kind kind);
/* Do devices send each other anything in it? */
static inline bool clv_step_sends(clv_step_kind kind)
{
    return kind != CLV_STEP_SLICE && kind != CLV_STEP_NEUTRAL;
}

/* May a step of this kind, over these axes, lead from one layout to the other, by the list above:
 * axes that it is over, and no others, do in both what it says? An exchange may have axes that hold
 * copies. What it does to factors and nests is not looked at. O(axes). */
bool clv_step_fits(clv_step_kind kind, uint32_t axes, const clv_layout *from, const clv_layout *to,
                   const clv_mesh *mesh);

typedef struct {
    clv_step_kind kind;
    uint32_t axes; /* that the step is over; of a permute: all */
    int32_t to;
    /* What its time depends on: bytes of the whole that a group gathers, scatters or reduces, or
     * that a device has before an exchange; largest parts all. 0 where nothing is sent. */
    int64_t bytes;
    int64_t sent; /* by each device, at most, if it sends as little as it can */
} clv_step_to;

typedef struct {
    clv_step_to *at;
    int32_t n, cap;
} clv_step_list;

/* Appends all steps from a layout, grown in the arena. O(steps * axes). */
clv_status clv_layouts_steps(const clv_layouts *all, int32_t from, clv_arena *arena,
                             clv_step_list *ret, clv_error *err);

#endif
