/* ideal_labels.h - what is done so far, in the exact search of the latency objective: order ideals
 * and their Pareto labels, as in multi-criteria label setting (Hansen 1980, "Bicriterion path
 * problems"; Martins 1984, "On a multicriteria shortest path problem").
 *
 * An ideal is a set of units with all that they read. Its front is its nodes that are read outside.
 * A label is one way to have done the ideal: when each node of the front ends, when the last of all
 * ended, and how many devices were used. Of two labels of an ideal, one that is nowhere better
 * goes.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_IDEAL_LABELS_H
#define CLV_SOLVER_PLACEMENT_LATENCY_IDEAL_LABELS_H

#include "solver/placement/latency/chain_division.h"

typedef struct {
    uint64_t hash;
    int32_t n_units;
    int32_t places;         /* of the chain that are done */
    int32_t next;           /* ideal with the same number of units, made before; -1 */
    int32_t front, n_front; /* into front_node and front_rest */
    int32_t label;          /* first; -1 */
} clv_ideal;

typedef struct {
    int32_t next;   /* of the same ideal; -1 */
    int32_t parent; /* label that the last step started from; -1 */
    int32_t ideal;
    int32_t times;            /* into times: by place in the front */
    int64_t end;              /* ticks: of what is done */
    int32_t pieces, segments; /* devices used that pay, that do not */
    int64_t held;             /* bytes on devices that pay */
    bool pays;                /* the last step was a piece */
    bool open;                /* the last device does not pay: more units may join */
    bool rides;               /* the last step cost no device */
} clv_ideal_label;

typedef struct {
    const clv_latency_units *units;
    clv_arena *arena;
    int32_t words;
    clv_ideal *ideals;
    uint64_t *sets; /* [ideal * words] */
    int32_t n_ideals, cap_ideals, cap_sets;
    int32_t *slots; /* hash table: ideal + 1, or 0; a power of two */
    int32_t n_slots;
    int32_t *by_size; /* by number of units: last ideal made; -1 */
    int32_t *front_node;
    int64_t *front_rest; /* by place in a front: ticks from its end to the end of all, at least */
    int32_t n_front, cap_front, cap_rest;
    clv_ideal_label *labels;
    int32_t n_labels, cap_labels;
    int64_t *times;
    int32_t n_times, cap_times;
    uint64_t *key; /* by unit: random bits, the hash of a set is the sum of its units' */
} clv_ideal_labels;

/* A table with nothing in it. */
clv_status clv_ideal_labels_new(const clv_latency_units *units, clv_arena *arena,
                                clv_ideal_labels *ret, clv_error *err);

static inline uint64_t *clv_ideal_labels_set(const clv_ideal_labels *f, int32_t ideal)
{
    return f->sets + (size_t)ideal * (size_t)f->words;
}

/* The ideal with this set, if there is one; else -1. */
int32_t clv_ideal_labels_find(const clv_ideal_labels *f, const uint64_t *set, uint64_t hash);

/* What makes an ideal. */
typedef struct {
    const uint64_t *bits; /* by unit */
    uint64_t hash;
    int32_t n_units;
    int32_t places; /* of the chain that are done */
} clv_ideal_set;

/* A new ideal without front and labels; the set is copied. */
clv_status clv_ideal_labels_add(clv_ideal_labels *f, const clv_ideal_set *set, int32_t *ret,
                                clv_error *err);

/* Adds one node to the front of the ideal made last. */
clv_status clv_ideal_labels_add_node(clv_ideal_labels *f, int32_t node, int64_t rest,
                                     clv_error *err);

/* Room for a label of an ideal, not yet one of its labels: fill it in, then keep it. */
clv_status clv_ideal_labels_draft(clv_ideal_labels *f, int32_t ideal, int32_t *ret, clv_error *err);

/* Keeps the draft made last if no label is as good everywhere, and drops those that it beats; with
 * counts, the numbers of devices count too. O(labels * front). */
bool clv_ideal_labels_keep(clv_ideal_labels *f, int32_t draft, bool counts);

#endif
