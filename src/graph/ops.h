/* ops.h - what is known of each operator, one line of ops.def each.
 *
 *   CLV_OP(domain, Name, shape, fold, flops, k, bytes, flags, rule)
 *
 * domain  STD (""), ML ("ai.onnx.ml"), TRAIN ("ai.onnx.preview.training"), MS ("com.microsoft")
 * shape   the shape rule: clv_shape_<shape>() in a shapes_*.c; `unknown` lists its outputs as open
 * fold    the value rule: clv_fold_<fold>() in values_*.c; `none` if values never pass through
 * flops   a formula of clv_flops_kind, and its factor k (cost/flops.c, docs/cost-model.md)
 * bytes   how much memory traffic the operator makes, a clv_bytes_kind (cost/bytes.c)
 * flags   of clv_op_flags
 * rule    how it may be split over devices: "(...,m,k),(...,k,n)->(...,m,n)" (docs/sharding.md
 *         teaches the notation); "whole: " and a reason; or "=name", a function that writes the
 *         rule for a node (src/sharding/writers.h)
 */
#ifndef CLV_GRAPH_OPS_H
#define CLV_GRAPH_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "graph/graph.h"

/* FLOPs of an operator; k is the factor of its line. A multiply-add is 2. */
typedef enum {
    CLV_FLOPS_NONE,           /* moves or looks at data only */
    CLV_FLOPS_OUT,            /* k for each element of output 0 */
    CLV_FLOPS_IN,             /* k for each element of input 0 */
    CLV_FLOPS_VARIADIC,       /* (inputs - 1) for each element of output 0 */
    CLV_FLOPS_MATMUL,         /* 2 * output elements * last dimension of input 0 */
    CLV_FLOPS_GEMM,           /* 2 * M*N*K by transA, transB, + bias */
    CLV_FLOPS_CONV,           /* 2 * output elements * kernel elements * channels / group, + bias */
    CLV_FLOPS_CONV_TRANSPOSE, /* 2 * input elements * kernel elements * output channels / group */
    CLV_FLOPS_DEFORM_CONV,
    CLV_FLOPS_POOL,   /* output elements * kernel elements */
    CLV_FLOPS_EINSUM, /* 2 * product of all labels, if two operands; pairwise otherwise */
    CLV_FLOPS_RNN,    /* k gates: 2 * k * steps * batch * hidden * (input + hidden) * directions */
    CLV_FLOPS_ATTENTION, /* fused attention: q*k and p*v, and the projections where it has them */
    CLV_FLOPS_LINEAR_ATTENTION, /* each token reads and changes the state of each head */
    CLV_FLOPS_MATMUL_NBITS,     /* com.microsoft: 2 * rows * K * N */
    CLV_FLOPS_MOE,
    CLV_FLOPS_FFT,  /* 5 * n log2 n for each transform */
    CLV_FLOPS_SORT, /* n log2 n compares for each row */
    CLV_FLOPS_NMS,
    CLV_FLOPS_BODY /* the body's, times its trip count where known */
} clv_flops_kind;

/* Memory traffic of an operator. Default: reads all inputs, writes all outputs, once. */
typedef enum {
    CLV_BYTES_ALL,
    CLV_BYTES_VIEW,    /* none: another name for input 0 */
    CLV_BYTES_CONST,   /* none when it runs: a constant of the file */
    CLV_BYTES_GATHER,  /* reads what it writes, and the other inputs, not all of input 0 */
    CLV_BYTES_SCATTER, /* reads and writes input 0 once, and the updates */
    CLV_BYTES_SHAPE,   /* reads no data of input 0, only its shape */
    CLV_BYTES_BODY     /* the body's */
} clv_bytes_kind;

typedef enum {
    CLV_OPF_VIEW = 1,           /* output 0 is input 0's memory: no allocation */
    CLV_OPF_CONTRACTION = 2,    /* runs on the matrix units: counted as matmul FLOPs */
    CLV_OPF_RANDOM = 4,         /* two runs differ */
    CLV_OPF_CONTROL = 8,        /* has bodies */
    CLV_OPF_NO_BYTES_COST = 16, /* its initialisers are not weights: shapes, indices */
    CLV_OPF_COMMUTATIVE = 32,
    /* How outputs follow from floating-point inputs (linear.h); at most one of these: */
    CLV_OPF_LINEAR = 64,    /* linear in input 0, whatever the others */
    CLV_OPF_ADDITIVE = 128, /* linear in all of them together: a sum, a concatenation */
    CLV_OPF_BILINEAR = 256  /* linear in input 0 and in input 1, each for a given other one */
} clv_op_flags;

typedef struct {
    const char *domain;
    const char *name;
    clv_flops_kind flops;
    double k;
    clv_bytes_kind bytes;
    unsigned flags;
    const char *rule;
} clv_op_def;

int32_t clv_n_op_defs(void);
const clv_op_def *clv_op_def_at(int32_t kind); /* kind is in [0, clv_n_op_defs()) */
/* Whose memory output 0 of an operator is; CLV_NO_TENSOR: its own. */
clv_tensor clv_op_viewed(const clv_graph *g, const clv_op_info *op);
/* The same of any tensor: that whose memory it shares, as its operator says. */
clv_tensor clv_tensor_viewed(const clv_graph *g, clv_tensor t);
/* Whose memory it shares in the end, views of views followed; itself where it is no view. */
clv_tensor clv_tensor_root(const clv_graph *g, clv_tensor t);
/* Operators of one line are equally fast, but for convolutions whose channels are in groups, and
 * those with one channel a group: a speed is a form and a line. */
typedef enum {
    CLV_SPEED_PLAIN,
    CLV_SPEED_GROUPED,
    CLV_SPEED_DEPTHWISE,
    CLV_N_SPEED_FORMS
} clv_speed_form;
static inline int32_t clv_n_speeds(void) { return CLV_N_SPEED_FORMS * clv_n_op_defs(); }
static inline int32_t clv_speed_of(int32_t line, clv_speed_form form)
{
    return (int32_t)form * clv_n_op_defs() + line;
}
/* By name: "MatMul", "com.microsoft.Attention", "Conv/grouped", "Conv/depthwise"; -1 where there is
 * none. */
int32_t clv_speed_find(const char *name);
#define CLV_SPEED_NAME_SIZE 128
const char *clv_speed_name(int32_t speed, char buf[static CLV_SPEED_NAME_SIZE]);
/* Line of ops.def for a domain and type, or CLV_OPKIND_UNKNOWN. O(log lines). */
int32_t clv_op_def_find(clv_str domain, clv_str type);

#endif
