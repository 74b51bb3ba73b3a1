/* whole.h - small and narrow problems solved to the end at once. */
#ifndef CLV_SOLVER_INTRA_OP_WHOLE_H
#define CLV_SOLVER_INTRA_OP_WHOLE_H

#include "solver/intra_op/improve.h"

typedef enum {
    CLV_WHOLE_OPEN,   /* not seen to the end */
    CLV_WHOLE_SOLVED, /* s is the best answer */
    CLV_WHOLE_NONE    /* no answer is within the limit */
} clv_whole_end;

/* Eliminates the whole problem if its tables are small enough, with prices, then branches. s: the
 * best answer found, if one was (all its choices are 0 or more). bound: no answer costs less, in
 * whole costs and safe from rounding; -1: none. Effort is limited. */
clv_status clv_whole_solve(clv_bench *b, clv_state *s, bool brief, clv_whole_end *ret,
                           double *bound, clv_error *err);

#endif
