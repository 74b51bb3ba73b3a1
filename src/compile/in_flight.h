/* in_flight.h - what devices hold besides one micro-batch when several are in the pipeline at once.
 *
 * Each device works on one micro-batch after the other, so all that stays on it is there once, at
 * the offsets of memory_plan.h. What comes to it, leaves it, or is the model's own is held for more
 * than one, and so are states, as caches of keys, for each batch that goes round:
 * docs/cost-model.md, "Memory in flight". These copies are not shared with the arena.
 */
#ifndef CLV_COMPILE_IN_FLIGHT_H
#define CLV_COMPILE_IN_FLIGHT_H

#include "compile/memory_plan.h"

/* ret[d], n_devices: bytes of the copies, each aligned, beyond what results has; 0 for one
 * micro-batch. CLV_ENOMEM. O(nets' readers + devices^2). */
clv_status clv_in_flight_bytes(const clv_candidate *candidate, const clv_group_result *results,
                               int32_t microbatches, clv_arena *arena, int64_t *ret,
                               clv_error *err);

#endif
