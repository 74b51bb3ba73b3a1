/* runtime.h - which operators a runtime starts as one kernel, as data.
 *
 * A kernel is what a device starts at once: operators that read from outside and write what is read
 * outside. A runtime is a list of patterns, tried in their order; an operator is of the first
 * kernel that takes it. A pattern begins at an operator of `start` and takes in what is before it
 * (its prologue) and after it (its epilogue), stage by stage outwards:
 *
 *   start   Softmax
 *   before  [pointwise*] [MatMul, once] [movement*]      towards the inputs
 *   after   [pointwise*] [MatMul, once]                  towards the outputs
 *
 * Operators of a stage hang together, and on those of the stage before it. A stage whose `min` is
 * not met makes no kernel. Views are part of any stage. form.h says how kernels are found,
 * runtime_json.h how a runtime is written.
 */
#ifndef CLV_KERNELS_RUNTIME_H
#define CLV_KERNELS_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

/* What a kernel's time depends on. */
typedef enum {
    CLV_KERNEL_SINGLE,    /* an operator by itself */
    CLV_KERNEL_MEMORY,    /* element by element, or row by row: bound by what it moves */
    CLV_KERNEL_PRODUCT,   /* a matrix product or convolution, and what is done to its operands and
                             its result */
    CLV_KERNEL_ATTENTION, /* scores, their softmax and the values, scores never stored */
    CLV_KERNEL_EXPERTS, /* a mixture of experts: each token through those that are chosen for it */
    CLV_N_KERNEL_KINDS
} clv_kernel_kind;

/* By line of ops.def (graph/ops.h). */
typedef const bool *clv_op_set;

/* What the other operands of an operator have to be that a kernel takes in. */
typedef enum {
    CLV_WITH_ANY,
    CLV_WITH_CONSTANTS, /* weights, or known before the run: a scale */
    CLV_WITH_ROW,       /* the same, of one dimension above 1 at most: a bias */
    CLV_WITH_LIKE,      /* as large as the result: a residual */
    CLV_WITH_START      /* what the start reads: the x of x sigmoid(x) */
} clv_stage_with;

/* The most stages that a pattern has on a side. */
#define CLV_STAGES_MAX 5

typedef struct {
    clv_op_set operators;
    clv_op_set operands; /* after: what is taken in before the other operands of those; or NULL */
    int32_t min, max;    /* so many operators, views aside */
    bool shared;         /* before: also what others read, which is stored then */
    clv_stage_with with;
    bool of_matrices; /* of Transposes only those that products have flags for (conditions.h) */
    bool alone;       /* after: only what reads nothing but what the kernel writes, constants, and
                         what its operands may be */
} clv_pattern_stage;

typedef struct {
    const char *name; /* "rms norm" */
    clv_kernel_kind kind;
    clv_op_set start;
    clv_op_set
        rows; /* operators that work on whole rows; a kernel has rows of one length; or NULL */
    clv_pattern_stage before[CLV_STAGES_MAX], after[CLV_STAGES_MAX];
    int32_t n_before, n_after;
    bool packed; /* products that read the same tensor are one product */
    /* Line of ops.def: what the kernel takes is what an operator of that type takes for as large a
     * result; -1: what its operators take, less what stays inside. */
    int32_t runs_as;
} clv_pattern;

/* What the host does for one run of a model while its devices wait, nanoseconds: scheduling and
 * preparing inputs, and for each sequence of the batch sampling and handing its token out. And what
 * a front end does with a request before its first run, and for each token of its prompt. */
typedef struct {
    int64_t run_ns, sequence_ns;
    int64_t request_ns, prompt_token_ns;
} clv_host_work;

typedef struct {
    const char *name, *source;
    const char *extends; /* a runtime that forms and starts its kernels; NULL: itself */
    bool graph;          /* kernels are started by a captured graph, not one by one by the host */
    bool quantised;      /* activations of a product in 8 bits or fewer are written so by the kernel
                            before, which else the product's kernels do first */
    bool last_token;     /* logits are computed for the last token of each sequence, not for all */
    clv_host_work host;
    int32_t n;
    const clv_pattern *patterns;
} clv_runtime;

const char *clv_kernel_kind_name(clv_kernel_kind kind); /* "attention" */

#endif
