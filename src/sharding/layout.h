/* layout.h - how a tensor lies on a mesh: what each mesh axis does with it.
 *
 * An axis splits one dimension, or every device along it has a copy, or every device along it has a
 * partial result that still has to be reduced over the axis.
 *
 * Several axes on one dimension nest: the one with the smallest `nest` is the outermost. Each cuts
 * what the one before it left, so that putting the parts of the innermost together gives just the
 * parts of the layout without it, however uneven they are. A dimension that a reshape fused out of
 * others, (b, s) -> b*s, may be split by one of its inner factors: then the dimension counts as
 * outer * rest, and the axis splits the rest into contiguous parts, within each of the outer ones.
 * outer is 1 for an ordinary split. On a dimension with several of them, axes with a smaller outer
 * come first, and have to divide evenly what they split.
 *
 * Where elements of a dimension belong together, as those of a head do, it may be cut between them
 * only: 7 heads of 64 are 256 and 192 elements for two devices. Then the rest of the dimension
 * counts as units of so many elements, and whole ones go to a part. All axes of one outer have the
 * same unit, and none splits within it. unit is 1 where an ordinary split gives the same parts.
 *
 * docs/communication.md explains it at length; notation/layout_text.h writes and reads layouts.
 */
#ifndef CLV_SHARDING_LAYOUT_H
#define CLV_SHARDING_LAYOUT_H

#include <stdbool.h>

#include "graph/types.h"
#include "sharding/cut.h"
#include "sharding/mesh.h"

/* How partial results become one. */
typedef enum {
    CLV_REDUCE_NONE,
    CLV_REDUCE_SUM,
    CLV_REDUCE_MEAN, /* every part weighs the same: even splits only */
    CLV_REDUCE_MAX,
    CLV_REDUCE_MIN,
    CLV_REDUCE_PROD,
    CLV_REDUCE_L2,      /* sqrt(a^2 + b^2) */
    CLV_REDUCE_LOG_SUM, /* log(exp a + exp b) */
    CLV_N_REDUCES
} clv_reduce;

const char *clv_reduce_name(clv_reduce reduce); /* "sum", "mean", ... */

#define CLV_AXIS_COPY    (-1)
#define CLV_AXIS_PARTIAL (-2)

/* Plain data, no padding: equal layouts are equal bytes. Axes beyond the mesh's are CLV_AXIS_COPY.
 */
typedef struct {
    int32_t outer[CLV_MESH_AXES_MAX]; /* by axis; 1 unless it splits an inner factor */
    int32_t unit[CLV_MESH_AXES_MAX];  /* by axis: elements that stay together; else 1 */
    int8_t dim[CLV_MESH_AXES_MAX];  /* by axis: the dimension it splits, or one of the two above */
    int8_t nest[CLV_MESH_AXES_MAX]; /* among the axes of one dimension, from 0; else 0 */
    int8_t reduce[CLV_MESH_AXES_MAX]; /* clv_reduce, where dim is CLV_AXIS_PARTIAL */
    int8_t zero[3];                   /* always 0 */
} clv_layout;

#define CLV_LAYOUT_COPIES                                                                          \
    ((clv_layout){ { 1, 1, 1 },                                                                    \
                   { 1, 1, 1 },                                                                    \
                   { CLV_AXIS_COPY, CLV_AXIS_COPY, CLV_AXIS_COPY },                                \
                   { 0 },                                                                          \
                   { 0 },                                                                          \
                   { 0 } })

bool clv_layout_equal(const clv_layout *a, const clv_layout *b);

/* The tensor that a layout is of. dims are numbers, none negative. */
typedef struct {
    int32_t rank;
    const int64_t *dims;
    clv_dtype dtype;
    clv_uneven_policy policy;
    /* By axis: the parts along it have these proportions (one positive number for each coordinate,
     * clv_mesh_shares() or sizes by hand), whatever the policy; NULL: by the policy. */
    const int64_t *share[CLV_MESH_AXES_MAX];
} clv_tensor_split;

/* A tensor of this type as layouts split it: uneven parts with the larger ones first. False: it is
 * no tensor, or a dimension is open; it can only be copied. The one definition of what a plan may
 * split and a lowered model can cut. */
bool clv_split_of_type(const clv_type *type, clv_tensor_split *ret);

/* Ready for use on a mesh and, where tensor is given, for that tensor: dimensions in range, axes of
 * a dimension nested from 0 on with factors in order, one kind of reduction, no more parts than
 * elements, factors that divide, uneven only where the policy allows. CLV_EUSAGE with a sentence
 * that names the axis, the dimension and why; rank is looked at alone when tensor is NULL. O(1). */
clv_status clv_layout_check(const clv_layout *layout, const clv_mesh *mesh, int32_t rank,
                            const clv_tensor_split *tensor, clv_error *err);

/* The one way to write it: axes of size 1 are copies, and an axis that splits the rest of a factor
 * that the axes before it have split into single elements is an ordinary split within them. Layouts
 * that are equal thereafter have equal parts. */
clv_layout clv_layout_plain(const clv_layout *layout, const clv_mesh *mesh);
/* The same where the layout may have units that all parts have as many of, for a tensor that it
 * goes with: they become 1. Those of clv_factors_in() and clv_factors_out() have none. */
clv_layout clv_layout_plain_for(const clv_layout *layout, const clv_mesh *mesh,
                                const clv_tensor_split *tensor);

/* The axes that split dimension dim, outermost first; their number. ret: CLV_MESH_AXES_MAX. */
int32_t clv_layout_axes_of(const clv_layout *layout, int32_t dim, int32_t *ret);
/* Axes that hold partial results, and those that hold copies. */
uint32_t clv_layout_partial_axes(const clv_layout *layout);
uint32_t clv_layout_copy_axes(const clv_layout *layout, const clv_mesh *mesh);
/* Splits dim by the axis within all axes that split it already; the second, in whole units. */
void clv_layout_split(clv_layout *layout, int32_t axis, int32_t dim, int32_t outer);
void clv_layout_split_units(clv_layout *layout, int32_t axis, int32_t dim, int32_t outer,
                            int32_t unit);
/* The axis holds copies, the other axes of its dimension move up. */
void clv_layout_unsplit(clv_layout *layout, int32_t axis);
/* The layout with copies along all of these axes, a bit each. */
clv_layout clv_layout_without(const clv_layout *layout, uint32_t axes);

/* How a layout counts through the devices: splitting axes by dimension and nest, then partial, then
 * copying ones. Two layouts with the same parts have them at the same count (clv_mesh_count_of()).
 * ret: the axes in that order. */
void clv_layout_order(const clv_layout *layout, int32_t ret[static CLV_MESH_AXES_MAX]);

#endif
