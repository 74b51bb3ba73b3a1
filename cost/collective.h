/* collective.h - how long the devices of a mesh need to put together, reduce or exchange tensors.
 *
 * Devices that differ only in some axes form a group, and all groups do the same at once, sharing
 * ports. An algorithm is a number of rounds, each some transfers of equal size; a round takes the
 * longest latency of its routes, and the time in which the busiest port is through with its bytes.
 * So an algorithm's time is a line over the bytes, and a collective's the lowest of a few lines.
 * Nothing but the cluster's routes is looked at. docs/communication.md has the formulas.
 */
#ifndef CLV_COST_COLLECTIVE_H
#define CLV_COST_COLLECTIVE_H

#include "sharding/mesh.h"

typedef enum {
    CLV_ALL_GATHER,     /* bytes: of the whole that each has in the end */
    CLV_REDUCE_SCATTER, /* bytes: of the whole that each has at first */
    CLV_ALL_REDUCE,     /* bytes: of what each has */
    CLV_ALL_TO_ALL,     /* bytes: of what each has, one n-th for each device */
    CLV_BROADCAST,      /* bytes: of what the first of a group has */
    CLV_N_COLLECTIVES
} clv_collective;

typedef enum {
    CLV_BY_RING,
    CLV_BY_HALVING,  /* distances halved (doubled) from round to round; also for odd numbers */
    CLV_BY_TREE,     /* whole tensors, in as few rounds as can be */
    CLV_BY_DIRECT,   /* each to each, and each device by itself in a permutation */
    CLV_BY_HIERARCHY /* inside groups of neighbours, and across them */
} clv_algorithm;

const char *clv_algorithm_name(clv_algorithm by); /* "ring", "halving", ... */

typedef struct {
    int64_t latency_ns;
    double ns_per_byte;
    clv_algorithm by;
    int32_t inner; /* CLV_BY_HIERARCHY: so many neighbours are inside; else 0 */
} clv_line;

/* The time is the lowest line's; none: nothing is ever sent. */
#define CLV_LINES_MAX 8
typedef struct {
    int32_t n;
    clv_line at[CLV_LINES_MAX];
} clv_curve;

/* The most that any time here is, so that sums of a few do not overflow. */
#define CLV_COMM_NS_MAX (INT64_MAX / 4)

/* Rounded up; 0 for 0 bytes, at most CLV_COMM_NS_MAX. Never less for more bytes. O(lines). */
int64_t clv_curve_ns(const clv_curve *curve, int64_t bytes);
/* The line that is lowest there; NULL when there is none. */
const clv_line *clv_curve_line(const clv_curve *curve, int64_t bytes);

typedef struct {
    /* The share [0, 1] of the bytes' time that computation hides. Assumes that each collective has
     * independent computation beside it that lasts as long, and that neither slows the other;
     * latencies are never hidden. 0: a collective and computation take turns. */
    double overlap;
} clv_comm_options;

#define CLV_ORDERS 6 /* of three axes */

/* All that a mesh's communication costs, as curves; read-only once built. */
typedef struct {
    const clv_mesh *mesh;
    clv_curve curve[CLV_MESH_MASKS][CLV_N_COLLECTIVES]; /* by set of axes */
    /* Each device sends what it has, counted in one order of the axes, to the device with that
     * count in another (clv_mesh_count_of()); by clv_order_index(). */
    clv_curve permute[CLV_ORDERS][CLV_ORDERS];
} clv_comms;

int32_t clv_order_index(const int32_t order[static CLV_MESH_AXES_MAX]);

/* options NULL: no overlap. CLV_EUSAGE: an overlap beyond [0, 1]. O(sets of axes * divisors^2 *
 * devices * rounds): 1 ms for 64 devices. */
clv_status clv_comms_make(const clv_cluster *cluster, const clv_mesh *mesh,
                          const clv_comm_options *options, clv_arena *arena, const clv_comms **ret,
                          clv_error *err);

#endif
