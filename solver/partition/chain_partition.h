/* chain_partition.h - chains-on-chains partitioning for a given order of devices: runs for the
 * smallest period, and runs for the least latency.
 *
 * Period: the problem of Bokhari 1988, who finds a path in a layered graph; here parametric search
 * (Pinar and Aykanat 2004, "Fast optimal load balancing algorithms for 1D partitioning"; for
 * unequal devices Pinar, Tabak and Aykanat 2008). For a given period it is easy to say which
 * positions a first device can end at, then a second, and so on; the longest run that may end at a
 * position starts at some position, and any later start is fine as well, so the latest start that
 * the device before can end at is the only one to try. Binary search does the rest. Latency:
 * dynamic programming over boundaries with the minimum of a sliding window, as the starts that
 * memory allows for a run only move on. Ours are the cost of a boundary (what transfers delay, less
 * what the next device does meanwhile), the fan-out, and the rules of users.
 */
#ifndef CLV_SOLVER_PARTITION_CHAIN_PARTITION_H
#define CLV_SOLVER_PARTITION_CHAIN_PARTITION_H

#include "solver/partition/unit_chain.h"

typedef struct {
    const int32_t *order;          /* devices in the order of the runs */
    const int64_t *capacity_bytes; /* by device, for weights; NULL: no limit */
    bool use_all;                  /* no device of order stays empty (where units are enough) */
    bool with_held;                /* capacity is for what units hold all the time, too */
    bool short_runs; /* by period: where a unit's fan-out makes the period long, no run has to take
                        as long as that: as short as they can be within it */
} clv_cut_options;

/* Smallest period of any such cut, exactly but for what fan-out adds: binary search on the period,
 * each answer in O(units * devices). A net that skips over a run counts on each boundary it
 * crosses, so the cut is the best one where nets reach the next run only. False when none is within
 * the capacities. */
bool clv_cut_by_period(const clv_unit_chain *chain, const clv_cut_options *options,
                       int32_t *device_of);

/* Least latency: compute one device after the other, and at each boundary the delay that its
 * transfers make, less what the next device does while the one before is still at work. Each
 * boundary is looked at by itself, a few units to both sides. Among equal ones the smallest period,
 * to a precision that keeps this O(units * devices * 40) and cheap. False as above. */
bool clv_cut_by_latency(const clv_unit_chain *chain, const clv_cut_options *options,
                        int32_t *device_of);

/* The delay in ns of a boundary between two devices at each position, as there; row: n_units + 1.
 * O(units * 64 readers). */
void clv_boundary_delays(const clv_unit_chain *chain, int32_t from, int32_t to, int64_t *row);

/* Have two boundaries between devices the same delays? */
bool clv_boundary_is_same(const clv_unit_chain *chain, int32_t from, int32_t to, int32_t other_from,
                          int32_t other_to);

#endif
