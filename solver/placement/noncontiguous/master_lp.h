/* master_lp.h - the restricted master LP: can columns be mixed so that every row is covered?
 *
 * Each row is to be covered once by parts of columns, with no more columns of a kind than it has
 * devices. Covering too little or too much has a penalty for each row (du Merle et al. 1999,
 * Stabilized column generation, Discrete Mathematics 194), and the sum of penalties is least. At 0
 * the columns can be mixed; above 0 the duals say which rows are hard to cover.
 *
 * Method: the revised primal simplex with an explicit inverse (Dantzig 1963, Linear Programming and
 * Extensions), partial pricing, and right sides perturbed against degeneracy (Charnes 1952,
 * Optimality and degeneracy in linear programming, Econometrica 20), in floating point. That is
 * enough: duals only say where to look, and what is proven with them is proven in whole numbers. So
 * it may stop early.
 *
 * Cost: O(rows^2 + members of all columns) for a pivot; memory 8 * rows^2 bytes. A dense inverse
 * wins here because rows are few (row_aggregation.h).
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

/* Adds a column, a set that one device of the kind can hold: it covers part[i] of rows[i]. Copied.
 */
clv_status clv_master_lp_add(clv_master_lp *c, int32_t kind, const int32_t *rows,
                             const double *part, int32_t n, clv_error *err);

/* Minimises from the last basis. Returns the sum of penalties, which is not least where it stopped
 * early. */
double clv_master_lp_solve(clv_master_lp *c);

/* Work since it was made, in units of about 5 ns. */
int64_t clv_master_lp_work(const clv_master_lp *c);

/* Dual values by row; may be negative, and up to the penalty either way. */
const double *clv_master_lp_duals(const clv_master_lp *c);
/* Primal values: how much of each column is used, in the order they were added. */
void clv_master_lp_values(const clv_master_lp *c, double *share);

#endif
