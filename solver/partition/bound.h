/* bound.h - what no plan can be better than: proven, for every legal assignment to any of the
 * devices.
 *
 * Times are those of clv_partition_estimate(), so a bound holds for a judge whose times are never
 * below those. docs/search/partition.md, "Bounds".
 */
#ifndef CLV_SOLVER_PARTITION_BOUND_H
#define CLV_SOLVER_PARTITION_BOUND_H

#include "problem/partition_problem.h"

/* Sums of so many doubles are this exact; what is proven in doubles is told that much lower. */
#define CLV_BOUND_MARGIN 1e-9

/* Orders of devices that are found at most. */
#define CLV_BOUND_ORDERS 2

typedef struct {
    const int64_t *live_bytes; /* as in clv_partition_judge, or NULL; the next one too */
    const int64_t *held_bytes;
    int64_t reserve_bytes; /* of each device; more than 0: for a plan that is likely to fit, and
                              what is proven then holds for such plans only */
    bool use_all;          /* as in clv_partition_options */
    int32_t near;          /* of the trunk (trunk.h); 0: what proves most */
} clv_bound_options;

typedef struct {
    int64_t ns;       /* no plan that fits has less; 0: nothing is known */
    bool found;       /* there is a plan, which may come near it if it is legal and fits */
    int32_t n_orders; /* so many orders of devices may, too */
} clv_bound;

/* Period. best_ns: of the best plan known, which fits: nothing above it is looked for.
 * device_of: n_units. The greatest of
 *   - all work shared evenly, each unit where that serves best: O(units * kinds^2 * 40);
 *   - the units that must share a device because there are more of them than devices:
 *     O(units * log units);
 *   - what order and memory allow, transfers aside (pieces.h): within a limit of work;
 *   - what one device must send to many (clv_bound_sending);
 *   - the first two, of units that too much is sent between (clv_bound_together). */
clv_status clv_bound_period(const clv_partition_problem *p, const clv_bound_options *options,
                            int64_t best_ns, clv_arena *arena, int32_t *device_of, clv_bound *ret,
                            clv_error *err);

/* Period: what a unit writes for many readers goes through its device's ports once for each device
 * that has some of them. At least low_ns, which must be a bound, at most best_ns, which a plan has.
 * CLV_ENOMEM. O(units + pins), and O(devices^2) for each net that many units read, within a limit
 * of work. */
clv_status clv_bound_sending(const clv_partition_problem *p, int64_t low_ns, int64_t best_ns,
                             clv_arena *arena, int64_t *ret_ns, clv_error *err);

/* Period: units that too much is sent between within it are one. At least low_ns, which must be a
 * bound, at most best_ns, which a plan has. CLV_ENOMEM. O((units * kinds^2 * 40 + pins) * log
 * best_ns), within a limit of work. */
clv_status clv_bound_together(const clv_partition_problem *p, int64_t low_ns, int64_t best_ns,
                              clv_arena *arena, int64_t *ret_ns, clv_error *err);

/* Latency: every path; and between two units through which all paths lead, either all units run on
 * one device, one after another, or something is sent, which each device allows only once
 * (bound_latency.c, runs.c). O(units * (64 + log units) + nets' readers), some hundred times that
 * with unequal devices, within a limit. orders: CLV_BOUND_ORDERS * n_devices, each for cuts of the
 * list of units; device_of: n_units. */
clv_status clv_bound_latency(const clv_partition_problem *p, const clv_bound_options *options,
                             clv_arena *arena, int32_t *orders, int32_t *device_of, clv_bound *ret,
                             clv_error *err);

/* Of the longest k * devices + 1 units some k + 1 are on one device: a period cannot be less than
 * the last ones of those take. CLV_ENOMEM. O(units * log units). */
clv_status clv_bound_sharing(const clv_partition_problem *p, clv_arena *arena, int64_t *ret_ns,
                             clv_error *err);

/* All work shared evenly; a period and a latency cannot be less. CLV_ENOMEM. */
clv_status clv_bound_work(const clv_partition_problem *p, clv_arena *arena, int64_t *ret_ns,
                          clv_error *err);

#endif
