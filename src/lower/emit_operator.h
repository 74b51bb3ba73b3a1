/* emit_operator.h - an operator as nodes, on the part that each device has of its factors. */
#ifndef CLV_LOWER_EMIT_OPERATOR_H
#define CLV_LOWER_EMIT_OPERATOR_H

#include "lower/emit.h"

/* For all devices that are written down. CLV_EUNSUPP: it cannot be written for parts; the sentence
 * says why. O(positions * (operands + factors * axes)). */
clv_status clv_emit_operator(clv_emit *e, const clv_spmd_instr *instr, clv_error *err);

#endif
