/* place_answer.h - a placement told: as a report for people, as JSON. */
#ifndef CLV_API_PLACE_ANSWER_H
#define CLV_API_PLACE_ANSWER_H

#include "solver/placement/common/place_search.h"

/* workload names the file in both. Text and JSON live in the arena. O(nodes + devices). */
clv_status clv_place_text(const clv_place_problem *p, const clv_place_options *options,
                          const clv_place_result *result, const char *workload, clv_arena *arena,
                          const char **ret, clv_error *err);
clv_status clv_place_json(const clv_place_problem *p, const clv_place_options *options,
                          const clv_place_result *result, const char *workload, clv_arena *arena,
                          const char **ret, size_t *ret_n, clv_error *err);

#endif
