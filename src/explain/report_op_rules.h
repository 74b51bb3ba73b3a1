/* report_op_rules.h - how each operator may be sharded, for people and programs. */
#ifndef CLV_EXPLAIN_REPORT_OP_RULES_H
#define CLV_EXPLAIN_REPORT_OP_RULES_H

#include <stdbool.h>

#include "base/arena.h"

/* The sharding rules (ops.def) of the operators of that name ("MatMul",
 * "com.microsoft.MatMulNBits"), of all with NULL, as text or as one JSON object, in the arena.
 * CLV_EUSAGE: there is no such operator. O(rules). */
clv_status clv_report_op_rules(const char *name, bool as_json, clv_arena *arena, const char **ret,
                               clv_error *err);

#endif
