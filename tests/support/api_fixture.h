/* api_fixture.h - one of each object of the public API, and files for each of its calls. */
#ifndef CLV_TESTS_SUPPORT_API_FIXTURE_H
#define CLV_TESTS_SUPPORT_API_FIXTURE_H

#include "cleave.h"
#include "support/failing_alloc.h"

enum { API_MODEL, API_PLAN, API_WORKLOAD, API_ANNOTATED, API_SHARDS, API_OUTPUT, API_N_PATHS };

typedef struct {
    char *folder;
    char path[API_N_PATHS][600];
    cleave_model *model;         /* x -> MatMul(w) -> y */
    cleave_plan *plan;           /* for two devices; the file is its JSON */
    cleave_place_problem *place; /* a line of two nodes */
    cleave_intra_op_problem *intra_op;
    failing memory;     /* of all these objects */
    cleave_error error; /* the tests' */
} api_fixture;

void api_fixture_make(api_fixture *f);
void api_fixture_free(api_fixture *f);
/* Whatever is at API_OUTPUT, file or folder, goes. */
void api_fixture_clean(const api_fixture *f);

#endif
