/* alike_devices.h - devices that may change places: of one kind and capacity, and joined alike to
 * all others: the symmetry group that is broken in exact_search.h (Margot 2010). */
#ifndef CLV_SOLVER_PARTITION_ALIKE_DEVICES_H
#define CLV_SOLVER_PARTITION_ALIKE_DEVICES_H

#include "problem/partition_problem.h"

/* ret[d], n_devices: the first device that may change places with d, so that every time and every
 * need of memory of a plan stays; transpositions make all orders of such a class. CLV_ENOMEM.
 * O(devices^3 * classes * ports of a link). */
clv_status clv_alike_devices_find(const clv_partition_problem *p, clv_arena *arena, int32_t *ret,
                                  clv_error *err);

#endif
