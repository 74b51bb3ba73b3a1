/* ilp_mps.h - programs (ilp.h) as free MPS text, for any other solver. */
#ifndef CLV_SOLVER_COMMON_ILP_ILP_MPS_H
#define CLV_SOLVER_COMMON_ILP_ILP_MPS_H

#include "solver/common/ilp/ilp.h"

/* The program as free MPS text, in *ret with n characters; lines are c1, c2, ... O(terms). */
clv_status clv_ilp_mps(const clv_ilp *ilp, const char *name, clv_arena *arena, const char **ret,
                       size_t *ret_n, clv_error *err);

#endif
