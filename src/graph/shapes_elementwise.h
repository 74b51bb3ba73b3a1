/* shapes_elementwise.h - shape rules of what works element by element, on one shape or on shapes
 * that broadcast; casts and quantised forms among them.
 */
#ifndef CLV_GRAPH_SHAPES_ELEMENTWISE_H
#define CLV_GRAPH_SHAPES_ELEMENTWISE_H

#include "graph/rule.h"

clv_shape_rule clv_shape_same;        /* output 0 has the type of input 0 */
clv_shape_rule clv_shape_unary_bool;  /* as input 0, but BOOL */
clv_shape_rule clv_shape_elementwise; /* all inputs broadcast, in the first dtype known */
clv_shape_rule clv_shape_compare;     /* all inputs broadcast, BOOL */
clv_shape_rule clv_shape_where;       /* all inputs broadcast, in the dtype of the choices */
clv_shape_rule clv_shape_dropout;     /* as input 0, and a mask, which was of its dtype before 10 */
clv_shape_rule clv_shape_bias_dropout;
clv_shape_rule clv_shape_bias_split_gelu; /* half of the last dimension gates the other half */

/* Another dtype, the same shape. */
clv_shape_rule clv_shape_cast;
clv_shape_rule clv_shape_cast_like;
clv_shape_rule clv_shape_bit_cast; /* to a type as wide */
clv_shape_rule clv_shape_murmur_hash3;

/* A quantised tensor comes with a scale and a zero point as further inputs, so the second operand
 * is input 3. */
/* dtype of the zero point, else the attribute's, else UINT8 */
clv_shape_rule clv_shape_quantize_linear;
clv_shape_rule clv_shape_dequantize_linear; /* dtype of the scale; FLOAT before 19 without one */
clv_shape_rule clv_shape_dynamic_quantize_linear; /* with the scale and zero point it found */
clv_shape_rule clv_shape_qlinear_binary;
clv_shape_rule clv_shape_qlinear_where; /* condition, then X and Y with scale and zero point each */

#endif
