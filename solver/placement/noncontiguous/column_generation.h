/* column_generation.h - lower bounds of the configuration LP, by column generation.
 *
 * Column generation (Gilmore and Gomory 1961, A linear programming approach to the cutting-stock
 * problem, Operations Research 9; Barnhart et al. 1998, Branch-and-price, Operations Research 46)
 * with destructive bounds (Klein and Scholl 1999, Computing lower bounds by destructive
 * improvement, EJOR 112): it refutes that some placement keeps every load within T. A column is a
 * set of blocks that one device can hold within T; this is the configuration LP of bin packing.
 * - The master LP (master_lp.h) mixes columns so that every block is covered; its duals are prices.
 * - Pricing (pricing.h) finds for each kind k of device the most that one can hold by price, z(k).
 *   If all devices, each with its z, hold less than all blocks cost, T is refuted: a dual bound
 *   by pricing (Farley 1990, A note on bounding a class of linear programming problems, Operations
 *   Research 38). Any prices are valid, and all is in whole numbers, so that a proof is a proof.
 * - Prices are smoothed towards the best so far (Wentges 1997, Weighted Dantzig-Wolfe decomposition
 *   for linear mixed-integer programming, Int. Trans. Operational Research 4).
 *
 * Ours: z counts what a device pays for transfers, so the bound sees that pieces of some size
 * cannot be had without cutting nets. The rows are groups of blocks, split as needed
 * (row_aggregation.h). On the way the best prices are tried on smaller T, so that there is a bound
 * before the end. Left out is memory, but for blocks that fit no device of a kind.
 *
 * Cost: O(n * states * width) for a column (pareto_dp.h), and pivots of O(groups^2); 20 to 1,000
 * columns. It wins where transfers are dear: bounds by work alone do not see them.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_COLUMN_GENERATION_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_COLUMN_GENERATION_H

#include "solver/placement/common/contraction.h"
#include "solver/placement/common/place_search.h"

typedef struct clv_column_gen clv_column_gen;

typedef enum {
    CLV_REFUTED, /* no placement keeps every load within T: the search's bound was raised */
    CLV_COVERED, /* a mix of columns covers all blocks: no proof in this way */
    CLV_GAVE_UP  /* out of work, or the search is over */
} clv_refutation;

/* order: b->n blocks with few open nets (cutwidth_order.h). Both and search are kept, not copied.
 * Lives in the arena. search may be NULL where nothing is refuted. Fails only without memory,
 * O(n^2) bytes. */
clv_status clv_column_gen_new(clv_place_search *search, const clv_contraction *b,
                              const int32_t *order, clv_arena *arena, clv_column_gen **ret,
                              clv_error *err);

/* Tries to refute T = limit_ticks within so much work (as in clv_pareto_dp_work()). Columns are
 * kept for the next. */
clv_status clv_column_gen_refute(clv_column_gen *f, int64_t limit_ticks, int64_t work,
                                 clv_refutation *ret, clv_error *err);

#endif
