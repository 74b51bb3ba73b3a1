/* presolve_matrices.h - the matrices of all rounds of presolve (presolve.h), equal ones kept once.
 * Which are equal is found by hashing, as in hash consing (Ershov 1958).
 *
 * A matrix keeps its number and its place from round to round: a round copies only what it changes,
 * and what was once found out about a matrix stays known. Numbers follow from the order in which
 * matrices are put, never from where they hash to.
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_MATRICES_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_MATRICES_H

#include "problem/intra_op_problem.h"

typedef struct {
    const int64_t *entry;
    int64_t n;
    uint64_t hash;
    int64_t largest; /* finite entry */
    int32_t rows;    /* choices of the first node of its edges */
    bool never;      /* some entry is never */
    bool settled;    /* the least of each row and column is 0: packing leaves it as it is */
    bool given;      /* of the problem as given: not ours, and not in the table */
    bool asked;      /* forces[] is known */
    bool forces[2];  /* each choice of the first (second) node has one partner, as clv_pre_forced */
} clv_pre_matrix;

typedef struct {
    clv_arena *arena;
    clv_pre_matrix *of;
    int32_t n, cap;
    int32_t *slot; /* open addressing: matrix or -1 */
    int32_t n_slots;
    int64_t n_entries; /* held in the arena */
} clv_pre_matrices;

/* The matrices of p, under the same numbers; their entries stay where they are. The arena is the
 * set's to free, and to change. */
clv_status clv_pre_matrices_new(clv_pre_matrices *set, const clv_intra_op_problem *p,
                                const clv_alloc *alloc, clv_error *err);
void clv_pre_matrices_free(clv_pre_matrices *set); /* zeroed is fine */

/* Number of the matrix with these entries. False: no memory. O(n) on average. */
bool clv_pre_matrices_intern(clv_pre_matrices *set, int64_t n, int32_t rows, const int64_t *entry,
                             int32_t *ret);

/* Forgets the matrices that none of the edges has, if they are most of the set: those that are left
 * get new numbers, in order. O(n + edges), and O(entries left) where anything is forgotten. */
clv_status clv_pre_matrices_tidy(clv_pre_matrices *set, int32_t n_edges, int32_t *matrix_of,
                                 clv_error *err);

/* Whether each choice of one end has a single partner that is not never; side 0: of the first. */
bool clv_pre_matrix_forces(clv_pre_matrices *set, int32_t m, int side);

#endif
