/* stage_conversions.h - what a stage holds while a tensor comes from one layout to another.
 *
 * As the program of one device does it (lower/local_model.h): before an operator its inputs, one
 * after the other, come from where they lie to where it needs them; behind it its outputs come to
 * where they lie, or, if an operator alone reads one, to where that needs it.
 */
#ifndef CLV_JOINT_STAGE_CONVERSIONS_H
#define CLV_JOINT_STAGE_CONVERSIONS_H

#include "joint/stage_waiting.h"

typedef struct {
    int32_t from, to;     /* nodes whose choices say from which layout and to which */
    const int64_t *bytes; /* by choice of from, then of to: the most that the tensor takes on the
                             way; 0: it stays as it is */
    int32_t on;           /* node of the operator on whose stage that is */
    int32_t first_beside, end_beside; /* what lies there meanwhile */
} clv_conversion;

typedef struct {
    int32_t *first, *end; /* by the node whose choice is the last one that decides it: into at */
    clv_conversion *at;
    clv_waiting *beside;
} clv_stage_conversions;

/* Everything lives in the arena. O(edges * (tensors + choices^2)), and the resharder for each pair
 * of distinct layouts at an edge. */
clv_status clv_stage_conversions_make(const clv_stage_space *of, const clv_stage_waiting *waiting,
                                      clv_arena *arena, clv_stage_conversions *ret, clv_error *err);

#endif
