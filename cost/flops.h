/* flops.h - FLOPs of one operator from its shapes. Formulas: docs/cost-model.md. */
#ifndef CLV_COST_FLOPS_H
#define CLV_COST_FLOPS_H

#include "cost/sizing.h"

/* By the kind of formula that ops.def says; the operator must have a line there. All kinds but
 * bodies, which op_cost.c adds up. O(rank), O(inputs) for Einsum. */
clv_work clv_flops(clv_sizing *s);

#endif
