/* master_lp.h - the linear program of a proof: can sets be mixed so that every block is covered?
 *
 * Rows: every block, or every bunch of blocks on average, is covered once, by parts of columns; of
 * each kind no more sets are used than there are devices. A row may be covered too little or too
 * much at a penalty, and the sum of penalties is made least. At 0 the sets can be mixed; above 0,
 * the prices (the dual solution) say which rows are hard to cover, and a set worth more than its
 * kind's price, if there is one, helps.
 *
 * It is a primal simplex with an explicit inverse, in floating point. That is enough: prices only
 * say where to look, and what is proven with them is proven in whole numbers (column_generation.h).
 * So it may stop early, and right sides are shifted a little against ties.
 *
 * Cost: O(rows^2 + all set members) for a pivot; memory 8 * rows^2 bytes.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_MASTER_LP_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_MASTER_LP_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct clv_master_lp clv_master_lp;

/* devices: by kind. No rows yet: clv_master_lp_clear first. Lives in the arena. */
clv_status clv_master_lp_new(int32_t n_kinds, const int32_t *devices, clv_arena *arena,
                             clv_master_lp **ret, clv_error *err);

/* Forgets all columns; n rows from now on, each with a penalty above 0, kept, not copied.
 * O(rows^2).
 */
clv_status clv_master_lp_clear(clv_master_lp *c, int32_t n, const double *penalty, clv_error *err);

/* A set that one device of the kind can hold: it covers part[i] of rows[i]. Copied. */
clv_status clv_master_lp_add(clv_master_lp *c, int32_t kind, const int32_t *rows,
                             const double *part, int32_t n, clv_error *err);

/* From where it was. Returns the sum of penalties, as far as it got. */
double clv_master_lp_solve(clv_master_lp *c);

/* Since it was made, in units of about 5 ns. */
int64_t clv_master_lp_work(const clv_master_lp *c);

/* By row; may be negative, and up to the penalty either way. */
const double *clv_master_lp_duals(const clv_master_lp *c);
/* How much of each set is used, in the order they were added. */
void clv_master_lp_values(const clv_master_lp *c, double *share);

#endif
