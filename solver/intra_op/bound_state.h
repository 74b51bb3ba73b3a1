/* bound_state.h - what the parts of a bound (bound.h) work on: costs, messages, prices,
 * scratch. */
#ifndef CLV_SOLVER_INTRA_OP_BOUND_STATE_H
#define CLV_SOLVER_INTRA_OP_BOUND_STATE_H

#include "problem/intra_op_problem.h"

/* In floating point, where a cost is never; sums of messages stay far below. */
#define HUGE_COST 1e30
/* No message and no sum of costs needs to be larger. */
#define MOST_MESSAGE 1e18

enum {
    COUNT_EVERY = 4,        /* rounds; counting costs as much as a round */
    PATIENCE = 8,           /* counts without a better bound before steps get smaller */
    QUIET = 10,             /* rounds before prices move */
    EXTRAPOLATE_EVERY = 16, /* rounds; so many that a count was just made */
};
#define SMALLER             0.7
#define FIRST_STEP          0.3
#define LONGEST_STEP        4.0
#define FIRST_EXTRAPOLATION 0.8

/* An edge of two nodes as one of them sees it. */
typedef struct {
    int64_t in, out;             /* into message: what comes and what goes */
    int32_t edge, matrix, width; /* choices of the other */
    int32_t other;
    bool first; /* the node is the first of the edge */
} spoke;

typedef struct {
    const clv_intra_op_problem *p;
    int32_t n_rows;
    double **entry[2];   /* by matrix: as it is; turned. NULL where no edge of two nodes has it */
    double *cost, *paid; /* by choice: its own; and what memory costs it */
    double *message;
    int64_t n_messages, n_entries; /* of messages; of all edges of two nodes */
    spoke *spoke;
    int32_t *first_spoke; /* by node; spokes to earlier nodes first */
    int32_t *n_earlier;
    double *sum, *part; /* by choice of one node */
    int32_t *taken; /* by node: its cheapest choice when last looked at */
    double *price, *best_price, *before, *over, *mean; /* by row */
    int64_t *room, *span_room;    /* by row; by span of one node: scratch of solutions */
    int32_t *mix[5];              /* by node: scratch of solutions */
    double *rest;                 /* by row: scratch of prices */
    bool *marked;                 /* by row: gets a price */
    double step, longest, square; /* of the prices; running mean of squares of over */
    int32_t rounds, since;
    clv_int128 bound, level; /* the best; and as it was when last counted */
    /* Messages, prices and level at the last extrapolation, if there was one; how far the next
     * goes. */
    double *last_message, *last_price, extrapolation;
    clv_int128 last_level;
    bool has_last;
    bool counts;          /* numbers were small enough to be counted */
    int64_t *least;       /* by choice */
    int64_t *own;         /* by choice: cost in whole numbers with edges of one node */
    int64_t edges_alone;  /* the least of edges of three and more */
    double enough;        /* no solution without never costs so much: messages say no more */
    double largest_entry; /* of an edge of two nodes, but for never */
    /* Scratch of counting. */
    int64_t *now, *given;     /* by choice: its node's cost; and its share for an edge */
    clv_int128 *worse;        /* by choice: how much dearer than the cheapest, so far */
    int64_t *row_least;       /* by choice of one node of an edge, then of the other */
    int64_t *whole_out;       /* by choice of one node: a message */
    clv_int128 *whole_paid;   /* by choice of one node */
    clv_int128 *whole_before; /* by row: sums of whole prices */
} clv_intra_op_bound;

/* As clv_intra_op_bound_new(), nothing counted yet. */
clv_status clv_bound_state_new(const clv_intra_op_problem *p, clv_arena *arena,
                               clv_intra_op_bound **ret, clv_error *err);

/* Where rounds lead nowhere any more: prices take long steps again, which leads to other solutions,
 * at times to a better bound. */
void clv_intra_op_bound_reset_steps(clv_intra_op_bound *b);

/* Forgets what was found, but for messages and prices: the problem has changed. */
void clv_bound_restart(clv_intra_op_bound *b);

/* Works out what memory costs each choice at the prices. O(spans * choices). */
void clv_bound_set_memory_costs(clv_intra_op_bound *b);

#endif
