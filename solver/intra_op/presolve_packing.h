/* presolve_packing.h - the state of packing (presolve_pack.h). */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_PACKING_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_PACKING_H

#include "solver/intra_op/presolve_problem.h"

typedef struct {
    const clv_pre_problem *old;
    const clv_pre_fold *fold;
    clv_arena *out;
    clv_pre_problem *w; /* the new one */
    int32_t *number;    /* by old node that stays: its new number; -1: one choice, and gone */
    int64_t *cost;      /* of the new choices */
    bool *fresh;        /* by new node, as in clv_pre_problem */
    bool big;           /* a sum of costs reached never */
    bool never;         /* so did the base: some node has no choice left that is none */
} clv_packing;

/* Adds a cost to choice k of new node v; v < 0: to the base. A never there sets k->never. */
static inline void clv_packing_add_cost(clv_packing *k, int32_t v, int32_t choice, int64_t cost)
{
    int64_t *at;

    if (v < 0) {
        k->never = k->never || cost >= CLV_INTRA_OP_NEVER;
        k->w->base += cost;
        return;
    }
    at = &k->cost[k->w->p.first_choice[v] + choice];
    *at = clv_pre_add(*at, cost, &k->big);
}

/* New node v, -1 for one that is gone, is not what it was. */
static inline void clv_packing_mark_fresh(clv_packing *k, int32_t v)
{
    if (v >= 0)
        k->fresh[v] = true;
}

#endif
