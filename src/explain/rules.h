/* rules.h - what is known of operators under sharding, for people and programs. */
#ifndef CLV_EXPLAIN_RULES_H
#define CLV_EXPLAIN_RULES_H

#include <stdbool.h>

#include "base/arena.h"

/* The sharding rules of the operators of that name ("MatMul", "com.microsoft.MatMulNBits"), of all
 * with NULL, as text or as one JSON object. CLV_EUSAGE: there is no such operator. */
clv_status clv_report_rules(const char *name, bool as_json, clv_arena *arena, const char **ret,
                            clv_error *err);

#endif
