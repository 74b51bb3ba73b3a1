/* target.h - the machines that this is for: 64 bits, little-endian. Weights are read and written as
 * they lie in memory, and a model's bytes are counted in size_t. */
#ifndef CLV_BASE_TARGET_H
#define CLV_BASE_TARGET_H

#include <stdint.h>

_Static_assert(UINTPTR_MAX == UINT64_MAX && sizeof(long) == 8,
               "Cleave is for 64-bit machines: pointers and long have 8 bytes there");
_Static_assert(
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "Cleave is for little-endian machines: the lowest byte of a number comes first there");

#endif
