/* search_state.h - a solution in the making: choices, what they cost, what memory they hold by row.
 *
 * What lns.h, breakout.h, reoptimize.h and subgradient.h change step by step.
 */
#ifndef CLV_SOLVER_INTRA_OP_SEARCH_STATE_H
#define CLV_SOLVER_INTRA_OP_SEARCH_STATE_H

#include "solver/intra_op/pairwise.h"

typedef struct {
    const clv_pairwise *f;
    int32_t *choice; /* by node; -1: none yet, then the node costs and holds nothing */
    int64_t *load;   /* by row */
    int64_t *step;   /* n_rows + 1, all 0 between calls */
    double cost;     /* nodes and edges between chosen nodes */
    double over;     /* memory above the limits, summed over the rows, in limits */
} clv_search_state;

/* Nothing chosen; lives in the arena. O(nodes + rows). */
clv_status clv_search_state_new(const clv_pairwise *f, clv_arena *arena, clv_search_state *ret,
                                clv_error *err);
/* Choices as given (NULL: none yet); everything counted. O(problem). */
void clv_search_state_set(clv_search_state *s, const int32_t *choice);
/* of the same model */
void clv_search_state_copy(clv_search_state *to, const clv_search_state *from);
/* Nodes take new choices; the cost is updated, loads too. O(edges of the nodes + rows). */
void clv_search_state_apply(clv_search_state *s, const int32_t *node, const int32_t *choice,
                            int32_t n);
/* Better: less memory above the limits, then less cost. */
bool clv_search_state_is_better(const clv_search_state *a, const clv_search_state *b);

/* sum[r]: prices of the rows before r; n_rows + 1. */
void clv_price_sums(const clv_pairwise *f, const double *price, double *sum);
/* What a choice's memory costs at prices. O(spans of the node). */
static inline double clv_priced(const clv_pairwise *f, int32_t node, int32_t choice,
                                const double *sum)
{
    double r = 0;
    for (int32_t s = f->first_span[node]; s < f->first_span[node + 1]; s++) {
        const clv_pairwise_span *span = &f->span[s];
        r += (double)span->usage[choice] * (sum[span->hi] - sum[span->lo]);
    }
    return r;
}

#endif
