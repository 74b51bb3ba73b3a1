/* op_cost.h - what each operator computes and moves. How long a device takes for it: op_time.h.
 *
 * Formulas: docs/cost-model.md, one section a function. Whole operators, before any sharding.
 */
#ifndef CLV_COST_OP_COST_H
#define CLV_COST_OP_COST_H

#include "cluster/kernel_shape.h"
#include "cluster/time_parts.h"
#include "graph/infer.h"
#include "kernels/kernels.h"

typedef struct {
    int64_t flops;        /* a multiply-add is 2; bodies and calls included */
    int64_t matmul_flops; /* the part on matrix units: matrix products, convolutions, attention */
    int64_t read_bytes, write_bytes; /* memory traffic of one run */
    int64_t weight_bytes;            /* of the initialisers it reads, bodies included, each once */
    int64_t workspace_bytes;         /* scratch it would like to have to run at full speed */
    int64_t link_ns;        /* on the links between devices: of a collective; 0 for what computes */
    clv_basis link_basis;   /* what that rests on */
    clv_dtype math;         /* dtype of its operands, for the peak rate */
    int32_t speed;          /* 1 + its speed (graph/ops.h), for devices that know it; 0: none */
    clv_kernel_shape shape; /* its sizes, where devices may have measured times for them */
    double share;           /* of the product that it is packed into, of n / share columns; 1 */
    double starts;  /* of kernels that begin with it: 1, a share of one, 0 inside a kernel */
    bool result;    /* writes the result of its kernel's product, which measured times count */
    bool captured;  /* a graph starts it, not the host */
    bool quantised; /* its activations come in the product's type, and need not be brought to it */
} clv_op_cost;

typedef struct {
    const clv_graph *graph;
    const clv_types *types; /* of the graph */
    clv_op_cost *of;        /* n_ops */
    clv_op_cost total;      /* sums; weight_bytes counts each initialiser once, math unused */
    /* Elements of floating-point initialisers and of Constant nodes that are used as such
     * (parameters.h), each once, bodies included. */
    int64_t parameters;
    int64_t constant_bytes; /* tensors of Constant nodes, beside the initialisers */
    clv_op *unknown;        /* without a line in ops.def, ascending: counted as moving data only */
    int32_t n_unknown;
    clv_op *unsized; /* whose cost lacks what an open shape hides, ascending */
    int32_t n_unsized;
    /* n_ops: the operator without which it goes nowhere, as a collective goes with the operator
     * that it is for, itself for one that stands for itself. NULL: all do. */
    const clv_op *goes_with;
    const clv_kernels *kernels; /* of the operators; NULL: each is one */
    /* n_ops: its kernel, where that reads all its operands until it is done, as products and
     * attention do; -1: it is by itself, or in a kernel that goes element by element, and may write
     * over what it reads. Also of local models, whose kernels are those of the whole. NULL: all
     * are by themselves. */
    const int32_t *held_by;
} clv_costs;

/* Does a graph start kernels, not the host? */
static inline bool clv_costs_captured(const clv_costs *costs)
{
    return costs->kernels && costs->kernels->runtime->graph;
}

/* Of operators by themselves: as parts of kernels, kernel_costs.h. CLV_EFORMAT when a sum does not
 * fit 64 bits; the sentence names the operator. O(ops + edges). */
clv_status clv_costs_build(const clv_model *model, const clv_types *types, clv_arena *arena,
                           clv_costs **ret, clv_error *err);

#endif
