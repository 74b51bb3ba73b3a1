/* host.h - what the host does for one run of a model. */
#ifndef CLV_KERNELS_HOST_H
#define CLV_KERNELS_HOST_H

#include "graph/prompt.h"
#include "kernels/runtime.h"

/* run + sequences * sequence, at most a quarter of INT64_MAX; one sequence where their number is
 * not known (clv_sequences()). O(inputs). */
int64_t clv_host_ns(const clv_host_work *host, const clv_types *types);

/* What a front end does with a request before a prefill, which is no part of the run: request +
 * tokens * prompt_token, at most as much, by the longest prompt; 0 for what is no prefill. */
int64_t clv_front_end_ns(const clv_host_work *host, const clv_prompt *prompt);

#endif
