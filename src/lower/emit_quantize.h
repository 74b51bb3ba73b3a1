/* emit_quantize.h - QuantizeLinear to a type of 2 bits, by way of 16.
 *
 * ONNX Runtime 1.30 computes it wrong where a scale has one element of a row, such as in a part of
 * one column.
 */
#ifndef CLV_LOWER_EMIT_QUANTIZE_H
#define CLV_LOWER_EMIT_QUANTIZE_H

#include "lower/emit.h"

bool clv_emit_is_quantize_to_2_bits(const clv_emit *e, const clv_op_info *op);
/* Writes node, such an operator at a position: quantized to 16 bits, clipped, and cast. */
clv_status clv_emit_quantize_to_2_bits(clv_emit *e, const clv_spmd_instr *instr, int32_t position,
                                       const clv_new_node *node, clv_error *err);

#endif
