/* flops.h - FLOPs and workspace of one operator from its shapes. Formulas: docs/cost-model.md. */
#ifndef CLV_COST_FLOPS_H
#define CLV_COST_FLOPS_H

#include "cost/sizing.h"

/* All kinds but bodies, which op_cost.c adds up. O(rank), O(inputs) for Einsum. */
clv_work clv_flops(clv_sizing *s);

/* Scratch bytes the operator would like to have; 0 for all but contractions. */
int64_t clv_wanted_workspace(clv_sizing *s);

/* -- the families, each in its file -- */
clv_work clv_flops_matmul(clv_sizing *s);
clv_work clv_flops_gemm(clv_sizing *s);
clv_work clv_flops_conv(clv_sizing *s);
clv_work clv_flops_conv_transpose(clv_sizing *s);
clv_work clv_flops_deform_conv(clv_sizing *s);
clv_work clv_flops_rnn(clv_sizing *s);
clv_work clv_flops_matmul_nbits(clv_sizing *s);
clv_work clv_flops_moe(clv_sizing *s);
clv_work clv_flops_einsum(clv_sizing *s);
clv_work clv_flops_attention(clv_sizing *s);
clv_work clv_flops_linear_attention(clv_sizing *s);
clv_work clv_flops_fft(clv_sizing *s);
clv_work clv_flops_sort(clv_sizing *s);
clv_work clv_flops_nms(clv_sizing *s);

/* What the sums of a matrix product run over: the K of [M,K] x [K,N]. */
int64_t clv_size_contracted(clv_sizing *s);
/* Input of a convolution that holds its weights. */
int32_t clv_conv_weights(const clv_sizing *s);

/* Fused attention: queries see keys, for each batch and head. */
typedef struct {
    int64_t batch, heads, queries, keys;
    int64_t width, value_width; /* of one head */
    int64_t projection;         /* FLOPs of the projections inside the operator */
} clv_attention;
clv_attention clv_attention_shape(clv_sizing *s);

#endif
