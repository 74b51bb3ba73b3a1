/* plan_json_read.h - a plan out of a plan file: docs/formats/plan.md.
 *
 * People edit such files, so everything is checked, and every message names file, key and value.
 */
#ifndef CLV_PLAN_PLAN_JSON_READ_H
#define CLV_PLAN_PLAN_JSON_READ_H

#include "base/json.h"
#include "plan/plan.h"

/* Counts, ranges and sums of runs are checked: CLV_EFORMAT, or CLV_ENOMEM. What only the model
 * knows is left to clv_plan_find_nodes() and clv_plan_check(). what: the file's name in messages.
 * Strings are copied: text may go. O(n + operators). */
clv_status clv_plan_read(const char *text, size_t n, const char *what, clv_arena *arena,
                         clv_plan **ret, clv_error *err);
/* The same of an object in another document. */
clv_status clv_plan_read_at(const clv_json_at *at, clv_arena *arena, clv_plan **ret,
                            clv_error *err);

#endif
