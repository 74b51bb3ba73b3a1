/* shapes_contraction.h - shape rules of sums of products: MatMul, Gemm, Einsum and their forms. */
#ifndef CLV_GRAPH_SHAPES_CONTRACTION_H
#define CLV_GRAPH_SHAPES_CONTRACTION_H

#include "graph/rule.h"

/* numpy's matrix product of two inputs; they differ in which inputs and in what dtype. */
clv_shape_rule clv_shape_matmul;
clv_shape_rule clv_shape_matmul_integer; /* INT32 */
clv_shape_rule clv_shape_matmul_integer16;
clv_shape_rule clv_shape_matmul_integer_to_float;
clv_shape_rule clv_shape_dynamic_quantize_matmul;
clv_shape_rule clv_shape_qlinear_matmul; /* of inputs 0 and 3, in the dtype of input 7 */
clv_shape_rule clv_shape_sparse_to_dense_matmul;
clv_shape_rule clv_shape_fused_matmul; /* with operands transposed by attributes */
clv_shape_rule clv_shape_matmul_nbits; /* packed weights: attributes say their shape */

clv_shape_rule clv_shape_gemm;  /* matrices of inputs 0 and 1, each transposed where asked */
clv_shape_rule clv_shape_qgemm; /* of inputs 0 and 3; FLOAT where no scale of the output is given */
clv_shape_rule clv_shape_cdist; /* distances of the rows of two matrices */
clv_shape_rule clv_shape_det;   /* the last two dimensions are the matrices */

/* Labels to dims, operand by operand, then labels to the output. Letters are labels; "..." stands
 * for the dimensions without one, which broadcast. Without an arrow the output has the "..." and
 * then, in byte order, the letters that occur once. */
clv_shape_rule clv_shape_einsum;

#endif
