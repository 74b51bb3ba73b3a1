/* dominating_ideals.h - order ideals that a device may as well reach, if it can: dominance by
 * minimum cut, as in the maximum closure problem (Picard 1976, "Maximal closure of a graph and
 * applications to combinatorial problems", Management Science). The condition is ours.
 *
 * An ideal F dominates when nobody behind it would be better off with a part of it: what the part
 * adds to a load, in time and transfers, is at least what it saves. Then of two solutions, one with
 * the boundary at an ideal J and one with it at J and F together, the second is as good for all
 * devices behind the boundary, whatever they hold. So where the device before it can hold that
 * much, J need not be looked at.
 *
 * In numbers: for every part X of F, time(X) + cost of the nets within F that X splits >= cost of
 * the nets that leave F and have all their pins of F in X. By max-flow and min-cut that is so when
 * the cost of all nets that leave F can flow into blocks of F, each taking as much as its time, on
 * ways through nets within F, each carrying as much as its cost.
 *
 * Where a part stands in the way, such as a table of words that is read again at the far end, F
 * dominates for those that hold this part already: F needs it.
 */
#ifndef CLV_SOLVER_PLACEMENT_CONTIGUOUS_DOMINATING_IDEALS_H
#define CLV_SOLVER_PLACEMENT_CONTIGUOUS_DOMINATING_IDEALS_H

#include "solver/placement/common/fluid_bound.h"

/* Blocks that an ideal may need; with more it counts as not dominating. */
#define CLV_IDEAL_NEEDS_MAX 8

/* Chains of ideals: prefixes of the blocks' order without one block and all that must come behind
 * it. The first chain is without none. Others are without a block that many prefixes need. */
typedef struct {
    int32_t n, n_chains; /* no chains: nothing is known */
    size_t words;
    uint64_t *without; /* [chain * words]: rows */
    int32_t *n_needs;  /* [chain * (n + 1) + size of the prefix]; -1: not dominating, or not in the
                          chain */
    int32_t *needs;    /* [(chain * (n + 1) + size) * CLV_IDEAL_NEEDS_MAX] */
} clv_dominating_ideals;

/* behind: rows of all that must come behind each block, and itself (partial_stage.h). O(chains * n)
 * flows, each with a fixed number of steps at most, beyond which the ideal counts as not
 * dominating. */
clv_status clv_dominating_ideals_find(const clv_contraction *b, const clv_fluid_bound *share,
                                      const uint64_t *behind, clv_arena *arena,
                                      clv_dominating_ideals *ret, clv_error *err);

/* Is the prefix of this size dominating for whoever holds the blocks of row? O(1). */
bool clv_ideal_dominates(const clv_dominating_ideals *f, int32_t chain, int32_t size,
                         const uint64_t *row);

static inline size_t clv_dominating_ideals_at(const clv_dominating_ideals *f, int32_t chain,
                                              int32_t size)
{
    return (size_t)chain * ((size_t)f->n + 1) + (size_t)size;
}

/* One word of the ideal's row. */
static inline uint64_t clv_dominating_ideals_word(const clv_dominating_ideals *f, int32_t chain,
                                                  int32_t size, size_t w)
{
    size_t last = (size_t)size / 64;
    uint64_t all = w < last ? ~UINT64_C(0) : w > last ? 0 : (UINT64_C(1) << (size % 64)) - 1;
    return all & ~f->without[(size_t)chain * f->words + w];
}

#endif
