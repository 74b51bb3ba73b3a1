/* segment_dp_state.h - the table of segment_dp.h and what its parts share.
 *
 * Nodes are the start of all, the cut vertices, and the end of all; segment i leads from node i - 1
 * to node i. A run holds some nodes in a row and all between them. A cell is a number of used
 * devices of each class, in a mixed radix; a slot is a kind that devices have.
 */
#ifndef CLV_SOLVER_PARTITION_SEGMENT_DP_STATE_H
#define CLV_SOLVER_PARTITION_SEGMENT_DP_STATE_H

#include <math.h>

#include "solver/partition/device_class.h"
#include "solver/partition/segments.h"

/* Of so many units between two nodes each kind is tried; with more, each may have any. */
#define CLV_SPLIT_UNITS_MAX 3

typedef struct {
    int32_t kind, n, stride;
    int64_t capacity_bytes; /* less what is reserved */
    double *whole_ns;       /* n_nodes: all segments up to the node, on one device */
    int32_t *reach; /* n_nodes: the last node that a run from here has room for; s - 1: none */
} clv_run_class;

/* A way to split a segment. */
typedef struct {
    int32_t own[CLV_CLASSES_MAX]; /* devices that have only units between the nodes */
    int32_t cells;                /* the same, as a distance of cells */
    double *stay_ns;              /* [clv_split_way()]: until the segment ends */
    double *leave_ns;             /* the same, if a part of the cluster is left */
    double *ns;                   /* the lesser, the multiplier given back where a part is left */
    int8_t *kinds; /* [clv_split_way() * CLV_SPLIT_UNITS_MAX + unit between]; -1: any */
} clv_segment_split;

typedef struct {
    clv_segments *b;
    clv_arena *arena;
    clv_run_class classes[CLV_CLASSES_MAX];
    int32_t n_classes, n_cells;
    int32_t n_nodes;
    int32_t *place;            /* n_nodes: in the backbone; -1 and n: start and end */
    clv_segment_split *splits; /* of all segments */
    int32_t n_splits, cap_splits;
    int32_t *first_split; /* n_nodes + 1: of segment i */
    bool *is_open;        /* n_nodes: segment i may use any number of devices */
    bool any_open;
    int32_t *slot_of; /* n_kinds: 0 .. n_slots - 1 */
    int32_t n_slots, kind_at[CLV_CLASSES_MAX];
    const double *whole_of[CLV_CLASSES_MAX]; /* by slot: whole_ns of a class of the kind */
    clv_link_speed *pair;  /* [slot * n_slots + slot]: what is sent between them is no faster */
    clv_link_speed across; /* nor what is sent from part to part of the cluster */
    bool has_parts;
    bool is_pure;                       /* no part has devices of two kinds */
    int32_t part_size[CLV_CLASSES_MAX]; /* by slot: devices of the largest part; of that kind, where
                                           parts are pure */
    double multiplier_ns; /* of a visit to a part: each run costs its share, and a transfer from
                             another part is that much cheaper (visit_multiplier.h) */
    double *begun_ns;     /* [(cell * n_slots + slot) * n_nodes + node]: when the node ends at the
                             earliest as the first of a run on the slot's kind, the cell's devices
                             before it */
    double *ended_ns; /* [(slot * 2 + longer) * n_nodes + node]: of one cell, when the node ends as
                         the last of a run on the kind; longer: the node before is of the run as
                         well */
    double *all_ns;   /* by cell: when all ends, its last node of the last run */
    double *key_ns;   /* n_nodes: scratch of one run */
    int32_t *window;
    int32_t n_others; /* units outside the backbone */
    bool use_all;
    int64_t reserve_bytes; /* as in clv_bound_options */
    int32_t *low, *high;   /* n_devices + 1: nodes that can end a run with so many devices used */
} clv_segment_dp_state;

/* The last state of the best solution. slot -1: the last run holds the last node; else what is
 * behind that run is split, and the end of all counts as the begin of a run on the slot's kind. */
typedef struct {
    int32_t cell, slot;
} clv_segment_dp_end;

/* Units of segment i that are between its nodes. */
static inline int32_t clv_segment_n_inner(const clv_segment_dp_state *dp, int32_t i)
{
    return dp->place[i] - dp->place[i - 1] - 1;
}

/* The kind of the run before a segment, is the node before its last of the run, and the kind of the
 * next run. */
static inline int32_t clv_split_way(const clv_segment_dp_state *dp, int32_t slot, int32_t longer,
                                    int32_t next_slot)
{
    return (slot * 2 + longer) * dp->n_slots + next_slot;
}

/* When node s ends as the first of a run of class c, which is one of the cell's devices, less what
 * whole segments before it take. */
static inline double clv_run_begin_ns(const clv_segment_dp_state *dp, int32_t cell, int32_t c,
                                      int32_t s)
{
    const clv_run_class *it = &dp->classes[c];
    int32_t before = cell - it->stride, slot = dp->slot_of[it->kind];
    double share_ns = dp->multiplier_ns / dp->part_size[slot];
    if (s == 0)
        return before == 0 ? share_ns - dp->multiplier_ns : INFINITY;
    return dp->begun_ns[((ptrdiff_t)before * dp->n_slots + slot) * dp->n_nodes + s] -
           it->whole_ns[s] + share_ns;
}

/* Are there so many devices of their own? counts: of the cell, by class. */
static inline bool clv_split_has_devices(const clv_segment_dp_state *dp,
                                         const clv_segment_split *it, const int32_t *counts)
{
    bool enough = true;
    for (int32_t c = 0; c < dp->n_classes; c++)
        enough = enough && it->own[c] <= counts[c];
    return enough;
}

/* How many devices of each class a cell has. */
static inline void clv_cell_counts(const clv_segment_dp_state *dp, int32_t cell, int32_t *counts)
{
    for (int32_t i = 0; i < dp->n_classes; i++)
        counts[i] = cell / dp->classes[i].stride % (dp->classes[i].n + 1);
}

#endif
