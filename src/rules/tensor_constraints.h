/* tensor_constraints.h - a user's rules on tensors, lowered to one mesh: a filter of the choices of
 * operators and of the layouts of tensors.
 *
 * A rule on a tensor is about the layout in which it lies, as a sharding constraint of GSPMD (Xu et
 * al. 2021) is; of a weight, about the one that each operator needs that reads it. A rule on an
 * operator is about the factors that it splits.
 */
#ifndef CLV_RULES_TENSOR_CONSTRAINTS_H
#define CLV_RULES_TENSOR_CONSTRAINTS_H

#include "cost/shard_problem.h"
#include "rules/constraints.h"

/* A model whose operators are to be split over a mesh. */
typedef struct {
    const clv_types *types;
    const clv_factors *factors; /* by operator */
    const clv_mesh *mesh;
} clv_split_model;

typedef struct {
    clv_choice_filter filter;
    bool any;             /* false: all choices pass */
    const bool *idle;     /* by rule: what it names is nothing to be split */
    const char *conflict; /* no choice of some operator satisfies them all; NULL: one does */
} clv_tensor_constraints;

/* Is there a rule on tensors at all, other than those that are unused? O(rules). */
bool clv_tensor_constraints_asked(const clv_constraints *rules);
/* Is there one that a plan without shards does not satisfy? O(rules). */
bool clv_tensor_constraints_need_mesh(const clv_constraints *rules);

/* data_parallel: the outermost axis splits nothing but the batch, as a rule could say. CLV_EFORMAT,
 * naming rule, axis and tensor or operator: no such axis, a dimension that is not there or too
 * short, what an operator cannot split and why, two rules that contradict each other. Lives in the
 * arena, beside rules and what the model points to. O(operators + edges + what rules name, and for
 * those the choices of an operator). */
clv_status clv_tensor_constraints_make(const clv_constraints *rules, bool data_parallel,
                                       const clv_split_model *model, clv_arena *arena,
                                       clv_tensor_constraints **ret, clv_error *err);

#endif
