/* free_lp.h - the linear program of a proof: can sets be mixed so that every block is covered?
 *
 * Rows: every block is covered once, by parts of sets; of each kind no more sets are used than
 * there are devices. A block may be covered too little or too much at a penalty, and the sum of
 * penalties is made least. At 0 the sets can be mixed; above 0, the prices (the dual solution) say
 * which blocks are hard to cover, and a set worth more than its kind's price, if there is one,
 * helps.
 *
 * It is a primal simplex with an explicit inverse, in floating point. That is enough: prices only
 * say where to look, and what is proven with them is proven in whole numbers (free_bound.h). So it
 * may stop early, and right sides are shifted a little against ties.
 *
 * Cost: O(rows^2 + all set members) for a pivot; memory 8 * rows^2 bytes.
 */
#ifndef CLV_SOLVER_FREE_LP_H
#define CLV_SOLVER_FREE_LP_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct clv_cover clv_cover;

/* penalty: by block, above 0; kept, not copied. devices: by kind. Lives in the arena. */
clv_status clv_cover_new(int32_t n_blocks, const double *penalty, int32_t n_kinds,
                         const int32_t *devices, clv_arena *arena, clv_cover **ret, clv_error *err);

/* Forgets all sets. O(rows^2). */
void clv_cover_clear(clv_cover *c);

/* A set of blocks that one device of the kind can hold. Members are copied. */
clv_status clv_cover_add(clv_cover *c, int32_t kind, const int32_t *blocks, int32_t n,
                         clv_error *err);

/* From where it was. Returns the sum of penalties, as far as it got. */
double clv_cover_solve(clv_cover *c);

/* Since it was made, in units of about 5 ns. */
int64_t clv_cover_work(const clv_cover *c);

/* By block; may be negative, and up to the penalty either way. */
const double *clv_cover_prices(const clv_cover *c);
/* How much of each set is used, in the order they were added. */
void clv_cover_shares(const clv_cover *c, double *share);

#endif
