/* documented.h - the search of the PopRT auto-sharding document, step by step. */
#ifndef CLV_SOLVER_PARTITION_DOCUMENTED_H
#define CLV_SOLVER_PARTITION_DOCUMENTED_H

#include "solver/partition/desk.h"

/* Fills the desk. The best plan is desk->best: among those that fit and are among the five most
 * balanced (B.047, B.053), else the smallest OOM. O(plans * (units + pins) + moves looked at). */
clv_status clv_search_documented(clv_desk *desk, clv_arena *arena, clv_error *err);

/* Its moves alone, with what is on the desk already: plans judged before are not judged again, and
 * the desk's best is the best of all. *ret_best is the best that these moves met; -1: none. */
clv_status clv_documented_moves(clv_desk *desk, clv_arena *arena, int32_t *ret_best,
                                clv_error *err);

#endif
