/* runs_as.h - costs of a kernel that is as fast as one operator, which devices know by measurement.
 */
#ifndef CLV_COST_RUNS_AS_H
#define CLV_COST_RUNS_AS_H

#include "cost/op_cost.h"

/* kernel: of a pattern that says what it runs as (kernels/runtime.h). One that moves data is all
 * with the operator that it began at: each tensor from outside is read once, what is read outside
 * is written once, and arithmetic is what that operator does for as large a result. A product keeps
 * its own arithmetic; it reads its operands as they are stored and writes the last result, and of
 * what comes behind only what else it reads is left. O(edges of the kernel and their readers). */
void clv_kernel_runs_as(const clv_kernels *kernels, int32_t kernel, clv_costs *costs);

#endif
