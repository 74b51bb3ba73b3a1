/* layout_spec.h - a layout on a mesh as a sharding spec of ONNX, and back.
 *
 * The spec lists the split dimensions in rising order, each with the product of the axes that split
 * it, and the devices in the order of their parts. Devices that have the same part are a group with
 * a negative key, -1 for the first part's. A dimension with inner factors has a simple sharding for
 * each factor. What the schema has no word for is left out and listed.
 */
#ifndef CLV_NOTATION_LAYOUT_SPEC_H
#define CLV_NOTATION_LAYOUT_SPEC_H

#include "notation/sharding_spec.h"
#include "sharding/parts.h"

typedef enum {
    CLV_OMITTED_PARTIAL, /* an axis holds partial results: in the spec its devices have copies */
    CLV_OMITTED_SIZES    /* a dimension has parts that the schema does not give the sizes of */
} clv_omission_kind;

typedef struct {
    clv_omission_kind kind;
    int32_t axis;     /* of the mesh, for a partial one; else -1 */
    int32_t dim;      /* of the tensor, for sizes; else -1 */
    bool lost;        /* sizes: whoever reads the spec under the same policy gets other parts */
    const char *text; /* a sentence without the tensor's name */
} clv_omission;

typedef struct {
    clv_sharding_spec spec;
    const clv_omission *omitted; /* axes, then dimensions, rising */
    int32_t n_omitted;
} clv_layout_spec;

/* The layout must have passed clv_layout_check() for the tensor. Device ids are those of the
 * cluster. spec.tensor is left NULL: the caller names it. clv_spec_shards() of the spec, under the
 * tensor's policy, gives each device its part of the layout, unless something omitted is lost.
 * O(devices * axes + rank). */
clv_status clv_layout_to_spec(const clv_layout *layout, const clv_mesh *mesh,
                              const clv_tensor_split *tensor, clv_arena *arena,
                              clv_layout_spec *ret, clv_error *err);

/* A layout under which every device of the mesh has the part that the spec gives it, none partial;
 * *ret NULL: there is none. The spec is checked first. Of the tensor only rank and dims are looked
 * at. O(layouts * devices): tens of microseconds for 64 devices. */
clv_status clv_layout_from_spec(const clv_sharding_spec *spec, const clv_mesh *mesh,
                                const clv_tensor_split *tensor, clv_arena *arena,
                                const clv_layout **ret, clv_error *err);

#endif
