/* emit_step.h - steps between layouts as nodes.
 *
 * Whatever its name, a step is at most three things: what is partial is reduced, what is split and
 * shall not be is put together, and each device takes its part of what it then has. Where one
 * collective does all of it at once, and the dialect has it, emit_exchange.h writes that.
 */
#ifndef CLV_LOWER_EMIT_STEP_H
#define CLV_LOWER_EMIT_STEP_H

#include "lower/emit.h"

/* On all devices that are written down. O(positions * (spans + rank)). */
clv_status clv_emit_step(clv_emit *e, const clv_spmd_instr *step, clv_error *err);

#endif
