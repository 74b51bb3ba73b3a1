/* window_program.h - one window of refine_window.h: units of a few groups, and the 0/1 program that
 * places them anew so that the largest load becomes least. Of refine_window.c alone.
 *
 * The window's devices, its sides, stand in an order in which nothing is read backwards, and the
 * program keeps to it, so no groups of it wait for each other in a circle. Columns are cumulative
 * (Queyranne and Schulz 1994, "Polyhedral approaches to machine scheduling"): c of a
 * unit and a side says whether the unit is on that side or before, so precedence is c >= c of the
 * reader. T is the largest load that the window can change: of its devices, and of the ports that
 * its nets may go through. Everything else stays as it is.
 */
#ifndef CLV_SOLVER_PARTITION_WINDOW_PROGRAM_H
#define CLV_SOLVER_PARTITION_WINDOW_PROGRAM_H

#include "solver/common/ilp/ilp_solve.h"
#include "solver/partition/iterated_search.h"
#include "solver/partition/window_nets.h"

/* Groups of a window at most: programs of more are not solved within the limits. */
#define CLV_WINDOW_SIDES 5

/* A net that may go from one device to another, as the units of the window are placed. */
typedef struct {
    int32_t net, from, to;
    int32_t writer;    /* in the window; -1: beside it */
    int32_t reader;    /* where it alone decides, as the writer stays */
    bool needs_column; /* several units decide: writer and readers, or some readers */
    int32_t column;    /* -1: none yet */
} clv_window_charge;

/* A charge takes time of a port. */
typedef struct {
    int32_t port, charge;
} clv_window_use;

typedef struct {
    const clv_iterated_search *ls; /* its groups are the plan at hand */
    clv_arena *arena;
    int64_t top_ns;                          /* the load to get below */
    int32_t side[CLV_WINDOW_SIDES], n_sides; /* devices, in their order */
    int32_t *at;                             /* by device: its place in an order of all */
    int32_t *side_of;                        /* by device; -1: not of the window */
    int32_t *unit, n;                        /* the window */
    int32_t *low, *high;                     /* by unit of it: sides that it may be on */
    int32_t *place;                          /* by unit: index in unit[]; -1: not in it */
    int32_t *n_readers;                      /* by device: scratch, all 0 */

    /* The program. */
    clv_net_list nets; /* that touch the window */
    clv_window_charge *charges;
    int32_t n_charges, cap_charges;
    clv_window_use *uses; /* by port */
    int32_t n_uses, cap_uses;
    double *coefficient, constant; /* of the row at hand, by column; what stands beside columns */
    int32_t *in_row, n_in_row;     /* its columns */
    bool *is_in_row;
    clv_ilp ilp;
} clv_window_program;

/* A unit of the window comes after what it reads and before its readers: takes sides from it. True:
 * there were some to take. O(pins of the unit). */
bool clv_window_narrow_unit(clv_window_program *w, int32_t i);

/* The same for all of them, to the end, from all sides on; those that cannot move are left out.
 * O(pins of the window * sides). */
void clv_window_narrow(clv_window_program *w);

/* Places the window: ret_side[i] is the side of unit i, if *ret_end says that there is a solution.
 * What it costs, pivots times rows and columns, comes off *work, which it ends by. CLV_ENOMEM.
 * O(pins of the window * sides^2 + charges * (ports of a link + log charges)) beside the solver. */
clv_status clv_window_solve(clv_window_program *w, int64_t *work, int32_t *ret_side,
                            clv_ilp_end *ret_end, clv_error *err);

#endif
