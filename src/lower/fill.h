/* fill.h - the numbers that tensors are filled with, as bytes of a type. */
#ifndef CLV_LOWER_FILL_H
#define CLV_LOWER_FILL_H

#include "graph/dtype.h"
#include "sharding/layout.h"

/* Lowest and highest are minus and plus infinity for floating-point types. */
typedef enum { CLV_FILL_ZERO, CLV_FILL_ONE, CLV_FILL_LOWEST, CLV_FILL_HIGHEST } clv_fill;

/* What changes no result of a reduction that it is an operand of; zero where a reduction has none.
 */
clv_fill clv_fill_neutral(clv_reduce reduce);

/* The number in the bytes of the dtype, little-endian; how many there are, 0: the dtype has no
 * such number. */
#define CLV_FILL_BYTES 16
int32_t clv_fill_bytes(clv_dtype dtype, clv_fill fill, uint8_t ret[static CLV_FILL_BYTES]);

#endif
