/* json_pull_int.h - whole numbers of a JSON text that is read by json_pull.h. */
#ifndef CLV_BASE_JSON_PULL_INT_H
#define CLV_BASE_JSON_PULL_INT_H

#include "base/json_pull.h"

/* A list of whole numbers that is used again and again. */
typedef struct {
    clv_arena *arena;
    int64_t *at;
    int32_t n, cap;
} clv_json_ints;

/* A whole number, exact in all 64 bits, however written: 10, 10.0, 1e1. */
clv_status clv_json_pull_int(clv_json_pull *j, int64_t low, int64_t high, int64_t *ret,
                             clv_error *err);
/* A whole array of them. list->n is set. O(n), at some hundred million bytes a second. */
clv_status clv_json_pull_ints(clv_json_pull *j, int64_t low, int64_t high, clv_json_ints *list,
                              clv_error *err);

#endif
