/* lns_window.h - one window of lns.h: what is in it, and its program. Of lns.c alone. */
#ifndef CLV_SOLVER_PLACEMENT_MIP_LNS_WINDOW_H
#define CLV_SOLVER_PLACEMENT_MIP_LNS_WINDOW_H

#include "solver/common/ilp/ilp.h"
#include "solver/placement/mip/lns_options.h"

/* Devices of a window: the busiest and at most two others. */
#define CLV_LNS_SIDES 3
/* A gain below this part of a load is less than what a solver's tolerance can make up. */
#define CLV_LNS_GAIN 1e-6

/* How a side's charge for a net depends on the window. */
typedef enum {
    CLV_CHARGE_NEVER,  /* all of the net's blocks are elsewhere, or it does not pay */
    CLV_CHARGE_ALWAYS, /* some are here and some are elsewhere, whatever the window does */
    CLV_CHARGE_ANY,    /* elsewhere beside the window: pays as soon as one is here */
    CLV_CHARGE_SOME,   /* here beside the window: pays as soon as one is elsewhere */
    CLV_CHARGE_PAIR,   /* two blocks, both in the window */
    CLV_CHARGE_SPREAD  /* more, all in the window: the largest x less the smallest */
} clv_charge;

/* The placement and the window at hand; arrays live as long as the search. */
typedef struct {
    const clv_contraction *b;
    const clv_place_rules *rules;
    const clv_lns_options *options;
    clv_arena *arena;
    clv_lns_work *work;
    int32_t n_devices;
    const int32_t *kind_of;
    int32_t *device_of; /* by block */
    int64_t *load, *bytes;
    int32_t *stamp;          /* by device, for one sweep over the nets */
    int32_t *line, *line_at; /* contiguous: devices in a line, and where each is in it */
    int32_t *waits;          /* scratch by device */

    /* the window */
    int32_t device[CLV_LNS_SIDES], n_sides;
    int32_t *side_of;  /* by device, -1: not in the window */
    int32_t *block, n; /* its blocks */
    int32_t *index_of; /* by block, -1: not in it */
    int32_t *nets, n_nets;
    bool *is_in_nets; /* by net */
    bool *seen;       /* by block: was in a window of these devices */
    clv_charge *form; /* [net of the window * CLV_LNS_SIDES + side] */
    int32_t *column;  /* alike: of y, or of h with l behind it */
    int32_t turn;     /* windows of each turn are made in another way */
    double scale;     /* ticks in 1 */
    clv_ilp ilp;
} clv_lns_window;

static inline const clv_place_kind *clv_lns_window_kind(const clv_lns_window *w, int32_t device)
{
    return &w->b->p->kinds[w->kind_of[device]];
}

static inline int64_t clv_lns_window_time(const clv_lns_window *w, int32_t block, int32_t device)
{
    return clv_block_time(w->b, w->kind_of[device], block);
}

/* Column of x: is the i-th block of the window on this side? */
static inline int32_t clv_lns_window_x(const clv_lns_window *w, int32_t i, int32_t side)
{
    return i * w->n_sides + side;
}

/* Makes w->ilp of the window: its devices, blocks, nets and scale. O(pins of its nets). */
void clv_lns_window_formulate(clv_lns_window *w);

#endif
