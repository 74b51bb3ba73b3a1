/* floats.h - half and bfloat16, which C has no names for. Rounding is to the nearest, ties to even.
 */
#ifndef CLV_RUN_FLOATS_H
#define CLV_RUN_FLOATS_H

#include <stdint.h>

uint16_t clr_half_of(float value);
float clr_half_value(uint16_t bits);
uint16_t clr_bfloat_of(float value);
float clr_bfloat_value(uint16_t bits);
/* An element of an 8-bit float type, by its number in TensorProto.DataType. */
double clr_float8_value(int dtype, uint8_t bits);

#endif
