/* ilp_backend.h - what solves a program: between ilp.c and one file for each solver.
 *
 * A backend fills *ret, values from the arena. It returns CLV_ESOLVER when the solver gave up;
 * ilp.c makes an end of that.
 */
#ifndef CLV_SOLVER_COMMON_ILP_ILP_BACKEND_H
#define CLV_SOLVER_COMMON_ILP_ILP_BACKEND_H

#include "solver/common/ilp/ilp.h"

typedef struct {
    const char *name;
    clv_status (*solve)(const clv_ilp *ilp, const clv_ilp_limits *limits, clv_arena *arena,
                        clv_ilp_result *ret, clv_error *err);
    /* Without the demand for whole numbers; ret_multiplier: one for each row, from the arena. NULL:
     * it cannot. */
    clv_status (*relax)(const clv_ilp *ilp, const clv_ilp_limits *limits, clv_arena *arena,
                        clv_ilp_result *ret, double **ret_multiplier, clv_error *err);
} clv_ilp_backend;

/* The terms of each column, in the order of rows: first[j] .. first[j + 1]. */
typedef struct {
    int32_t *first, *row;
    double *value;
} clv_ilp_by_column;

/* From the arena; false without memory. O(terms). */
bool clv_ilp_transpose(const clv_ilp *ilp, clv_arena *arena, clv_ilp_by_column *ret);

/* Their solve is NULL where they are not built in. */
extern const clv_ilp_backend clv_ilp_glpk, clv_ilp_cbc;

#endif
