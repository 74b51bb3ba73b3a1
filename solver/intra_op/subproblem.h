/* subproblem.h - some nodes of a problem, with the values they may take; the others are held
 * fixed.
 *
 * What elimination (elimination.h) works on: values, costs with what is fixed, the order and the
 * tables.
 */
#ifndef CLV_SOLVER_INTRA_OP_SUBPROBLEM_H
#define CLV_SOLVER_INTRA_OP_SUBPROBLEM_H

#include "solver/common/limits.h"
#include "solver/intra_op/pairwise.h"

/* A table over x (the node eliminated) and nodes eliminated later, x slowest. */
typedef struct {
    const double *table;
    int64_t stride;   /* of x */
    int32_t first, n; /* the others, in clv_subproblem.scope, earliest first */
} clv_subproblem_factor;

/* Indices by local node are 0 .. n - 1. Read-only for others but for `halt`. */
typedef struct {
    const clv_pairwise *f;
    clv_arena
        *arena; /* the subproblem's own: what one subproblem needs is given back by the next */
    clv_mark mark;
    int32_t n, n_order, n_held;
    int32_t *node;         /* n */
    int32_t *local;        /* by node of f; -1 outside */
    int32_t *first_value;  /* n + 1 */
    int32_t *value;        /* choices that a node may take */
    int32_t *present;      /* n: index of the present choice among a node's values; -1: none yet */
    double *base;          /* by value: own cost and edges to what is fixed */
    double *unary;         /* by value: base, prices and tables of one node */
    int32_t *order;        /* n_order local nodes, first eliminated first */
    int32_t *position;     /* n: in order; -1: held */
    int32_t *scope_first;  /* by position, n_order + 1: what its table is over, into scope */
    int32_t *scope;        /* local nodes, earliest eliminated first */
    int32_t *factor_first; /* by position, n_order + 1 */
    clv_subproblem_factor *factor;
    double **table;         /* by position; NULL for no table */
    int32_t *chosen;        /* n: index of value, filled by reading */
    double *row;            /* max_choices */
    int64_t work;           /* table entries times factors, of one solve */
    const clv_limits *halt; /* asked while tables are filled; NULL: never */
} clv_subproblem;

/* NULL is fine */
/* Empty. Lives in the arena, but for what it takes until clv_subproblem_free(). O(nodes). */
clv_status clv_subproblem_new(const clv_pairwise *f, clv_arena *arena, clv_subproblem **ret,
                              clv_error *err);
void clv_subproblem_free(clv_subproblem *x);

/* The subproblem is these nodes, each with all its choices. choice: present choices of all nodes of
 * f; -1 for none yet (edges to such nodes outside count nothing). */
clv_status clv_subproblem_begin(clv_subproblem *x, const int32_t *node, int32_t n,
                                const int32_t *choice, clv_error *err);
/* Keeps the values of a local node for which keep[choice] is set; at least one. Before ordering. */
void clv_subproblem_restrict(clv_subproblem *x, int32_t local, const bool *keep);
static inline int32_t clv_subproblem_n_values(const clv_subproblem *x, int32_t local)
{
    return x->first_value[local + 1] - x->first_value[local];
}

#endif
