/* packed.h - elements of less than a byte, side by side in bytes, the first in the lowest bits. */
#ifndef CLV_BASE_PACKED_H
#define CLV_BASE_PACKED_H

#include <stdint.h>

/* n elements of so many bits (1, 2, 4 or whole bytes) from element `from` of one packed run to
 * element `at` of another. Elements beside them in the target keep their value.
 * The runs must not overlap. O(n). */
void clv_copy_elems(uint8_t *to, int64_t at, const uint8_t *source, int64_t from, int64_t n,
                    int bits);

#endif
