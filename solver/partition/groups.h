/* groups.h - an assignment that can change: one unit moves, and every sum follows. The partition
 * state of a hypergraph partitioner, with pin counts as Fiduccia and Mattheyses (1982) keep them.
 *
 * Kept for each device: units, bytes, FLOPs, time; for each pair of devices: what crosses. For each
 * net its readers are counted on each device that it meets: when a count goes from 0 to 1 the net
 * starts to cross (or to stay inside), when it goes from 1 to 0 it stops; all other sums hang on
 * these two events. A unit is starting when it reads nothing from its own group, ending when
 * nothing in its group reads it; both are kept as lists, so that what can move is found without a
 * look through all units.
 *
 * Memory O(units + pins + devices^2 + ports). The caller has checked that no sum overflows
 * (clv_partition_solve).
 */
#ifndef CLV_SOLVER_PARTITION_GROUPS_H
#define CLV_SOLVER_PARTITION_GROUPS_H

#include "problem/rules.h"
#include "problem/sums.h"

typedef enum { CLV_STARTING, CLV_ENDING } clv_edge_kind; /* where in its group a unit stands */

typedef struct {
    int32_t *next, *prev; /* by unit; prev is NOT_LISTED when in no list */
    int32_t *head;        /* by device; -1: none */
} clv_unit_lists;

typedef struct {
    int32_t device, readers;
} clv_pin;

typedef struct {
    const clv_partition_problem *p;
    int32_t *device_of;
    int32_t n_used; /* devices with units */
    int32_t *n_units;
    int64_t *weight_bytes, *flops, *time_ns; /* by device */
    int32_t *link_nets;                      /* [from * n_devices + to] */
    int64_t *link_ns;                        /* time that each link is used */
    int64_t *port_ns;   /* the same of each port; where a link is its port, link_ns itself */
    int64_t wire_ns;    /* sum over links */
    uint64_t *out, *in; /* quotient graph as rows of bits, both ways */
    size_t words;
    clv_unit_lists edge[2]; /* by clv_edge_kind */
    int32_t *pin_first;     /* by net, into pins; room for each device it meets */
    int32_t *n_pins;
    clv_pin *pins;
    int32_t *inner_reads, *inner_sends; /* by unit: nets from, and nets to, its own group */
    uint64_t *visited, *sources;        /* scratch: rows of bits */
    int32_t *queue;                     /* scratch: n_devices */
    clv_rule_counts counts;             /* where p has rules */
} clv_groups;

/* No assignment is loaded yet. p must outlive it. CLV_ENOMEM. O(units + pins + devices^2 + ports).
 */
/* No assignment is loaded yet. p must outlive it. CLV_ENOMEM. O(units + pins + devices^2 + ports).
 */
clv_status clv_groups_new(const clv_partition_problem *p, clv_arena *arena, clv_groups **ret,
                          clv_error *err);

/* Becomes this assignment. O(units + pins + devices^2). */
void clv_groups_load(clv_groups *g, const int32_t *device_of);

/* Moves one unit; moving it back undoes it. O(pins of the unit's nets). */
void clv_groups_move(clv_groups *g, int32_t unit, int32_t to);

/* The same with all units that the rules want on one device with it: its supernode. */
void clv_groups_shift(clv_groups *g, int32_t unit, int32_t to);

/* After a unit was shifted in an assignment that meets the rules, and is legal still: does it meet
 * them? O(units shifted and their tags + devices^2). */
bool clv_groups_meet_rules_at(clv_groups *g, int32_t unit);

/* How many units a shift of this one moves. */
static inline int32_t clv_groups_n_shifted(const clv_groups *g, int32_t unit)
{
    const clv_rules *r = g->p->rules;
    int32_t group = r && r->group_of ? r->group_of[unit] : -1;
    return group < 0 ? 1 : r->group_first[group + 1] - r->group_first[group];
}

/* The first of them. */
int32_t clv_groups_first_shifted(const clv_groups *g, int32_t unit);

/* Breadth-first search: fills row with all that d leads to (rows = g->out) or comes from (g->in),
 * itself only if there is a cycle. O(devices^2 / 64). */
void clv_groups_reach(clv_groups *g, const uint64_t *rows, int32_t d, uint64_t *row);

/* After a unit moved to d in a legal assignment: is it legal still? Only d has new edges, so a
 * cycle goes through it. O(devices^2 / 64). */
bool clv_groups_is_legal_at(clv_groups *g, int32_t d);

/* Fills barred with the devices that a unit cannot move to alone, in a legal assignment: those from
 * which something leads to what it reads, or to which something leads from what it is read by, but
 * for itself; all others where its own group does both. Groups end as they were. O(pins of the
 * unit's nets + devices^2 / 64). */
void clv_groups_barred(clv_groups *g, int32_t unit, uint64_t *barred);

/* Busiest device or port. O(devices + ports). */
int64_t clv_groups_period_ns(const clv_groups *g);
/* The device from which most of the busiest port's time comes. O(devices^2 * hops of a route). */
int32_t clv_groups_busiest_sender(const clv_groups *g);
/* All work and all transfers one after the other: what a chain of units takes. O(devices). */
int64_t clv_groups_serial_ns(const clv_groups *g);

#endif
