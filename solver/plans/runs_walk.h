/* runs_walk.h - what the parts of runs.c share.
 *
 * Nodes are the start of all, the units through which all paths lead, and the end of all; stretch i
 * leads from node i - 1 to node i. A run holds some nodes in a row and all between them. A cell is
 * a number of used devices of each class.
 */
#ifndef CLV_SOLVER_RUNS_WALK_H
#define CLV_SOLVER_RUNS_WALK_H

#include "solver/plans/classes.h"
#include "solver/plans/runs.h"

/* Of so many units between two nodes each kind is tried; with more, each may have any. */
#define CLV_RUNS_TRIED 3

typedef struct {
    int32_t kind, n, stride;
    int64_t capacity; /* less what is reserved */
    double *whole;    /* n_nodes: all stretches up to the node, on one device */
    /* [slot * n_nodes + node]: how much later the next node ends, on another device of the slot's
     * kind, as this one is on the class; [1]: and as the node before is on the same device. */
    double *wait[2];
    double *leave[2]; /* and if a part of the cluster is left between them: how much later still */
    int32_t *far; /* n_nodes: the last node that a run from here has room for; less: not even it */
} clv_runs_class;

typedef struct {
    double latency_ns, byte_ns;
} clv_runs_link;

/* The worse of each number. */
static inline clv_runs_link clv_runs_slower(clv_runs_link a, clv_runs_link b)
{
    return (clv_runs_link){ a.latency_ns > b.latency_ns ? a.latency_ns : b.latency_ns,
                            a.byte_ns > b.byte_ns ? a.byte_ns : b.byte_ns };
}

/* A way to part a stretch. */
typedef struct {
    int32_t own[CLV_CLASSES_MAX]; /* devices that have only units between the nodes */
    int32_t cells;                /* the same, as a distance of cells */
    double *ns;                   /* n_kinds: until the stretch ends on the kind */
    double *across_ns;            /* the same, if it leaves a part of the cluster */
    int8_t *kinds;                /* [kind * CLV_RUNS_TRIED + unit between]; -1: any */
} clv_runs_parting;

typedef struct {
    clv_stretches *b;
    clv_arena *arena;
    clv_runs_class classes[CLV_CLASSES_MAX];
    int32_t n_classes, n_cells;
    int32_t n_nodes;
    int32_t *place;             /* n_nodes: in the trunk; -1 and n: start and end */
    clv_runs_parting *partings; /* of all stretches */
    int32_t n_partings, cap_partings;
    int32_t *first_parting; /* n_nodes + 1: of stretch i */
    bool *is_open;          /* n_nodes: stretch i may use any number of devices */
    bool any_open;
    int32_t *slot_of; /* n_kinds: kinds that devices have, 0 .. n_slots - 1 */
    int32_t n_slots;
    clv_runs_link *pair;  /* [slot * n_slots + slot]: what is sent between them is no faster */
    clv_runs_link across; /* nor what is sent from part to part of the cluster */
    int32_t part_size;    /* devices of the largest part */
    double *known_ns; /* [slot * n_nodes + node]: until the next node ends, whatever is before */
    double toll_ns;   /* so much costs each visit to a part, shared by as many runs as it has
                         devices; and is given back where a part is left */
    double *ended;    /* [(cell * n_slots + slot) * n_nodes + node] */
    double *least;    /* the same, over all cells with no more of any class; NULL: not needed */
    double *key;      /* n_nodes: scratch of one run */
    int32_t *window;
    int32_t n_others; /* units outside the trunk */
    bool use_all;
    int64_t reserve_bytes; /* as in clv_bound_options */
    int32_t *low, *high;   /* n_devices + 1: nodes that can end a run with so many devices used */
} clv_runs_walk;

/* Classes of devices, and far and whole of each. False in *ret_few: too many. CLV_ENOMEM.
 * O(nodes * classes), and the units' (stretches.h). */
clv_status clv_runs_classes(clv_runs_walk *w, bool *ret_few, clv_error *err);

/* pair, across and part_size. CLV_ENOMEM. O(devices^2). */
clv_status clv_runs_links(clv_runs_walk *w, clv_error *err);

/* Ways to part each stretch, the waits of classes, and the toll. CLV_ENOMEM. */
clv_status clv_runs_partings(clv_runs_walk *w, clv_error *err);

/* Units of stretch i that are between its nodes. */
static inline int32_t clv_runs_between(const clv_runs_walk *w, int32_t i)
{
    return w->place[i] - w->place[i - 1] - 1;
}

/* When the first node of a run of class c ends, less what whole stretches before it take; digits:
 * of the cell, by class, the run's device among them. *how: the parting before it; may be NULL. */
double clv_runs_begin(const clv_runs_walk *w, int32_t cell, const int32_t *digits, int32_t c,
                      int32_t s, int32_t *how);

static inline void clv_runs_digits(const clv_runs_walk *w, int32_t cell, int32_t *digits)
{
    for (int32_t i = 0; i < w->n_classes; i++)
        digits[i] = cell / w->classes[i].stride % (w->classes[i].n + 1);
}

/* Where a walk ended: the last run's node, and how what is behind it was parted, or -1. */
typedef struct {
    int32_t cell, node, how;
} clv_runs_end;

/* order and device_of as in runs.h. *ret: there is a plan. CLV_ENOMEM. O(runs * nodes * classes).
 */
clv_status clv_runs_plan(const clv_runs_walk *w, const clv_runs_end *end, int32_t *order,
                         int32_t *device_of, bool *ret, clv_error *err);

#endif
