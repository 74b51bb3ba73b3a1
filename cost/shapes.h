/* shapes.h - the sizes of what operators compute, for measured times. */
#ifndef CLV_COST_SHAPES_H
#define CLV_COST_SHAPES_H

#include "cluster/kernel_shape.h"
#include "cost/sizing.h"
#include "kernels/kernels.h"

/* Elements of the two operands and of the result, on one device. */
typedef struct {
    int64_t in[2], out;
} clv_product_elems;

/* Which input of a product its second operand is. */
int32_t clv_second_operand(const clv_op_info *op);
/* As which type its second operand is stored: of packed weights their own. */
clv_dtype clv_second_dtype(const clv_rule *r, clv_dtype stored);
/* Elements of a type as a product counts them: packed weights as they are unpacked; 0: open. */
int64_t clv_product_operand_elems(const clv_rule *r, int64_t elems);

/* From the multiply-adds of any product of two tensors, and what each of the three has of the four
 * kinds of dimensions (in both operands and the result; in one and the result; in both alone):
 * flops = 2 batch m n k, and elements are batch m k, batch k n, batch m n. NONE where sizes are
 * open. */
clv_kernel_shape clv_product_shape(int64_t flops, const clv_product_elems *e, clv_dtype weights);
/* The same of a convolution with taps elements in its kernel, whose images overlap or leave some
 * out: flops = 2 m n k, its weights are n k, its results m n. Groups count as one, of all their
 * channels; where each has one (depthwise) memory bounds it: NONE. Of a transposed one m is the
 * places that are read, and each makes n results. */
clv_kernel_shape clv_convolution_shape(int64_t flops, const clv_product_elems *e, clv_dtype weights,
                                       int64_t taps);

/* Of one operator that is attention; NONE where sizes are open. */
clv_kernel_shape clv_attention_sizes(clv_sizing *s);
/* Of attention that is written out, from the type of its scores [.., queries, keys]; group: heads
 * that share a head of keys. */
clv_kernel_shape clv_scores_shape(const int64_t *dims, int32_t rank, int64_t width, int64_t group);

/* Of one operator that is a mixture of experts, its tokens spread as CLV_EXPERTS_SKEW says; NONE
 * where sizes are open. */
clv_kernel_shape clv_experts_sizes(clv_sizing *s);
/* The same of experts that are written out, by their sizes. */
clv_kernel_shape clv_experts_shape(const clv_experts_parts *of, clv_dtype weights);
/* Of all experts' weights those that any token goes to: 1 where sizes are open. O(experts). */
double clv_experts_hit(const clv_kernel_shape *w);
/* Scratch in elements: what grouped products write between each other, as vLLM's fused_moe keeps
 * it: results of the first ones, in whose place those of the last ones are written, and what
 * activations make of them; of all rows. */
int64_t clv_experts_scratch_elems(const clv_kernel_shape *w);

/* Elements of a type as bytes; what does not fit is as much as there can be. */
int64_t clv_shape_bytes(clv_dtype dtype, double elems);

/* What attention reads and writes where scores are never stored. */
int64_t clv_attention_read_bytes(const clv_kernel_shape *w, clv_dtype dtype);
int64_t clv_attention_write_bytes(const clv_kernel_shape *w, clv_dtype dtype);

#endif
