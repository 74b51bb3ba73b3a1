/* ilp_glpk.h - programs solved by GLPK, behind its fence (glpk_fence.h): the revised simplex method
 * (Dantzig, Orchard-Hays 1954) and branch and bound (Land, Doig 1960).
 *
 * The simplex runs in slices of pivots, so that it can be stopped; branch and bound asks at every
 * node. Relaxations come with multipliers.
 */
#ifndef CLV_SOLVER_COMMON_ILP_ILP_GLPK_H
#define CLV_SOLVER_COMMON_ILP_ILP_GLPK_H

#include "solver/common/ilp/ilp_backend.h"

extern const clv_ilp_backend clv_ilp_glpk; /* solve is NULL where it is not built in */

#endif
