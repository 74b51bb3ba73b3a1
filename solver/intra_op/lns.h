/* lns.h - a searcher: one line of answers, its own prices, its own random numbers.
 *
 * A searcher lives in lives. The first begins with a subgradient phase; later ones begin with the
 * best answer known, perturbed at random in a neighbourhood, or with a subgradient phase from other
 * prices. Each is polished neighbourhood by neighbourhood, crossed with the best answer known, and
 * dropped if it is no better.
 *
 * Searchers do not see each other while they run; a round ends after an amount of work. So what
 * they find does not depend on how many threads run them.
 */
#ifndef CLV_SOLVER_INTRA_OP_LNS_H
#define CLV_SOLVER_INTRA_OP_LNS_H

#include "solver/intra_op/neighbourhood.h"
#include "solver/intra_op/reoptimize.h"
#include "solver/intra_op/subgradient.h"

typedef enum {
    CLV_LNS_SUBGRADIENT,
    CLV_LNS_IMPROVE,
    CLV_LNS_COMBINE,
    CLV_LNS_PERTURB
} clv_lns_stage;

typedef struct {
    const clv_pairwise *f;
    int32_t number;
    clv_subgradient subgradient;
    clv_search_state now, best;
    clv_search_progress progress;
    clv_neighbourhood neighbourhood;
    int32_t *perturbed; /* nodes that were perturbed, around which it improves; none: everywhere */
    int32_t n_perturbed;
    clv_lns_stage stage;
    int32_t n_sweeps_most; /* sweeps of this subgradient phase */
    int32_t n_stale;       /* moves since the last that helped */
    int32_t n_restarts;
    double penalty;
    const bool *alive;    /* by choice: the others cannot be better than the best answer; or NULL */
    const double *likely; /* by choice: what an answer with it costs at least; or NULL */
    int32_t *imported;    /* n: an answer to restart from, while there is one */
    bool has_imported;
    const char *found_by;
} clv_lns;

clv_status clv_lns_new(const clv_pairwise *f, int32_t number, uint64_t seed, clv_arena *arena,
                       clv_lns *ret, clv_error *err);
/* Begins with an answer instead of a subgradient phase. price: by row, or NULL; likely: by choice.
 */
void clv_lns_start_from(clv_lns *s, const clv_search_state *from, const double *price,
                        const double *likely);
/* Searches until its work has grown by `work`, or the workspace's halt says stop. shared: the best
 * answer of all searchers as it was before the round; it is read only. */
clv_status clv_lns_run_round(clv_lns *s, clv_workspace *b, const clv_search_state *shared,
                             int64_t work, clv_error *err);

#endif
