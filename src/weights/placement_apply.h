/* placement_apply.h - what a placement spec makes of the weights of a model. */
#ifndef CLV_WEIGHTS_PLACEMENT_APPLY_H
#define CLV_WEIGHTS_PLACEMENT_APPLY_H

#include "weights/placement_file.h"
#include "weights/weight_layout.h"

/* What became of the rules and the weights, as sentences. */
typedef struct {
    const char **at;
    int32_t n, cap;
} clv_placement_notes;

/* The file's devices, and what it makes of the weights: shards in the order of the weights, those
 * of one weight in the order of its spec; parts without elements are left out. Notes: names of the
 * file that fit no weight or never count, weights without a spec, specs that were skipped.
 * CLV_EFORMAT: a spec cannot apply to a weight, and the file does not say to skip it; CLV_ELIMIT:
 * too many shards. O(names + shards * rank). */
clv_status clv_placement_file_apply(const clv_placement_file *file, const clv_weight_list *weights,
                                    clv_arena *arena, clv_weight_layout *ret,
                                    clv_placement_notes *notes, clv_error *err);

#endif
