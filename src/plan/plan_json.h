/* plan_json.h - the plan file: docs/formats/plan.schema.json, described in docs/formats/plan.md. */
#ifndef CLV_PLAN_PLAN_JSON_H
#define CLV_PLAN_PLAN_JSON_H

#include "base/json.h"
#include "plan/plan.h"

#define CLV_PLAN_JSON_VERSION 1
/* Whole numbers above this are written as text: readers of JSON keep no more exactly. */
#define CLV_PLAN_JSON_INT_MAX (INT64_C(1) << 53)
/* Limits for hostile files: each operator or device costs memory though the file is short. */
#define CLV_PLAN_JSON_OPS_MAX     (INT64_C(1) << 24)
#define CLV_PLAN_JSON_DEVICES_MAX (INT64_C(1) << 16)

/* "fits", "out of memory", "failed"; "latency", "throughput": the words of the file. */
const char *clv_plan_outcome_word(clv_outcome outcome);
const char *clv_plan_objective_word(clv_objective objective);

/* "given", "filled", "memory" */
const char *clv_plan_micro_word(clv_micro_reason why);

/* Is it known how long a run of the pipeline takes? Then so long, and the part of it that filling and
 * draining cost; else 0 and -1. */
bool clv_plan_has_run(const clv_plan *plan);
int64_t clv_plan_run_ns(const clv_plan *plan);
double clv_plan_bubble(const clv_plan *plan);

/* Latency or period, whichever is the objective, or the run divided by its micro-batches where their
 * number was not chosen for the period; 0: not known. */
int64_t clv_plan_objective_ns(const clv_plan *plan);
/* How much of the objective is above the bound, 0 to 1; negative: no bound is known. */
double clv_plan_gap(const clv_plan *plan);

/* A count: a number up to CLV_PLAN_JSON_INT_MAX, text above. */
void clv_plan_put_count(clv_json_out *out, const char *key, int64_t value);
/* A list of such, on one line in the middle of a text that has a line for each value. */
void clv_plan_put_numbers(clv_json_out *out, const char *key, const int64_t *at, int32_t n);
/* An element of an annotation's "specs". */
void clv_plan_put_spec(clv_json_out *out, const char *key, const clv_sharding_spec *spec);

/* Text in the arena, a newline at the end. Device per operator is written as runs [device, count].
 */
clv_status clv_plan_write(const clv_plan *plan, clv_arena *arena, const char **ret_text,
                          size_t *ret_n, clv_error *err);
/* Everything is checked: counts, ranges, sums of runs; messages name file, key and value.
 * CLV_EFORMAT, or CLV_ENOMEM. What only the model knows is left to clv_plan_find_nodes() and
 * clv_plan_check(). Strings are copied: text may go. O(n + operators). */
clv_status clv_plan_read(const char *text, size_t n, const char *what, clv_arena *arena,
                         clv_plan **ret, clv_error *err);

#endif
