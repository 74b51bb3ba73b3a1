/* short.h - pieces behind an order ideal that end too early: firm ideals (firm.h) beyond them are
 * in reach.
 *
 * For one ideal and one kind of device, the loads of the pieces that end at firm ideals are found
 * by one walk along each chain. A piece J that holds other blocks as well is compared by them: J
 * and the firm ideal F together have at most the load up to F, and the times and nets of what J
 * holds beyond it.
 */
#ifndef CLV_SOLVER_PLACEMENT_CONTIGUOUS_SHORT_H
#define CLV_SOLVER_PLACEMENT_CONTIGUOUS_SHORT_H

#include "solver/placement/contiguous/firm.h"
#include "solver/placement/contiguous/growth.h"

typedef struct {
    const clv_firm *firm;
    clv_growth *g;
    int32_t kind;
    int64_t limit;     /* loads up to it are alike */
    uint64_t *start;   /* row: the ideal that the pieces are behind */
    uint64_t *forced;  /* row: the base */
    int64_t *weight;   /* by block: the cost of its nets */
    int64_t *load;     /* [clv_firm_at]: of the piece up to a firm ideal; -1: not in reach */
    int64_t *bytes;    /* the same */
    int32_t *furthest; /* by chain: the largest prefix in reach, 0: none */
    int32_t *base;     /* blocks that no piece need be without, in an order of the arcs */
    int32_t n_base;
} clv_short;

clv_status clv_short_new(const clv_firm *firm, clv_growth *g, clv_arena *arena, clv_short *ret,
                         clv_error *err);

/* g has been started at an ideal and has no piece; it has none afterwards. Makes the base. Returns
 * the steps it took. O(chains * blocks of the longest piece * nets of a block). */
int64_t clv_short_start(clv_short *s, int32_t kind, int64_t limit);

/* Are all pieces too short that hold the piece as it is, and none of the blocks of gone? u: one of
 * these. O(n / 64) for each of a few firm ideals. */
bool clv_short_without(const clv_short *s, int32_t u, const uint64_t *gone);

/* Is the piece as it is? */
bool clv_short_is(const clv_short *s);

#endif
