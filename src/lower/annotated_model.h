/* annotated_model.h - a plan of whole operators for tools that place or cut the model themselves
 * (ONNX Runtime, Olive): the model as it is, with what they read in its metadata, and a file of
 * settings beside it.
 */
#ifndef CLV_LOWER_ANNOTATED_MODEL_H
#define CLV_LOWER_ANNOTATED_MODEL_H

#include "base/out_folder.h"
#include "lower/lowering.h"
#include "lower/manifest.h"

typedef struct {
    const char **files; /* that were written, the model first */
    const clv_setting *settings;
    const char *note; /* NULL: none */
    int32_t n_files, n_settings;
} clv_annotated;

/* Writes into the folder, in one of the forms that clv_lower_form_is_annotated() names. External
 * data is copied, but for weights of kind RANGES, which are to be found where they are. Strings
 * live in the arena. CLV_EFORMAT: the plan splits operators, or its stages cannot be said by names;
 * CLV_EIO: external data is missing; CLV_ECANCELED. O(bytes of the model). */
clv_status clv_annotated_write(const clv_lowering *l, const clv_out_folder *folder,
                               clv_arena *arena, clv_annotated *ret, clv_error *err);

#endif
