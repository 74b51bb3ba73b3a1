/* lns.h - a searcher: iterated large neighbourhood search, with prices and random numbers of its
 * own.
 *
 * Large neighbourhood search (Shaw, "Using constraint programming and local search methods to solve
 * vehicle routing problems", CP 1998) inside iterated local search (Lourenco, Martin, Stuetzle
 * 2003). A searcher begins with a subgradient phase (subgradient.h). Each solution is improved
 * neighbourhood by neighbourhood, solved by elimination (reoptimize.h), and combined with the best
 * one known: each node may take the choice of either, the best combination being found exactly
 * where tables allow (a fusion move: Lempitsky, Rother, Roth, Blake, IEEE TPAMI 32, 2010). Restarts
 * perturb the best solution in a neighbourhood, by another choice of a node or by noise on costs
 * (Charon, Hudry, "The noising method", Operations Research Letters 14, 1993), or begin a
 * subgradient phase at other prices.
 *
 * Searchers do not see each other while they run; a round ends after an amount of work. So what
 * they find does not depend on how many threads run them. It wins over local search of single nodes
 * where walls of infinite edges separate good solutions.
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
    const bool *alive; /* by choice: the others cannot be better than the best solution; or NULL */
    const double *likely; /* by choice: what a solution with it costs at least; or NULL */
    int32_t *imported;    /* n: a solution to restart from, while there is one */
    bool has_imported;
    const char *found_by;
} clv_lns;

/* Lives in the arena. number: 0, 1, ...: searchers differ by it; each draws from seed on its own.
 */
clv_status clv_lns_new(const clv_pairwise *f, int32_t number, uint64_t seed, clv_arena *arena,
                       clv_lns *ret, clv_error *err);
/* Begins with a solution instead of a subgradient phase. price: by row, or NULL; likely: by choice.
 */
void clv_lns_start_from(clv_lns *s, const clv_search_state *from, const double *price,
                        const double *likely);
/* Searches until its work has grown by `work`, or the workspace's halt says stop. shared: the best
 * solution of all searchers as it was before the round; it is read only. */
clv_status clv_lns_run_round(clv_lns *s, clv_workspace *b, const clv_search_state *shared,
                             int64_t work, clv_error *err);

#endif
