/* host.h - what the host does for one run of a model. */
#ifndef CLV_KERNELS_HOST_H
#define CLV_KERNELS_HOST_H

#include "graph/types.h"
#include "kernels/runtime.h"

/* run + sequences * sequence, at most a quarter of INT64_MAX; one sequence where their number is
 * not known (clv_sequences()). O(inputs). */
int64_t clv_host_ns(const clv_host_work *host, const clv_types *types);

#endif
