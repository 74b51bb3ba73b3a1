/* place_problem.h - the device-placement problem as numbers, and the only judge of its solutions.
 *
 * Nodes of an acyclic graph are put on devices of a few kinds. It is the problem of "Efficient
 * Algorithms for Device Placement of DNN Graph Operators" (Tarnawski et al., NeurIPS 2020), whose
 * programs give the same number for the same solution. Knows no file and no model.
 *
 * Transfers. Every node u has one send cost: what one paying device pays when some edge of u has
 * exactly one end on it. So the sender pays once, however many receive, and every receiving device
 * pays once, however many of its nodes read u. Kinds that do not pay never do.
 *
 * Load of a device: the times of its nodes, and on a paying device the send costs of the nodes that
 * have an edge with one end there.
 *
 * Contiguous: the devices can be put in a line so that every edge between forward nodes stays or
 * goes on. Backward nodes go where their class is. A class without a forward node takes part as in
 * a mirror image: an edge x -> y between backward nodes, of which one is of such a class, counts as
 * a forward edge from y's class to x's.
 *
 * Latency: the nodes of a paying device run in pieces (a piece ends where a path leaves the device
 * and comes back). A piece starts when all it reads from outside is there, then pays what it
 * receives, runs its nodes one by one, pays what it sends; all its nodes end then. On other kinds
 * every node starts when what it reads is there; any number run at once.
 */
#ifndef CLV_PROBLEM_PLACE_PROBLEM_H
#define CLV_PROBLEM_PLACE_PROBLEM_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/int128.h"

typedef enum {
    CLV_PLACE_THROUGHPUT, /* the largest load of a device: time for each sample */
    CLV_PLACE_LATENCY,    /* when the last node ends */
    CLV_PLACE_DEVICES     /* how many devices have nodes */
} clv_place_objective;

typedef struct {
    const char *name;
    int32_t count;          /* identical devices; may be 0 */
    int64_t capacity_bytes; /* of each; CLV_PLACE_UNLIMITED */
    bool pays;              /* for transfers; runs in pieces */
} clv_place_kind;

#define CLV_PLACE_UNLIMITED (-1)

/* Devices are numbered kind by kind. Times and costs are finite, not negative, in the one unit of
 * the problem. */
typedef struct {
    int32_t n_nodes, n_edges, n_classes, n_kinds;
    const clv_place_kind *kinds;
    const int64_t *id;        /* n_nodes: as the problem's file names it */
    const double *time;       /* [kind * n_nodes + node]; CLV_PLACE_NEVER: not on this kind */
    const int64_t *bytes;     /* n_nodes */
    const double *send_cost;  /* n_nodes; 0 without edges */
    const bool *backward;     /* n_nodes */
    const int32_t *class_of;  /* n_nodes, 0 .. n_classes - 1: a class is never split */
    const int32_t *out_first; /* n_nodes + 1, into out */
    const int32_t *out;       /* no edge twice, none from a node to itself */
    const int32_t *order;     /* n_nodes: every node after what it reads */
} clv_place_problem;

#define CLV_PLACE_NEVER (-1.0)

typedef struct {
    clv_place_objective objective;
    bool contiguous;
    double max_load; /* CLV_PLACE_DEVICES: no load may be above; 0: any may */
} clv_place_rules;

typedef struct {
    bool legal;
    char why[160];    /* not legal: the first rule broken, in words */
    double objective; /* by the rules' objective */
    double max_load, latency;
    int32_t busiest, n_used; /* device with the largest load; devices with nodes */
} clv_place_value;

/* How many devices there are, of all kinds. */
int32_t clv_place_devices(const clv_place_problem *p);
/* Kind of each device into kind_of (clv_place_devices() long). */
void clv_place_kinds(const clv_place_problem *p, int32_t *kind_of);

/* All nodes' bytes. */
clv_int128 clv_place_bytes(const clv_place_problem *p);
/* The room of all devices; CLV_PLACE_UNLIMITED where one of them is. */
clv_int128 clv_place_room(const clv_place_problem *p);

/* Judges a solution: device_of[node], any numbers. latency is INFINITY where pieces wait for each
 * other, which is legal unless it is the objective. Sums are exact to the last bit of a double but
 * one. O(nodes + edges + devices^2), for solutions that are not contiguous O(devices * edges). */
clv_status clv_place_judge(const clv_place_problem *p, const clv_place_rules *rules,
                           const int32_t *device_of, clv_arena *arena, clv_place_value *ret,
                           clv_error *err);
/* The load of each device, as the judge sums it, of a solution whose devices are all allowed to its
 * nodes. loads: clv_place_devices() long. O(nodes + edges). */
clv_status clv_place_loads(const clv_place_problem *p, const int32_t *device_of, clv_arena *arena,
                           double *loads, clv_error *err);

#endif
