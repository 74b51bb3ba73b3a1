/* presolve_problem.h - a problem in the making, as the passes of presolve.h see and change it.
 *
 * A pass looks at a problem in the making and decides about nodes, choices and rows; packing then
 * builds the next problem from what was decided, and a layer that remembers how to go back. A row
 * is a moment at which memory may matter; times of a problem in the making are rows.
 *
 * Presolve assumes that some legal solution has no cost of "never"; where it sees that this cannot
 * be, or that a sum of costs would reach "never", it starts again with the rows alone.
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_PROBLEM_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_PROBLEM_H

#include "solver/intra_op/presolve_matrices.h"

/* Why presolve has to start again with the rows alone. */
typedef enum {
    CLV_PRE_FINE,
    CLV_PRE_NEVER, /* a node has no choice left */
    CLV_PRE_BIG,   /* a sum of costs reached never */
    CLV_PRE_FULL,  /* what is left does not fit */
} clv_pre_trouble;

typedef struct clv_pre_layer clv_pre_layer;

typedef struct {
    clv_intra_op_problem p; /* edges of one node do not occur once packed; matrix_of counts in
                             * `set`, the matrices of p itself are those given */
    clv_pre_matrices *set;
    bool *fresh;             /* by node: what a solution of clv_pre_dominated() rests on changed
                              * since it was asked; NULL: all are */
    int32_t n_rows;          /* moments */
    const int64_t *held;     /* by row: what is held whatever is chosen; spans hold the rest, so the
                              * smallest usage of each span is 0 */
    const int64_t *row_time; /* by row: that moment in the problem as given */
    clv_int128 base;         /* cost whatever is chosen */
    clv_pre_trouble trouble;
    clv_pre_layer *layer; /* how to go back to the problem that this was packed from */
} clv_pre_problem;

/* A node without memory and with at most two neighbours, eliminated: its choice is
 * best[choice of a * n_b + choice of b]; a, b: nodes of the same problem, -1: none. */
typedef struct {
    int32_t node, a, b, n_b;
    const int32_t *best;
} clv_pre_eliminated;

enum {
    CLV_PRE_FIXED = -1, /* one choice was left */
    CLV_PRE_GONE = -2,  /* eliminated */
};

/* What a pass decides. Node v takes choice map[v][k] when node into[v] takes its k-th choice that
 * is left; into[v] == v: v stays. n_new is by node that stays, 0 where it
 * was eliminated: it then has neither edges nor spans. row_keep may be NULL: all. */
typedef struct {
    int32_t *into;
    const int32_t **map;
    int32_t *n_new;
    const bool *row_keep;
    int32_t n_gone;
    const clv_pre_eliminated *gone;
    bool any; /* something changes */
} clv_pre_fold;

/* How to go back: old node v takes map[at[v] + choice of the new node into[v]], or map[at[v]] where
 * it is fixed. place: of each old node among the nodes of the whole problem; place_new: of the new
 * ones. */
struct clv_pre_layer {
    clv_pre_layer *before;
    int32_t n_old;
    const int32_t *into;
    const int64_t *at;
    const int32_t *map;
    const int32_t *place;
    int32_t *place_new;
    int32_t n_gone;
    const clv_pre_eliminated *gone; /* before their neighbours, where those are too */
};

/* A sum of costs in which never stays never. *big: the sum reached never without one. */
static inline int64_t clv_pre_add(int64_t a, int64_t b, bool *big)
{
    if (a >= CLV_INTRA_OP_NEVER || b >= CLV_INTRA_OP_NEVER)
        return CLV_INTRA_OP_NEVER;
    if (a + b >= CLV_INTRA_OP_NEVER)
        *big = true;
    return a + b;
}

/* Takes the least of the costs of n choices out of them, for the base; 0: all are never. */
static inline int64_t clv_pre_take_least(int64_t *cost, int32_t n)
{
    int64_t least = CLV_INTRA_OP_NEVER;

    for (int32_t i = 0; i < n; i++)
        least = cost[i] < least ? cost[i] : least;
    if (least == CLV_INTRA_OP_NEVER)
        return 0;
    for (int32_t i = 0; i < n; i++)
        if (cost[i] < CLV_INTRA_OP_NEVER)
            cost[i] -= least;
    return least;
}

/* A fold that changes nothing; rows_keep NULL. */
clv_status clv_pre_fold_new(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *ret,
                            clv_error *err);

/* The same where each node keeps the choices with alive[]; any: some choice goes. */
clv_status clv_pre_fold_alive(const clv_pre_problem *w, const bool *alive, clv_arena *arena,
                              clv_pre_fold *ret, clv_error *err);

#endif
