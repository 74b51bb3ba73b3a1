/* reshard_naive.h - resharding by fixed rules, to be held against the cheapest chain (reshard.h).
 *
 * A whole tensor that is to be split is broadcast to all devices, each of which keeps its part; a
 * split one is gathered whole and, where it is to be split otherwise, cut again; partial results
 * are reduced whole first. Equal layouts stay, and equal parts on other devices are sent there one
 * to one.
 */
#ifndef CLV_COST_RESHARD_NAIVE_H
#define CLV_COST_RESHARD_NAIVE_H

#include "cost/reshard.h"

typedef struct {
    const char *rule; /* "nothing", "broadcast, tile", "all-gather", "all-gather, tile", "permute",
                         "all-reduce", "all-reduce, tile" */
    int64_t ns;       /* never less than that of the cheapest chain */
} clv_naive;

/* CLV_EUSAGE as for clv_reshard_ns(). O(log layouts). */
clv_status clv_reshard_naive(clv_reshard *r, const clv_layout *from, const clv_layout *to,
                             clv_naive *ret, clv_error *err);

#endif
