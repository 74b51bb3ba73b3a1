/* emit_exchange.h - an all-to-all or reduce-scatter as nodes.
 *
 * A collective sends block j of the first dimension to member j, and what comes from member j is
 * block j: so of the tensor's factors (spmd_steps.h) those that axes shall split are brought to the
 * front, and as those that they had split what comes out in front is moved to where they belong.
 * Where there were parts of sums, and the dialect has no reduce-scatter, an all-to-all sends as
 * much, and each device reduces what it got.
 */
#ifndef CLV_LOWER_EMIT_EXCHANGE_H
#define CLV_LOWER_EMIT_EXCHANGE_H

#include "lower/emit.h"

/* A whole step on the one device that is written down; *ret_done false: it is no such exchange, or
 * the dialect has no node for it, and nothing is written. */
clv_status clv_emit_exchange(clv_emit *e, const clv_spmd_instr *step, clv_str *io, bool *ret_done,
                             clv_error *err);

#endif
