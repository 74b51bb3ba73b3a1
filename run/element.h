/* element.h - elements of tensors as numbers: half and bfloat16, which C has no names for, floats
 * of 8 and 4 bits, and integers. Rounding is to the nearest, ties to even.
 */
#ifndef CLV_RUN_ELEMENT_H
#define CLV_RUN_ELEMENT_H

#include <stdint.h>

uint16_t clr_half_from_float(float value);
float clr_half_to_float(uint16_t bits);
uint16_t clr_bfloat_from_float(float value);
float clr_bfloat_to_float(uint16_t bits);
/* An element of an 8-bit float type, by its number in TensorProto.DataType. */
double clr_float8_to_double(int dtype, uint8_t bits);

/* Element i of any type but strings, by its number in TensorProto.DataType; what is no number is
 * NaN. */
double clr_element(int dtype, const void *data, int64_t i);

#endif
