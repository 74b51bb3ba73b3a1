/* ideal_search.h - all contiguous placements with no load above a limit, by the order ideals of the
 * blocks.
 *
 * Dynamic programming over order ideals (Tarnawski, Phanishayee, Devanur, Mahajan, Nina Paravecino
 * 2020, "Efficient algorithms for device placement of DNN graph operators"), by label setting
 * (pareto_labels.h). Ours: kinds of devices, a limit on the load that prunes, and the dominance of
 * stages and ideals. It wins where a graph has few ideals that one device can reach.
 *
 * An ideal is a set of blocks with all that must come before them. Devices in a line hold the
 * differences of nested ideals, so a solution is a path from the empty ideal to the full one,
 * and each step is a stage with a load.
 *
 * Ideals are met smallest first. Kept for each: which devices can have made it, how many of each
 * kind, with which largest load (pareto_labels.h). From an ideal, all stages of load up to the
 * limit are grown block by block (partial_stage.h). A stage is given up as soon as what it has
 * taken, with what it receives, is above the limit; when what is left without it is more than the
 * remaining devices could do (fluid_bound.h); or when it is dominated: by the same stage with a
 * block that relieves whoever has it later (partial_stage.h), or by a longer one that ends at a
 * dominating ideal (dominating_ideals.h, stage_dominance.h). An ideal within a dominating one that
 * is reached with no more devices goes too. That is what keeps it small: of a model in layers, what
 * is left are the ideals of the last layers that a device can reach.
 *
 * Cost: O(sum over reached ideals of the stages grown from it * nets of a block and of ready ones);
 * memory O(reached ideals * (n / 64 + labels)).
 */
#ifndef CLV_SOLVER_PLACEMENT_CONTIGUOUS_IDEAL_SEARCH_H
#define CLV_SOLVER_PLACEMENT_CONTIGUOUS_IDEAL_SEARCH_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/contiguous/dominating_ideals.h"
#include "solver/placement/contiguous/partial_stage.h"

typedef enum {
    CLV_IDEALS_INFEASIBLE, /* proven: no solution within the limit */
    CLV_IDEALS_FOUND, /* found, offered, and proven the best of all; or any that was asked for */
    CLV_IDEALS_UNDECIDED, /* it ended before it was through */
} clv_ideal_search_outcome;

typedef struct {
    clv_place_search *search;
    const char *name; /* solutions are offered under it */
    const clv_alloc *alloc;
    uint64_t *key;         /* by block: its part of a hash */
    int64_t *behind_value; /* by block: of it and of all behind it */
    clv_fluid_bound share;
    clv_partial_stage stage;          /* set low before a call */
    clv_dominating_ideals dominating; /* clv_ideal_search_find_dominating */
    bool any;                         /* any solution within the limit will do */
    bool count_only;                  /* fewest devices, whatever their loads are */
    int64_t steps; /* budget for all calls: blocks added to stages, some 50 ns each */
} clv_ideal_search;

typedef struct {
    const char *name; /* solutions are offered under it; a text that stays */
    bool line;        /* only differences of prefixes of the blocks' order */
    int64_t steps;    /* budget, see above */
} clv_ideal_search_options;

/* O(n * (n + arcs) / 64 + pins). */
clv_status clv_ideal_search_new(clv_place_search *search, const clv_contraction *b,
                                const clv_ideal_search_options *options, clv_arena *arena,
                                clv_ideal_search *ret, clv_error *err);

/* Finds out which ideals dominate (dominating_ideals.h), so that later calls are quicker. */
clv_status clv_ideal_search_find_dominating(clv_ideal_search *s, clv_arena *arena, clv_error *err);

/* CLV_IDEALS_FOUND: *ret_load is the largest load of the solution. Uses memory of its own while it
 * runs, up to a fixed amount. */
clv_status clv_ideal_search_run(clv_ideal_search *s, int64_t limit, clv_ideal_search_outcome *ret,
                                int64_t *ret_load, clv_error *err);

#endif
