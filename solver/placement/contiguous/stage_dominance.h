/* stage_dominance.h - stages behind an order ideal that end too early: dominating ideals
 * (dominating_ideals.h) beyond them are in reach. A dominance relation in a branch and bound
 * (Ibaraki 1977, "The power of dominance relations in branch-and-bound algorithms", JACM); the
 * relation is ours. It wins where devices have room to spare: it leaves the stages that end near
 * the limit.
 *
 * For one ideal and one kind of device, the loads of the stages that end at dominating ideals are
 * found by one walk along each chain. A stage J that holds other blocks as well is compared by
 * them: J and the dominating ideal F together have at most the load up to F, and the times and nets
 * of what J holds beyond it.
 */
#ifndef CLV_SOLVER_PLACEMENT_CONTIGUOUS_STAGE_DOMINANCE_H
#define CLV_SOLVER_PLACEMENT_CONTIGUOUS_STAGE_DOMINANCE_H

#include "solver/placement/contiguous/dominating_ideals.h"
#include "solver/placement/contiguous/partial_stage.h"

typedef struct {
    const clv_dominating_ideals *dominating;
    clv_partial_stage *g;
    int32_t kind;
    int64_t limit;    /* loads up to it are alike */
    uint64_t *start;  /* row: the ideal that the stages are behind */
    uint64_t *forced; /* row: the base */
    int64_t *weight;  /* by block: the cost of its nets */
    int64_t *load;  /* [clv_dominating_ideals_at]: of the stage up to a dominating ideal; -1: not in
                       reach */
    int64_t *bytes; /* the same */
    int32_t *furthest; /* by chain: the largest prefix in reach, 0: none */
    int32_t *base;     /* blocks that no stage need be without, in an order of the arcs */
    int32_t n_base;
} clv_stage_dominance;

clv_status clv_stage_dominance_new(const clv_dominating_ideals *dominating, clv_partial_stage *g,
                                   clv_arena *arena, clv_stage_dominance *ret, clv_error *err);

/* g has been started at an ideal and has no stage; it has none afterwards. Makes the base. Returns
 * the steps it took. O(chains * blocks of the longest stage * nets of a block). */
int64_t clv_stage_dominance_find_base(clv_stage_dominance *s, int32_t kind, int64_t limit);

/* Are all stages dominated that hold the stage as it is, and none of the blocks of gone? u: one of
 * these. O(n / 64) for each of a few dominating ideals. */
bool clv_stage_is_dominated_without(const clv_stage_dominance *s, int32_t u, const uint64_t *gone);

/* Is the stage as it is? */
bool clv_stage_is_dominated(const clv_stage_dominance *s);

#endif
