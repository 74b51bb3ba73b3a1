/* latency_units.h - a placement as the bounds of the latency objective see it: data reduction by
 * contraction, to strongly connected components (Tarjan 1972) or by two rules of ours, and nets of
 * a hypergraph (Catalyurek, Aykanat 1999) for what is sent. It wins by the size of what is left:
 * the searches behind it are exponential in units.
 *
 * A unit is a set of nodes of one class that no best solution tears apart: on a paying device it is
 * in one piece. Contiguous rules without backward nodes: classes that lead to each other in a
 * circle, as a device is one piece there. Else a unit joins
 *   - what reads nothing but nodes of the unit: it has their level;
 *   - what reads nothing, takes no time on devices that pay, and is read by the unit alone: in any
 *     other piece of the device it would be sent, and received again, for nothing.
 * The second kind is not what the judge's levels say, but what the best division into pieces would
 * do, so bounds stay bounds.
 *
 * Times are whole ticks, rounded down: sums are exact, and a bound in ticks is a bound. Where kinds
 * differ, a unit takes the best of each: the least time, the largest capacity.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_UNITS_H
#define CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_UNITS_H

#include "solver/placement/latency/latency_tables.h"

typedef struct {
    const clv_latency_tables *tables;
    double tick; /* in the problem's unit: a power of two */
    bool whole;  /* contiguous, no backward nodes: what a paying device has is one piece */
    int32_t n, n_nets;
    int32_t *unit_of;     /* by node; units are numbered so that edges go up */
    clv_csr in, out;      /* by unit */
    int64_t *bytes;       /* by unit */
    int64_t *paying_time; /* by unit: ticks; CLV_UNIT_NEVER: not on a paying device */
    int64_t *node_pays;   /* by node: ticks on the best kind that pays, or CLV_UNIT_NEVER */
    int64_t *node_free;   /* by node: ticks on the best kind that does not pay, or ... */
    int64_t capacity;     /* of the largest paying device; CLV_PLACE_UNLIMITED */
    clv_csr pins;         /* by net: units, at least two */
    int64_t *net_cost;    /* by net: ticks, above 0 */
    uint64_t *above;      /* [unit * words]: units that lead to it, as a row of bits */
    int32_t words;
} clv_latency_units;

#define CLV_UNIT_NEVER INT64_C(-1)

/* O(nodes * edges / 64) at worst. */
clv_status clv_latency_units_new(const clv_latency_tables *tables, clv_arena *arena,
                                 clv_latency_units **ret, clv_error *err);

/* Bytes that all paying devices hold, where not all units could be on them; else
 * CLV_PLACE_UNLIMITED. */
int64_t clv_latency_most_held(const clv_latency_units *units);

/* A time in ticks, rounded down; more than any sum where it is larger than all times together. */
int64_t clv_latency_ticks(const clv_latency_units *units, double time);

#endif
