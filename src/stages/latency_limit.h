/* latency_limit.h - of all cuts that a search has judged the best one within the latency that is
 * allowed.
 *
 * A search for throughput prefers many stages, each of which adds a transfer to the latency. Where
 * its best plan takes too long, cuts are searched once more for the least latency, as memory was
 * judged; of all that both have judged the best by the objective is taken that is within the limit,
 * or, where none is, that of the least latency. (The epsilon-constraint method, Haimes, Lasdon,
 * Wismer 1971, with what two searches saw.)
 */
#ifndef CLV_STAGES_LATENCY_LIMIT_H
#define CLV_STAGES_LATENCY_LIMIT_H

#include "stages/stage_search.h"

/* io: of the search with these options. Nothing is done where the request has no limit, no plan
 * fits, the plan is given by hand, or the limit is met. O(candidates), and a search. */
clv_status clv_stage_limit_latency(clv_stage_search *s, const clv_partition_options *options,
                                   clv_partition_result *io, clv_error *err);

#endif
