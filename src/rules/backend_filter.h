/* backend_filter.h - what a backend splits of operators and tensors, lowered to one mesh: a filter
 * of the choices of operators.
 */
#ifndef CLV_RULES_BACKEND_FILTER_H
#define CLV_RULES_BACKEND_FILTER_H

#include "cluster/backend.h"
#include "rules/tensor_constraints.h"

/* Splitting nothing always passes. Lives in the arena, beside backend and what the model points to.
 * CLV_ENOMEM. O(operators * dimensions). */
clv_status clv_backend_filter_make(const clv_backend *backend, const clv_split_model *model,
                                   clv_arena *arena, clv_choice_filter *ret, clv_error *err);

#endif
