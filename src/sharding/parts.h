/* parts.h - which part of a tensor each device of a mesh has under a layout.
 *
 * A part of a fused dimension need not lie in one run of it: the tensor is seen with such a
 * dimension taken apart into its factors (clv_split_dims), and there every part is a box.
 */
#ifndef CLV_SHARDING_PARTS_H
#define CLV_SHARDING_PARTS_H

#include "graph/graph.h"
#include "sharding/layout.h"

/* Every axis may add a factor, and a unit. */
#define CLV_SPLIT_RANK_MAX (CLV_RANK_MAX + 2 * CLV_MESH_AXES_MAX)

/* The tensor as a layout splits it: its own dims unless some axis has an outer or a unit above 1. A
 * unit is the last factor of its dimension. */
typedef struct {
    int32_t rank;
    int64_t dims[CLV_SPLIT_RANK_MAX];
    int32_t axis_of[CLV_SPLIT_RANK_MAX]; /* the tensor's dimension that it is of */
    int32_t outer[CLV_SPLIT_RANK_MAX];   /* as in clv_layout; 0 for a unit, which nothing splits */
} clv_split_dims;

/* The layout must have passed clv_layout_check() for the tensor, here and below. O(rank). */
void clv_split_dims_of(const clv_layout *layout, const clv_tensor_split *tensor,
                       clv_split_dims *ret);

typedef struct {
    int64_t offset[CLV_SPLIT_RANK_MAX];
    int64_t size[CLV_SPLIT_RANK_MAX];
    int64_t bytes; /* packed; INT64_MAX where 64 bits do not hold it */
} clv_part;

/* The part at a position of the mesh. O(rank), and O(size of the axis) where parts have shares. */
void clv_layout_part(const clv_layout *layout, const clv_mesh *mesh, const clv_tensor_split *tensor,
                     const clv_split_dims *dims, int32_t position, clv_part *ret);
/* Its dims as the tensor has them: rank entries. */
void clv_layout_part_dims(const clv_layout *layout, const clv_mesh *mesh,
                          const clv_tensor_split *tensor, int32_t position, int64_t *ret);

/* Bytes of the largest part: what memory and time are counted with. O(rank); with shares O(product
 * of the axes of a dimension). */
int64_t clv_layout_bytes(const clv_layout *layout, const clv_mesh *mesh,
                         const clv_tensor_split *tensor);
/* Elements of the largest part along dimension dim. */
int64_t clv_layout_along(const clv_layout *layout, const clv_mesh *mesh,
                         const clv_tensor_split *tensor, int32_t dim);
/* Elements of the largest part of dimension dim when it is split by these axes, outermost first, in
 * one factor of this size. */
int64_t clv_largest_cut(int64_t size, const clv_mesh *mesh, const clv_tensor_split *tensor,
                        const int32_t *axes, int32_t n);
/* Elements times the dtype, INT64_MAX where it is too much. */
int64_t clv_bytes_of_elems(clv_dtype dtype, int64_t elems);

/* Sizes of the parts of a dimension in the order of its axes: "4, 3, 3"; "" where all are equal or
 * the dimension is not split. More than fits ends in "...". Returns buf. */
#define CLV_UNEVEN_TEXT 240
const char *clv_layout_uneven(char buf[static CLV_UNEVEN_TEXT], const clv_layout *layout,
                              const clv_mesh *mesh, const clv_tensor_split *tensor, int32_t dim);

#endif
