/* ilp.h - mixed 0/1 programs as data: what is asked of a solver, and what it gives back.
 *
 *     minimise  sum cost * column   within   lo <= column <= hi   and   lo <= row <= hi
 *
 * A program is built column by column and row by row and then solved or relaxed (ilp_solve.h) or
 * written as text (ilp_mps.h). Every value that comes back is a claim; judge what is made of it.
 */
#ifndef CLV_SOLVER_COMMON_ILP_ILP_H
#define CLV_SOLVER_COMMON_ILP_ILP_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct {
    double lo, hi, cost;
    bool whole;
    char letter; /* letter, a and b are its name in text: x3_5; -1: left out */
    int32_t a, b;
} clv_ilp_column;

typedef struct {
    int32_t column;
    double value;
} clv_ilp_term;

typedef struct {
    double lo, hi;
    int32_t first; /* into terms; they end where the next row's begin */
} clv_ilp_row;

typedef struct {
    clv_arena *arena;
    int32_t n_columns, cap_columns, n_rows, cap_rows, n_terms, cap_terms;
    clv_ilp_column *columns;
    clv_ilp_row *rows;
    clv_ilp_term *terms;
    bool failed; /* there was no memory: seen by who solves */
} clv_ilp;

/* Empty; columns and rows will live in the arena. */
clv_ilp clv_ilp_new(clv_arena *arena);
/* Its number, from 0. Bounds may be infinite. Names are the caller's to keep apart. */
int32_t clv_ilp_add_column(clv_ilp *ilp, clv_ilp_column column);
/* A row without terms, and a term of the row that was added last: no column twice in a row. */
int32_t clv_ilp_add_row(clv_ilp *ilp, double lo, double hi);
void clv_ilp_add_term(clv_ilp *ilp, int32_t column, double value);
/* The terms of row r: first one and, as return value, their number. */
int32_t clv_ilp_terms_of(const clv_ilp *ilp, int32_t row, const clv_ilp_term **ret);

typedef struct {
    const char *solver;    /* "GLPK", "CBC"; NULL: the first of them that is built in */
    int64_t nodes, pivots; /* of the search, of the simplex in all; 0: any number */
    double seconds;        /* until the deadline; 0: none. Ends the search, decides nothing else */
    double cut_off;        /* only solutions below it; 0: any. Costs must allow no negative sum */
    const double *start;   /* a solution to begin with, by column; may be NULL */
    bool (*stop)(void *ctx); /* asked often, on the calling thread; may be NULL */
    void *stop_ctx;
} clv_ilp_limits;

typedef enum {
    CLV_ILP_OPTIMAL,    /* values are the best there are */
    CLV_ILP_FEASIBLE,   /* a limit or stop came first */
    CLV_ILP_INFEASIBLE, /* no solution, or none below the cut-off */
    CLV_ILP_LIMIT,      /* a limit or stop came before the first solution */
    CLV_ILP_FAILED      /* the solver gave up, or there is none */
} clv_ilp_end;

typedef struct {
    clv_ilp_end end;
    double *values; /* by column, from the arena; NULL without a solution */
    double objective;
    double bound; /* -INFINITY where nothing is known */
    int64_t nodes, pivots;
} clv_ilp_result;

/* A lower bound of the program from one multiplier for each row, whatever they are: by weak duality
 * of linear programs, less all that rounding can have added (safe dual bounds: Neumaier and
 * Shcherbina 2004). -INFINITY without memory, or where an unbounded column allows none. O(terms).
 */
double clv_ilp_dual_bound(const clv_ilp *ilp, const double *multiplier, clv_arena *arena);

/* The terms of each column, in the order of rows: first[j] .. first[j + 1]. */
typedef struct {
    int32_t *first, *row;
    double *value;
} clv_ilp_by_column;

/* From the arena; false without memory. O(terms). */
bool clv_ilp_transpose(const clv_ilp *ilp, clv_arena *arena, clv_ilp_by_column *ret);

#endif
