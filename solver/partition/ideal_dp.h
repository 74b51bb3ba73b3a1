/* ideal_dp.h - can so many devices keep up with a period? Dynamic programming over order ideals, as
 * Tarnawski, Phanishayee, Devanur, Mahajan and Nina Paravecino (2020, "Efficient algorithms for
 * device placement of DNN graph operators") do for pipelines: exact for a backbone, transfers
 * aside.
 *
 * The devices of a legal plan can be put in an order in which each waits only for those before it,
 * so the units of the first so many are closed under "comes before": an order ideal. The answer is
 * a walk over sets of used devices, alike ones being one class, with the largest ideals that each
 * can hold. Ours: it decides one period, so of the ideals of a set only the maximal ones are kept
 * (dominance), a stage that has room for a unit it leaves out is not looked at, and units that too
 * much is sent between within the period stay together. An ideal is a prefix of the backbone and a
 * word of bits behind its first missing unit. On a line that is one ideal a set. It wins where the
 * model is nearly a line: transformers and convolutional nets meet the bound mostly exactly.
 */
#ifndef CLV_SOLVER_PARTITION_IDEAL_DP_H
#define CLV_SOLVER_PARTITION_IDEAL_DP_H

#include "solver/partition/backbone.h"
#include "solver/partition/bound.h"

typedef struct clv_ideal_dp clv_ideal_dp; /* lives in the arena */

typedef enum {
    CLV_IDEAL_DP_NO, /* proven: no plan has a period as small */
    CLV_IDEAL_DP_YES,
    CLV_IDEAL_DP_UNKNOWN /* too many ideals: the limit of work was reached */
} clv_ideal_dp_decision;

/* Devices of one kind and capacity are a class. The backbone and the problem must outlive it.
 * CLV_ENOMEM. O(units * (64 + kinds)). */
clv_status clv_ideal_dp_new(const clv_partition_problem *p, const clv_backbone *backbone,
                            const clv_bound_options *o, clv_arena *arena, clv_ideal_dp **ret,
                            clv_error *err);

/* May the work of each device be at most period_ns, and its weights and what is alive beside them
 * in its memory? O(classes * used sets * ideals * 64), within a limit of work for the lifetime.
 * CLV_ENOMEM. */
clv_status clv_ideal_dp_decide(clv_ideal_dp *s, int64_t period_ns, clv_ideal_dp_decision *ret,
                               clv_error *err);

/* The plan behind the last CLV_IDEAL_DP_YES: n_units devices; units that the backbone left out go
 * where the last unit that they wait for is. *ret_period_ns (may be NULL): the busiest device.
 * False when there is none, or when units left out would make it illegal. O(units + nets' readers).
 */
bool clv_ideal_dp_plan(const clv_ideal_dp *s, int32_t *device_of, int64_t *ret_period_ns);

#endif
