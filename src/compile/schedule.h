/* schedule.h - when everything happens: a list schedule of all devices and transfers.
 *
 * Each device runs its operators in order, each as soon as the device is free and its inputs are
 * there. A tensor goes to each other device that reads it once, when it is made, and occupies the
 * ports of its route, one transfer at a time. docs/cost-model.md, "Memory and schedule".
 */
#ifndef CLV_COMPILE_SCHEDULE_H
#define CLV_COMPILE_SCHEDULE_H

#include "compile/layout.h"

/* The units of each device: ranges[first[d] .. first[d + 1]), ascending, not touching. */
typedef struct {
    clv_unit_range *ranges;
    int32_t *first; /* n_devices + 1 */
} clv_unit_ranges;

typedef struct {
    int64_t latency_ns;
    int64_t port_ns;         /* the busiest port's transfers together */
    int64_t fill_ns;         /* until the last device starts, did each run without a pause up to its end */
    int64_t drain_ns;        /* from the end of the first device that is done to that of the last */
    clv_transfer *transfers; /* in order of start; only when asked for */
    int32_t n_transfers;
} clv_schedule;

/* O(units + nets + edges + cuts log devices). ticks: [device], each of its kind at the proportion.
 */
clv_status clv_schedule_run(const clv_program *p, const int32_t *device_of,
                            const clv_unit_ranges *units, const int64_t *const *ticks,
                            bool want_transfers, clv_arena *arena, clv_schedule *ret,
                            clv_error *err);

#endif
