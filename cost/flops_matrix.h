/* flops_matrix.h - FLOPs of matrix products, convolutions, recurrences and mixtures of experts. A
 * multiply-add is 2. Each function is the formula of that name in ops.def and docs/cost-model.md.
 */
#ifndef CLV_COST_FLOPS_MATRIX_H
#define CLV_COST_FLOPS_MATRIX_H

#include "cost/sizing.h"

clv_work clv_flops_matmul(clv_sizing *s);
clv_work clv_flops_gemm(clv_sizing *s);
clv_work clv_flops_matmul_nbits(clv_sizing *s);
clv_work clv_flops_conv(clv_sizing *s);
clv_work clv_flops_conv_transpose(clv_sizing *s);
clv_work clv_flops_deform_conv(clv_sizing *s);
clv_work clv_flops_rnn(clv_sizing *s);
clv_work clv_flops_moe(clv_sizing *s);

/* What the sums of a matrix product run over: the K of [M,K] x [K,N]. */
int64_t clv_size_contracted(clv_sizing *s);
/* Input of a convolution that holds its weights. */
int32_t clv_conv_weights(const clv_sizing *s);

#endif
