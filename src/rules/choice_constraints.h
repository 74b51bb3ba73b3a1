/* choice_constraints.h - a user's constraints on tensors as demands on the choices of operators:
 * what each mesh axis has to do with a tensor or an operator, and whose rule it is, so that the
 * demands of each rule can be looked at alone.
 */
#ifndef CLV_RULES_CHOICE_CONSTRAINTS_H
#define CLV_RULES_CHOICE_CONSTRAINTS_H

#include "cost/shard_problem.h"
#include "rules/batch_dims.h"

#define CLV_DEMAND_ANY           (-4)
#define CLV_DEMAND_BATCH_OR_NONE (-3) /* of factors */
#define CLV_DEMAND_BATCH         (-2) /* of factors */
#define CLV_DEMAND_NONE          (-1) /* as CLV_AXIS_COPY */

/* Besides the number of a rule: */
#define CLV_NO_CONSTRAINT        (-1)
#define CLV_ALL_CONSTRAINTS      (-2)
#define CLV_DATA_PARALLEL_OPTION (-3) /* the rule that --data-parallel stands for */

#define CLV_CONSTRAINTS_ON_OP    32 /* that bear on one operator; more are not distinguished */

typedef struct {
    int16_t demand[CLV_MESH_AXES_MAX]; /* by axis: dimension or factor, or one of CLV_DEMAND_* */
    int32_t rule[CLV_MESH_AXES_MAX];   /* whose demand it is; CLV_NO_CONSTRAINT */
} clv_axis_demands;

/* Everything belongs to whoever makes it (tensor_constraints.h). */
typedef struct {
    const clv_types *types;
    const clv_graph *g;
    const clv_factors *factors; /* n_ops */
    const clv_mesh *mesh;
    clv_batch_dims batch;
    clv_axis_demands *tensor, *op; /* by id */
    bool *tensor_bound;            /* by id: something is demanded of it */
    bool *op_bound;                /* by id: the same, or of a weight that it reads */
    clv_layout *like; /* by tensor that is bound and no weight: the plainest that satisfies */
} clv_choice_constraints;

static inline bool clv_tensor_is_weight(const clv_graph *g, clv_tensor t)
{
    return clv_tensor_at(g, t)->role == CLV_TENSOR_WEIGHT;
}

/* Has the operator any choice that meets the demands of two rules (both may be one), or of all
 * (CLV_ALL_CONSTRAINTS, CLV_NO_CONSTRAINT)? O(choices * operands). */
bool clv_op_is_satisfiable(const clv_choice_constraints *c, clv_op op, int32_t one, int32_t two);
/* Rules that bear on an operator, ascending; their number. O(operands). */
int32_t clv_constraints_on_op(const clv_choice_constraints *c, clv_op op,
                              int32_t on[static CLV_CONSTRAINTS_ON_OP]);

/* As the strategy problem asks, by all demands together: a weight lies as an operator needs it;
 * axes of one rule that split the same dimension nest in their order. c must stay. */
clv_choice_filter clv_choice_constraints_filter(clv_choice_constraints *c);

#endif
