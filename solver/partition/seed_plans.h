/* seed_plans.h - seeds of the search: plans made by chain partitioning (Bokhari 1988), the list of
 * units cut into runs, one a device (chain_partition.h, chain_order_dp.h).
 *
 * A seed is cheap and mostly good: models are nearly lines. Each step adds plans and has them
 * judged; those after the first use what was learned from verdicts of memory, of times, and of
 * ports that are busier than any device. All return CLV_ENOMEM, or what the judge says, and cost a
 * few cuts for each order of devices.
 */
#ifndef CLV_SOLVER_PARTITION_SEED_PLANS_H
#define CLV_SOLVER_PARTITION_SEED_PLANS_H

#include "solver/partition/chain_partition.h"
#include "solver/partition/device_order.h"
#include "solver/partition/search_state.h"

/* The devices in that order, into s->order. False: it is the given order, and another one was asked
 * for; or it does not serve the objective. O(devices^2). */
bool clv_seed_use_order(clv_search_state *s, clv_device_order how);

/* A cut for an objective, into s->device_of; where runs are too simple for the rules, one that does
 * not look at them, to be repaired. False: there is none. */
bool clv_seed_cut(clv_search_state *s, const clv_cut_options *o, clv_objective objective);

/* The cut that suits the objective goes to the queue, under the label for it. */
clv_status clv_seed_add_cut(clv_search_state *s, const int64_t *capacity_bytes, bool with_held,
                            const char *by_period, const char *by_latency, clv_error *err);

/* Cuts by weight, by period and by latency, in each order of devices. */
clv_status clv_seed_first_plans(clv_search_state *s, clv_error *err);

/* Where cuts were out of memory: the same with the room learned from verdicts. */
clv_status clv_seed_cut_again(clv_search_state *s, clv_error *err);

/* Cuts by the times that were measured, until the best of them are plans judged before. */
clv_status clv_seed_cut_by_measured_times(clv_search_state *s, clv_error *err);

/* For latency: a cut that is free to choose which kind of device comes next, and where parts of the
 * cluster are left. */
clv_status clv_seed_cut_any_order(clv_search_state *s, clv_error *err);

/* For the period, where one device is busy sending to many: cuts with several senders, and groups
 * swapped between devices so that readers are near (device_swap.h). */
clv_status clv_seed_spread_senders(clv_search_state *s, clv_error *err);

#endif
