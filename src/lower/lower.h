/* lower.h - a plan as files that runtimes execute: a folder of models, their weights, and a
 * manifest that says who runs what and sends what to whom (docs/formats/manifest.md).
 */
#ifndef CLV_LOWER_LOWER_H
#define CLV_LOWER_LOWER_H

#include "lower/emit.h"
#include "weights/part_files.h"

typedef enum {
    CLV_FORM_STAGES,      /* a model a stage, with whole operators */
    CLV_FORM_DEVICES,     /* a model a device, with collectives as nodes */
    CLV_FORM_EMULATE,     /* one plain model of all devices side by side */
    CLV_FORM_ORT_OPTIONS, /* the model, its nodes annotated for ONNX Runtime's own placing */
    CLV_FORM_OLIVE,       /* the model, with Olive's split assignments */
    CLV_N_FORMS
} clv_form;

const char *clv_form_name(clv_form form); /* "stages", "devices", ... */

typedef struct {
    clv_form form;
    clv_dialect dialect; /* of DEVICES */
    clv_parts_kind weights;
    const char *model_name; /* file name without folder */
    int (*stop)(void *ctx); /* asked for every block of weights; not 0: CLV_ECANCELED. NULL */
    void *stop_ctx;
} clv_lower_options;

typedef struct {
    int32_t n_models, n_files, n_collectives, n_transfers;
    int64_t bytes; /* of all files but the manifest */
} clv_lower_summary;

/* CLV_EUNSUPP: nothing would run, as the model has no operators or no outputs. name: of its file,
 * NULL when it is not known. */
clv_status clv_lower_check(const clv_model *model, const char *name, clv_error *err);

/* Writes the folder, which must not be there yet or be empty; it is there as a whole or not at all.
 * The plan must have passed clv_plan_check(). Streams weights: memory does not depend on them.
 * CLV_EFORMAT: the plan does not go with the model's sharding rules; CLV_EUNSUPP: an operator
 * cannot be lowered so; CLV_EIO. O(operators * devices + bytes of weights). */
clv_status clv_lower(const clv_onnx_file *file, const clv_model *model, const clv_types *types,
                     const clv_plan *plan, const clv_lower_options *options, const char *folder,
                     clv_arena *arena, clv_lower_summary *ret, clv_error *err);

#endif
