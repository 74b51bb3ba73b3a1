/* quotient.h - the quotient graph of an assignment: which device waits for which, as rows of bits;
 * whether it is acyclic, and its stages. */
#ifndef CLV_PROBLEM_QUOTIENT_H
#define CLV_PROBLEM_QUOTIENT_H

#include "base/bits.h"
#include "problem/partition_problem.h"

/* Row a has bit b where a net leads from device a to device b. rows: n_devices * words, zeroed. */
void clv_quotient_rows(const clv_partition_problem *p, const int32_t *device_of, uint64_t *rows);

/* Longest chain before each of n nodes; false when there is a cycle. scratch: 2 * n. O(n * n). */
bool clv_quotient_levels(const uint64_t *rows, int32_t n, int32_t *level, int32_t *scratch);

/* Is the quotient of devices acyclic? scratch from the arena, given back; without memory the answer
 * is false. O(units + nets' readers + devices^2). */
bool clv_partition_is_acyclic(const clv_partition_problem *p, const int32_t *device_of,
                              clv_arena *arena);

/* Level of each device that has units in the quotient graph: the longest chain of devices before
 * it. -1 for devices without units. Returns the number of stages; assumes an acyclic quotient.
 * Without memory returns -1 and leaves stage_of_device alone. */
int32_t clv_partition_stages(const clv_partition_problem *p, const int32_t *device_of,
                             clv_arena *arena, int32_t *stage_of_device);

#endif
