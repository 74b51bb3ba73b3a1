/* pricing.h - what the parts of a proof share: prices, and the sets of blocks that one device can
 * hold. column_generation.h says what it is all for.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_PRICING_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_PRICING_H

#include "solver/placement/noncontiguous/column_generation.h"
#include "solver/placement/noncontiguous/master_lp.h"
#include "solver/placement/noncontiguous/pareto_dp.h"
#include "solver/placement/noncontiguous/row_aggregation.h"

/* Sums in floating point lose less than this part. */
#define CLV_ROUNDING_PART 1e-10

typedef struct {
    int32_t kind, first, n; /* into members */
    int64_t load;
} clv_column;

struct clv_column_gen {
    const clv_blocks *b;
    const int32_t *order;
    clv_arena *arena;
    clv_pareto_dp *dp;
    const clv_diagram *with_nets, *without; /* all blocks: for kinds that pay, and others */
    int32_t width;                          /* of splits */
    int32_t *devices;                       /* by kind: at most one a block */
    int64_t *cost;                          /* [kind * n + block]: time, or CLV_PARETO_NEVER */
    /* Prices by block. */
    int64_t *price; /* whole */
    double *best, *now;
    double worth;      /* of a tick of T to the last set found, by price */
    double slope;      /* of a tick to all devices, as a part of all, at the prices tried last */
    double best_slope; /* the same at the best prices */
    double best_part;  /* what devices hold beyond all, as a part, at the best prices */
    double best_over;  /* how far a set found by them is above T, as a part of T */
    double less_part;  /* the same when a smaller T was last tried with them */
    /* Sets. */
    clv_column *columns;
    int32_t n_columns, cap_columns;
    int32_t *members, n_members, cap_members;
    /* The linear program. Its rows are bunches. */
    clv_master_lp *master;
    clv_row_groups *groups;
    double *weight;  /* by block: how bunches share prices */
    double *fine;    /* by block: the penalty, were it a bunch of its own */
    double *penalty; /* by bunch */
    int64_t limit;   /* T */
    int32_t *in_master, n_in_master, cap_in_master; /* sets in it, in its order */
    double *share;                                  /* by set in it: how much of it the mix has */
    int32_t cap_share;
    bool heavy;   /* some of them are above T */
    int64_t over; /* how far those are that joined since it was last 0 */
    /* Scratch, by block, bunch or net. */
    double *covered, *part, *ratio;
    int32_t *rows, *list, *count;
    uint8_t *side;
};

/* Times by kind and block, or CLV_PARETO_NEVER; and how many devices there are. */
void clv_pricing_reset_costs(clv_column_gen *f);

static inline int64_t clv_pricing_cost(const clv_column_gen *f, int32_t kind, int32_t block)
{
    return f->cost[(size_t)kind * (size_t)f->b->n + (size_t)block];
}

/* Least time of a block on any device there is; 0 where there is none. */
int64_t clv_pricing_least_time(const clv_column_gen *f, int32_t block);

/* Whole prices into f->price; returns their sum, 0 where all are 0. */
int64_t clv_pricing_set_prices(clv_column_gen *f, const double *price);

/* The most that a device of the kind can hold by price within t, into *most; its set joins. all:
 * the sum of prices. Not there when the run is over: clv_pareto_dp_done(). */
clv_status clv_pricing_solve(clv_column_gen *f, clv_place_search *search, int32_t kind, int64_t t,
                             int64_t all, int64_t *most, clv_error *err);

/* The linear program anew, with the bunches as they are and the sets that one device can hold
 * within t. */
clv_status clv_columns_rebuild(clv_column_gen *f, int64_t t, clv_error *err);

/* Sets that no mix uses go, when there are many; then the linear program is made anew. */
clv_status clv_columns_drop_unused(clv_column_gen *f, int64_t t, clv_error *err);

#endif
