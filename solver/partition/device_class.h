/* device_class.h - devices that differ in nothing but their number: of one kind and capacity.
 *
 * Dynamic programmes look at how many of each class are used, not at which: symmetry breaking
 * (Margot 2010, "Symmetry in integer linear programming").
 */
#ifndef CLV_SOLVER_PARTITION_DEVICE_CLASS_H
#define CLV_SOLVER_PARTITION_DEVICE_CLASS_H

#include "problem/partition_problem.h"

#define CLV_CLASSES_MAX 4

typedef struct {
    int32_t kind, n;
    int64_t capacity_bytes;
} clv_device_class;

/* Classes by their first device into ret (CLV_CLASSES_MAX long). How many; -1: too many.
 * O(devices). */
static inline int32_t clv_device_classes_find(const clv_partition_problem *p, clv_device_class *ret)
{
    int32_t n = 0;
    for (int32_t d = 0; d < p->n_devices; d++) {
        int32_t i = 0;
        while (i < n &&
               (ret[i].kind != p->kind_of[d] || ret[i].capacity_bytes != p->capacity_bytes[d]))
            i++;
        if (i == CLV_CLASSES_MAX)
            return -1;
        if (i == n)
            ret[n++] = (clv_device_class){ p->kind_of[d], 0, p->capacity_bytes[d] };
        ret[i].n++;
    }
    return n;
}

#endif
