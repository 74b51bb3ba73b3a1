/* exact_search.h - small problems solved to the end: depth-first branch and bound (Land and Doig
 * 1960) over the device of each unit, in topological order.
 *
 * A prefix of units is left where its quotient graph has a cycle, where the memory that its units
 * need at least is not there, where a rule forbids it, or where no way to go on beats the incumbent
 * by the sums of estimate.h. Of unused devices that are alike the first alone is tried (symmetry
 * breaking; Margot 2010). What is left is judged, so no plan is kept by sums alone.
 */
#ifndef CLV_SOLVER_PARTITION_EXACT_SEARCH_H
#define CLV_SOLVER_PARTITION_EXACT_SEARCH_H

#include "solver/partition/search_state.h"

/* More units are not tried: a million plans are 2^20, but most of them are not legal. */
#define CLV_EXACT_UNITS 20

typedef enum {
    CLV_EXACT_OPEN,   /* too large, or the work allowed was done: nothing is proven */
    CLV_EXACT_SOLVED, /* the best plan is in the queue, and the bound is its value; or no plan has
                         less than is enough, and that is the bound */
    CLV_EXACT_INFEASIBLE /* no assignment fits, with any workspace */
} clv_exact_end;

/* The judge has bounded times, and the first plans are judged. Better plans go to the queue. The
 * same at any number of threads. CLV_ENOMEM, or what the judge says. O(devices^units), to a limit
 * of steps that takes some tenths of a second. */
clv_status clv_exact_search(clv_search_state *s, clv_exact_end *ret, clv_error *err);

#endif
