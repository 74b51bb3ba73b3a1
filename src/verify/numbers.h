/* numbers.h - elements of floating-point tensors as doubles, and how fine a type is. */
#ifndef CLV_VERIFY_NUMBERS_H
#define CLV_VERIFY_NUMBERS_H

#include <stdint.h>

#include "graph/dtype.h"

/* Element i of packed little-endian data, which may lie at any address. Of complex numbers element
 * 2k is the real part of number k. Every value of the 8- and 4-bit types too; 0 for types that are
 * no floats. */
double clv_float_at(clv_dtype dtype, const void *data, int64_t i);
bool clv_dtype_is_complex(clv_dtype dtype);

/* Rounding to the type changes a number by at most this part of it: 2^-24 for float32. Of integers
 * below 16 bits, which stand for rounded floats: half a step of the largest. 0 for all others. */
double clv_dtype_rounding(clv_dtype dtype);
/* The smallest number above 0 that has all digits. */
double clv_dtype_smallest(clv_dtype dtype);

#endif
