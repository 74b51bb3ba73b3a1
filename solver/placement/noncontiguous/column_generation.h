/* column_generation.h - proofs that no free placement keeps every load within T.
 *
 * Give every block a price, any price. Let z(k) be the most that one device of kind k can hold by
 * price, within a load of T. If all devices together, each with its z, hold less than all blocks
 * cost, then no placement keeps every load within T. z counts what a device pays for transfers, so
 * this sees what sums of work do not: that pieces of that size cannot be had without cutting.
 *
 * z is found exactly, or a little too large, which is safe, by dynamic programming along the line
 * of blocks (pareto_dp.h); all in whole numbers, so that a proof is a proof. Memory is left out,
 * but for blocks that fit no device of a kind.
 *
 * Good prices are found by column generation. The linear program of master_lp.h mixes sets that
 * devices can hold so that they cover all blocks as well as may be; its prices say which blocks are
 * hard to cover; a set that is worth much at these prices joins. Prices are smoothed towards the
 * best so far, which keeps them from swinging. Its rows are not blocks but bunches of them
 * (row_aggregation.h), 12 at first, which are split where they are covered unevenly: with few rows
 * few sets are needed, and prices of regions are most of what a proof needs. It ends with a proof,
 * or when blocks can be covered by a mix of sets: then this T cannot be refuted in this way. The
 * same is known as the configuration bound of bin packing, which is rarely far from the truth. On
 * the way the best prices are tried on smaller T, so that there is a bound before the end.
 *
 * Cost: for each set O(n * states * width), see pareto_dp.h, and some pivots of O(bunches^2); 20
 * to 1,000 sets.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_COLUMN_GENERATION_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_COLUMN_GENERATION_H

#include "solver/placement/common/blocks.h"
#include "solver/placement/common/place_search.h"

typedef struct clv_column_gen clv_column_gen;

typedef enum {
    CLV_REFUTED, /* no placement keeps every load within T: the run's bound was raised */
    CLV_COVERED, /* a mix of sets can: no proof in this way */
    CLV_GAVE_UP  /* out of work, or the run is over */
} clv_refutation;

/* order: b->n blocks, few nets open; kept. Lives in the arena. O(n^2) memory. */
clv_status clv_column_gen_new(const clv_blocks *b, const int32_t *order, clv_arena *arena,
                              clv_column_gen **ret, clv_error *err);

/* All work over all devices, as if it could be shared out evenly and nothing be sent. O(n *
 * kinds^2).
 */
void clv_column_gen_raise_work_bound(clv_column_gen *f, clv_place_search *search);

/* A load that some device has at least: every block is somewhere, and beside it what is cheaper to
 * have there than to send. Of the blocks with most time. In the instance's unit. O(states) each. */
clv_status clv_column_gen_block_bound(clv_column_gen *f, double *ret, clv_error *err);

/* T in ticks; work as in clv_pareto_dp_work(). Sets are kept for the next T. */
clv_status clv_column_gen_refute(clv_column_gen *f, clv_place_search *search, int64_t t,
                                 int64_t work, clv_refutation *ret, clv_error *err);

/* A placement of blocks that may be near one with loads up to T: device by device takes the set
 * that is worth most, of blocks not taken yet, at the best prices of the last proof tried, each
 * changed a little at random. What is left goes beside its neighbours, so loads may be above T, and
 * memory may be broken. Not found when the run is over. */
clv_status clv_diving_run(clv_column_gen *f, clv_place_search *search, int64_t t, uint64_t *random,
                          int32_t *device_of, bool *found, clv_error *err);

#endif
