/* steps.h - all layouts of one tensor on one mesh, and the steps that lead from one to another.
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

#include "sharding/parts.h"

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

/* What an axis may split: dimension dim, within each of its outer parts, in units of so many
 * elements (0: of one). */
typedef struct {
    int32_t dim, outer, unit;
} clv_slot;

/* The number of layouts grows with its third power. */
#define CLV_SLOTS_MAX 16

/* All layouts that clv_layout_check() admits, written plain, partial ones by sum. Read-only once
 * built. The numbers of layouts are those of this tensor and mesh only. */
typedef struct {
    const clv_mesh *mesh;
    clv_tensor_split tensor;
    int32_t n_slots, n;
    clv_slot slot[CLV_SLOTS_MAX];
    const clv_layout *at; /* n */
    const int32_t *key;   /* ascending */
    const int64_t *bytes; /* of the largest part */
    const int64_t *along; /* [layout * rank + dimension]: elements of the largest part along it */
    bool simple;          /* no slot has an outer or a unit above 1, and no axis shares */
    /* Layouts with the same parts on other devices, side by side; where each stands; and where the
     * ones like it begin and end. */
    const int32_t *alike, *alike_from, *alike_to;
} clv_layouts;

/* Every dimension of at least 2 elements may be split, and the slots given besides with an outer or
 * a unit above 1 (others are left out, as are those that the dimension is not made of). CLV_ELIMIT:
 * more than CLV_SLOTS_MAX. The tensor is copied, its shares are not. Polynomial of degree 3 in the
 * slots: 400 layouts for rank 4 and three axes. */
clv_status clv_layouts_make(const clv_mesh *mesh, const clv_tensor_split *tensor,
                            const clv_slot *more, int32_t n_more, clv_arena *arena,
                            const clv_layouts **ret, clv_error *err);

/* The number of a layout, whatever it is partial by; -1: not one of these. O(log n). */
int32_t clv_layouts_find(const clv_layouts *all, const clv_layout *layout);
/* The same for one that is plain already. */
int32_t clv_layouts_find_plain(const clv_layouts *all, const clv_layout *plain);

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
