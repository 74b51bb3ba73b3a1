/* objects.h - what the objects of the public API are made of.
 *
 * cleave.h declares all that cleave_*.c export; each of these files is one section of it. */
#ifndef CLV_API_OBJECTS_H
#define CLV_API_OBJECTS_H

#include <string.h>

#include "api/report.h"
#include "cleave.h"
#include "plan/plan.h"
#include "request/request.h"
#include "solver/intra_op/solve.h"
#include "solver/placement/common/place_search.h"
#include "verify/verdict.h"

struct cleave_model {
    clv_alloc alloc;
    bool own_alloc; /* the host gave one */
    clv_arena *arena;
    clv_onnx_file *file;
    clv_model *model;
    const char *name;
    clv_binding *bindings;
    int32_t n_bindings, cap_bindings;
};

struct cleave_plan {
    clv_arena *arena;
    clv_plan *plan;
    bool poprt; /* the report is in PopRT's words */
    bool of_annotations; /* one of the plans that they admit */
    const char *mesh;
    cleave_report report;
};

struct cleave_place_problem {
    clv_arena *arena;
    clv_place_problem *problem;
    const char *name; /* of the file */
};

struct cleave_place_solution {
    clv_arena *arena;
    int32_t n_nodes;
    clv_place_result result;
    cleave_report report;
};

struct cleave_intra_op_problem {
    clv_arena *arena;
    const clv_intra_op_problem *problem;
    const char *name; /* of the file */
};

struct cleave_intra_op_solution {
    clv_arena *arena;
    int32_t n_nodes;
    clv_intra_op_result result;
    char objective[CLV_INT128_TEXT], bound[CLV_INT128_TEXT];
    cleave_report report;
};

struct cleave_verification {
    clv_arena *arena;
    clv_verify_verdict verdict;
    const char *conclusion;
    cleave_report report;
};

static inline const clv_alloc *clv_model_alloc(const cleave_model *m)
{
    return m->own_alloc ? &m->alloc : NULL;
}

/* CLV_EUSAGE where the plan has not an entry for each operator of the model. */
static inline clv_status clv_check_plan_of_model(const cleave_model *model, const cleave_plan *plan,
                                                 clv_error *err)
{
    return plan->plan->n_ops == model->model->main->n_ops
               ? CLV_OK
               : clv_fail(err, CLV_EUSAGE, "the plan is for another model");
}

/* The last part of a path: how reports name a file. */
static inline const char *clv_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
