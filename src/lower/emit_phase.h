/* emit_phase.h - all instructions of a phase written down as nodes. */
#ifndef CLV_LOWER_EMIT_PHASE_H
#define CLV_LOWER_EMIT_PHASE_H

#include "lower/emit.h"

/* The phase's inputs and received values must have names. Appends its nodes. CLV_EUNSUPP: an
 * operator cannot be written for parts; the sentence says why. O(instructions * positions). */
clv_status clv_emit_phase(clv_emit *e, int32_t phase, clv_error *err);

#endif
