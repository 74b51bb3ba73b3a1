/* trws.h - what each choice of a node costs the whole problem, by message passing.
 *
 * TRW-S (Kolmogorov, IEEE TPAMI 28, 2006): each sweep moves costs along the edges so that the sum
 * of the nodes' least costs grows. What a choice costs above its node's least then shows how far it
 * is from good solutions, walls of infinite edges included. A guide for the search in plain
 * floating point; no bound is taken from it (bound.h has its own, which counts).
 */
#ifndef CLV_SOLVER_INTRA_OP_TRWS_H
#define CLV_SOLVER_INTRA_OP_TRWS_H

#include "solver/intra_op/pairwise.h"

typedef struct {
    const clv_pairwise *f;
    int64_t *first; /* by arc: into `into` */
    double *into;   /* by arc: what the other end makes each choice of the own node cost */
    double *belief; /* by choice: own cost, price and messages */
    double *scratch;
    int32_t *choice; /* n, for readers */
    double level;    /* what all solutions cost at least, as far as messages show */
    int64_t work;    /* matrix entries of a sweep */
} clv_trws;

/* No messages yet; lives in the arena. O(arcs * choices). */
clv_status clv_trws_new(const clv_pairwise *f, clv_arena *arena, clv_trws *ret, clv_error *err);
void clv_trws_clear(clv_trws *m); /* no messages */
/* One sweep up and one down at the rows' prices, given as clv_price_sums(). O(work). */
void clv_trws_sweep(clv_trws *m, const double *sum);
/* Choices node after node, each the cheapest given those before. O(choices + edges). */
void clv_trws_decode(const clv_trws *m, int32_t *choice);

#endif
