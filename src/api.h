/* api.h - what the files of the public API share: its objects, and codes out of statuses. */
#ifndef CLV_API_H
#define CLV_API_H

#include "cleave.h"
#include "pipeline.h"
#include "solver/solver.h"

struct cleave_model {
    clv_alloc alloc;
    bool keep_ir;   /* annotating leaves the IR version as it is */
    bool own_alloc; /* the host gave one */
    clv_arena *arena;
    clv_onnx_file *file;
    clv_model *model;
    const char *name;
    clv_binding *bindings;
    int32_t n_bindings, cap_bindings;
    int (*stop)(void *ctx); /* asked while files are written; may be NULL */
    void *stop_ctx;
};

struct cleave_plan {
    clv_arena *arena;
    clv_plan *plan;
    const char *text, *json;
    size_t n_json;
};

struct cleave_workload {
    clv_arena *arena;
    clv_placement *problem;
    const char *name;
};

struct cleave_placement {
    clv_arena *arena;
    const clv_placement *problem; /* the workload's */
    clv_place_result result;
    const char *text, *json;
    size_t n_json;
};

/* Fills *ret, if there is one, from a status and the error beside it, and returns the public code.
 */
cleave_status clv_api_give(clv_status status, const clv_error *err, cleave_error *ret);
/* A request that is wrong in itself. */
cleave_status clv_api_refuse(cleave_error *ret, clv_status status, const char *words);

static inline const clv_alloc *clv_api_alloc(const cleave_model *m)
{
    return m->own_alloc ? &m->alloc : NULL;
}

#endif
