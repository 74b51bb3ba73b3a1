/* pricing.h - the pricing problem of column generation, and the columns found.
 *
 * What is the set of blocks worth most by price that a device of a kind can hold within T? A
 * knapsack with transfers, solved exactly, or with a value a little too high, which keeps bounds
 * valid, by a Pareto dynamic programme (pareto_dp.h). Its labels are pruned by the Lagrangian bound
 * of the load limit, found along the lower hull (Handler and Zang 1980, A dual algorithm for the
 * constrained shortest path problem, Networks 10). O(n * states * width) a column.
 * column_generation.h says what it is for.
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_PRICING_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_PRICING_H

#include "solver/placement/noncontiguous/master_lp.h"
#include "solver/placement/noncontiguous/pareto_dp.h"
#include "solver/placement/noncontiguous/row_aggregation.h"

/* Sums in floating point lose less than this part. */
#define CLV_ROUNDING_PART 1e-10

typedef struct {
    int32_t kind, first, n; /* into members */
    int64_t load_ticks;
} clv_column;

/* The state of column generation, shared by all its parts. */
typedef struct clv_column_gen {
    clv_place_search *search;
    const clv_contraction *b;
    const int32_t *order;
    clv_arena *arena;
    clv_pareto_dp *dp;
    const clv_diagram *with_nets, *without; /* of all blocks: for kinds that pay, and others */
    int32_t width;                          /* labels of a state in pricing */
    int32_t *devices;                       /* by kind: at most one a block */
    int64_t *cost; /* [kind * n + block]: time in ticks, or CLV_PARETO_NEVER */
    /* Prices by block. */
    int64_t *price; /* in whole numbers */
    int64_t price_sum;
    double *best, *now;
    double worth;      /* of a tick of T to the last column found, by price */
    double slope;      /* of a tick to all devices, as a part of all, at the prices tried last */
    double best_slope; /* the same at the best prices */
    double best_part;  /* what devices hold beyond all, as a part, at the best prices */
    double best_over;  /* how far a column found by them is above T, as a part of T */
    double less_part;  /* best_part when a smaller T was last tried with them */
    /* All columns. */
    clv_column *columns;
    int32_t n_columns, cap_columns;
    int32_t *members, n_members, cap_members;
    /* The master LP. */
    clv_master_lp *master;
    clv_row_groups groups; /* its rows */
    double *weight;        /* by block: how groups share prices */
    double *fine;          /* by block: the penalty, were it a group of its own */
    double *penalty;       /* by group */
    int64_t limit_ticks;   /* T */
    int32_t *in_master, n_in_master, cap_in_master; /* columns in it, in its order */
    double *share;                                  /* of each: how much of it the mix has */
    int32_t cap_share;
    bool heavy;         /* some of them are above T */
    int64_t over_ticks; /* by how much those are that joined since it was last 0 */
    /* Scratch, by block, group or net. */
    double *covered, *part, *ratio;
    int32_t *rows, *list, *count;
    uint8_t *side;
} clv_column_gen;

/* Times by kind and block, or CLV_PARETO_NEVER; and how many devices there are. O(kinds * n). */
void clv_pricing_reset_costs(clv_column_gen *f);

static inline int64_t clv_pricing_cost(const clv_column_gen *f, int32_t kind, int32_t block)
{
    return f->cost[(size_t)kind * (size_t)f->b->n + (size_t)block];
}

/* Least time in ticks of a block on any device there is; 0 where there is none. */
int64_t clv_pricing_least_time(const clv_column_gen *f, int32_t block);

/* Whole prices and their sum into f->price and f->price_sum, which is 0 where all are 0. O(n). */
void clv_pricing_set_prices(clv_column_gen *f, const double *price);

/* The most that a device of the kind can hold by price within the limit; its column joins the
 * master. Nothing is found when the search is over: then clv_pareto_dp_done() is false. */
clv_status clv_pricing_solve(clv_column_gen *f, int32_t kind, int64_t limit_ticks,
                             int64_t *ret_most, clv_error *err);

/* The master LP anew: the row groups as they are, and the columns with loads up to the limit. */
clv_status clv_pricing_rebuild_master(clv_column_gen *f, int64_t limit_ticks, clv_error *err);

/* Where there are many columns, drops those that no mix uses and rebuilds the master. */
clv_status clv_pricing_drop_columns(clv_column_gen *f, int64_t limit_ticks, clv_error *err);

#endif
