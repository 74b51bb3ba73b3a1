/* fit.h - the body of a rule's case laid over the shapes of one operator. */
#ifndef CLV_SHARDING_FIT_H
#define CLV_SHARDING_FIT_H

#include "sharding/factors.h"
#include "sharding/rule_context.h"

/* The factors with their kinds, operands in them, and what changes on a shard; or w->why is set.
 * The result lives in w->arena. O(length of the body * operands + dimensions). */
clv_status clv_rule_fit(clv_rule_context *w, clv_str body, clv_factors *ret, clv_error *err);

#endif
