/* split_filter.h - what each mesh axis has to do with a tensor or an operator, and which choices
 * and layouts do that; whose rule it is, so that each can be looked at alone.
 */
#ifndef CLV_RULES_SPLIT_FILTER_H
#define CLV_RULES_SPLIT_FILTER_H

#include "cost/shard_problem.h"
#include "rules/split_batch.h"

#define CLV_WANT_ANY    (-4)
#define CLV_WANT_BATCH  (-3) /* of factors: the batch, or none */
#define CLV_WANT_SHARED (-2) /* the batch */
#define CLV_WANT_NONE   (-1) /* as CLV_AXIS_COPY */

#define CLV_RULE_NONE   (-1)
#define CLV_RULES_ALL   (-2)
#define CLV_RULE_SWITCH (-3) /* the one that --data-parallel stands for */

#define CLV_RULES_ON    32 /* that bear on one operator and are told apart */

typedef struct {
    int16_t want[CLV_MESH_AXES_MAX]; /* by axis: dimension or factor, or one of these */
    int32_t rule[CLV_MESH_AXES_MAX]; /* that wants it; CLV_RULE_NONE */
} clv_pin;

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    const clv_factors *factors; /* n_ops */
    const clv_mesh *mesh;
    clv_batch batch;
    clv_pin *tensor, *op; /* by id */
    bool *tensor_bound;   /* by id: a pin wants something */
    bool *op_bound;       /* by id: its pin does, or that of a weight that it reads */
    clv_layout *like;     /* by tensor that is bound and no weight: the plainest that obeys */
} clv_split_filter;

bool clv_is_weight(const clv_split_filter *s, clv_tensor t);

/* Obey what two rules want (both may be one), or all. A weight lies as an operator needs it; axes
 * of one rule that split the same dimension nest in their order. */
bool clv_layout_obeys(const clv_split_filter *s, const clv_pin *p, const clv_layout *l, int32_t one,
                      int32_t two);
bool clv_choice_obeys(const clv_split_filter *s, clv_op op, const clv_factors *f,
                      const clv_op_choice *c, int32_t one, int32_t two);

/* Does any choice of the operator obey? O(choices * operands). */
bool clv_op_can_obey(const clv_split_filter *s, clv_op op, int32_t one, int32_t two);
/* Rules that bear on an operator, ascending; their number. */
int32_t clv_rules_on(const clv_split_filter *s, clv_op op, int32_t on[static CLV_RULES_ON]);

/* As the strategy problem asks. s must stay. */
clv_choice_filter clv_split_filter_give(clv_split_filter *s);

#endif
