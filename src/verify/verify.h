/* verify.h - `cleave verify`: a plan proven, then lowered and run beside the original. */
#ifndef CLV_VERIFY_VERIFY_H
#define CLV_VERIFY_VERIFY_H

#include "plan/plan.h"
#include "proto/onnx_file.h"
#include "verify/compare.h"
#include "verify/proof.h"
#include "verify/runner.h"

typedef struct {
    const clv_onnx_file *file;
    const clv_model *model;
    const clv_plan *plan; /* has passed clv_plan_check() */
    const char *model_name, *model_path;
    const char *folder;  /* where a temporary folder is made */
    const char *lowered; /* a lowered folder that is judged; NULL: all forms are made and run */
    clv_runner runner;   /* program NULL: nothing is run */
    const char *why_not_run;
    bool all; /* compare every tensor too */
} clv_verify_request;

/* A tensor of the original and of what was lowered. */
typedef struct {
    clv_tensor tensor;
    int32_t request;                /* of which it is; 0 where there is one */
    double growth, terms, absolute; /* error_growth.h */
    clv_comparison c;
    const char *fault; /* what is wrong, in a sentence; NULL: nothing */
} clv_verified;

typedef struct {
    const char *form;    /* "stages", "devices", "emulate"; "tensors": emulate with all of them;
                            "folder": one that was there */
    const char *why_not; /* it cannot be lowered so: why, in a sentence; NULL: it was */
    const char *unlike;  /* the folder is not what the plan gives: in what; NULL: it is */
    const char *fault;   /* it did not run to its end: why; NULL: it did */
    int32_t n_requests;  /* as many as there are copies; 1 in a form of one model */
    clv_verified *at;    /* by request, then as the graph's outputs; of "tensors" topological */
    int32_t n, n_differ, n_blind;
    int32_t first;   /* that differs; -1: none */
    int32_t nearest; /* whose error is largest beside its bound; -1: nothing is inexact */
    double ms;
} clv_verified_form;

#define CLV_VERIFY_FORMS_MAX 4

typedef enum {
    CLV_VERDICT_AGREES,      /* proven, and every form was written, ran and is equal */
    CLV_VERDICT_PROVEN,      /* proven; nothing was run, or nothing shown by it */
    CLV_VERDICT_NOT_PROVEN,  /* the proof fails: nothing is run */
    CLV_VERDICT_DIFFERS,     /* a form computes something else */
    CLV_VERDICT_NOT_WRITTEN, /* the plan, or a form of it, cannot be lowered */
    CLV_VERDICT_DOES_NOT_RUN /* a form, or the model itself, does not run */
} clv_verify_verdict;

typedef struct {
    const clv_model *model;
    const clv_plan *plan;
    const char *model_name;
    clv_proof proof, stages;     /* of the plan, and of its stages with whole operators */
    const char *why_not_written; /* the whole plan: there is nothing to prove; NULL: it is */
    const char *why_not_run;     /* NULL: it was run */
    /* The model does not run as it is, or gives other sizes than it says: why; NULL: it does. */
    const char *original_fault;
    const char *runtime;
    bool is_folder; /* a folder that was there is judged */
    const char *inputs;
    uint64_t seed;
    clv_verified_form form[CLV_VERIFY_FORMS_MAX];
    int32_t n_forms;
} clv_verify_result; /* verdict.h says what it comes to */

/* CLV_EFORMAT: the plan does not go with the rules; CLV_EUNSUPP: the model has nothing to lower;
 * CLV_EIO, CLV_ENOMEM, CLV_ECANCELED. No verdict is a failure. In the arena. */
clv_status clv_verify(const clv_verify_request *req, clv_arena *arena, clv_verify_result *ret,
                      clv_error *err);

#endif
