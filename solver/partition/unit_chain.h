/* unit_chain.h - the units of a problem as a chain to be cut into runs, one a device: prefix sums
 * that all cuts share, and the cut by weight.
 *
 * Cuts keep the order of the units, so the quotient graph of runs is a chain and always legal:
 * "chains-on-chains partitioning" (Bokhari 1988; Pinar and Aykanat 2004). chain_partition.h and
 * chain_order_dp.h cut for period and latency.
 */
#ifndef CLV_SOLVER_PARTITION_UNIT_CHAIN_H
#define CLV_SOLVER_PARTITION_UNIT_CHAIN_H

#include "problem/rules.h"
#include "problem/sums.h"

/* By family of tags: the tag seen last, the position behind the last unit with it, and that behind
 * the last unit with another one. */
typedef struct {
    int32_t tag, behind, behind_other;
} clv_last_tag;

typedef struct {
    const clv_partition_problem *p;
    /* n_units + 1, by position: sums over all units before it */
    int64_t *weight_bytes;
    int64_t *held_bytes; /* weights and what units hold all the time */
    int64_t *fanout_ns;  /* what clv_unit_chain_measure_fanout() found; else 0 */
    int64_t *cut_bytes;  /* of nets that cross the position */
    int32_t *cut_nets;
    int64_t *time_ns; /* [kind * (n_units + 1) + position], the same */
    double *spread;   /* by device: where it comes if each kind is spread evenly, 0 to 1 */
    /* Scratch of chain_partition.h. */
    bool *reach;         /* [(run + 1) * (n_units + 1)] */
    int32_t *from;       /* the same */
    int64_t *wire_ns;    /* [run * (n_units + 1)]: boundary times */
    int64_t *arrival_ns; /* n_nets */
    int64_t *cost_ns;    /* 2 * (n_units + 1) */
    int32_t *window;     /* n_units + 1; the next one too */
    int64_t *start_ns;
    int32_t *low, *high; /* n_devices + 1: where a run can end at all */
    /* Rules that cuts for period and latency keep to, as far as runs can: a run holds only units
     * that may be on its device, and at the stage that is its number, none that must be apart, and
     * no boundary is inside a group. NULL: they do not look. */
    const clv_rules *rules;
    int32_t *start;     /* scratch, as wire_ns: the earliest start of a run that ends here */
    int32_t *apart;     /* scratch, n_units + 1: the same for all devices */
    clv_last_tag *seen; /* scratch, by family */
    bool *is_inside;    /* n_units + 1: this position is inside a group */
} clv_unit_chain;

/* held_bytes: as in clv_partition_judge, or NULL. CLV_ENOMEM. O(units * (kinds + devices) + pins +
 * devices^2). */
clv_status clv_unit_chain_new(const clv_partition_problem *p, const int64_t *held_bytes,
                              clv_arena *arena, clv_unit_chain **ret, clv_error *err);

/* Sums up the times of the problem again, which have changed. O(units * kinds). */
void clv_unit_chain_update_times(clv_unit_chain *c);

/* Finds in an assignment how long each unit keeps a port of its device busy for readers on other
 * devices than the first of them: a mask that all layers read, say. Later cuts keep the sum of a
 * run within their period, so that what is sent to many devices comes from several. O(units +
 * readers * hops + devices^2). CLV_ENOMEM. */
clv_status clv_unit_chain_measure_fanout(clv_unit_chain *c, const int32_t *device_of,
                                         clv_arena *scratch, clv_error *err);

/* The first plan of PopRT: a run ends with the unit that brings it to the average weight or above;
 * at most n_devices - 1 cuts. May leave devices empty; with use_all the heaviest runs are halved
 * until there are as many as devices or units. O(units + devices^2). */
void clv_cut_by_weight(const clv_unit_chain *c, bool use_all, int32_t *device_of);

#endif
