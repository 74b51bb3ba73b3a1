/* runs_walk.h - what the parts of runs.c share.
 *
 * Nodes are the start of all, the units through which all paths lead, and the end of all; stretch i
 * leads from node i - 1 to node i. A run holds some nodes in a row and all between them. A cell is
 * a number of used devices of each class.
 */
#ifndef CLV_SOLVER_PARTITION_RUNS_WALK_H
#define CLV_SOLVER_PARTITION_RUNS_WALK_H

#include "solver/partition/classes.h"
#include "solver/partition/runs.h"

/* Of so many units between two nodes each kind is tried; with more, each may have any. */
#define CLV_RUNS_TRIED 3

typedef struct {
    int32_t kind, n, stride;
    int64_t capacity; /* less what is reserved */
    double *whole;    /* n_nodes: all stretches up to the node, on one device */
    int32_t *far; /* n_nodes: the last node that a run from here has room for; less: not even it */
} clv_runs_class;

typedef struct {
    double latency_ns, byte_ns;
    bool is_one; /* each way has one link that is no faster in either */
} clv_runs_link;

/* Is a no faster than b in either number? */
static inline bool clv_runs_no_faster(clv_runs_link a, clv_runs_link b)
{
    return a.latency_ns >= b.latency_ns && a.byte_ns >= b.byte_ns;
}

/* The worse of each number. */
static inline clv_runs_link clv_runs_slower(clv_runs_link a, clv_runs_link b)
{
    return (clv_runs_link){ a.latency_ns > b.latency_ns ? a.latency_ns : b.latency_ns,
                            a.byte_ns > b.byte_ns ? a.byte_ns : b.byte_ns,
                            (a.is_one && clv_runs_no_faster(a, b)) ||
                                (b.is_one && clv_runs_no_faster(b, a)) };
}

/* A way to part a stretch. */
typedef struct {
    int32_t own[CLV_CLASSES_MAX]; /* devices that have only units between the nodes */
    int32_t cells;                /* the same, as a distance of cells */
    double *stay_ns;              /* [clv_runs_way()]: until the stretch ends */
    double *leave_ns;             /* the same, if a part of the cluster is left */
    double *ns;                   /* the lesser, the toll given back where a part is left */
    int8_t *kinds;                /* [clv_runs_way() * CLV_RUNS_TRIED + unit between]; -1: any */
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
    int32_t n_slots, kind_at[CLV_CLASSES_MAX];
    const double *whole_of[CLV_CLASSES_MAX]; /* by slot: whole of a class of the kind */
    clv_runs_link *pair;  /* [slot * n_slots + slot]: what is sent between them is no faster */
    clv_runs_link across; /* nor what is sent from part to part of the cluster */
    bool has_parts;
    bool is_pure;                       /* no part has devices of two kinds */
    int32_t part_size[CLV_CLASSES_MAX]; /* by slot: devices of the largest part; of that kind, where
                                           parts are pure */
    double toll_ns; /* so much costs each visit to a part, shared by as many runs as it has devices;
                       and is given back where a run comes from another part */
    double *begun; /* [(cell * n_slots + slot) * n_nodes + node]: when the node ends at the earliest
                      as the first of a run on the slot's kind, the cell's devices before it */
    double *ended; /* [(slot * 2 + longer) * n_nodes + node]: of one cell, when the node ends as the
                      last of a run on the kind; longer: the node before is of the run as well */
    double *all;   /* by cell: when all ends, its last node of the last run */
    double *key;   /* n_nodes: scratch of one run */
    int32_t *window;
    int32_t n_others; /* units outside the trunk */
    bool use_all;
    int64_t reserve_bytes; /* as in clv_bound_options */
    int32_t *low, *high;   /* n_devices + 1: nodes that can end a run with so many devices used */
} clv_runs_walk;

/* Classes of devices, and far and whole of each. False in *ret_few: too many. CLV_ENOMEM.
 * O(nodes * classes), and the units' (stretches.h). */
clv_status clv_runs_classes(clv_runs_walk *w, bool *ret_few, clv_error *err);

/* pair, across, and what parts there are. CLV_ENOMEM. O(devices^2). */
clv_status clv_runs_links(clv_runs_walk *w, clv_error *err);

/* Ways to part each stretch. CLV_ENOMEM. */
clv_status clv_runs_partings(clv_runs_walk *w, clv_error *err);

/* Tolls that may prove most, ascending: what is proven is concave in the toll. At least one, and no
 * more than can be told apart by so many walks. CLV_ENOMEM. O(partings * log partings). */
clv_status clv_runs_tolls(clv_runs_walk *w, int32_t most_walks, const double **tolls,
                          int32_t *n_tolls, clv_error *err);

/* Sets the toll, and ns of the partings by it. O(partings). */
void clv_runs_set_toll(clv_runs_walk *w, double toll_ns);

/* Units of stretch i that are between its nodes. */
static inline int32_t clv_runs_between(const clv_runs_walk *w, int32_t i)
{
    return w->place[i] - w->place[i - 1] - 1;
}

/* The kind of the run before a stretch, is the node before its last of the run, and the kind of the
 * next run. */
static inline int32_t clv_runs_way(const clv_runs_walk *w, int32_t slot, int32_t longer,
                                   int32_t next_slot)
{
    return (slot * 2 + longer) * w->n_slots + next_slot;
}

/* When node s ends as the first of a run of class c, which is one of the cell's devices, less what
 * whole stretches before it take. */
static inline double clv_runs_begin(const clv_runs_walk *w, int32_t cell, int32_t c, int32_t s)
{
    const clv_runs_class *it = &w->classes[c];
    int32_t before = cell - it->stride, slot = w->slot_of[it->kind];
    double share = w->toll_ns / w->part_size[slot];
    if (s == 0)
        return before == 0 ? share - w->toll_ns : INFINITY;
    return w->begun[((ptrdiff_t)before * w->n_slots + slot) * w->n_nodes + s] - it->whole[s] +
           share;
}

/* Are there so many devices of their own? digits: of the cell, by class. */
static inline bool clv_runs_has(const clv_runs_walk *w, const clv_runs_parting *it,
                                const int32_t *digits)
{
    bool enough = true;
    for (int32_t c = 0; c < w->n_classes; c++)
        enough = enough && it->own[c] <= digits[c];
    return enough;
}

static inline void clv_runs_digits(const clv_runs_walk *w, int32_t cell, int32_t *digits)
{
    for (int32_t i = 0; i < w->n_classes; i++)
        digits[i] = cell / w->classes[i].stride % (w->classes[i].n + 1);
}

/* Where a walk ended: the last node of the last run, or, if what is behind it is parted, the end of
 * all as if it began a run of the slot; -1: it is not. */
typedef struct {
    int32_t cell, slot;
} clv_runs_end;

/* order and device_of as in runs.h. *ret: there is a plan. CLV_ENOMEM. O(runs * nodes * classes).
 */
clv_status clv_runs_plan(const clv_runs_walk *w, const clv_runs_end *end, int32_t *order,
                         int32_t *device_of, bool *ret, clv_error *err);

#endif
