/* plan_json.h - what the parts of the plan file share: its limits, its words, and checked values
 * both ways.
 *
 * The format is docs/formats/plan.schema.json, described in docs/formats/plan.md; plan_json_write.h
 * writes it, plan_json_read.h reads it.
 */
#ifndef CLV_PLAN_PLAN_JSON_H
#define CLV_PLAN_PLAN_JSON_H

#include "base/json.h"
#include "base/json_out.h"
#include "plan/plan.h"

#define CLV_PLAN_JSON_VERSION 2 /* 1 repeated the specs of plans with meshes */
/* Whole numbers above this are written as text: readers of JSON keep no more exactly. */
#define CLV_PLAN_JSON_INT_MAX (INT64_C(1) << 53)
/* Limits for hostile files: each operator or device costs memory though the file is small. */
#define CLV_PLAN_JSON_OPS_MAX     (INT64_C(1) << 24)
#define CLV_PLAN_JSON_DEVICES_MAX (INT64_C(1) << 16)

/* The words of the file, by clv_outcome, clv_objective and clv_micro_reason. */
#define CLV_N_OUTCOMES (CLV_LATE + 1)
extern const char *const clv_plan_outcome_words[CLV_N_OUTCOMES]; /* "fits", "out of memory", ... */
extern const char *const clv_plan_objective_words[2];            /* "latency", "throughput" */
extern const char *const clv_plan_micro_words[3];                /* "given", "filled", "memory" */

/* -- writing -- */

/* A count: a number up to CLV_PLAN_JSON_INT_MAX, text above. */
void clv_plan_put_count(clv_json_out *out, const char *key, int64_t value);
/* The same; nothing below 0, where it is not known. */
void clv_plan_put_known_count(clv_json_out *out, const char *key, int64_t value);
/* A list of counts, on one line in the middle of a text that has a line for each value. */
void clv_plan_put_numbers(clv_json_out *out, const char *key, const int64_t *at, int32_t n);

/* -- reading: of a member that is absent and not required, *ret stays as it is -- */

/* Where a value stands, for a message. */
#define CLV_PLAN_PATH(at) clv_json_path((at), (char[256]){ 0 }, 256)

/* Copied into the arena. */
clv_status clv_plan_require_string(const clv_json_at *object, const char *key, clv_arena *arena,
                                   const char **ret, clv_error *err);
clv_status clv_plan_get_string(const clv_json_at *object, const char *key, clv_arena *arena,
                               const char **ret, clv_error *err);
clv_status clv_plan_require_int32(const clv_json_at *object, const char *key, int64_t min,
                                  int64_t max, int32_t *ret, clv_error *err);
clv_status clv_plan_get_int32(const clv_json_at *object, const char *key, int64_t min, int64_t max,
                              int32_t *ret, clv_error *err);
/* From 0 on: a number, or text where it is above CLV_PLAN_JSON_INT_MAX. */
clv_status clv_plan_read_count(const clv_json_at *at, int64_t *ret, clv_error *err);
clv_status clv_plan_get_count(const clv_json_at *object, const char *key, int64_t *ret,
                              clv_error *err);
/* The same; absent: CLV_PLAN_UNKNOWN. */
clv_status clv_plan_get_known_count(const clv_json_at *object, const char *key, int64_t *ret,
                                    clv_error *err);
/* "basis", by the words of clv_basis_name(); absent: CLV_ASSUMED. */
clv_status clv_plan_get_basis(const clv_json_at *object, clv_basis *ret, clv_error *err);
/* One of two to five words, required: its index. */
clv_status clv_plan_require_word(const clv_json_at *object, const char *key,
                                 const char *const *words, int32_t n, int32_t *ret, clv_error *err);

/* A list, and room for what its n elements become. */
typedef struct {
    clv_json_at at; /* parent of the elements: the struct must stay where it is */
    void *room;     /* n elements, zeroed; NULL where the list is absent */
    int32_t n;
} clv_plan_list;

/* list: an array, or absent (list->json NULL). size: of an element in room. */
clv_status clv_plan_open_list(const clv_json_at *list, size_t size, clv_arena *arena,
                              clv_plan_list *ret, clv_error *err);
/* Of a member that is not required. */
clv_status clv_plan_get_list(const clv_json_at *object, const char *key, size_t size,
                             clv_arena *arena, clv_plan_list *ret, clv_error *err);

/* The two elements of a run, [first, count]; first: what the message calls the first of them. */
clv_status clv_plan_open_run(const clv_json_at *run, const char *first, clv_json_at ret[2],
                             clv_error *err);

#endif
