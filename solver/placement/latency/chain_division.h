/* chain_division.h - the best division of a chain of units into pieces: a shortest path over its
 * intervals (chains-on-chains partitioning: Bokhari 1988, "Partitioning problems in parallel,
 * pipelined, and distributed computing") whose weights are minimum cuts, made exact only where the
 * path needs them, as lazy shortest paths do (Dellin, Srinivasa 2016, "A unifying formalism for
 * shortest path problems with expensive edge evaluations", ICAPS).
 *
 * The units of a chain, each behind the one before, run one after the other. A piece takes an
 * interval of the chain, for pieces never wait for each other in a circle; and a piece that holds
 * two units holds all between them. So what a piece costs is at least a smallest cut
 * (piece_min_cut.h), given the two ends of its interval; the interval's least memory must fit. A
 * shortest way over all intervals bounds the latency of every solution. Cuts are made only for
 * intervals that the way would take.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_CHAIN_DIVISION_H
#define CLV_SOLVER_PLACEMENT_LATENCY_CHAIN_DIVISION_H

#include "solver/placement/latency/piece_min_cut.h"

typedef struct {
    int32_t from, to; /* places in the chain, both included */
    bool pays;        /* one piece; else one unit on devices that do not pay */
} clv_chain_span;

typedef struct clv_chain_division clv_chain_division;

struct clv_chain_division {
    const clv_latency_units *units;
    clv_piece_cut *cut;
    const int64_t *weight; /* by unit: ticks that it costs in a piece */
    int32_t n;             /* units of the chain */
    int32_t *unit;         /* by place */
    int32_t *exit;         /* by place: last node of the path in it */
    int32_t *from_place;   /* by unit: the last place that leads to it, or is it; -1 */
    int32_t *to_place;     /* by unit: the first place that it leads to, or is it; n */
    int64_t *free_time;    /* by place: ticks of its nodes on the path, or CLV_UNIT_NEVER */
    int32_t most_pieces;   /* 0: any number */
    int32_t counted;       /* of the way: most_pieces, or 0 as long as that is no limit */
    int64_t *value;     /* [from * n + to]: ticks that a piece costs at least, or CLV_UNIT_NEVER */
    bool *exact;        /* of value: it is the smallest cut */
    int64_t *best;      /* [pieces * (n + 1) + places done] */
    int32_t *last;      /* how best came about: first place of the last piece; -1: no piece */
    clv_cut_side *side; /* by unit: scratch */
    clv_chain_span *spans; /* of the best way */
    int32_t n_spans;
    int64_t bound;    /* ticks */
    int64_t *scratch; /* 2 * (n + 1) */
    /* The same chain with memory at a price, in ticks a byte, where it is scarce; else NULL. */
    clv_chain_division *priced;
    double price;
};

/* What is to be divided: stays the caller's as long as the chain lives, but for the path. */
typedef struct {
    const clv_latency_units *units;
    clv_piece_cut *cut;
    const int64_t *weight; /* by unit: ticks; mostly units->paying_time */
    const int32_t *path;   /* nodes, each read by the next */
    int32_t n_path;
    int32_t most_pieces; /* 0: any number */
} clv_chain;

/* Lives in the arena. CLV_ENOMEM. O(n * (n + nets) + pins
 * + units * log n). */
clv_status clv_chain_division_new(const clv_chain *chain, clv_arena *arena,
                                  clv_chain_division **ret, clv_error *err);

/* Shortest way with the values known so far; bound and spans follow. False: there is no way. With
 * most_pieces O(n^2 * most_pieces), else O(n^2). */
bool clv_chain_division_shortest(clv_chain_division *chain);

/* Makes the values exact that the way uses. False: they were. chosen of clv_piece_cut_min(). */
bool clv_chain_division_refine(clv_chain_division *chain);

/* What is known of the rest of the chain, for searches that prune. All in ticks, by place, n + 1
 * long (0 at the end). */
typedef struct {
    int64_t *rest;  /* from the end of one piece to the end of all, when this place is next */
    int64_t *begin; /* from when the exit of this place, or of a later one, could start at the
                       earliest with all else it needs, to the end */
    int64_t *reach; /* [from * n + to]: pieces from from that reach to or more, to the end of all */
    /* The same for every number of pieces left, where there is a limit; else NULL:
     * [left * (n + 1) + place], [left * n * n + from * n + to]. */
    int64_t *counted_rest, *counted_reach;
} clv_chain_rest;

/* Makes all values exact that lie on a way below limit ticks, until none is left or stop says so.
 * O(values * cut). */
void clv_chain_division_refine_below(clv_chain_division *chain, int64_t limit,
                                     bool (*stop)(void *ctx), void *ctx);
/* O(n^2 * most_pieces). */
clv_status clv_chain_division_rest(const clv_chain_division *chain, clv_arena *arena,
                                   clv_chain_rest *ret, clv_error *err);

/* Units of the best set for a span that pays; chosen by unit. */
void clv_chain_division_piece(clv_chain_division *chain, const clv_chain_span *span, bool *chosen);

#endif
