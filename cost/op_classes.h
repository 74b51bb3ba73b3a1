/* op_classes.h - operators that are alike: layers repeat, so a model has few different ones.
 *
 * Two operators of a class have the same shapes, sharding rule and cost. So on any mesh they have
 * the same choices, times, layouts and bytes, whatever their names, weights and neighbours are.
 */
#ifndef CLV_COST_OP_CLASSES_H
#define CLV_COST_OP_CLASSES_H

#include "cost/op_cost.h"
#include "sharding/factors.h"

typedef struct {
    int32_t n;
    const int32_t *of; /* n_ops: from 0, in the order of their first operators */
} clv_op_classes;

/* factors: n_ops. O(operands and their dimensions). */
clv_status clv_op_classes_make(const clv_types *types, const clv_factors *factors,
                               const clv_costs *costs, clv_arena *arena, clv_op_classes *ret,
                               clv_error *err);

#endif
