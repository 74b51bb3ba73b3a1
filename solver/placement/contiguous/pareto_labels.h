/* pareto_labels.h - label setting with dominance: sets of blocks that a search has reached, and the
 * ways to reach each.
 *
 * Label setting for a shortest path with several criteria (Martins 1984, "On a multicriteria
 * shortest path problem", European Journal of Operational Research).
 *
 * A state is a set of blocks, found by its bits. A label says how it can be made: how many devices
 * of each kind hold it, and the largest load of one. Only labels that none other beats in all of
 * these are kept. States are listed by size, so that a search can meet them smallest first.
 */
#ifndef CLV_SOLVER_PLACEMENT_CONTIGUOUS_PARETO_LABELS_H
#define CLV_SOLVER_PLACEMENT_CONTIGUOUS_PARETO_LABELS_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct {
    int32_t next;        /* of the same state; -1 */
    int32_t from;        /* label before; -1 */
    int32_t state, last; /* the last device is of kind last */
    int64_t load;        /* largest of a device */
} clv_pareto_label;

typedef struct {
    uint64_t hash;
    int32_t next;  /* of the same size; -1 */
    int32_t first; /* label; -1 */
    int32_t size;  /* blocks in it */
    int64_t rest;  /* value of all that is not in it */
} clv_pareto_state;

typedef struct {
    clv_arena *arena;
    int32_t n_blocks, n_kinds;
    size_t words; /* of a row */
    clv_pareto_state *states;
    uint64_t *rows; /* [state * words] */
    clv_pareto_label *labels;
    int32_t *counts;  /* [label * n_kinds + kind] */
    int32_t *slot;    /* open addressing: state plus 1 */
    int32_t *of_size; /* n_blocks + 1: first state of each size; -1 */
    size_t n_slots;
    int32_t n_states, cap_states, n_labels, cap_labels;
} clv_pareto_labels;

clv_status clv_pareto_labels_new(int32_t n_blocks, int32_t n_kinds, clv_arena *arena,
                                 clv_pareto_labels *ret, clv_error *err);

/* The state of this row, made if need be with the hash, size and rest of key; hash: any that
 * depends on the row alone. O(words). */
clv_status clv_pareto_labels_find_state(clv_pareto_labels *l, const clv_pareto_state *key,
                                        const uint64_t *row, int32_t *ret, clv_error *err);

/* Adds a label to a state unless it is beaten: that of `from` with one more device of a kind; from
 * -1: no devices. Takes out those that it beats. O(labels of the state * kinds). */
clv_status clv_pareto_labels_add(clv_pareto_labels *l, int32_t state, int32_t from, int32_t kind,
                                 int64_t load, clv_error *err);

static inline const uint64_t *clv_pareto_labels_row(const clv_pareto_labels *l, int32_t state)
{
    return l->rows + (size_t)state * l->words;
}

static inline const int32_t *clv_pareto_labels_counts(const clv_pareto_labels *l, int32_t label)
{
    return l->counts + (size_t)label * (size_t)l->n_kinds;
}

#endif
