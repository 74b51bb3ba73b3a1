/* schedule.h - when everything happens: a discrete event simulation of all devices and transfers.
 *
 * Each device runs its operators in order, each as soon as the device is free and its inputs are
 * there: the order is given, so this is no list scheduling (Graham 1966), which would start a later
 * operator that is ready. A tensor goes to each other device that reads it once, when it is made,
 * and occupies the ports of its route, one transfer at a time, first come first served.
 * docs/cost-model.md, "Memory and schedule".
 */
#ifndef CLV_COMPILE_SCHEDULE_H
#define CLV_COMPILE_SCHEDULE_H

#include "compile/candidate.h"

typedef struct {
    int64_t latency_ns;
    int64_t port_ns;  /* the busiest port's transfers together */
    int64_t fill_ns;  /* until the last device starts, did each run without a pause up to its end */
    int64_t drain_ns; /* from the end of the first device that is done to that of the last */
    clv_transfer *transfers; /* in order of start; only when asked for */
    int32_t n_transfers;
} clv_schedule;

/* Scratch and transfers live in the arena. CLV_ENOMEM. O(units + nets + edges + transfers log
 * devices). */
clv_status clv_schedule_run(const clv_candidate *candidate, bool want_transfers, clv_arena *arena,
                            clv_schedule *ret, clv_error *err);

#endif
