/* host.h - what the host does for one run of a model, and for how many sequences. */
#ifndef CLV_KERNELS_HOST_H
#define CLV_KERNELS_HOST_H

#include "kernels/kernels.h"

/* Sequences of one run: the first dimension of the first state (a cache of keys) among the inputs,
 * of models without one that of the first input. 1 where it is open or there is none. state: of
 * clv_kernels, may be NULL. O(inputs). */
int64_t clv_sequences(const clv_types *types, const clv_tensor *state);

/* run + sequences * sequence, at most a quarter of INT64_MAX. O(inputs). */
int64_t clv_host_ns(const clv_host_work *host, const clv_types *types, const clv_tensor *state);

#endif
