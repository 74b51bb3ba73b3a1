/* timed_kernel.h - kinds of kernels that are measured, and the sizes that their times depend on.
 *
 * The one place where a shape becomes a point of a table: who fits tables and who reads them agree.
 * Each kind has its axes; along each, time does not fall, unless said:
 *
 *   product                   m, n, k; of several at once, m counts all their rows. The second
 *                             operand comes from memory
 *   product_cached            the same, where it is in the last cache before memory; times fall
 *                             where kernels of larger sizes are the faster ones
 *   convolution               places of results (batch times), channels of results, depth
 *                             (channels that are read for each, times elements of the kernel).
 *                             With a kernel of one element it is a product
 *   attention_full            width, heads (batch times), keys; every query sees every key, as
 *                             many queries as keys
 *   attention_prefill         width, kv_heads (of each 64 heads), heads (batch times), keys;
 *                             causal, as many queries as keys
 *   attention_decode          one query. width, heads (batch times), keys; a head of keys for
 *                             each
 *   attention_decode_grouped  width, group (2 to 32 heads that share keys), kv_heads (batch
 *                             times), keys
 *   attention_decode_shared   more than 32 heads share keys, and kernels read them anew for each
 *   experts                   hidden, intermediate (two thirds where there is no gate), hit
 *                             (experts that have any tokens on the fullest device), rows (of each
 *                             such); tokens fall on experts by a power law
 *   experts_even              the same, evenly
 *   collective                bytes, as nccl-tests count them
 *   memory                    bytes read and written by a kernel that does little else
 *   start                     no axes: a kernel that does nothing, in a captured graph
 */
#ifndef CLV_CLUSTER_TIMED_KERNEL_H
#define CLV_CLUSTER_TIMED_KERNEL_H

#include "cluster/kernel_shape.h"
#include "cluster/time_table.h"

typedef enum {
    CLV_TIMED_PRODUCT,
    CLV_TIMED_PRODUCT_CACHED,
    CLV_TIMED_CONVOLUTION,
    CLV_TIMED_FULL,
    CLV_TIMED_PREFILL,
    CLV_TIMED_DECODE,
    CLV_TIMED_DECODE_GROUPED,
    CLV_TIMED_DECODE_SHARED,
    CLV_TIMED_EXPERTS,
    CLV_TIMED_EXPERTS_EVEN,
    CLV_TIMED_COLLECTIVE,
    CLV_TIMED_MEMORY,
    CLV_TIMED_START,
    CLV_N_TIMED
} clv_timed;

typedef enum {
    CLV_TIMED_ALL_REDUCE,
    CLV_TIMED_ALL_GATHER,
    CLV_TIMED_REDUCE_SCATTER,
    CLV_TIMED_ALLTOALL,
    CLV_N_TIMED_OPERATIONS
} clv_timed_operation;

#define CLV_TIMED_AXES_MAX 4

typedef struct {
    const char *name; /* "attention_prefill" */
    int32_t n_axes;
    const char *axes[CLV_TIMED_AXES_MAX];
    int32_t powers[CLV_TIMED_AXES_MAX]; /* clv_axis.power */
    bool typed;                         /* times are of element types */
    bool falls;                         /* times may fall along an axis */
} clv_timed_kind;

const clv_timed_kind *clv_timed_kind_of(clv_timed kind);
const char *clv_timed_operation_name(clv_timed_operation operation); /* "all_reduce" */

/* Sizes of one kernel, in the order of its kind's axes, and the types that its times are of. */
typedef struct {
    clv_timed kind;
    clv_dtype dtype, weights; /* UNDEFINED where the kind is not typed */
    double at[CLV_GRID_AXES_MAX];
} clv_timed_point;

/* Arithmetic and traffic, each operand once. */
typedef struct {
    double flops, bytes;
    double streamed; /* of the bytes: that the last cache does not have, as weights of a model */
} clv_kernel_work;

/* Types that stand for others of the same width: BFLOAT16 for FLOAT16, FLOAT8E4M3FN for the other
 * kinds of 8 bits, the signed for the unsigned. */
clv_dtype clv_timed_dtype(clv_dtype dtype);

/* The point of a product, of experts, and of attention with one query or with as many as keys; of
 * attention in between the caller has to say which is meant. math: the type of the first operand.
 * False where a size is not above 0. */
bool clv_timed_point_of(const clv_kernel_shape *shape, clv_dtype math, clv_timed_point *ret);
bool clv_timed_full_of(const clv_kernel_shape *shape, clv_dtype math, double keys,
                       clv_timed_point *ret);
bool clv_timed_prefill_of(const clv_kernel_shape *shape, clv_dtype math, double keys,
                          clv_timed_point *ret);
bool clv_timed_decode_of(const clv_kernel_shape *shape, clv_dtype math, clv_timed_point *ret);

clv_kernel_work clv_timed_point_work(const clv_timed_point *point);
/* The same of a shape, as it is. */
clv_kernel_work clv_kernel_shape_work(const clv_kernel_shape *shape, clv_dtype math);

#endif
