/* flops_einsum.h - FLOPs of Einsum, by its equation. */
#ifndef CLV_COST_FLOPS_EINSUM_H
#define CLV_COST_FLOPS_EINSUM_H

#include "cost/sizing.h"

/* Operands are joined from left to right, 2 FLOPs for each point of the labels of a join.
 * O(inputs^2
 * + characters). */
clv_work clv_flops_einsum(clv_sizing *s);

#endif
