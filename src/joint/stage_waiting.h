/* stage_waiting.h - what lies in the memory of a stage while an operator runs, made before it and
 * wanted behind it.
 *
 * Operators run in the order of the file. Of one stage every tensor counts that is still to be
 * read; of several, of which a reader may be elsewhere, the outputs of the model. Of those that
 * share memory one counts.
 */
#ifndef CLV_JOINT_STAGE_WAITING_H
#define CLV_JOINT_STAGE_WAITING_H

#include "joint/stage_tensors.h"

typedef struct {
    clv_tensor tensor;
    int32_t maker;          /* node of its operator; -1: an input of the model */
    int32_t node;           /* whose choice decides its layout; -1: nothing is known of that */
    const int64_t *bytes;   /* by choice of the node; without one the least that it may have */
    const clv_layout *need; /* by choice of the operator, where that reads it too: if that is how it
                               lies, it is there once; NULL: it does not */
} clv_waiting;

typedef struct {
    int32_t *first, *end; /* by node of an operator: into at */
    clv_waiting *at;
} clv_stage_waiting;

/* Everything lives in the arena. O(operators * tensors * (operands + those that wait) + choices).
 */
clv_status clv_stage_waiting_make(const clv_stage_space *of, clv_arena *arena,
                                  clv_stage_waiting *ret, clv_error *err);

#endif
