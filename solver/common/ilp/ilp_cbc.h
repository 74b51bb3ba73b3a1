/* ilp_cbc.h - programs solved by CBC: branch and cut, Forrest, Lougee-Heimer 2005, "CBC user
 * guide", INFORMS Tutorials in Operations Research.
 *
 * CBC counts nodes, not pivots, and cannot be asked to stop in between; it looks at the seconds. So
 * limits in pivots are made into nodes, and a long wait is cut into short ones by small programs.
 * Its C interface gives no multipliers, so there are no safe bounds of relaxations.
 */
#ifndef CLV_SOLVER_COMMON_ILP_ILP_CBC_H
#define CLV_SOLVER_COMMON_ILP_ILP_CBC_H

#include "solver/common/ilp/ilp_backend.h"

extern const clv_ilp_backend clv_ilp_cbc; /* solve is NULL where it is not built in */

#endif
