/* latency_greedy.h - first solutions for the latency objective: first fit in topological order.
 *
 * Each device is filled in turn, as list schedulers fill processors (Graham 1966, "Bounds for
 * certain multiprocessing anomalies"), by memory alone; one solution for each device that may be
 * the first. Only where nothing is known yet.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_GREEDY_H
#define CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_GREEDY_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/latency/latency_tables.h"

/* Classes in the order of their first nodes, each device filled in turn. */
clv_status clv_latency_greedy(clv_place_search *search, const clv_latency_tables *tables,
                              clv_arena *arena, clv_error *err);

#endif
