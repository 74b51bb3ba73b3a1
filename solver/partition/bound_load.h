/* bound_load.h - lower bounds of makespan scheduling: units are jobs, devices unrelated machines
 * (Horowitz, Sahni 1976, JACM 23), order, transfers and memory are relaxed. A period and a latency
 * cannot be less.
 */
#ifndef CLV_SOLVER_PARTITION_BOUND_LOAD_H
#define CLV_SOLVER_PARTITION_BOUND_LOAD_H

#include "problem/partition_problem.h"

/* All work shared evenly. With unequal devices this is the Lagrangian dual of R||Cmax, as in
 * Martello, Soumis and Toth (1997, "Exact and approximation algorithms for makespan minimization on
 * unrelated parallel machines"): a price for the time of each kind of device, raised by coordinate
 * ascent. Any prices give a bound. CLV_ENOMEM. O(units * kinds^2 * 40). Tight where units are
 * small. */
clv_status clv_bound_work(const clv_partition_problem *p, clv_arena *arena, int64_t *ret_ns,
                          clv_error *err);

/* The pigeonhole bound of scheduling on identical machines: of the longest k * devices + 1 units
 * some k + 1 are on one device, which takes no less than the last ones of those. Each unit counts
 * where it is fastest. CLV_ENOMEM. O(units * (kinds + log units)). Tight where units are few, large
 * and independent. */
clv_status clv_bound_sharing(const clv_partition_problem *p, clv_arena *arena, int64_t *ret_ns,
                             clv_error *err);

#endif
