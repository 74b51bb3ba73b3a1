/* chain_bounds.h - bounds for the latency objective: heavy paths, each divided in the best way.
 *
 * A path is a chain whose nodes run one after the other, so the least time of any division of it
 * into pieces (chain_division.h) is below every solution. The longest path by itself is the
 * critical path bound (Kelley, Walker 1959, "Critical-path planning and scheduling"). Where memory
 * is scarce, bytes on paying devices get a price: Lagrangian relaxation (Geoffrion 1974,
 * "Lagrangean relaxation for integer programming") of one constraint, whose multiplier is found
 * where the lines of a price too low and of one too high meet (Kelley 1960, "The cutting-plane
 * method for solving convex programs", in one dimension). Where the graph is itself one path, only
 * memory, kinds and numbers of devices are left out.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_CHAIN_BOUNDS_H
#define CLV_SOLVER_PLACEMENT_LATENCY_CHAIN_BOUNDS_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/latency/chain_division.h"

/* Raises the bound of the search; *ret, in the arena, is the chain with the best one, NULL if the
 * problem is too large for chains. CLV_ENOMEM. At most 30 chains (chain_division.h). */
clv_status clv_chain_bounds(clv_place_search *search, const clv_latency_tables *tables,
                            clv_arena *arena, clv_chain_division **ret, clv_error *err);

/* For every solution with some bytes on paying devices: latency >= cost - price * bytes. */
typedef struct {
    double cost, price; /* in the problem's unit, and for each byte */
} clv_memory_line;

#define CLV_MEMORY_LINES_MAX 96

typedef struct {
    int32_t n;
    clv_memory_line at[CLV_MEMORY_LINES_MAX];
} clv_memory_lines;

/* Adds the lines that say most about solutions with about room bytes on paying devices. The tables
 * may be of a part of the run's problem, with all devices: bounds that need no room are raised.
 * Some ten chains. */
clv_status clv_chain_memory_lines(clv_place_search *search, const clv_latency_tables *tables,
                                  int64_t room, clv_arena *arena, clv_memory_lines *lines,
                                  clv_error *err);

#endif
