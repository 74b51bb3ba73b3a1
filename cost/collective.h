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

#include "cost/measured_lines.h"
#include "cost/rounds.h"
#include "sharding/mesh.h"

typedef struct {
    /* The share [0, 1] of the bytes' time that computation hides. Assumes that each collective has
     * independent computation beside it that lasts as long, and that neither slows the other;
     * latencies are never hidden. 0: a collective and computation take turns. */
    double overlap;
    /* Of the cluster. Where a library was measured on such devices and routes, as it does it; NULL:
     * by algorithms alone. */
    const clv_measured_groups *measured;
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

/* Number of a permutation of the axes, 0 to CLV_ORDERS - 1, in lexicographic order. */
int32_t clv_order_index(const int32_t order[static CLV_MESH_AXES_MAX]);

/* options NULL: no overlap. CLV_EUSAGE: an overlap beyond [0, 1]. O(sets of axes * divisors^2 *
 * devices * rounds): 1 ms for 64 devices. */
clv_status clv_comms_make(const clv_cluster *cluster, const clv_mesh *mesh,
                          const clv_comm_options *options, clv_arena *arena, const clv_comms **ret,
                          clv_error *err);

#endif
