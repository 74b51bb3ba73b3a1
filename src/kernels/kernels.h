/* kernels.h - the operators of a model as the kernels that a runtime starts.
 *
 * Between operators and devices stand kernels. What stays inside one is neither stored nor moved:
 * it costs no traffic, no memory and no start of its own. Annotations and lowering stay per
 * operator.
 */
#ifndef CLV_KERNELS_KERNELS_H
#define CLV_KERNELS_KERNELS_H

#include "graph/types.h"
#include "kernels/runtime.h"

/* Of a kernel of attention that is written out as operators. */
typedef struct {
    clv_op scores, values; /* the two products */
    int64_t group;         /* heads of queries that share a head of keys; 1 */
    bool causal;           /* a query sees the keys up to itself */
} clv_attention_parts;

/* Of a kernel of experts that are written out as operators: a product of each up to intermediate
 * and one back to hidden, with a gate two up. Sizes that are open are 0. */
typedef struct {
    clv_op router; /* chooses top_k of the experts for each token */
    int64_t tokens, hidden, intermediate, experts, top_k;
    bool gated;
    const clv_op *up, *down; /* the products, ascending */
    int32_t n_up, n_down;
} clv_experts_parts;

typedef struct {
    clv_kernel_kind kind;
    const clv_pattern *pattern;           /* NULL: an operator by itself */
    clv_op anchor;                        /* where it began; of attention written out: the scores */
    int32_t first, n;                     /* its operators, members[first .. first + n) */
    const clv_attention_parts *attention; /* NULL: none, or one operator that is attention */
    const clv_experts_parts *experts;     /* NULL: none, or one operator that is a mixture */
} clv_kernel;

typedef struct {
    const clv_runtime *runtime;
    int32_t n;
    const clv_kernel *at;    /* by first operator */
    const clv_op *members;   /* kernel by kernel, ascending in each */
    const int32_t *of;       /* n_ops: its kernel; -1: what costs nothing, or is folded */
    const bool *inside;      /* n_tensors: never stored: written and read in one kernel only, or
                                nothing but a mask that kernels know, or a state (below) as it was */
    const clv_tensor *state; /* n_tensors: of an input that comes back as an output longer or
                                changed, as a cache of keys does, the output, and the other way
                                round: both are one place in memory; CLV_NO_TENSOR */
    const double *share;     /* n_ops: of a product that is packed with others: its part of the
                                columns; else 1 */
} clv_kernels;

/* Does an operator do nothing when the model runs: a view, a constant, or folded away? */
bool clv_op_is_free(const clv_types *types, clv_op op);

#endif
