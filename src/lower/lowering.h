/* lowering.h - what is lowered, into which form, and how. */
#ifndef CLV_LOWER_LOWERING_H
#define CLV_LOWER_LOWERING_H

#include "graph/infer.h"
#include "lower/emit.h"
#include "plan/plan.h"
#include "proto/onnx_file.h"
#include "weights/part_files.h"

typedef enum {
    CLV_FORM_STAGES,      /* a model a stage, with whole operators */
    CLV_FORM_DEVICES,     /* a model a device, with collectives as nodes */
    CLV_FORM_EMULATE,     /* one plain model of all devices side by side */
    CLV_FORM_ORT_OPTIONS, /* the model, its nodes annotated for ONNX Runtime's own placing */
    CLV_FORM_OLIVE,       /* the model, with Olive's split assignments */
    CLV_N_FORMS
} clv_lower_form;

const char *clv_lower_form_name(clv_lower_form form); /* "stages", "devices", ... */
/* Does the model stay one, annotated for a tool that places or cuts it itself? */
bool clv_lower_form_is_annotated(clv_lower_form form);
/* Is each of its models for one device? Else there is one model for all of them. */
bool clv_lower_form_has_devices(clv_lower_form form);

typedef struct {
    const clv_onnx_file *file;
    const clv_model *model; /* read from the file, or a copy with other outputs */
    const clv_types *types; /* of the model */
    const clv_plan *plan;   /* has passed clv_plan_check() */
    clv_lower_form form;
    clv_dialect dialect; /* of DEVICES */
    clv_parts_kind weights;
    const char *model_name; /* file name without folder; NULL: not known */
    int (*stop)(void *ctx); /* asked for every block of weights; not 0: CLV_ECANCELED. NULL */
    void *stop_ctx;
} clv_lowering;

#endif
