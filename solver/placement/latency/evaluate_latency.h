/* evaluate_latency.h - the latency of a whole assignment, for searches that try many: the longest
 * path (Kelley, Walker 1959, "Critical-path planning and scheduling") through the quotient graph of
 * pieces, in topological order (Kahn 1962).
 *
 * Ours is how pieces are found: by levels, a row of small numbers a node. The same as
 * clv_place_judge() but for rounding, and made to be asked a hundred thousand times a second: it
 * takes nothing from an arena and sorts nothing.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_EVALUATE_LATENCY_H
#define CLV_SOLVER_PLACEMENT_LATENCY_EVALUATE_LATENCY_H

#include "solver/placement/latency/latency_tables.h"

/* When the last node ends, and the work behind it. */
typedef struct {
    double latency; /* INFINITY: pieces wait for each other */
    double work;    /* of all pieces with what they pay, and all other nodes: breaks ties */
} clv_latency_time;

typedef struct clv_latency_evaluator clv_latency_evaluator;

/* Lives in the arena, with the tables. CLV_ENOMEM. */
clv_status clv_latency_evaluator_new(const clv_latency_tables *tables, clv_arena *arena,
                                     clv_latency_evaluator **ret, clv_error *err);

/* device_of_class: a device for every class. O(nodes + edges * paying devices / 8). */
clv_latency_time clv_latency_evaluate(clv_latency_evaluator *evaluator,
                                      const int32_t *device_of_class);

/* Can the devices stand in a line, as contiguous rules want? O(classes' edges + devices^2 / 64). */
bool clv_latency_devices_acyclic(clv_latency_evaluator *evaluator, const int32_t *device_of_class);

#endif
