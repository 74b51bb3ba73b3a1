/* annotated.h - a plan of whole operators for tools that place or cut the model themselves: the
 * model as it is, with what they read in its metadata, and a file of settings beside it.
 */
#ifndef CLV_LOWER_ANNOTATED_H
#define CLV_LOWER_ANNOTATED_H

#include "lower/lower.h"

/* Text that a tool is to be given, and under which name. */
typedef struct {
    const char *name, *value;
} clv_setting;

typedef struct {
    const char **files; /* that were written, the model first */
    const clv_setting *settings;
    const char *note; /* NULL: none */
    int32_t n_files, n_settings;
} clv_annotated;

/* A form that is written so: the model stays one. */
static inline bool clv_form_is_annotated(clv_form form)
{
    return form == CLV_FORM_ORT_OPTIONS || form == CLV_FORM_OLIVE;
}

/* Writes into the folder. External data is copied, but for weights of kind RANGES, which are to be
 * found where they are. Strings live in the arena. CLV_EFORMAT: the plan splits operators, or its
 * stages cannot be said by names; CLV_EIO: external data is missing. O(bytes of the model). */
clv_status clv_annotated_write(const clv_onnx_file *file, const clv_model *model,
                               const clv_plan *plan, const clv_lower_options *options,
                               const char *folder, clv_arena *arena, clv_annotated *ret,
                               clv_error *err);

#endif
