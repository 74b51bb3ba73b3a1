/* shard_cost.h - what one device does of an operator that is split over a mesh. */
#ifndef CLV_COST_SHARD_COST_H
#define CLV_COST_SHARD_COST_H

#include "cost/op_cost.h"
#include "sharding/factors.h"
#include "sharding/parts.h"

/* Bytes of the largest part, whole_bytes where it can only be copied; 0 where these are not known.
 */
int64_t clv_part_bytes(const clv_mesh *mesh, const clv_layout *layout, const clv_type *type,
                       int64_t whole_bytes);
/* Elements of a factor in the largest of n parts: whole granules, as many in each part as can be.
 * O(1). */
int64_t clv_factor_part(const clv_factor *f, int64_t n);

/* Into how many parts a choice splits each factor: n_parts[n_factors]. O(factors + axes). */
void clv_factor_parts(const clv_factors *f, const clv_mesh *mesh, const int16_t *factor_of_axis,
                      int64_t *n_parts);

/* Bytes of the largest part of a tensor of that type; its own where it has no fixed size (0 where
 * that is open). operand NULL: it is whole. O(dimensions). */
int64_t clv_operand_part_bytes(const clv_factors *f, const clv_operand_factors *operand,
                               const int64_t *n_parts, const clv_type *type, int64_t whole_bytes);

/* An operator that is to be split. */
typedef struct {
    const clv_types *types;
    clv_op op;
    const clv_costs *costs;
    const clv_factors *factors;
} clv_shard_op;

/* The cost of the largest part: work by the share of the index space, traffic by the parts of its
 * inputs and outputs, workspace by the same share as work. weight_bytes is left 0: what lies where
 * is up to layouts. Scratch is given back. O(inputs + outputs + factors). */
clv_status clv_shard_cost(const clv_shard_op *o, const int64_t *n_parts, clv_arena *arena,
                          clv_op_cost *ret, clv_error *err);

#endif
