/* kernel_costs.h - costs of operators as parts of kernels.
 *
 * The costs of a kernel's operators add up to the kernel's: its start is with one of them, what
 * stays inside is not moved, and attention that is written out is all with the operator of its
 * scores.
 */
#ifndef CLV_COST_KERNEL_COSTS_H
#define CLV_COST_KERNEL_COSTS_H

#include "cost/op_cost.h"

/* The types of the same graph where what stays inside kernels takes no bytes, and states (caches of
 * keys and values) are of type kv if that is narrower; UNDEFINED: as they are. O(tensors). */
clv_status clv_types_stored(const clv_types *types, const clv_kernels *kernels, clv_dtype kv,
                            clv_arena *arena, clv_types **ret, clv_error *err);

/* costs: of operators by themselves, with those types; stored as parts of kernels now.
 * O(operators).
 */
clv_status clv_kernel_costs_apply(const clv_kernels *kernels, clv_costs *costs, clv_arena *arena,
                                  clv_error *err);

/* One product of experts that are written out, by its shape: the arithmetic of the rows that are
 * computed, its weights of the experts that are hit, and what goes from product to product; a gate
 * is multiplied in before anything is stored. Its scratch is the kernel's. Sets FLOPs, bytes,
 * workspace.
 */
void clv_expert_product_cost(clv_op_cost *cost);

/* With which operator each goes, for units that do not take kernels apart (clv_costs.goes_with):
 * with the last one where only operators of its kernel read what it writes. O(operators + edges).
 */
clv_status clv_kernel_followers(const clv_types *types, const clv_kernels *kernels,
                                clv_arena *arena, const clv_op **ret, clv_error *err);

#endif
