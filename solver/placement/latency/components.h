/* components.h - the parts of a placement that have nothing to do with each other: its weakly
 * connected components, by union-find (Tarjan 1975).
 *
 * Two nodes are in one part if edges or classes lead from one to the other, whatever their
 * direction. Parts that are equal, node for node in the order of their numbers, are a group: what
 * is found for one of them holds for all.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_COMPONENTS_H
#define CLV_SOLVER_PLACEMENT_LATENCY_COMPONENTS_H

#include "solver/placement/latency/latency_tables.h"

typedef struct {
    int32_t n;            /* parts */
    clv_csr nodes;        /* by part: nodes in the order of their numbers */
    int32_t n_groups;     /* those of many nodes first */
    clv_csr copies;       /* by group: parts, at least one */
    clv_place_problem *p; /* by group: its first part as a problem of its own, with all devices */
} clv_components;

/* O(nodes * kinds + edges + parts * log parts). With one part there are no groups. */
clv_status clv_components_new(const clv_place_problem *p, clv_arena *arena, clv_components *ret,
                              clv_error *err);

#endif
