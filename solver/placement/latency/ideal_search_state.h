/* ideal_search_state.h - the state of one search over ideals (latency_ideals.c), and what is fixed
 * in it.
 *
 * Heads and tails of nodes bound what a partial solution can become, as in scheduling (Carlier
 * 1982, "The one-machine sequencing problem", European J. of Operational Research): the head is
 * where a front's node ends, the tail the heaviest path behind it. Ours is a tail by the rest of a
 * chain whose best division is known (chain_division.h). What is chosen and undone unit by unit
 * stays in counts by net and node, O(pins + reads) a unit.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_IDEAL_SEARCH_STATE_H
#define CLV_SOLVER_PLACEMENT_LATENCY_IDEAL_SEARCH_STATE_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/latency/ideal_labels.h"

typedef enum { CLV_OUTSIDE, CLV_DONE, CLV_CHOSEN, CLV_BARRED } clv_unit_state;

typedef struct {
    clv_place_search *search;
    const clv_latency_units *u;
    const clv_chain_division *chain;
    clv_chain_rest rest;
    clv_chain_rest priced; /* where memory is counted and has a price; else NULL */
    double price;          /* ticks a byte */
    clv_ideal_labels f;
    clv_csr nets_of;   /* by unit */
    clv_csr nodes_of;  /* by unit, in order */
    int32_t *place_of; /* by unit: in the chain; -1 */
    int32_t *first; /* by node: first place of the chain whose exit it leads to; chain->n: none */
    int64_t *after; /* by node: ticks of the heaviest path behind it, without what is paid */
    int64_t *chain_rest; /* by place: least of the chain's times from here to one, and its rest */
    int32_t *unit_first; /* by unit: least of first */
    bool counts;         /* numbers of devices matter */
    int32_t most_pieces, most_segments;
    int64_t most_held; /* bytes; CLV_PLACE_UNLIMITED */
    int64_t limit, work, most_work;
    bool ended;
    int32_t best; /* label of the whole; -1 */
    /* the ideal at hand */
    int32_t ideal;
    clv_unit_state *where;   /* by unit */
    int32_t *waits;          /* by unit: units it reads that are not done or chosen */
    int32_t *n_in, *n_out;   /* by net: pins chosen; pins done or barred */
    int32_t *place_in_front; /* by node: in the ideal's front; -1 */
    int32_t left;            /* pieces that can come after the one at hand, at most */
    int64_t least_held;      /* least over the labels */
    int64_t *earliest;       /* by place in the front: least over the labels */
    int32_t *n_reads;        /* by place in the front: chosen nodes' reads */
    /* the piece at hand */
    int32_t *chosen;
    int32_t n_chosen, places;
    int64_t bytes, time, cut, sure; /* cut: nets that are cut now; sure: whatever else is chosen */
    int64_t start, tail;            /* earliest start; least time from its end to the end of all */
    uint64_t *set, hash;
    int64_t *ends;  /* by node: scratch of a step without piece */
    int32_t *stack; /* lists of units that can be chosen, one a depth */
    int32_t n_stack, cap_stack;
} clv_ideal_search_state;

/* Fills in what is fixed; run, u, chain and the limits are set. O(nodes + edges + pins + chain^2).
 */
clv_status clv_ideal_search_state_new(clv_ideal_search_state *s, clv_arena *arena, clv_error *err);

/* Ticks that a node takes at least, wherever it is; one that runs nowhere counts as 0. */
int64_t clv_ideal_least_time(const clv_latency_units *u, int32_t node);

static inline int64_t clv_later(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
