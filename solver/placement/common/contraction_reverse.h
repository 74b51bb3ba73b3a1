/* contraction_reverse.h - the blocks of contraction.h the other way round: what came first comes
 * last.
 *
 * A solution of one is a solution of the other. A search that goes by what comes first may meet
 * what is hard at once one way, and after everything else the other way.
 */
#ifndef CLV_SOLVER_PLACEMENT_COMMON_CONTRACTION_REVERSE_H
#define CLV_SOLVER_PLACEMENT_COMMON_CONTRACTION_REVERSE_H

#include "solver/placement/common/contraction.h"

/* ret keeps what does not change of b, which must outlive it. O(nodes + kinds * n + arcs + pins).
 */
clv_status clv_contraction_reverse(const clv_contraction *b, clv_arena *arena, clv_contraction *ret,
                                   clv_error *err);

#endif
