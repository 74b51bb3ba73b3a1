/* layouts.h - all layouts of one tensor on one mesh, each with a number. */
#ifndef CLV_SHARDING_LAYOUTS_H
#define CLV_SHARDING_LAYOUTS_H

#include "sharding/parts.h"

/* What an axis may split: dimension dim, within each of its outer parts, in units of so many
 * elements (0: of one). */
typedef struct {
    int32_t dim, outer, unit;
} clv_slot;

typedef struct {
    const clv_slot *at;
    int32_t n;
} clv_slots;

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

/* Every dimension of at least 2 elements may be split, and the slots of `more`, with an outer or
 * a unit above 1 (others are left out, as are those that the dimension is not made of). CLV_ELIMIT:
 * more than CLV_SLOTS_MAX. The tensor is copied, its shares are not. Polynomial of degree 3 in the
 * slots: 400 layouts for rank 4 and three axes. */
clv_status clv_layouts_make(const clv_mesh *mesh, const clv_tensor_split *tensor, clv_slots more,
                            clv_arena *arena, const clv_layouts **ret, clv_error *err);

/* The number of a layout, whatever it is partial by; -1: not one of these. O(log n). */
int32_t clv_layouts_find(const clv_layouts *all, const clv_layout *layout);
/* The same for one that is plain already. */
int32_t clv_layouts_find_plain(const clv_layouts *all, const clv_layout *plain);

#endif
