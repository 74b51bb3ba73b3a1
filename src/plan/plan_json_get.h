/* plan_json_get.h - values out of a plan file, checked; seen by the readers of its parts.
 *
 * Of a member that is absent and not required, *ret stays as it is.
 */
#ifndef CLV_PLAN_PLAN_JSON_GET_H
#define CLV_PLAN_PLAN_JSON_GET_H

#include "base/json.h"
#include "plan/plan.h"

typedef struct {
    clv_arena *arena;
    clv_plan *plan;
    int32_t *ops_on; /* operators of each device, from the runs */
    clv_error *err;
} clv_plan_reader;

/* Where a value stands, for a message. */
#define SHOW(at) clv_json_path((at), (char[256]){ 0 }, 256)

clv_status clv_plan_get_string(clv_plan_reader *r, const clv_json_at *object, const char *key,
                               bool required, const char **ret);
/* A count, or as text when it is above 2^53. */
clv_status clv_plan_get_int(clv_plan_reader *r, const clv_json_at *object, const char *key,
                            bool required, int64_t min, int64_t max, int64_t *ret);
clv_status clv_plan_get_int32(clv_plan_reader *r, const clv_json_at *object, const char *key,
                              bool required, int64_t min, int64_t max, int32_t *ret);
/* Not required, from 0 on. */
clv_status clv_plan_get_count(clv_plan_reader *r, const clv_json_at *object, const char *key,
                              int64_t *ret);
/* The same; absent: CLV_PLAN_UNKNOWN. */
clv_status clv_plan_get_fact(clv_plan_reader *r, const clv_json_at *object, const char *key,
                             int64_t *ret);
/* One of two to four words; required. */
clv_status clv_plan_get_word(clv_plan_reader *r, const clv_json_at *object, const char *key,
                             const char *const *words, int32_t n, int32_t *ret);

/* A list that is not required: its element count in *ret_n, and room for as many of T in *(ret),
 * which stays NULL where the list is absent. at gets the list. */
#define CLV_PLAN_GET_ROOM(r, root, key, T, at, ret, ret_n)                                         \
    do {                                                                                           \
        CLV_TRY(clv_json_member(root, key, false, at, (r)->err));                                  \
        if (!(at)->json)                                                                           \
            break;                                                                                 \
        CLV_TRY(clv_json_length(at, ret_n, (r)->err));                                             \
        *(ret) = CLV_NEW_ARRAY((r)->arena, T, *(ret_n));                                           \
        if (!*(ret))                                                                               \
            return clv_fail_nomem((r)->err, "a plan");                                             \
    } while (0)

/* What the file tells besides what it decides: transfers; pipeline; search; rules. */
clv_status clv_plan_read_transfers(clv_plan_reader *r, const clv_json_at *root);
clv_status clv_plan_read_pipeline(clv_plan_reader *r, const clv_json_at *root);
clv_status clv_plan_read_search(clv_plan_reader *r, const clv_json_at *root);
clv_status clv_plan_read_rules(clv_plan_reader *r, const clv_json_at *root);

#endif
