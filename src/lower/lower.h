/* lower.h - a plan as files that runtimes execute: a folder of models, their weights, and a
 * manifest that says who runs what and sends what to whom (docs/formats/manifest.md).
 */
#ifndef CLV_LOWER_LOWER_H
#define CLV_LOWER_LOWER_H

#include "lower/lowering.h"

typedef struct {
    int32_t n_models, n_files, n_collectives, n_transfers;
    int64_t bytes; /* of all files but the manifest */
} clv_lower_summary;

/* CLV_EUNSUPP: nothing would run, as the model has no operators or no outputs. name: of its file,
 * NULL when it is not known. */
clv_status clv_lower_check(const clv_model *model, const char *name, clv_error *err);

/* Writes the folder, which must not be there yet or be empty; it is there as a whole or not at all.
 * Streams weights: memory does not depend on them. CLV_EFORMAT: the plan does not go with the
 * model's sharding rules; CLV_EUNSUPP: an operator cannot be lowered so; CLV_EIO, CLV_ECANCELED.
 * O(operators * devices + bytes of weights). */
clv_status clv_lower(const clv_lowering *l, const char *folder, clv_arena *arena,
                     clv_lower_summary *ret, clv_error *err);

#endif
