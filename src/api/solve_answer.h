/* solve_answer.h - the answer to a strategy problem told: as a report for people, as JSON. */
#ifndef CLV_API_SOLVE_ANSWER_H
#define CLV_API_SOLVE_ANSWER_H

#include "solver/intra_op/solve.h"

/* file names the problem's file in both. Text and JSON live in the arena. O(nodes). */
clv_status clv_intra_op_text(const clv_intra_op_problem *p, const clv_intra_op_result *r,
                             const char *file, clv_arena *arena, const char **ret, clv_error *err);
clv_status clv_intra_op_json(const clv_intra_op_problem *p, const clv_intra_op_result *r,
                             const char *file, clv_arena *arena, const char **ret, size_t *ret_n,
                             clv_error *err);

#endif
