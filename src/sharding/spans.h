/* spans.h - which elements of one dimension a device has under a layout, as spans of neighbours.
 *
 * A part of a tensor is all combinations of what a device has of each dimension. That is one span
 * unless the layout splits an inner factor of a fused dimension.
 */
#ifndef CLV_SHARDING_SPANS_H
#define CLV_SHARDING_SPANS_H

#include "base/arena.h"
#include "sharding/parts.h"

typedef struct {
    int64_t at, n; /* elements at, ..., at + n - 1; n is at least 1 */
} clv_span;

typedef struct {
    const clv_span *span; /* rising, none touches the next */
    int32_t n;
    int64_t elems; /* of all of them */
} clv_spans;

/* A tensor under a layout, which must have passed clv_layout_check() for it. */
typedef struct {
    const clv_layout *layout;
    const clv_mesh *mesh;
    const clv_tensor_split *tensor;
} clv_laid_out;

/* What the device at a position has of dimension dim. Lives in the arena. CLV_ELIMIT: more than
 * CLV_SPANS_MAX. O(spans + axes). */
#define CLV_SPANS_MAX (1 << 24)
clv_status clv_layout_spans(const clv_laid_out *of, int32_t dim, int32_t position, clv_arena *arena,
                            clv_spans *ret, clv_error *err);

/* Where the elements of `part` stand among those of `all`, which has all of them: spans of places.
 * CLV_EINTERNAL where it has not. O(spans). */
clv_status clv_spans_within(const clv_spans *part, const clv_spans *all, clv_arena *arena,
                            clv_spans *ret, clv_error *err);
/* Has `all` every element of `part`? O(spans). */
bool clv_spans_has(const clv_spans *all, const clv_spans *part);

#endif
