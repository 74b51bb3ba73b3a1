/* api.h - what the files of the public API share: its objects, and codes out of statuses. */
#ifndef CLV_API_API_H
#define CLV_API_API_H

#include "cleave.h"
#include "plan/plan.h"
#include "request/request.h"
#include "solver/intra_op/solve.h"
#include "solver/placement/common/place_search.h"

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
    const struct clv_backend *backend; /* NULL: none */
    bool tiles;                        /* cleave_model_show_tiles */
    int (*stop)(void *ctx);            /* asked while files are written; may be NULL */
    void *stop_ctx;
};

struct cleave_plan {
    clv_arena *arena;
    clv_plan *plan;
    const char *text, *json, *mesh;
    size_t n_json;
};

struct cleave_workload {
    clv_arena *arena;
    clv_place_problem *problem;
    const char *name;
};

struct cleave_placement {
    clv_arena *arena;
    const clv_place_problem *problem; /* the workload's */
    clv_place_result result;
    const char *text, *json;
    size_t n_json;
};

struct cleave_strategies {
    clv_arena *arena;
    const clv_intra_op_problem *problem;
    const char *name; /* of the file */
};

struct cleave_solution {
    clv_arena *arena;
    const clv_intra_op_problem *problem; /* the strategies' */
    clv_intra_op_result result;
    char cost[CLV_INT128_TEXT], bound[CLV_INT128_TEXT];
    const char *text, *json;
    size_t n_json;
};

struct cleave_verification {
    clv_arena *arena;
    bool holds, ran;
    const char *text, *json;
};

/* Fills *ret, if there is one, from a status and the error beside it, and returns the public code.
 */
cleave_status clv_api_give(clv_status status, const clv_error *err, cleave_error *ret);
/* A request that is wrong in itself. */
cleave_status clv_api_refuse(cleave_error *ret, clv_status status, const char *words);

/* The search ended without an answer: CLEAVE_NO_PLAN, and why in words. */
cleave_status clv_api_no_answer(cleave_error *ret, const char *why);
/* An arena on the host's allocator, which may be NULL; NULL without memory. */
clv_arena *clv_api_arena(const cleave_allocator *allocator);
/* The last part of a path, kept in the arena; NULL without memory. */
const char *clv_api_file_name(clv_arena *arena, const char *path);
/* CLEAVE_EUSAGE where the plan has not an entry for each operator of the model. */
cleave_status clv_api_own_plan(const cleave_model *model, const cleave_plan *plan,
                               cleave_error *error);

static inline const clv_alloc *clv_api_alloc(const cleave_model *m)
{
    return m->own_alloc ? &m->alloc : NULL;
}

#endif
