/* ilp_backend.h - what every solver of programs offers: between ilp_solve.h and one file for each.
 *
 * A backend fills *ret, values from the arena. It returns CLV_ESOLVER when the solver gave up;
 * ilp_solve.c makes an end of that.
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

#endif
